//! A second beginning with more weight decay, for a network that learns by heart.
//!
//! How much weight decay features want depends on how much they say, which nobody knows beforehand. A network whose best window is
//! one of its first, and that gets no better, learns its training nodes by heart. So it begins anew, once, with more weight
//! decay, within the same number of epochs. The best window of both counts.

use serde::{Deserialize, Serialize};

/// A window within so many epochs is one of the first.
const EARLY: u32 = 30;

/// How much more weight decay there is from then on.
const FACTOR: f64 = 4.0;

/// Whether a training has begun anew, and whether it should.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Restart {
    /// Epochs without a better window after which it does.
    after: u32,
    /// The best so far: its epoch, and what epochs are chosen by.
    best: Option<(u32, f64)>,
    begun_anew: bool,
}

impl Restart {
    pub(crate) fn new(after: u32) -> Self {
        Self { after, best: None, begun_anew: false }
    }

    /// Whether training begins anew with this epoch.
    pub(crate) fn is_due(&mut self, epoch: u32) -> bool {
        let by_heart = self.best.is_some_and(|(best, _)| best <= EARLY && epoch - best > self.after);
        let due = by_heart && !self.begun_anew;
        self.begun_anew |= due;
        due
    }

    /// Takes up what an epoch came to; none without validation nodes, where nothing can be told.
    pub(crate) fn tell(&mut self, epoch: u32, criterion: Option<f64>) {
        if let Some(now) = criterion
            && self.best.is_none_or(|(_, best)| now > best)
        {
            self.best = Some((epoch, now));
        }
    }

    /// How many times the weight decay of the settings there is now.
    pub(crate) fn decay(&self) -> f64 {
        if self.begun_anew { FACTOR } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The epochs at which a training begins anew that gets better until one epoch, and worse from then on.
    fn beginnings(after: u32, best: u32) -> Vec<u32> {
        let mut restart = Restart::new(after);
        let mut list = Vec::new();
        for epoch in 0..300 {
            if restart.is_due(epoch) {
                list.push(epoch);
            }
            restart.tell(epoch, Some(-(f64::from(epoch) - f64::from(best)).abs()));
        }
        assert_eq!(restart.decay() > 1.0, !list.is_empty());
        list
    }

    #[test]
    fn a_network_that_learns_by_heart_begins_anew_once() {
        assert_eq!(beginnings(40, 20), [61]);
        assert_eq!(beginnings(10, EARLY), [EARLY + 11]);
        assert_eq!(beginnings(40, EARLY + 1), [0; 0], "its best is not one of the first");
    }

    #[test]
    fn without_validation_nodes_nothing_can_be_told() {
        let mut restart = Restart::new(1);
        for epoch in 0..100 {
            assert!(!restart.is_due(epoch));
            restart.tell(epoch, None);
        }
    }
}
