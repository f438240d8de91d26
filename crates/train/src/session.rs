//! What a method works with: the model, the labels that it may know, the optimiser.

use std::sync::Arc;
use std::time::Instant;

use edgepace_graph::{Classes, Dataset, Features, Graph, Labels, ManyLabels, Split, UNLABELLED};
use edgepace_nn::{Adam, Model, StructureId, Task, Threads};

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::event::{Listener, Phase};
use crate::fit::fit;
use crate::method::Vanilla;

/// One run in progress. Labels of test nodes are not in it: no choice can look at them.
pub struct Session<'a> {
    /// The model, on the dataset's graph.
    pub model: Model<f32>,
    /// The settings.
    pub config: &'a RunConfig,
    /// The graph as the dataset has it.
    pub graph: Arc<Graph>,
    /// The prepared features.
    pub features: Arc<Features>,
    /// Labels of training and validation nodes; other nodes are [`UNLABELLED`], or 0 where there are many labels.
    pub known: Arc<Labels>,
    /// The training nodes.
    pub train: &'a [u32],
    /// The validation nodes.
    pub validation: &'a [u32],
    /// What is trained for.
    pub task: Task<f32>,
    /// Parameters of a vanilla model at its best epoch, where one has been trained already.
    pub pretrained: Option<Vec<f32>>,
    /// The seed of the run.
    pub seed: u64,
    /// Wall time of the warm start.
    pub(crate) warm_start_seconds: f64,
    optimiser: Adam<f32>,
    initial: Vec<f32>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        dataset: &Dataset,
        split: &'a Split,
        config: &'a RunConfig,
        seed: u64,
        threads: &Threads,
    ) -> Result<Self, TrainError> {
        let graph = Arc::clone(dataset.graph());
        let features = config.features.apply(dataset.features())?;
        if !Arc::ptr_eq(&features, dataset.features()) {
            dataset.features().rest();
        }
        let outputs = dataset.labels().width();
        let model =
            Model::new(Arc::clone(&graph), Arc::clone(&features), outputs, config.model(), seed, threads)?;
        let known = Arc::new(known(dataset.labels(), split)?);
        let task = Task::new(Arc::clone(&known), split.train())?;
        let optimiser = Adam::new(config.adam(), model.parameter_count())?;
        let initial = model.parameter_values().to_vec();
        let (train, validation) = (split.train(), split.validation());
        Ok(Session {
            model,
            config,
            graph,
            features,
            known,
            train,
            validation,
            task,
            pretrained: None,
            seed,
            warm_start_seconds: 0.0,
            optimiser,
            initial,
        })
    }

    /// One training step on a structure; returns the loss before it.
    ///
    /// # Errors
    /// As [`Model::train`].
    pub fn step(&mut self, structure: StructureId, epoch: u32) -> Result<f64, TrainError> {
        Ok(self.model.on(structure).train(&self.task, &mut self.optimiser, epoch)?)
    }

    /// One optimiser step along the model's latest gradient.
    ///
    /// # Errors
    /// As [`Model::step`].
    pub fn apply(&mut self) -> Result<(), TrainError> {
        Ok(self.model.step(&mut self.optimiser)?)
    }

    /// The parameters of a vanilla model at its epoch of best validation. The model itself is as fresh afterwards as before.
    ///
    /// # Errors
    /// As training.
    pub fn warm_start(&mut self, listener: &mut dyn Listener) -> Result<Vec<f32>, TrainError> {
        if let Some(pretrained) = &self.pretrained {
            return Ok(pretrained.clone());
        }
        let begin = Instant::now();
        let fitted = fit(self, &mut Vanilla, Phase::WarmStart, listener)?;
        self.restart()?;
        self.warm_start_seconds += begin.elapsed().as_secs_f64();
        self.pretrained = Some(fitted.best.parameters.clone());
        Ok(fitted.best.parameters)
    }

    /// Goes back to the parameters that the seed gives, with an optimiser that remembers nothing.
    ///
    /// # Errors
    /// As [`Model::set_parameter_values`].
    pub fn restart(&mut self) -> Result<(), TrainError> {
        self.model.set_parameter_values(&self.initial)?;
        self.optimiser = Adam::new(self.config.adam(), self.model.parameter_count())?;
        Ok(())
    }
}

/// The labels of training and validation nodes alone.
fn known(labels: &Labels, split: &Split) -> Result<Labels, TrainError> {
    let nodes = split.train().iter().chain(split.validation()).map(|&node| node as usize);
    Ok(match labels {
        Labels::Classes(classes) => {
            let mut of = vec![UNLABELLED; classes.nodes()];
            nodes.for_each(|node| of[node] = classes.of()[node]);
            Classes::new(classes.width(), of)?.into()
        }
        Labels::Many(many) => {
            let width = many.width();
            let mut values = vec![0; many.values().len()];
            for node in nodes {
                let row = node * width..(node + 1) * width;
                values[row.clone()].copy_from_slice(&many.values()[row]);
            }
            ManyLabels::new(many.nodes(), width, values)?.into()
        }
    })
}
