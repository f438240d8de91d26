//! Methods beside each other: test scores with their intervals, and how they fall with fake edges.

use std::collections::BTreeMap;

use edgepace_data::Noise;
use edgepace_train::RunRecord;

use super::{CellName, PageTable, Report, ReportRun, Section};
use crate::figure::{Axis, Chart, Interval, IntervalChart, Mark, Series};
use crate::statistics::Summary;

/// A method, and what came out by the number of fake edges.
type Line<'a> = (&'a str, Vec<(f64, Summary)>);

/// More graphs than anybody compares by eye: the table has them all.
const CHARTS: usize = 24;

/// What runs have in common that differ by their seed alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellKey {
    pub(super) name: CellName,
    metric: String,
    settings: String,
}

impl CellKey {
    pub(super) fn of(run: &ReportRun) -> Self {
        let (record, metric) = (&run.record, run.record.result.metric.clone());
        if let Some(name) = &run.cell {
            return Self { name: name.clone(), metric, settings: String::new() };
        }
        let noise: Noise = record.data.noise.parse().unwrap_or_default();
        // What was chosen on validation differs from seed to seed; what was asked for does not.
        let (method, settings) = match (&record.result.chosen, &record.config.preset) {
            (Some(_), _) => ("chosen on validation".to_owned(), String::new()),
            (None, preset) => {
                let preset = preset.as_ref().map_or_else(String::new, |preset| format!(" ({preset})"));
                let settings = toml::to_string(&record.config).unwrap_or_default();
                (format!("{}{preset}", record.config.method), settings)
            }
        };
        let name = CellName {
            graph: without_seed(&record.data.name),
            noise: Noise { seed: None, ..noise }.to_string(),
            backbone: record.config.backbone.name().to_owned(),
            method,
        };
        Self { name, metric, settings }
    }

    /// The graph with its noise.
    pub(super) fn graph(&self) -> String {
        let CellName { graph, noise, .. } = &self.name;
        if noise.is_empty() { graph.clone() } else { format!("{graph} + {noise}") }
    }
}

/// The name of a generator without the seed of its graph.
fn without_seed(name: &str) -> String {
    let Some((generator, settings)) = name.split_once(':') else { return name.to_owned() };
    let kept: Vec<&str> = settings.split(',').filter(|part| !part.starts_with("seed=")).collect();
    if kept.is_empty() { generator.to_owned() } else { format!("{generator}:{}", kept.join(",")) }
}

/// As `76.5 ± 0.9`.
pub(super) fn mean_and_deviation(values: &[f64]) -> Option<String> {
    let summary = Summary::of(values)?;
    let spread = summary.sd.map_or_else(String::new, |sd| format!(" ± {sd:.2}"));
    Some(format!("{:.2}{spread}", summary.mean))
}

fn interval(summary: &Summary) -> Option<[f64; 2]> {
    summary.half_interval.map(|half| [summary.mean - half, summary.mean + half])
}

/// The runs of each cell, in the order in which cells first come.
pub(super) fn cells(report: &Report) -> Vec<(CellKey, Vec<&RunRecord>)> {
    let mut order: Vec<(CellKey, Vec<&RunRecord>)> = Vec::new();
    let mut places: BTreeMap<CellKey, usize> = BTreeMap::new();
    for run in &report.runs {
        let key = CellKey::of(run);
        let place = *places.entry(key.clone()).or_insert_with(|| {
            order.push((key, Vec::new()));
            order.len() - 1
        });
        order[place].1.push(&run.record);
    }
    order
}

fn tests(runs: &[&RunRecord]) -> Vec<f64> {
    runs.iter().filter_map(|run| run.result.test).collect()
}

/// A chart for each graph that more than one method ran on, and a table of all.
pub(super) fn comparison(report: &Report) -> Section {
    let mut section = Section::new(
        "comparison",
        "Methods compared",
        "Test score at the epoch of best validation. Large dots are means over seeds, lines their 95 % intervals (Student's t), \
         small dots single seeds.",
    );
    let cells = cells(report);
    if cells.len() < 2 {
        return section;
    }
    let mut graphs: Vec<(String, String)> = Vec::new();
    for (key, _) in &cells {
        let graph = (key.graph(), key.metric.clone());
        if !graphs.contains(&graph) {
            graphs.push(graph);
        }
    }
    let mut methods: Vec<&str> = Vec::new();
    for (key, _) in &cells {
        if !methods.contains(&&key.name.method[..]) {
            methods.push(&key.name.method);
        }
    }
    let one_backbone = cells.iter().all(|(key, _)| key.name.backbone == cells[0].0.name.backbone);
    for (graph, metric) in graphs.iter().take(CHARTS) {
        let own = cells.iter().filter(|(key, _)| key.graph() == *graph && key.metric == *metric);
        let rows: Vec<Interval> = own
            .filter_map(|(key, runs)| {
                let points = tests(runs);
                let summary = Summary::of(&points)?;
                let name = if one_backbone {
                    key.name.method.clone()
                } else {
                    format!("{} {}", key.name.backbone, key.name.method)
                };
                let kind = methods.iter().position(|method| *method == key.name.method).unwrap_or(0);
                let points = if points.len() > 1 { points } else { Vec::new() };
                Some(Interval { points, kind, ..Interval::new(name, summary.mean, interval(&summary)) })
            })
            .collect();
        if rows.len() > 1 {
            section.figure(&IntervalChart::new(graph.clone(), Axis::new(unit("test", metric)), rows));
        }
    }
    let rows = cells.iter().map(|(key, runs)| {
        let seconds = runs.iter().map(|run| run.result.seconds + run.result.warm_start_seconds).sum::<f64>();
        vec![
            key.graph(),
            key.name.backbone.clone(),
            key.name.method.clone(),
            mean_and_deviation(&tests(runs)).unwrap_or_else(|| "–".to_owned()),
            key.metric.clone(),
            runs.len().to_string(),
            format!("{:.1}", seconds / runs.len() as f64),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let head = ["graph", "backbone", "method", "test, mean ± sd", "metric", "seeds", "s per run"];
    section.tables.push(PageTable {
        caption: "All methods".to_owned(),
        words: 3,
        head: head.map(String::from).to_vec(),
        folded: rows.len() > 12,
        rows,
    });
    section
}

/// What an axis of scores says.
pub(super) fn unit(set: &str, metric: &str) -> String {
    if metric == "log-loss" { format!("{set} log-loss / nats") } else { format!("{set} {metric} / %") }
}

/// Test scores over the share of fake edges, where runs differ in it.
pub(super) fn robustness(report: &Report) -> Section {
    let mut section = Section::new(
        "robustness",
        "Robustness to fake edges",
        "Test score by the number of fake edges, in percent of the edges of the graph: mean and 95 % interval over seeds.",
    );
    let cells = cells(report);
    // By graph, backbone and metric, then by method: fake edges and what came out.
    let mut grounds: Vec<([&str; 3], Vec<Line<'_>>)> = Vec::new();
    for (key, runs) in &cells {
        let (Some(noise), Some(summary)) = (noise_of(&key.name.noise), Summary::of(&tests(runs))) else {
            continue;
        };
        if (Noise { fake: 0.0, ..noise }) != Noise::default() {
            continue;
        }
        let ground = [&key.name.graph[..], &key.name.backbone, &key.metric];
        let place = grounds.iter().position(|(found, _)| *found == ground).unwrap_or_else(|| {
            grounds.push((ground, Vec::new()));
            grounds.len() - 1
        });
        let methods = &mut grounds[place].1;
        let own = methods.iter().position(|(name, _)| *name == key.name.method).unwrap_or_else(|| {
            methods.push((&key.name.method[..], Vec::new()));
            methods.len() - 1
        });
        methods[own].1.push((100.0 * noise.fake, summary));
    }
    for ([graph, backbone, metric], methods) in grounds {
        if methods.iter().all(|(_, points)| points.len() < 2) {
            continue;
        }
        let mut chart = Chart::new(format!("{graph}, {backbone}"))
            .x(Axis::new("fake edges / % of edges"))
            .y(Axis::new(unit("test", metric)));
        for (method, mut points) in methods {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let line = Series::new(
                method,
                Mark::LineAndPoints,
                points.iter().map(|(x, summary)| (*x, summary.mean)),
            );
            let band = points
                .iter()
                .map(|(_, summary)| interval(summary).map_or((f64::NAN, f64::NAN), |[a, b]| (a, b)));
            chart = chart.with(line.band(band));
        }
        section.figure(&chart);
    }
    section
}

fn noise_of(text: &str) -> Option<Noise> {
    if text.is_empty() { Some(Noise::default()) } else { text.parse().ok() }
}
