//! Predictions as a table.

use anyhow::{Context, Result};
use edgepace_graph::{Labels, Split, Threads, UNLABELLED};
use edgepace_train::{Cells, Column, SavedModel, class_name, probabilities};

use super::ground::Ground;
use super::{Args, Output, Prediction};

/// Rows that are made at a time.
const PIECE: usize = 1 << 16;

/// What the models say of nodes, on average.
pub(super) struct Predictions<'a> {
    ground: &'a Ground,
    /// The nodes that were asked for.
    pub(super) nodes: Vec<u32>,
    /// The names of the classes or labels, or their numbers.
    classes: Vec<String>,
    many: bool,
    /// Of all nodes, nodes × classes.
    probabilities: Vec<f32>,
}

impl<'a> Predictions<'a> {
    pub(super) fn new(
        threads: &Threads,
        models: &[SavedModel],
        ground: &'a Ground,
        args: &Args,
    ) -> Result<Self> {
        let header = models[0].header();
        let mut logits_of = Vec::new();
        for (model, trained) in models.iter().zip(&ground.trained) {
            let logits = match trained {
                Some(trained) => model.logits(&trained.dataset),
                None => model.logits_of_new(&ground.dataset, threads),
            };
            logits_of.push((model, logits.context("the model does not fit the dataset")?));
        }
        let names = header.class_names.clone();
        Ok(Self {
            nodes: ground.nodes(args.unlabelled),
            classes: names.unwrap_or_else(|| (0..header.outputs).map(|class| class.to_string()).collect()),
            many: header.many_labels,
            probabilities: probabilities(&logits_of, !args.raw).into_iter().map(|p| p as f32).collect(),
            ground,
        })
    }

    fn of(&self, node: u32) -> &[f32] {
        let width = self.classes.len();
        &self.probabilities[node as usize * width..][..width]
    }

    fn class(&self, node: u32) -> usize {
        edgepace_nn::argmax(self.of(node))
    }

    fn name(&self, node: u32) -> Option<String> {
        self.ground.dataset.node_names().map(|names| names.get(node as usize).to_owned())
    }

    /// The table, piece by piece; the first has a head even without rows.
    pub(super) fn pieces(&self, proba: bool) -> impl Iterator<Item = Vec<Column>> {
        let starts = (0..self.nodes.len().max(1)).step_by(PIECE);
        starts.map(move |start| {
            let end = self.nodes.len().min(start + PIECE);
            self.piece(&self.nodes[start..end], proba)
        })
    }

    fn piece(&self, nodes: &[u32], proba: bool) -> Vec<Column> {
        let texts =
            |of: &dyn Fn(u32) -> Option<String>| Cells::Texts(nodes.iter().map(|&node| of(node)).collect());
        let numbers =
            |of: &dyn Fn(u32) -> f32| Cells::Numbers(nodes.iter().map(|&node| Some(of(node))).collect());
        let dataset = &self.ground.dataset;
        let mut columns = vec![Column::new("node", Cells::Ids(nodes.iter().copied().map(Some).collect()))];
        if dataset.node_names().is_some() {
            columns.push(Column::new("name", texts(&|node| self.name(node))));
        }
        if !self.many {
            columns.push(Column::new("class", texts(&|node| Some(self.classes[self.class(node)].clone()))));
            columns.push(Column::new("probability", numbers(&|node| self.of(node)[self.class(node)])));
        }
        if let Labels::Classes(classes) = &**dataset.labels()
            && classes.width() > 0
        {
            let label = |node: u32| {
                let class = classes.of()[node as usize];
                (class != UNLABELLED).then(|| class_name(dataset, class as usize))
            };
            columns.push(Column::new("label", texts(&label)));
        }
        if let Some(split) = self.ground.split() {
            let sets = sets(split);
            columns.push(Column::new("split", texts(&|node| sets[node as usize].map(ToOwned::to_owned))));
        }
        if proba || self.many {
            for (place, class) in self.classes.iter().enumerate() {
                columns.push(Column::new(format!("p_{class}"), numbers(&|node| self.of(node)[place])));
            }
        }
        columns
    }

    /// All of it for programs.
    pub(super) fn output<'b>(&'b self, ground: &'b Ground, models: &[SavedModel], raw: bool) -> Output<'b> {
        let prediction = |&node: &u32| Prediction {
            node: node as usize,
            name: self.name(node),
            class: (!self.many).then(|| self.class(node)),
            probabilities: self.of(node).to_vec(),
        };
        Output {
            dataset: ground.dataset.name(),
            checksum: &ground.checksum,
            classes: &self.classes,
            seeds: models.iter().map(|model| model.header().seed).collect(),
            temperatures: models.iter().map(|model| model.header().temperature.filter(|_| !raw)).collect(),
            new_data: ground.is_new(),
            predictions: self.nodes.iter().map(prediction).collect(),
        }
    }
}

/// The set of each node.
fn sets(split: &Split) -> Vec<Option<&'static str>> {
    let mut sets = vec![None; split.nodes()];
    for (name, nodes) in [("train", split.train()), ("val", split.validation()), ("test", split.test())] {
        for &node in nodes {
            sets[node as usize] = Some(name);
        }
    }
    sets
}
