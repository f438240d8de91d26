//! One bar over all epochs of all runs; nothing where there is no terminal.

use edgepace_train::{Event, RunConfig};
use indicatif::{ProgressBar, ProgressStyle};

use crate::table::count;

pub(crate) struct Progress {
    bar: ProgressBar,
    /// Epochs that one run is expected to take.
    per_run: u64,
}

impl Progress {
    pub(crate) fn new(config: &RunConfig, runs: usize) -> Self {
        // A curriculum warms up with a run of its own; `auto` tries five candidates and warms up with one of them.
        let parts = match (&config.method[..], config.preset.as_deref()) {
            ("auto", _) | (_, Some("auto")) => 5,
            ("rcl" | "random", _) => 2,
            _ => 1,
        };
        let per_run = parts * u64::from(config.epochs);
        let style = ProgressStyle::with_template("{wide_bar} {msg}, {eta} left");
        let bar = ProgressBar::new(per_run * runs as u64)
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, per_run }
    }

    pub(crate) fn of_run(&self) -> RunProgress<'_> {
        RunProgress { all: self, seen: 0 }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

pub(crate) struct RunProgress<'a> {
    all: &'a Progress,
    seen: u64,
}

impl RunProgress<'_> {
    pub(crate) fn on(&mut self, event: &Event) {
        if let Event::Epoch { epoch, loss, validation, edges, .. } = event {
            if self.seen < self.all.per_run {
                self.seen += 1;
                self.all.bar.inc(1);
            }
            let validation =
                validation.map_or_else(String::new, |score| format!(", validation {:.1}", 100.0 * score));
            let edges = count(*edges as u64);
            self.all.bar.set_message(format!("epoch {epoch}, loss {loss:.3}{validation}, {edges} edges in"));
        }
    }

    /// What a run did not need is done as well.
    pub(crate) fn done(self) {
        self.all.bar.inc(self.all.per_run - self.seen);
    }
}
