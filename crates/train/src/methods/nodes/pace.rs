//! How many training nodes are in at an epoch.

use serde::{Deserialize, Serialize};

/// How the share of training nodes grows from λ₀ at epoch 0 to 1 at epoch T.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Growth {
    /// λ₀ + (1 − λ₀) · t/T.
    Linear,
    /// √(λ₀² + (1 − λ₀²) · t/T).
    Root,
    /// λ₀^(1 − t/T); λ₀ must be above 0.
    Geometric,
}

/// A pace over the training nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    pub(super) growth: Growth,
    /// λ₀, in [0, 1].
    pub(super) start_share: f64,
    /// T as a share of all epochs, in (0, 1].
    pub(super) full_at: f64,
}

impl Pace {
    /// The share of the training nodes that is in after `epoch` of `epochs` are trained.
    fn share(&self, epoch: u32, epochs: u32) -> f64 {
        let start = self.start_share;
        let t = (f64::from(epoch) / (self.full_at * f64::from(epochs.max(1)))).min(1.0);
        match self.growth {
            Growth::Linear => start + (1.0 - start) * t,
            Growth::Root => (start * start + (1.0 - start * start) * t).sqrt(),
            Growth::Geometric => libm::pow(start, 1.0 - t),
        }
    }

    /// How many of `nodes` are in: their share, rounded down, but one at least, because nothing is learned from none.
    pub(super) fn count(&self, epoch: u32, epochs: u32, nodes: usize) -> usize {
        // A share that is whole but for rounding must not lose a node.
        let count = (self.share(epoch, epochs) * nodes as f64 + 1e-9).floor() as usize;
        count.clamp(1, nodes.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(growth: Growth, start_share: f64, full_at: f64) -> Vec<usize> {
        let pace = Pace { growth, start_share, full_at };
        [0, 1, 25, 50, 64, 75, 99].map(|epoch| pace.count(epoch, 100, 400)).to_vec()
    }

    #[test]
    fn traditional_paces_are_t_and_root_t_of_all_nodes_and_one_node_at_the_start() {
        assert_eq!(counts(Growth::Linear, 0.0, 1.0), [1, 4, 100, 200, 256, 300, 396]);
        // √0.01 = 0.1, √0.25 = 0.5, √0.5 = 0.7071, √0.64 = 0.8, √0.75 = 0.8660, √0.99 = 0.9950.
        assert_eq!(counts(Growth::Root, 0.0, 1.0), [1, 40, 200, 282, 320, 346, 397]);
    }

    #[test]
    fn paces_start_at_the_stated_share_and_hold_every_node_from_full_at_on() {
        assert_eq!(counts(Growth::Linear, 0.25, 0.5), [100, 106, 250, 400, 400, 400, 400]);
        // √(1/16 + 15/16 · 0.02) = 0.2850, √(1/16 + 15/16 · ½) = 0.7289.
        assert_eq!(counts(Growth::Root, 0.25, 0.5), [100, 114, 291, 400, 400, 400, 400]);
        // ¼^½ = ½.
        assert_eq!(counts(Growth::Geometric, 0.25, 0.5), [100, 102, 200, 400, 400, 400, 400]);
    }

    #[test]
    fn one_node_is_always_in() {
        let pace = Pace { growth: Growth::Linear, start_share: 0.0, full_at: 1.0 };
        assert!((0..10).all(|epoch| pace.count(epoch, 10, 1) == 1));
    }
}
