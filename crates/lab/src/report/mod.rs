//! Runs as one page: an HTML file that holds all it needs, opens without a network, and shows what was learned and how, and the
//! graph itself.
//!
//! [`Report::to_html`] is a pure function of the records and, for one run, of its graph, predictions and table of edges.

mod compare;
mod curriculum;
mod drawing;
pub mod layout;
mod page;
mod predictions;
mod read;
mod training;

use std::path::PathBuf;

use edgepace_graph::{Dataset, Labels, Split, Threads};
use edgepace_nn::{sigmoid, softmax};
use edgepace_train::{EdgeRow, RunRecord};

use crate::error::LabError;

pub use drawing::{MOST_EDGES, MOST_NODES};
pub use read::{objective_of, runs_of_store};

/// What a report is made of.
pub struct Report {
    /// What it is called.
    pub title: String,
    /// The command that asked for it.
    pub command: String,
    /// What was run.
    pub runs: Vec<ReportRun>,
    /// The run that is shown in detail, if its files are there.
    pub graph: Option<GraphOfRun>,
    /// What a reader should know about what is missing.
    pub notes: Vec<String>,
}

/// A run of a report.
pub struct ReportRun {
    /// All about it.
    pub record: RunRecord,
    /// Where its files are, if they are kept.
    pub folder: Option<PathBuf>,
    /// The joint objective after each update of the curriculum, by epoch, where it is known.
    pub objective: Vec<(u32, f64)>,
    /// What it is called; none: as its record says.
    pub cell: Option<CellName>,
}

/// What runs are called that differ by their seed alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellName {
    /// The graph, without noise.
    pub graph: String,
    /// What was added to it; empty without.
    pub noise: String,
    /// The convolution.
    pub backbone: String,
    /// The method, with what tells it from others of its name.
    pub method: String,
}

impl ReportRun {
    /// A run of which nothing else is known.
    pub fn new(record: RunRecord) -> Self {
        Self { record, folder: None, objective: Vec::new(), cell: None }
    }
}

/// A run with what it ran on.
pub struct GraphOfRun {
    /// Its place among the runs of the report.
    pub run: usize,
    /// With its noise.
    pub dataset: Dataset,
    /// As it was trained with.
    pub split: Option<Split>,
    /// Calibrated, of each node and class; empty where there is no model.
    pub probabilities: Vec<f32>,
    /// The same as the model gives them, where they differ.
    pub raw_probabilities: Vec<f32>,
    /// What is known of each edge, the most suspicious first; empty where the method has nothing to say about edges.
    pub edges: Vec<EdgeRow>,
}

impl GraphOfRun {
    /// A run with the logits of all nodes, nodes × classes, and what they are divided by to be calibrated.
    pub fn new(
        run: usize,
        (dataset, split): (Dataset, Option<Split>),
        (logits, temperature): (&[f32], Option<f64>),
        edges: Vec<EdgeRow>,
    ) -> Self {
        let width = dataset.labels().width().max(1);
        let many = matches!(**dataset.labels(), Labels::Many(_));
        let probabilities = |by: f64| -> Vec<f32> {
            let divided: Vec<f64> = logits.iter().map(|&logit| f64::from(logit) / by).collect();
            let each: Vec<f64> = if many {
                divided.into_iter().map(sigmoid).collect()
            } else {
                divided.chunks_exact(width).flat_map(softmax).collect()
            };
            each.into_iter().map(|probability| probability as f32).collect()
        };
        Self {
            run,
            probabilities: probabilities(temperature.unwrap_or(1.0)),
            raw_probabilities: temperature.map(|_| probabilities(1.0)).unwrap_or_default(),
            dataset,
            split,
            edges,
        }
    }
}

impl Report {
    /// The page.
    ///
    /// # Errors
    /// A report without a run.
    pub fn to_html(&self, threads: &Threads) -> Result<String, LabError> {
        page::html(self, threads)
    }

    /// The run that is shown in detail.
    fn main_run(&self) -> Option<&ReportRun> {
        self.graph.as_ref().and_then(|graph| self.runs.get(graph.run)).or_else(|| self.runs.first())
    }

    /// All runs that differ from that one by their seed alone, that one included.
    fn siblings(&self) -> Vec<&ReportRun> {
        let Some(main) = self.main_run() else { return Vec::new() };
        let own = compare::CellKey::of(main);
        self.runs.iter().filter(|run| compare::CellKey::of(run) == own).collect()
    }
}

/// A part of the page: words, figures, tables.
#[derive(serde::Serialize, Default)]
struct Section {
    /// What links to it.
    id: &'static str,
    title: &'static str,
    /// What is to be seen.
    text: String,
    /// SVG.
    figures: Vec<String>,
    tables: Vec<PageTable>,
}

impl Section {
    fn new(id: &'static str, title: &'static str, text: impl Into<String>) -> Self {
        Self { id, title, text: text.into(), ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        self.figures.is_empty() && self.tables.is_empty()
    }

    fn figure(&mut self, figure: &dyn crate::figure::Figure) {
        self.figures.push(crate::figure::svg(figure, crate::figure::Ink::Page));
    }
}

/// A table of the page. All but the first columns that are `words` are numbers.
#[derive(serde::Serialize, Default)]
struct PageTable {
    /// What it is of, if there are several.
    caption: String,
    words: usize,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// What is long is folded away.
    folded: bool,
}

#[cfg(test)]
mod tests;
