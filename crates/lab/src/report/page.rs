//! The page: a template with its style and its script, all in one file, and a policy that lets it load nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use edgepace_graph::Threads;
use edgepace_train::{Kept, RunRecord};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::compare::{self, CellKey, mean_and_deviation};
use super::drawing::Drawing;
use super::{CellName, PageTable, Report, ReportRun, Section, curriculum, predictions, training};
use crate::error::LabError;
use crate::figure::Colour;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// In this order, as one.
const SCRIPTS: [&str; 5] = [
    include_str!("script/data.js"),
    include_str!("script/graph.js"),
    include_str!("script/table.js"),
    include_str!("script/details.js"),
    include_str!("script/page.js"),
];

/// The text with letters that nobody sees, or that turn what follows around, made visible.
pub(super) fn visible(text: &str) -> String {
    let shown = |letter: char| if crate::figure::is_hidden(letter) { '\u{fffd}' } else { letter };
    text.chars().map(shown).collect()
}

/// A number in large letters.
#[derive(Serialize)]
struct Tile {
    name: String,
    value: String,
    note: String,
}

impl Tile {
    fn new(name: &str, value: impl Into<String>, note: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into(), note: note.into() }
    }
}

pub(super) fn html(report: &Report, threads: &Threads) -> Result<String, LabError> {
    let Some(main) = report.main_run() else {
        return Err(LabError::Report { reason: "there is no run to report on".to_owned() });
    };
    let drawing = report.graph.as_ref().filter(|graph| !graph.edges.is_empty());
    let drawing = drawing.map(|graph| Drawing::new(threads, graph, main));
    let sections = [
        training::learning_curves(report),
        curriculum::curriculum(report),
        predictions::predictions(report),
        predictions::detection(report),
        compare::comparison(report),
        compare::robustness(report),
    ];
    let mut sections: Vec<Section> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    let tables = sections.iter_mut().flat_map(|section| &mut section.tables);
    tables.flat_map(|table| table.rows.iter_mut().flatten()).for_each(|cell| *cell = visible(cell));
    let style = format!("{}{STYLE}", Colour::style_sheet());
    let script = format!("'use strict';\n(() => {{\n{}}})();\n", SCRIPTS.join("\n"));
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let graph_text = drawing.as_ref().map(words);
    let page = context! {
        title => visible(&report.title),
        subtitle => subtitle(main),
        policy,
        style,
        script,
        tiles => Serde(tiles(report)),
        warnings => warnings(report),
        sections => Serde(sections),
        graph_text,
        graph_run => visible(&format!("{}, seed {}", CellKey::of(main).name.method, main.record.result.seed)),
        data => drawing.map(|drawing| drawing.data),
        settings => settings(&main.record),
        provenance => Serde(provenance(report)),
        version => env!("CARGO_PKG_VERSION"),
        command => visible(&report.command),
    };
    let failed = |error: minijinja::Error| LabError::Report { reason: format!("{error:#}") };
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(failed)?;
    environment.set_syntax(syntax);
    environment.add_template("page.html", TEMPLATE).map_err(failed)?;
    environment.get_template("page.html").and_then(|template| template.render(page)).map_err(failed)
}

fn count(number: usize) -> String {
    crate::figure::number(number as f64, 0)
}

/// What is drawn of the graph.
fn words(drawing: &Drawing) -> String {
    let ([nodes, all_nodes], [edges, all_edges]) = (drawing.nodes, drawing.edges);
    if edges == all_edges {
        return format!("{} nodes and {} edges, an undirected edge once.", count(nodes), count(edges));
    }
    format!(
        "The neighbourhoods of the most suspicious edges: {} of {} nodes and {} of {} edges. A graph of more than 20 000 nodes or \
         100 000 edges is not drawn whole.",
        count(nodes),
        count(all_nodes),
        count(edges),
        count(all_edges)
    )
}

fn subtitle(run: &ReportRun) -> String {
    let (key, data) = (CellKey::of(run), &run.record.data);
    let (nodes, edges) = (count(data.nodes), count(data.edges));
    let (graph, CellName { backbone, method, .. }) = (key.graph(), &key.name);
    visible(&format!("{graph}: {nodes} nodes, {edges} directed edges · {backbone} with {method}"))
}

fn tiles(report: &Report) -> Vec<Tile> {
    let mut tiles = Vec::new();
    let (Some(main), runs) = (report.main_run(), report.siblings()) else { return tiles };
    let result = &main.record.result;
    let metric = &result.metric;
    let share = if metric == "log-loss" { "" } else { " %" };
    let over = match runs.len() {
        1 => format!("seed {}", result.seed),
        several => format!("mean ± standard deviation over {several} seeds"),
    };
    let of =
        |value: fn(&ReportRun) -> Option<f64>| runs.iter().filter_map(|run| value(run)).collect::<Vec<f64>>();
    if let Some(tests) = mean_and_deviation(&of(|run| run.record.result.test)) {
        tiles.push(Tile::new(&format!("test {metric}"), format!("{tests}{share}"), over.clone()));
    }
    if let Some(validations) = mean_and_deviation(&of(|run| run.record.result.validation)) {
        tiles.push(Tile::new(&format!("validation {metric}"), format!("{validations}{share}"), over));
    }
    if result.method_validation.is_some() {
        let kept = match result.kept {
            Kept::Method => "the curriculum",
            Kept::WarmStart => "plain training",
        };
        let note = match (result.method_validation, result.warm_start_validation) {
            (Some(own), Some(warm)) => format!("validation {own:.2} with the method, {warm:.2} without"),
            _ => String::new(),
        };
        tiles.push(Tile::new("kept", kept, note));
    }
    if let Some(graph) = &report.graph {
        let marked: Vec<(f64, bool)> =
            graph.edges.iter().filter_map(|edge| Some((f64::from(edge.suspicion), edge.fake?))).collect();
        let fakes = marked.iter().filter(|(_, fake)| *fake).count();
        if let Some(area) = edgepace_nn::roc_auc(&mut marked.clone()) {
            tiles.push(Tile::new(
                "fake edges found",
                format!("AUC {area:.3}"),
                format!("{} fakes among {} edges", count(fakes), count(marked.len())),
            ));
        }
    }
    let seconds: f64 =
        runs.iter().map(|run| run.record.result.seconds + run.record.result.warm_start_seconds).sum();
    let note = format!("{} epochs, the best at {}", result.epochs, result.best_epoch);
    tiles.push(Tile::new("time of a run", format!("{:.1} s", seconds / runs.len().max(1) as f64), note));
    if report.runs.len() > runs.len() {
        let cells = compare::cells(report).len();
        tiles.push(Tile::new("runs", count(report.runs.len()), format!("of {cells} kinds, compared below")));
    }
    tiles
}

fn warnings(report: &Report) -> Vec<String> {
    let mut said: Vec<String> = report.notes.iter().map(|note| visible(note)).collect();
    for run in report.siblings() {
        for warning in &run.record.result.warnings {
            let text = visible(&warning.to_string());
            if !said.contains(&text) {
                said.push(text);
            }
        }
    }
    said
}

/// The settings of the run that is shown, as the configuration file has them.
fn settings(record: &RunRecord) -> String {
    visible_lines(&toml::to_string(&record.config).unwrap_or_default())
}

fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// Where every figure comes from.
fn provenance(report: &Report) -> PageTable {
    let head = ["run", "graph", "method", "seed", "checksum of the data", "split", "version", "arithmetic"];
    let rows: Vec<Vec<String>> = report
        .runs
        .iter()
        .map(|run| {
            let (record, key) = (&run.record, CellKey::of(run));
            vec![
                visible(&record.result.id),
                visible(&key.graph()),
                visible(&format!("{} {}", key.name.backbone, key.name.method)),
                record.result.seed.to_string(),
                visible(&record.data.checksum),
                visible(&format!("{} {}", record.result.split, record.result.split_hash)),
                visible(&record.program),
                record.numerics.to_string(),
            ]
        })
        .collect();
    PageTable {
        caption: "Runs".to_owned(),
        words: head.len(),
        head: head.map(String::from).to_vec(),
        folded: rows.len() > 12,
        rows,
    }
}
