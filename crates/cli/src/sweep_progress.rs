//! One bar over all runs of a sweep, with the time left; nothing where there is no terminal.

use std::time::Duration;

use edgepace_lab::{Cell, CellRun, Ended, SweepProgress, WatchRuns};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use crate::messages;

/// Steps of the bar.
const STEPS: u64 = 10_000;

pub(crate) struct SweepBar {
    bar: ProgressBar,
}

impl SweepBar {
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template("{wide_bar} {msg}");
        let bar = ProgressBar::new(STEPS).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar: messages::bar(bar) }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl WatchRuns for SweepBar {
    fn progress(&self, progress: &SweepProgress) {
        let SweepProgress { runs, over, failed, share, seconds_left } = *progress;
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        let left = seconds_left.map_or_else(String::new, |seconds| {
            let left = Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
            format!(", about {} left", HumanDuration(left))
        });
        self.bar.set_position((share.clamp(0.0, 1.0) * STEPS as f64) as u64);
        self.bar.set_message(format!("{over} of {runs} runs{failed}{left}"));
    }

    fn over(&self, cell: &Cell, run: &CellRun) {
        let what = match &run.ended {
            Ended::Done => "done".to_owned(),
            Ended::Before => "was there before".to_owned(),
            Ended::Failed(reason) => format!("failed: {reason}"),
            Ended::NoData(reason) => format!("no data: {reason}"),
            Ended::Left => "left".to_owned(),
        };
        let Cell { graph, method, backbone, .. } = cell;
        messages::note(format_args!("{graph}, {} with {method}, seed {}: {what}", backbone.name(), run.seed));
    }
}
