//! Every cell beside the paper's figure and beside the best of the others.

use serde::Serialize;

use super::collect::{CellResult, Measure, Results};
use crate::statistics::{Friedman, Summary, WinTieLoss, friedman, holm, paired_t, win_tie_loss};

/// A figure of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperValue {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, where it gives one.
    pub sd: Option<f64>,
}

/// A cell of a table; its field names are those of `--json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableCell {
    /// The experiment.
    pub table: String,
    /// The convolution.
    pub backbone: String,
    /// What the table calls the method.
    pub method: String,
    /// What the table calls the graph.
    pub dataset: String,
    /// The mean over seeds; none without a run.
    pub mean: Option<f64>,
    /// The standard deviation over seeds; none for fewer than two.
    pub sd: Option<f64>,
    /// How many seeds.
    pub n: usize,
    /// The paper's mean, where it has this cell.
    pub paper: Option<f64>,
    /// The p-value of a paired t test against the best of the others, adjusted by Holm for all cells of this method in the
    /// table; none where there is nothing to compare with, or fewer than two seeds in common.
    pub p_value: Option<f64>,
    /// The same before the adjustment.
    pub p_unadjusted: Option<f64>,
    /// The best of the others on this graph with this backbone.
    pub against: Option<String>,
    /// The mean difference to it, over the seeds that both have.
    pub ahead: Option<f64>,
    /// Half the width of the 95 % interval of the mean.
    pub half_interval: Option<f64>,
    /// The paper's standard deviation.
    pub paper_sd: Option<f64>,
    /// Ours less the paper's.
    pub difference: Option<f64>,
    /// Whether ours is at least the paper's mean less its standard deviation (less nothing where it gives none); for seconds:
    /// at most the paper's.
    pub met: Option<bool>,
    /// 1 for the best of its graph and backbone, 2 for the second.
    pub rank: Option<usize>,
    /// The runs, by seed.
    pub ids: Vec<String>,
    /// How many runs there should be.
    pub asked: usize,
    /// Why some are missing, if they are.
    pub missing: Option<String>,
}

/// A table of cells, with the order of its rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultTable {
    /// The experiment.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// What was measured.
    pub measure: Measure,
    /// In order.
    pub backbones: Vec<String>,
    /// In order.
    pub methods: Vec<String>,
    /// In order.
    pub datasets: Vec<String>,
    /// All cells, in the order of backbones, methods and datasets.
    pub cells: Vec<TableCell>,
    results: Vec<CellResult>,
}

impl ResultTable {
    /// The table of results. `paper` knows the paper's figures by backbone, method and dataset; `same` says whether two rows
    /// are forms of one method, which then are not compared with each other.
    pub fn new(
        results: &Results,
        paper: impl Fn(&str, &str, &str) -> Option<PaperValue>,
        same: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let measure = results.measure;
        let (mut backbones, mut methods, mut datasets) = (Vec::new(), Vec::new(), Vec::new());
        for cell in &results.cells {
            for (list, name) in [
                (&mut backbones, &cell.backbone),
                (&mut methods, &cell.method),
                (&mut datasets, &cell.dataset),
            ] {
                if !list.contains(name) {
                    list.push(name.clone());
                }
            }
        }
        let place = |list: &[String], name: &String| list.iter().position(|other| other == name);
        let mut ordered: Vec<CellResult> = results.cells.clone();
        ordered.sort_by_key(|cell| {
            (
                place(&backbones, &cell.backbone),
                place(&methods, &cell.method),
                place(&datasets, &cell.dataset),
            )
        });
        let mut cells: Vec<TableCell> = ordered
            .iter()
            .map(|cell| one(&results.name, cell, measure, paper(&cell.backbone, &cell.method, &cell.dataset)))
            .collect();
        rank(&mut cells, measure);
        for place in 0..cells.len() {
            if let Some(rival) = best_rival(&cells, place, measure, &same) {
                let (a, b) = in_common(&ordered[place], &ordered[rival]);
                cells[place].against = Some(cells[rival].method.clone());
                if !a.is_empty() {
                    let sum: f64 = a.iter().zip(&b).map(|(a, b)| a - b).sum();
                    cells[place].ahead = Some(sum / a.len() as f64);
                }
                cells[place].p_unadjusted = paired_t(&a, &b).map(|test| test.p_value);
            }
        }
        for method in &methods {
            let of: Vec<usize> = (0..cells.len()).filter(|&place| cells[place].method == *method).collect();
            let p: Vec<f64> = of.iter().map(|&place| cells[place].p_unadjusted.unwrap_or(f64::NAN)).collect();
            for (&place, adjusted) in of.iter().zip(holm(&p)) {
                cells[place].p_value = Some(adjusted).filter(|p| !p.is_nan());
            }
        }
        Self {
            name: results.name.clone(),
            about: results.about.clone(),
            measure,
            backbones,
            methods,
            datasets,
            cells,
            results: ordered,
        }
    }

    /// A cell by its names.
    pub fn cell(&self, backbone: &str, method: &str, dataset: &str) -> Option<&TableCell> {
        self.cells
            .iter()
            .find(|cell| cell.backbone == backbone && cell.method == method && cell.dataset == dataset)
    }

    /// The runs of a cell.
    pub fn result(&self, backbone: &str, method: &str, dataset: &str) -> Option<&CellResult> {
        self.results
            .iter()
            .find(|cell| cell.backbone == backbone && cell.method == method && cell.dataset == dataset)
    }

    /// Mean ranks of the methods that have a figure on every graph where any of these has one; none for fewer than two graphs or
    /// methods. The methods stand beside the ranks.
    pub fn ranks(&self, backbone: &str) -> Option<(Vec<&str>, Friedman)> {
        let mean =
            |method: &str, dataset: &str| self.cell(backbone, method, dataset).and_then(|cell| cell.mean);
        let graphs: Vec<&str> = self.datasets.iter().map(|name| &name[..]).collect();
        let graphs: Vec<&str> = graphs
            .into_iter()
            .filter(|graph| self.methods.iter().any(|method| mean(method, graph).is_some()))
            .collect();
        let methods: Vec<&str> = self
            .methods
            .iter()
            .map(|name| &name[..])
            .filter(|method| graphs.iter().all(|graph| mean(method, graph).is_some()))
            .collect();
        if graphs.len() < 2 {
            return None;
        }
        let sign = if self.measure.higher_is_better() { 1.0 } else { -1.0 };
        let scores: Vec<Vec<f64>> = graphs
            .iter()
            .map(|graph| methods.iter().filter_map(|method| Some(sign * mean(method, graph)?)).collect())
            .collect();
        Some((methods, friedman(&scores)?))
    }

    /// On how many graphs a method is ahead of another by more than a margin.
    pub fn wins(&self, backbone: &str, method: &str, other: &str, margin: f64) -> WinTieLoss {
        let sign = if self.measure.higher_is_better() { 1.0 } else { -1.0 };
        let means = |method: &str| -> Vec<f64> {
            let of = |dataset: &String| self.cell(backbone, method, dataset).and_then(|cell| cell.mean);
            self.datasets.iter().map(|dataset| of(dataset).map_or(f64::NAN, |mean| sign * mean)).collect()
        };
        win_tie_loss(&means(method), &means(other), margin)
    }

    /// How many cells the paper has a figure for, and how many of them are met.
    pub fn met(&self) -> (usize, usize) {
        let known = self.cells.iter().filter_map(|cell| cell.met);
        known.fold((0, 0), |(all, met), is| (all + 1, met + usize::from(is)))
    }
}

fn one(table: &str, cell: &CellResult, measure: Measure, paper: Option<PaperValue>) -> TableCell {
    let values: Vec<f64> = cell.runs.iter().map(|run| run.value).collect();
    let summary = Summary::of(&values);
    let mean = summary.map(|summary| summary.mean);
    let met = mean.zip(paper).map(|(mean, paper)| is_met(measure, mean, (paper.mean, paper.sd)));
    TableCell {
        table: table.to_owned(),
        backbone: cell.backbone.clone(),
        method: cell.method.clone(),
        dataset: cell.dataset.clone(),
        mean,
        sd: summary.and_then(|summary| summary.sd),
        n: cell.runs.len(),
        paper: paper.map(|paper| paper.mean),
        p_value: None,
        p_unadjusted: None,
        against: None,
        ahead: None,
        half_interval: summary.and_then(|summary| summary.half_interval),
        paper_sd: paper.and_then(|paper| paper.sd),
        difference: mean.zip(paper).map(|(mean, paper)| mean - paper.mean),
        met,
        rank: None,
        ids: cell.runs.iter().map(|run| run.id.clone()).collect(),
        asked: cell.asked,
        missing: if cell.runs.len() < cell.asked || cell.asked == 0 { cell.missing.clone() } else { None },
    }
}

/// Whether a mean is at least the paper's less its standard deviation (less nothing where it gives none); for seconds: at most
/// the paper's.
pub(crate) fn is_met(measure: Measure, mean: f64, (paper, sd): (f64, Option<f64>)) -> bool {
    if measure.higher_is_better() { mean >= paper - sd.unwrap_or(0.0) } else { mean <= paper }
}

fn better(measure: Measure, a: f64, b: f64) -> bool {
    if measure.higher_is_better() { a > b } else { a < b }
}

/// 1 for the best of each graph and backbone, 2 for the next; equal means share the better rank.
fn rank(cells: &mut [TableCell], measure: Measure) {
    let ranks: Vec<Option<usize>> = cells
        .iter()
        .map(|cell| {
            let own = cell.mean?;
            let same = |other: &&TableCell| other.backbone == cell.backbone && other.dataset == cell.dataset;
            let others = cells.iter().filter(same).filter_map(|other| other.mean);
            Some(1 + others.filter(|&other| better(measure, other, own)).count())
        })
        .collect();
    cells.iter_mut().zip(ranks).for_each(|(cell, rank)| cell.rank = rank);
}

/// The best of the others on the same graph with the same backbone.
fn best_rival(
    cells: &[TableCell],
    place: usize,
    measure: Measure,
    same: impl Fn(&str, &str) -> bool,
) -> Option<usize> {
    let own = &cells[place];
    own.mean?;
    let mut best: Option<(f64, usize)> = None;
    for (other, cell) in cells.iter().enumerate() {
        let comparable = cell.backbone == own.backbone && cell.dataset == own.dataset;
        if !comparable || cell.method == own.method || same(&cell.method, &own.method) {
            continue;
        }
        if let Some(mean) = cell.mean
            && best.is_none_or(|(most, _)| better(measure, mean, most))
        {
            best = Some((mean, other));
        }
    }
    best.map(|(_, place)| place)
}

/// The values of the seeds that both have.
fn in_common(one: &CellResult, other: &CellResult) -> (Vec<f64>, Vec<f64>) {
    let pair = |run: &super::SeedValue| {
        let twin = other.runs.iter().find(|twin| twin.seed == run.seed)?;
        Some((run.value, twin.value))
    };
    one.runs.iter().filter_map(pair).unzip()
}
