//! The figures of an experiment.

use edgepace_data::generate;
use edgepace_graph::{Features, Labels, Threads};
use edgepace_train::{TrainError, listed};

use super::Reproduction;
use super::curriculum::{Course, KINDS, kind_of_edge};
use crate::error::LabError;
use crate::figure::{
    Axis, Bar, BarChart, Chart, Colour, Figure, Interval, IntervalChart, Link, Mark, Network, Panels, Series,
};
use crate::store::Store;
use crate::tables::ResultTable;

/// A figure with the stem of its file's name.
pub struct Drawing {
    /// As `curriculum`, without an ending.
    pub name: String,
    /// What is drawn.
    pub figure: Box<dyn Figure>,
}

/// Rows that figures of many methods show.
const SHOWN: [&str; 7] = ["RCL", "Vanilla", "PTDNet", "GNNSVD", "CLNode", "MLP", "Auto"];
/// Size of a panel.
const PANEL: [f64; 2] = [340.0, 260.0];

/// The figures of an experiment; none where there is nothing to draw yet.
///
/// # Errors
/// A store that cannot be read.
pub fn drawings(
    reproduction: &Reproduction,
    table: &ResultTable,
    store: &Store,
    courses: &[Course],
) -> Result<Vec<Drawing>, LabError> {
    let figure: Option<Box<dyn Figure>> = match reproduction.name {
        "table1" => lines(table, "homophily", |name| name.rsplit('-').next()?.parse().ok()),
        "robustness" | "pna-robustness" => robustness(table),
        "sensitivity" => sensitivity(table),
        "smoothing" => smoothing(table, store)?,
        "curriculum" => curriculum(courses),
        "synthetic-data" => synthetic(&[0.3, 0.7])?,
        "time" => time(table),
        _ => bars(table, reproduction.ours),
    };
    Ok(figure.map(|figure| Drawing { name: reproduction.name.to_owned(), figure }).into_iter().collect())
}

/// A 95 % interval of a score in percent, as far as there are such scores.
fn interval(mean: f64, half: f64) -> (f64, f64) {
    ((mean - half).max(0.0), (mean + half).min(100.0))
}

/// Points of a method over its datasets, the 95 % interval of each mean, and the points of the paper.
fn points(
    table: &ResultTable,
    backbone: &str,
    method: &str,
    datasets: &[(f64, &String)],
) -> [Vec<(f64, f64)>; 3] {
    let (mut ours, mut band, mut paper) = (Vec::new(), Vec::new(), Vec::new());
    for (x, dataset) in datasets {
        let Some(cell) = table.cell(backbone, method, dataset) else { continue };
        if let Some(mean) = cell.mean {
            let half = cell.half_interval.unwrap_or(0.0);
            ours.push((*x, mean));
            band.push(interval(mean, half));
        }
        paper.extend(cell.paper.map(|paper| (*x, paper)));
    }
    [ours, band, paper]
}

/// Lines of some methods over datasets that have a number, and the paper's of the first two, dashed.
fn panel(
    table: &ResultTable,
    title: String,
    backbone: &str,
    x: &str,
    datasets: &[(f64, &String)],
) -> Option<Chart> {
    let mut chart = Chart::new(title).x(Axis::new(x)).y(Axis::new("test accuracy / %"));
    let mut any = false;
    for (kind, method) in SHOWN.iter().enumerate() {
        let [ours, band, paper] = points(table, backbone, method, datasets);
        if ours.len() > 1 {
            any = true;
            let series =
                Series::new(*method, Mark::LineAndPoints, ours).band(band).colour(Colour::Kind(kind));
            chart = chart.with(series);
        }
        if kind < 2 && paper.len() > 1 {
            let series = Series::line(format!("{method} (paper)"), paper).colour(Colour::Kind(kind)).dashed();
            chart = chart.with(series);
        }
    }
    any.then(|| chart.sized(PANEL[0], PANEL[1]))
}

fn panels(title: &str, columns: usize, charts: Vec<Chart>) -> Option<Box<dyn Figure>> {
    if charts.is_empty() {
        return None;
    }
    let mut panels = Panels::new(title, columns.min(charts.len()).max(1));
    for chart in charts {
        panels = panels.with(chart.without_key());
    }
    Some(Box::new(panels))
}

/// One panel for each backbone, over the number that the name of a dataset ends with.
fn lines(table: &ResultTable, x: &str, number: impl Fn(&str) -> Option<f64>) -> Option<Box<dyn Figure>> {
    let datasets: Vec<(f64, &String)> =
        table.datasets.iter().filter_map(|name| Some((number(name)?, name))).collect();
    let charts = table
        .backbones
        .iter()
        .filter_map(|backbone| panel(table, backbone.to_uppercase(), backbone, x, &datasets))
        .collect();
    panels(&table.about, 3, charts)
}

/// One panel for each graph and backbone, over the share of fake edges.
fn robustness(table: &ResultTable) -> Option<Box<dyn Figure>> {
    let split = |name: &'_ str| -> Option<(String, f64)> {
        let (graph, share) = name.strip_suffix('%')?.rsplit_once('+')?;
        Some((graph.to_owned(), share.parse().ok()?))
    };
    let mut graphs: Vec<String> = table.datasets.iter().filter_map(|name| Some(split(name)?.0)).collect();
    graphs.dedup();
    let mut charts = Vec::new();
    for backbone in &table.backbones {
        for graph in &graphs {
            let datasets: Vec<(f64, &String)> = table
                .datasets
                .iter()
                .filter_map(|name| split(name).filter(|(of, _)| of == graph).map(|(_, share)| (share, name)))
                .collect();
            let title = format!("{graph}, {}", backbone.to_uppercase());
            charts.extend(panel(table, title, backbone, "fake edges / % of the edges", &datasets));
        }
    }
    panels(&table.about, 2, charts)
}

/// Accuracy over the knob, a line for each graph.
fn sensitivity(table: &ResultTable) -> Option<Box<dyn Figure>> {
    let mut chart = Chart::new(table.about.clone())
        .x(Axis::new("knob"))
        .y(Axis::new("test accuracy / %"))
        .sized(560.0, 340.0);
    let mut any = false;
    for (kind, dataset) in table.datasets.iter().enumerate() {
        let cells: Vec<(f64, f64, f64)> = table
            .cells
            .iter()
            .filter(|cell| cell.dataset == *dataset)
            .filter_map(|cell| {
                let knob = cell.method.rsplit(' ').next()?.parse().ok()?;
                Some((knob, cell.mean?, cell.half_interval.unwrap_or(0.0)))
            })
            .collect();
        if cells.len() > 1 {
            any = true;
            let band = cells.iter().map(|&(_, mean, half)| interval(mean, half));
            let series =
                Series::new(dataset, Mark::LineAndPoints, cells.iter().map(|(knob, mean, _)| (*knob, *mean)));
            chart = chart.with(series.band(band).colour(Colour::Kind(kind)));
        }
    }
    any.then(|| Box::new(chart) as Box<dyn Figure>)
}

/// The training loss of the first run of each method, a panel for each graph.
fn smoothing(table: &ResultTable, store: &Store) -> Result<Option<Box<dyn Figure>>, LabError> {
    let mut charts = Vec::new();
    for dataset in &table.datasets {
        let mut chart = Chart::new(dataset.clone())
            .x(Axis::new("epoch"))
            .y(Axis::new("training loss"))
            .sized(PANEL[0], PANEL[1]);
        let mut any = false;
        for (kind, method) in table.methods.iter().enumerate() {
            let id = table.cells.iter().find(|cell| cell.method == *method && cell.dataset == *dataset);
            let Some(id) = id.and_then(|cell| cell.ids.first()) else { continue };
            let Some(record) = store.record(id)? else { continue };
            let loss = record.history.loss.iter().enumerate().map(|(epoch, &loss)| (epoch as f64, loss));
            chart = chart.with(Series::line(method, loss).colour(Colour::Kind(kind)));
            any = true;
        }
        if any {
            charts.push(chart);
        }
    }
    Ok(panels(&table.about, 3, charts))
}

/// The share of edges that has come in, a panel for each graph and method.
fn curriculum(courses: &[Course]) -> Option<Box<dyn Figure>> {
    let mut charts = Vec::new();
    for course in courses.iter().filter(|course| !course.shares.is_empty()) {
        let mut chart = Chart::new(format!("{}, {}", course.graph, course.method))
            .x(Axis::new("epoch").range(0.0, f64::from(course.epochs)))
            .y(Axis::new("edges that have come in / %").range(0.0, 100.0))
            .sized(PANEL[0], PANEL[1]);
        for (kind, name) in KINDS.iter().enumerate() {
            let mut steps: Vec<(f64, f64)> = course
                .shares
                .iter()
                .map(|(epoch, shares)| (f64::from(*epoch), 100.0 * shares[kind]))
                .collect();
            if let Some(&(_, last)) = steps.last() {
                steps.push((f64::from(course.epochs), last));
            }
            let colour = Colour::Difficulty(kind as f64 / 2.0);
            chart = chart.with(Series::new(*name, Mark::Step, steps).colour(colour));
        }
        charts.push(chart);
    }
    let columns = {
        let mut methods: Vec<&String> = courses.iter().map(|course| &course.method).collect();
        methods.sort_unstable();
        methods.dedup();
        methods.len()
    };
    panels("Which edges come in when", columns, charts)
}

/// Small graphs of the generator that can be looked at: nodes where their features are.
fn synthetic(homophily: &[f64]) -> Result<Option<Box<dyn Figure>>, LabError> {
    let threads = Threads::new(1).map_err(TrainError::from)?;
    let mut panels = Panels::new("Synthetic graphs of 500 nodes: classes in a circle", homophily.len());
    for h in homophily {
        let name = format!("synthetic:homophily={h},nodes=500,edges=1000,sigma=40,seed=0");
        let Some(dataset) = generate(&threads, &name)? else { return Ok(None) };
        let (Features::Dense(features), Labels::Classes(classes)) =
            (&**dataset.features(), &**dataset.labels())
        else {
            return Ok(None);
        };
        let places = features.values().chunks(2).map(|place| [place[0], place[1]]).collect();
        let colours = classes.of().iter().map(|&class| Colour::Kind(class as usize)).collect();
        let links = listed(dataset.graph())
            .into_iter()
            .map(|(_, source, target)| Link {
                ends: [source, target],
                colour: Colour::Difficulty(kind_of_edge(classes, source, target) as f64 / 2.0),
                opacity: 0.35,
            })
            .collect();
        let mut network = Network::new(format!("homophily {h}"), places, colours, links);
        for (kind, word) in KINDS.iter().enumerate() {
            network = network.key(*word, Colour::Difficulty(kind as f64 / 2.0), Mark::Line);
        }
        panels = panels.with(network.without_key());
    }
    Ok(Some(Box::new(panels)))
}

/// Seconds of each method on a logarithmic axis, a panel for each graph.
fn time(table: &ResultTable) -> Option<Box<dyn Figure>> {
    let backbone = table.backbones.first()?;
    let mut panels = Panels::new("Seconds of a run; diamonds are the paper's", 2);
    let mut any = false;
    for dataset in &table.datasets {
        let row = |method: &String| {
            let (cell, runs) =
                (table.cell(backbone, method, dataset)?, table.result(backbone, method, dataset)?);
            Some(Interval {
                name: method.clone(),
                value: cell.mean?,
                interval: None,
                points: runs.runs.iter().map(|run| run.value).collect(),
                reference: cell.paper,
                kind: usize::from(method.starts_with("RCL")),
            })
        };
        let rows: Vec<Interval> = table.methods.iter().filter_map(row).collect();
        if rows.is_empty() {
            continue;
        }
        any = true;
        let all = || rows.iter().flat_map(|row| [Some(row.value), row.reference]).flatten();
        let decade = |value: f64, up: bool| {
            let power = libm::log10(value.max(1e-3));
            libm::pow(10.0, if up { power.ceil() } else { power.floor() })
        };
        let least = decade(all().fold(f64::INFINITY, f64::min), false);
        let most = decade(all().fold(0.0, f64::max), true);
        let axis = Axis::new("seconds").logarithmic().range(least, most);
        panels = panels.with(IntervalChart::new(dataset.clone(), axis, rows).wide(520.0));
    }
    any.then(|| Box::new(panels) as Box<dyn Figure>)
}

/// Bars of some methods for each graph, a panel for each backbone.
fn bars(table: &ResultTable, ours: &str) -> Option<Box<dyn Figure>> {
    let mut shown: Vec<&str> = vec![ours];
    shown.extend(SHOWN.iter().filter(|name| table.methods.iter().any(|method| method == **name)));
    if table.name == "ablation" {
        shown = table.methods.iter().map(|method| &method[..]).take(9).collect();
    }
    shown.dedup();
    let mut panels = Panels::new(format!("{}; the line is the paper's", table.about), 1);
    let mut any = false;
    for backbone in &table.backbones {
        let mean =
            |method: &str, dataset: &String| table.cell(backbone, method, dataset).and_then(|cell| cell.mean);
        let datasets: Vec<&String> = table
            .datasets
            .iter()
            .filter(|dataset| shown.iter().any(|method| mean(method, dataset).is_some()))
            .collect();
        if datasets.is_empty() {
            continue;
        }
        any = true;
        let least = table.cells.iter().filter(|cell| cell.backbone == *backbone);
        let least = least.flat_map(|cell| [cell.mean, cell.paper]).flatten().fold(100.0, f64::min);
        let from = ((least - 5.0) / 10.0).floor().max(0.0) * 10.0;
        let wide = (80.0 * datasets.len() as f64 + 160.0).max(480.0);
        let mut chart = BarChart::new(backbone.to_uppercase(), datasets.iter().map(|name| (*name).clone()))
            .y(Axis::new("test accuracy / %").range(from, 100.0))
            .sized(wide, 300.0);
        for method in &shown {
            let bar = |dataset: &&String| {
                let cell = table.cell(backbone, method, dataset)?;
                let value = cell.mean?;
                let interval = cell.half_interval.map(|half| [value - half, value + half]);
                Some(Bar { value, interval, reference: cell.paper })
            };
            chart = chart.with(*method, datasets.iter().map(bar).collect::<Vec<_>>());
        }
        panels = panels.with(chart.without_key());
    }
    any.then(|| Box::new(panels) as Box<dyn Figure>)
}
