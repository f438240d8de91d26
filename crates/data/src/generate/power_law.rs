//! Nodes drawn so that their degrees follow a power law.

use crate::draw::unit;

/// Steps of the bisection for the shift; more than the bits of an `f64`'s fraction.
const STEPS: usize = 100;

/// Draws ranks below `ranks`, rank r with weight (r + shift)^−α, α = 1 / (exponent − 1): expected degrees then have a
/// density that falls as degree^−exponent (Chung and Lu, 2002).
///
/// The shift is the smallest for which the largest expected degree is at most √ends, where `ends` is the number of ends
/// that are drawn: beyond that, hubs would be joined more than once.
#[derive(Debug, Clone, Copy)]
pub(super) struct PowerLaw {
    ranks: usize,
    shift: f64,
    /// shift^(1 − α), and how far (ranks + shift)^(1 − α) is above it.
    start: f64,
    span: f64,
    /// 1 / (1 − α).
    root: f64,
}

impl PowerLaw {
    pub(super) fn new(ranks: usize, exponent: f64, ends: f64) -> PowerLaw {
        let rest = 1.0 - 1.0 / (exponent - 1.0);
        let with = |shift: f64| {
            let start = libm::pow(shift, rest);
            let span = libm::pow(ranks as f64 + shift, rest) - start;
            PowerLaw { ranks, shift, start, span, root: 1.0 / rest }
        };
        // The share of the ends that rank 0 gets falls as the shift grows.
        let too_large = |law: PowerLaw| law.share_of_first() * ends > ends.sqrt();
        let (mut low, mut high) = (0.0, 1e3 * ranks as f64);
        for _ in 0..STEPS {
            let middle = 0.5 * (low + high);
            if too_large(with(middle)) { low = middle } else { high = middle }
        }
        with(high)
    }

    /// The probability of rank 0.
    fn share_of_first(self) -> f64 {
        (libm::pow(1.0 + self.shift, 1.0 / self.root) - self.start) / self.span
    }

    /// A rank, from two random words.
    pub(super) fn rank(self, low: u32, high: u32) -> usize {
        let place = libm::pow(self.start + unit(low, high) * self.span, self.root) - self.shift;
        (place as usize).min(self.ranks - 1)
    }
}

#[cfg(test)]
mod tests {
    use edgepace_graph::random::{Purpose, Stream};

    use super::*;

    #[test]
    fn the_first_rank_is_as_likely_as_it_may_be_and_the_tail_falls() {
        let (ranks, ends) = (10_000, 1e6);
        let law = PowerLaw::new(ranks, 2.5, ends);
        let stream = Stream::new(0, Purpose::GeneratedEdges, 0);
        let mut times = vec![0_u32; ranks];
        for position in 0..1_000_000 {
            let [a, b, ..] = stream.block(position);
            times[law.rank(a, b)] += 1;
        }
        assert!((f64::from(times[0]) - ends.sqrt()).abs() < 150.0, "{}", times[0]);
        // Expected degrees at least x: as many as x^-1.5 says, between the cut at the top and the bottom.
        let above = |x: u32| times.iter().filter(|&&t| t >= x).count() as f64;
        let slope = (above(500) / above(125)).ln() / 4_f64.ln();
        assert!((-1.8..-1.2).contains(&slope), "{slope}");
    }
}
