//! Methods beside each other: test scores with their intervals, and how they fall with fake edges.

use std::collections::BTreeMap;

use edgepace_data::Noise;
use edgepace_train::RunRecord;
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::{PageTable, Report, Section};
use crate::figure::{Axis, Chart, Interval, IntervalChart, Mark, Series};

/// What runs have in common that differ by their seed alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CellKey {
    pub(super) data: String,
    pub(super) noise: String,
    pub(super) backbone: &'static str,
    pub(super) method: String,
    metric: String,
    settings: String,
}

impl CellKey {
    pub(super) fn of(record: &RunRecord) -> Self {
        let noise: Noise = record.data.noise.parse().unwrap_or_default();
        let method = match &record.config.preset {
            Some(preset) => format!("{} ({preset})", record.config.method),
            None => record.config.method.clone(),
        };
        // What was chosen on validation differs from seed to seed; what was asked for does not.
        let settings = match record.result.chosen {
            Some(_) => String::new(),
            None => toml::to_string(&record.config).unwrap_or_default(),
        };
        let method = if record.result.chosen.is_some() { "chosen on validation".to_owned() } else { method };
        Self {
            data: without_seed(&record.data.name),
            noise: Noise { seed: None, ..noise }.to_string(),
            backbone: record.config.backbone.name(),
            method,
            metric: record.result.metric.clone(),
            settings,
        }
    }

    /// The graph with its noise.
    pub(super) fn graph(&self) -> String {
        if self.noise.is_empty() { self.data.clone() } else { format!("{} + {}", self.data, self.noise) }
    }
}

/// The name of a generator without the seed of its graph.
fn without_seed(name: &str) -> String {
    let Some((generator, settings)) = name.split_once(':') else { return name.to_owned() };
    let kept: Vec<&str> = settings.split(',').filter(|part| !part.starts_with("seed=")).collect();
    if kept.is_empty() { generator.to_owned() } else { format!("{generator}:{}", kept.join(",")) }
}

/// Mean, standard deviation and 95 % interval of the mean (Student's t).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) values: Vec<f64>,
    pub(super) mean: f64,
    pub(super) deviation: Option<f64>,
    pub(super) interval: Option<[f64; 2]>,
}

impl Spread {
    pub(super) fn of(values: Vec<f64>) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        let student = StudentsT::new(0.0, 1.0, count - 1.0).ok().filter(|_| values.len() > 1);
        let interval = student.zip(deviation).map(|(student, deviation)| {
            let half = student.inverse_cdf(0.975) * deviation / count.sqrt();
            [mean - half, mean + half]
        });
        Some(Self { values, mean, deviation, interval })
    }

    /// As `76.5 ± 0.9`.
    pub(super) fn text(&self) -> String {
        match self.deviation {
            Some(deviation) => format!("{:.2} ± {deviation:.2}", self.mean),
            None => format!("{:.2}", self.mean),
        }
    }
}

/// The runs of each cell, in the order in which cells first come.
pub(super) fn cells(report: &Report) -> Vec<(CellKey, Vec<&RunRecord>)> {
    let mut order: Vec<(CellKey, Vec<&RunRecord>)> = Vec::new();
    let mut places: BTreeMap<CellKey, usize> = BTreeMap::new();
    for run in &report.runs {
        let key = CellKey::of(&run.record);
        let place = *places.entry(key.clone()).or_insert_with(|| {
            order.push((key, Vec::new()));
            order.len() - 1
        });
        order[place].1.push(&run.record);
    }
    order
}

fn tests(runs: &[&RunRecord]) -> Option<Spread> {
    Spread::of(runs.iter().filter_map(|run| run.result.test).collect())
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
        if !methods.contains(&&key.method[..]) {
            methods.push(&key.method);
        }
    }
    /// More graphs than anybody compares by eye: the table has them all.
    const CHARTS: usize = 24;
    let backbones: Vec<&str> = cells.iter().map(|(key, _)| key.backbone).collect();
    let one_backbone = backbones.iter().all(|name| *name == backbones[0]);
    for (graph, metric) in graphs.iter().take(CHARTS) {
        let own = cells.iter().filter(|(key, _)| key.graph() == *graph && key.metric == *metric);
        let rows: Vec<Interval> = own
            .filter_map(|(key, runs)| {
                let spread = tests(runs)?;
                let name = if one_backbone {
                    key.method.clone()
                } else {
                    format!("{} {}", key.backbone, key.method)
                };
                let kind = methods.iter().position(|method| *method == key.method).unwrap_or(0);
                let points = if spread.values.len() > 1 { spread.values } else { Vec::new() };
                Some(Interval { points, kind, ..Interval::new(name, spread.mean, spread.interval) })
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
            key.backbone.to_owned(),
            key.method.clone(),
            tests(runs).map_or_else(|| "–".to_owned(), |spread| spread.text()),
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
    let mut grounds: Vec<((String, &str, String), Vec<(String, Vec<(f64, Spread)>)>)> = Vec::new();
    for (key, runs) in &cells {
        let (Ok(noise), Some(spread)) = (noise_of(&key.noise), tests(runs)) else { continue };
        if (Noise { fake: 0.0, ..noise }) != Noise::default() {
            continue;
        }
        let ground = (key.data.clone(), key.backbone, key.metric.clone());
        let place = grounds.iter().position(|(found, _)| *found == ground).unwrap_or_else(|| {
            grounds.push((ground, Vec::new()));
            grounds.len() - 1
        });
        let methods = &mut grounds[place].1;
        let own = methods.iter().position(|(name, _)| *name == key.method).unwrap_or_else(|| {
            methods.push((key.method.clone(), Vec::new()));
            methods.len() - 1
        });
        methods[own].1.push((100.0 * noise.fake, spread));
    }
    for ((data, backbone, metric), methods) in grounds {
        if methods.iter().all(|(_, points)| points.len() < 2) {
            continue;
        }
        let mut chart = Chart::new(format!("{data}, {backbone}"))
            .x(Axis::new("fake edges / % of edges"))
            .y(Axis::new(unit("test", &metric)));
        for (method, mut points) in methods {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let line =
                Series::new(method, Mark::LineAndPoints, points.iter().map(|(x, spread)| (*x, spread.mean)));
            let band = points
                .iter()
                .map(|(_, spread)| spread.interval.map_or((f64::NAN, f64::NAN), |[a, b]| (a, b)));
            chart = chart.with(line.band(band));
        }
        section.figure(&chart);
    }
    section
}

fn noise_of(text: &str) -> Result<Noise, ()> {
    if text.is_empty() { Ok(Noise::default()) } else { text.parse().map_err(|_| ()) }
}
