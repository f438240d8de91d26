//! Nodes drawn so that their degrees follow a power law.

use crate::draw::unit;

/// Steps of the bisection for the shift; more than the bits of an `f64`'s fraction.
const STEPS: usize = 100;
/// Pieces of the quantile function. It is a power of its argument, so that straight pieces are right to a fraction of a
/// rank even for many millions of ranks, and cost a tenth of the power itself.
const PIECES: usize = 1 << 14;

/// Draws ranks below `ranks`, rank r with weight (r + shift)^−α, α = 1 / (exponent − 1): expected degrees then have a
/// density that falls as degree^−exponent (Chung and Lu, 2002).
///
/// The shift is the smallest for which the largest expected degree is at most √ends, where `ends` is the number of ends
/// that are drawn: beyond that, hubs would be joined more than once.
#[derive(Debug, Clone)]
pub(super) struct PowerLaw {
    ranks: usize,
    /// The quantile function at 0, 1/PIECES, …, 1.
    quantiles: Vec<f64>,
}

impl PowerLaw {
    pub(super) fn new(ranks: usize, exponent: f64, ends: f64) -> PowerLaw {
        // The integral of the weight is a power too, with exponent 1 − α.
        let rest = 1.0 - 1.0 / (exponent - 1.0);
        let integral = |shift: f64, rank: f64| libm::pow(rank + shift, rest) - libm::pow(shift, rest);
        // The share of the ends that rank 0 gets falls as the shift grows.
        let share_of_first = |shift: f64| integral(shift, 1.0) / integral(shift, ranks as f64);
        let (mut low, mut shift) = (0.0, 1e3 * ranks as f64);
        for _ in 0..STEPS {
            let middle = 0.5 * (low + shift);
            if share_of_first(middle) * ends > ends.sqrt() { low = middle } else { shift = middle }
        }
        let (start, span) = (libm::pow(shift, rest), integral(shift, ranks as f64));
        let quantile =
            |piece: usize| libm::pow(start + piece as f64 / PIECES as f64 * span, 1.0 / rest) - shift;
        PowerLaw { ranks, quantiles: (0..=PIECES).map(quantile).collect() }
    }

    /// A rank, from two random words.
    pub(super) fn rank(&self, low: u32, high: u32) -> usize {
        let place = unit(low, high) * PIECES as f64;
        let piece = place as usize;
        let (from, to) = (self.quantiles[piece], self.quantiles[piece + 1]);
        ((from + (place - piece as f64) * (to - from)) as usize).min(self.ranks - 1)
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
        let slope = libm::log(above(500) / above(125)) / libm::log(4.0);
        assert!((-1.8..-1.2).contains(&slope), "{slope}");
    }
}
