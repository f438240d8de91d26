//! One bar over all epochs of all runs; nothing where there is no terminal.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use edgepace_lab::Watch;
use edgepace_train::Event;
use indicatif::{ProgressBar, ProgressStyle};

use crate::messages;
use crate::table::count;

pub(crate) struct Progress {
    bar: ProgressBar,
    runs: usize,
    /// Of each run that has begun: epochs done, and about how many are left.
    seen: Mutex<BTreeMap<u64, (u64, u64)>>,
}

impl Progress {
    pub(crate) fn new(runs: usize) -> Self {
        let style = ProgressStyle::with_template("{wide_bar} {msg}, {eta} left");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar: messages::bar(bar), runs, seen: Mutex::default() }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Takes up how far a run is. Those that have not begun are expected to take as long as those that have.
    fn take_up(&self, seed: u64, now: impl FnOnce((u64, u64)) -> (u64, u64)) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = seen.get(&seed).copied().unwrap_or_default();
        seen.insert(seed, now(before));
        let done: u64 = seen.values().map(|(done, _)| done).sum();
        let of_begun: u64 = seen.values().map(|(done, left)| done + left).sum();
        self.bar.set_length(of_begun * self.runs as u64 / seen.len().max(1) as u64);
        self.bar.set_position(done);
    }
}

impl Watch for Progress {
    fn on(&self, seed: u64, events: &[Event], done: u64, left: u64) {
        self.take_up(seed, |_| (done, left));
        if let Some(Event::Epoch { epoch, loss, validation, edges, .. }) = events.last() {
            let validation = validation.map_or_else(String::new, |score| format!(", validation {score:.1}"));
            let edges = count(*edges as u64);
            self.bar.set_message(format!("epoch {epoch}, loss {loss:.3}{validation}, {edges} edges in"));
        }
    }

    fn over(&self, seed: u64) {
        self.take_up(seed, |(done, _)| (done, 0));
    }
}
