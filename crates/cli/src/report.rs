//! Results of several runs, for programs and for people.

use edgepace_lab::Sweep;
use edgepace_lab::statistics::{mean, standard_deviation};
use edgepace_train::RunResult;
use serde::Serialize;

use crate::table::{Align, Table, count};

/// What was run, and what came out of each run.
#[derive(Serialize)]
pub(crate) struct Summary<R> {
    pub(crate) dataset: String,
    pub(crate) backbone: &'static str,
    pub(crate) method: String,
    pub(crate) preset: Option<String>,
    /// As it was asked for; none without.
    pub(crate) noise: Option<String>,
    /// As it was asked for, or else the splits that the runs had.
    pub(crate) split: String,
    pub(crate) runs: Vec<R>,
}

impl<R> Summary<R> {
    pub(crate) fn new(sweep: &Sweep, runs: Vec<R>, splits: &[String]) -> Self {
        let (plan, config) = (sweep.plan(), sweep.config());
        let mut different: Vec<&str> = splits.iter().map(|split| &split[..]).collect();
        different.dedup();
        Self {
            dataset: sweep.dataset_name().to_owned(),
            backbone: config.config().backbone.name(),
            method: plan.config.method.clone(),
            preset: config.preset().map(ToOwned::to_owned),
            noise: (!plan.noise.is_none()).then(|| plan.noise.to_string()),
            split: plan.split.as_ref().map_or_else(|| different.join(", "), ToString::to_string),
            runs,
        }
    }

    /// What was run, in one line.
    pub(crate) fn title(&self) -> String {
        let preset = self.preset.as_ref().map_or_else(String::new, |preset| format!(" ({preset})"));
        let noise = self.noise.as_ref().map_or_else(String::new, |noise| format!(", noise {noise}"));
        format!("{}: {} with {}{preset}{noise}", self.dataset, self.backbone, self.method)
    }
}

/// A number with so many digits after the point, or a dash.
pub(crate) fn fixed(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

/// `mean ± deviation`, as far as there are such.
pub(crate) fn mean_and_deviation(values: &[Option<f64>], digits: usize) -> String {
    match standard_deviation(values) {
        Some(deviation) => format!("{} ± {deviation:.digits$}", fixed(mean(values), digits)),
        None => fixed(mean(values), digits),
    }
}

/// One line per run, and their mean.
pub(crate) fn table(runs: &[&RunResult]) -> String {
    let unit = match runs.first().map(|run| &run.metric[..]) {
        Some("accuracy") | None => " %".to_owned(),
        Some("log-loss") => " log-loss".to_owned(),
        Some(metric) => format!(" {metric} %"),
    };
    let heads = ["test", "validation"].map(|set| format!("{set}{unit}"));
    let mut table = Table::new(&[
        ("seed", Align::Left),
        (heads[0].as_str(), Align::Right),
        (heads[1].as_str(), Align::Right),
        ("best epoch", Align::Right),
        ("edges in at the end", Align::Right),
        ("seconds", Align::Right),
        ("split", Align::Left),
    ]);
    for run in runs {
        let chosen = run.chosen.as_ref().map_or_else(String::new, |chosen| format!(" (chose {chosen})"));
        table.row([
            run.seed.to_string(),
            fixed(run.test, 2),
            fixed(run.validation, 2),
            run.best_epoch.to_string(),
            run.edges_history.last().map_or_else(|| "–".to_owned(), |last| count(last.1 as u64)),
            format!("{:.2}", run.seconds + run.warm_start_seconds),
            format!("{}{chosen}", run.split),
        ]);
    }
    if runs.len() > 1 {
        let of = |value: fn(&RunResult) -> Option<f64>| -> Vec<Option<f64>> {
            runs.iter().map(|run| value(run)).collect()
        };
        let (test, validation) = (of(|run| run.test), of(|run| run.validation));
        table.row(["mean".to_owned(), mean_and_deviation(&test, 2), mean_and_deviation(&validation, 2)]);
        return format!("{table}\n± is the standard deviation over seeds");
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_has_no_deviation() {
        assert_eq!(mean_and_deviation(&[Some(80.0), Some(82.0)], 2), "81.00 ± 1.41");
        assert_eq!(mean_and_deviation(&[Some(80.0)], 2), "80.00");
    }
}
