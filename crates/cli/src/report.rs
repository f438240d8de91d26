//! Results of several runs, for programs and for people.

use edgepace_lab::statistics::{mean, standard_deviation};
use edgepace_lab::{Plan, Sweep};
use edgepace_train::{CheckedConfig, Kept, RunResult, SplitSizes, Warning};
use serde::Serialize;

use crate::messages;
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
    /// Each once, whatever number of runs has it.
    pub(crate) warnings: Vec<Said>,
}

impl<R> Summary<R> {
    pub(crate) fn new(sweep: &Sweep, runs: Vec<R>, splits: &[String], warnings: Vec<Said>) -> Self {
        Self::of(sweep.plan(), sweep.config(), sweep.dataset_name(), runs, splits, warnings)
    }

    /// The same of a plan whose runs were over before.
    pub(crate) fn of(
        plan: &Plan,
        config: &CheckedConfig,
        dataset: &str,
        runs: Vec<R>,
        splits: &[String],
        warnings: Vec<Said>,
    ) -> Self {
        let mut different: Vec<&str> = splits.iter().map(|split| &split[..]).collect();
        different.dedup();
        Self {
            dataset: dataset.to_owned(),
            backbone: config.config().backbone.name(),
            method: plan.config.method.clone(),
            preset: config.preset().map(ToOwned::to_owned),
            noise: (!plan.noise.is_none()).then(|| plan.noise.to_string()),
            split: plan.split.as_ref().map_or_else(|| different.join(", "), ToString::to_string),
            runs,
            warnings,
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

/// A warning that one or several runs have.
#[derive(Serialize)]
pub(crate) struct Said {
    kind: &'static str,
    message: String,
}

/// Every kind of warning once, in the words of the first run that has it, and with the seeds of those that have it where
/// not all say the same.
pub(crate) fn said_once(runs: &[(u64, &[Warning])]) -> Vec<Said> {
    let mut kinds: Vec<&'static str> = Vec::new();
    for warning in runs.iter().flat_map(|(_, warnings)| *warnings) {
        if !kinds.contains(&warning.kind()) {
            kinds.push(warning.kind());
        }
    }
    let of_kind = |kind: &'static str| {
        let of_run = |(seed, warnings): &(u64, &[Warning])| {
            let found = warnings.iter().find(|warning| warning.kind() == kind)?;
            Some((*seed, found.to_string()))
        };
        let found: Vec<(u64, String)> = runs.iter().filter_map(of_run).collect();
        let (_, first) = found.first()?;
        let same = found.len() == runs.len() && found.iter().all(|(_, message)| message == first);
        let seeds: Vec<String> = found.iter().map(|(seed, _)| seed.to_string()).collect();
        let message = match &seeds[..] {
            _ if same => first.clone(),
            [one] => format!("{first} (seed {one})"),
            [one, others @ ..] => format!("{first} (seed {one}; also {})", others.join(", ")),
            [] => return None,
        };
        Some(Said { kind, message })
    };
    kinds.into_iter().filter_map(of_kind).collect()
}

/// Tells people what they would want to know, each thing once. Programs find it in the result.
pub(crate) fn warn(warnings: &[Said]) {
    for Said { message, .. } in warnings {
        messages::warn(message);
    }
}

/// The sizes of a split and its name, in one line. Where each run has a split of its own, the first one stands for all.
pub(crate) fn split_line(runs: &[RunResult]) -> Option<String> {
    let sizes = runs.first()?.split_sizes?;
    let SplitSizes { train, validation, test, labelled } = sizes;
    let [train, validation, test, labelled] =
        [train, validation, test, labelled].map(|number| count(number as u64));
    let same = runs.iter().all(|run| run.split_sizes == Some(sizes));
    let about = if same { "" } else { "about " };
    let split = if one_split(runs) { format!("; split {}", runs[0].split) } else { String::new() };
    Some(format!(
        "{about}{train} training, {validation} validation and {test} test nodes, of {labelled} labelled{split}"
    ))
}

fn one_split(runs: &[RunResult]) -> bool {
    runs.iter().all(|run| run.split == runs[0].split)
}

/// What was kept, where there was a choice.
fn kept(run: &RunResult, method: &str) -> String {
    match (&run.chosen, run.kept) {
        (Some(chosen), _) => chosen.clone(),
        (None, Kept::Method) => method.to_owned(),
        (None, Kept::WarmStart) => "plain".to_owned(),
    }
}

/// How much the experts of a pool count, on average of its runs; none without a pool.
fn experts(runs: &[RunResult]) -> Option<String> {
    let pools = || runs.iter().map(|run| &run.pool).filter(|pool| !pool.is_empty());
    let first = pools().next()?;
    let of = |name: &str| {
        let weights = pools().flatten().filter(|expert| expert.expert == name).map(|expert| expert.weight);
        weights.sum::<f64>() / pools().count() as f64
    };
    let weights: Vec<(&str, f64)> =
        first.iter().map(|expert| (&expert.expert[..], of(&expert.expert))).collect();
    let all: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let features = weights.iter().filter(|(name, _)| *name == "mlp").map(|(_, weight)| weight).sum::<f64>();
    let list: Vec<String> = weights.iter().map(|(name, weight)| format!("{name} {weight:.2}")).collect();
    let share = 100.0 * features / all.max(f64::MIN_POSITIVE);
    Some(format!(
        "experts: {}; models with edges {:.0} %, features alone {share:.0} %",
        list.join(", "),
        100.0 - share
    ))
}

/// One line per run of a method, and their mean.
pub(crate) fn table(runs: &[RunResult], method: &str) -> String {
    let unit = match runs.first().map(|run| &run.metric[..]) {
        Some("accuracy") | None => " %".to_owned(),
        Some("log-loss") => " log-loss".to_owned(),
        Some(metric) => format!(" {metric} %"),
    };
    let has_error = runs.iter().any(|run| run.validation_se.is_some());
    let has_choice = runs.iter().any(|run| run.chosen.is_some() || run.warm_start_validation.is_some());
    let has_splits = !one_split(runs);
    let test = format!("test{unit}");
    let validation = if has_error { "validation ± se".to_owned() } else { format!("validation{unit}") };
    let mut columns = vec![
        ("seed", Align::Left),
        (test.as_str(), Align::Right),
        (validation.as_str(), Align::Right),
        ("epoch", Align::Right),
        ("edges in", Align::Right),
        ("seconds", Align::Right),
    ];
    columns.extend(has_choice.then_some(("kept", Align::Left)));
    columns.extend(has_splits.then_some(("split", Align::Left)));
    let mut table = Table::new(&columns);
    for run in runs {
        let error = run.validation_se.map_or_else(String::new, |error| format!(" ± {error:.1}"));
        let mut cells = vec![
            run.seed.to_string(),
            fixed(run.test, 2),
            format!("{}{error}", fixed(run.validation, 2)),
            run.best_epoch.to_string(),
            run.edges_history.last().map_or_else(|| "–".to_owned(), |last| count(last.1 as u64)),
            format!("{:.2}", run.seconds + run.warm_start_seconds),
        ];
        cells.extend(has_choice.then(|| kept(run, method)));
        cells.extend(has_splits.then(|| run.split.clone()));
        table.row(cells);
    }
    let mut notes = Vec::new();
    if runs.len() > 1 {
        let of =
            |value: fn(&RunResult) -> Option<f64>| -> Vec<Option<f64>> { runs.iter().map(value).collect() };
        let (test, validation) = (of(|run| run.test), of(|run| run.validation));
        table.row(["mean".to_owned(), mean_and_deviation(&test, 2), mean_and_deviation(&validation, 2)]);
        notes.push("± of a mean is the standard deviation over seeds");
    }
    let experts = experts(runs);
    notes.extend(experts.as_deref());
    if has_error {
        notes.push("se: standard error of the share of right answers among so many nodes");
    }
    if notes.is_empty() { table.to_string() } else { format!("{table}\n{}", notes.join("\n")) }
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
