//! How edges came in: how many, of which kind, and what the method made of it.

use edgepace_data::Generator;
use edgepace_graph::{Labels, UNLABELLED};
use edgepace_train::EdgeRow;

use super::{GraphOfRun, Report, ReportRun, Section};
use crate::figure::{Axis, Chart, Colour, Mark, Series};

/// Kinds of edges that are known in truth, which no method knows: their names, and the kind of each edge.
pub(super) struct Kinds {
    pub(super) names: Vec<&'static str>,
    pub(super) of: Vec<Option<usize>>,
    /// What they are by.
    pub(super) by: &'static str,
}

/// By the distance of the classes of the ends where classes form a circle, as the generator of the paper has them; else whether
/// the classes are the same.
pub(super) fn kinds(graph: &GraphOfRun) -> Option<Kinds> {
    let Labels::Classes(classes) = &**graph.dataset.labels() else { return None };
    let name = graph.dataset.name().split('+').next().unwrap_or_default();
    let circle = name.starts_with("synthetic") && matches!(Generator::parse(name), Ok(Some(_)));
    let width = classes.width();
    let kind = |edge: &EdgeRow| {
        let [a, b] = [edge.source, edge.target].map(|node| classes.of().get(node as usize).copied());
        let (a, b) = a.zip(b).filter(|&(a, b)| a != UNLABELLED && b != UNLABELLED)?;
        let apart = (a as usize).abs_diff(b as usize);
        Some(if circle { apart.min(width - apart).min(2) } else { usize::from(apart > 0) })
    };
    let of: Vec<Option<usize>> = graph.edges.iter().map(kind).collect();
    let names = match circle {
        true => vec!["easy: same class", "medium: next class", "hard: other class"],
        false => vec!["ends of one class", "ends of two classes"],
    };
    of.iter().any(Option::is_some).then_some(Kinds { names, of, by: "true classes of the ends" })
}

/// By whether noise has added them.
pub(super) fn fakes(graph: &GraphOfRun) -> Option<Kinds> {
    let of: Vec<Option<usize>> = graph.edges.iter().map(|edge| edge.fake.map(usize::from)).collect();
    let both = [0, 1].iter().all(|kind| of.contains(&Some(*kind)));
    both.then_some(Kinds { names: vec!["genuine", "fake"], of, by: "marks in the data" })
}

/// The share of each kind that has been in, at each epoch where edges came in.
fn shares(graph: &GraphOfRun, kinds: &Kinds, last: u32) -> Vec<Vec<(f64, f64)>> {
    let mut epochs: Vec<u32> = graph.edges.iter().filter_map(|edge| edge.first_epoch).collect();
    epochs.sort_unstable();
    epochs.dedup();
    let mut curves = Vec::new();
    for kind in 0..kinds.names.len() {
        let own = || graph.edges.iter().zip(&kinds.of).filter(|(_, found)| **found == Some(kind));
        let all = own().count().max(1) as f64;
        let mut come: Vec<u32> = own().filter_map(|(edge, _)| edge.first_epoch).collect();
        come.sort_unstable();
        let at = |epoch: u32| 100.0 * come.partition_point(|&first| first <= epoch) as f64 / all;
        let mut points = vec![(0.0, at(0))];
        points.extend(epochs.iter().filter(|&&epoch| epoch > 0).map(|&epoch| (f64::from(epoch), at(epoch))));
        points.push((f64::from(last), at(last)));
        curves.push(points);
    }
    curves
}

const COLOURS: [Colour; 3] = [Colour::Kind(0), Colour::Kind(4), Colour::Kind(1)];

/// Edges over time.
pub(super) fn curriculum(report: &Report) -> Section {
    let mut section = Section::new(
        "curriculum",
        "Curriculum over time",
        "Training begins with the edges that the model expects and takes up harder ones. Kinds of edges are known here, not to the \
         method.",
    );
    let Some(main) = report.main_run() else { return section };
    let history = &main.record.result.edges_history;
    let last = main.record.result.epochs.max(history.last().map_or(0, |change| change.0));
    // What never changes is no curriculum.
    let changes = history.len() > 1
        || report
            .graph
            .as_ref()
            .is_some_and(|graph| graph.edges.iter().any(|edge| edge.first_epoch != Some(0)));
    if !changes {
        return section;
    }
    if let Some(graph) = &report.graph {
        for (title, kinds) in [
            ("Share of each kind of edge so far", kinds(graph)),
            ("Genuine and fake edges so far", fakes(graph)),
        ] {
            let Some(kinds) = kinds else { continue };
            let mut chart = Chart::new(title)
                .x(Axis::new("epoch"))
                .y(Axis::new("has been in / % of its kind").range(0.0, 100.0));
            for ((name, points), &colour) in kinds
                .names
                .iter()
                .zip(shares(graph, &kinds, last))
                .zip(if kinds.names.len() == 3 { &COLOURS[..] } else { &[COLOURS[0], COLOURS[2]] })
            {
                chart = chart.with(Series::new(*name, Mark::Step, points).colour(colour));
            }
            section.text += &format!(" «{title}» is by the {}.", kinds.by);
            section.figure(&chart);
        }
    }
    if let Some(chart) = edges_chart(&report.siblings(), main, last) {
        section.figure(&chart);
    }
    if main.objective.len() > 1 {
        let points = main.objective.iter().map(|&(epoch, value)| (f64::from(epoch), value));
        let chart =
            Chart::new("Joint objective").x(Axis::new("epoch")).y(Axis::new("objective after each update"));
        section.figure(&chart.with(Series::new("objective", Mark::LineAndPoints, points)));
    }
    section
}

/// Edges in the training structure by epoch, one line for each seed.
fn edges_chart(runs: &[&ReportRun], main: &ReportRun, last: u32) -> Option<Chart> {
    const LINES: usize = 8;
    let all = main.record.data.edges.max(1) as f64;
    let mut chart = Chart::new("Edges in training")
        .x(Axis::new("epoch"))
        .y(Axis::new("edges / % of all").range(0.0, 100.0));
    let mut drawn = 0;
    for run in runs.iter().take(LINES) {
        let history = &run.record.result.edges_history;
        let (Some(_), Some(&(_, end))) = (history.first(), history.last()) else { continue };
        let mut points: Vec<(f64, f64)> =
            history.iter().map(|&(epoch, edges)| (f64::from(epoch), 100.0 * edges as f64 / all)).collect();
        points.push((f64::from(last), 100.0 * end as f64 / all));
        chart = chart.with(Series::new(format!("seed {}", run.record.result.seed), Mark::Step, points));
        drawn += 1;
    }
    (drawn > 0).then_some(chart)
}
