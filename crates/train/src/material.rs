//! What a run learns from, and who judges it. The labels of test nodes are the judge's alone.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use edgepace_graph::{
    Classes, Dataset, Features, Graph, Labels, ManyLabels, Names, Split, UNLABELLED, WeightedGraph,
};

use edgepace_nn::{CALIBRATION_BINS, Extent, Footprint, Logits, Metric, Threads, expected_calibration_error};

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::features_from::{FeaturesFrom, UsedFeatures};
use crate::prepare::{Preparation, Profile};

/// A dataset with its noise and one split, as a run may know it: no choice can look at a test label, because none is in it.
#[derive(Debug)]
pub struct Material {
    name: String,
    noise: String,
    checksum: String,
    split: Split,
    graph: WeightedGraph,
    /// Whether the two directions of an edge weigh differently somewhere.
    uneven: bool,
    features: Arc<Features>,
    labels: Arc<Labels>,
    class_names: Option<Arc<Names>>,
    /// Nodes whose labels are known, to the judge at least.
    labelled: usize,
    /// What the features are like.
    profile: OnceLock<Profile>,
    /// Features that were prepared for a run, kept for the next one.
    prepared: Mutex<Option<Kept>>,
}

/// Features that were prepared, and how.
type Kept = (FeaturesFrom, Preparation, Arc<Features>);

/// The labels of the test nodes. Asked once, when every choice is made.
#[derive(Clone, Debug)]
pub struct Judge {
    labels: Arc<Labels>,
    test: Vec<u32>,
}

impl Judge {
    /// The score of the test nodes.
    pub(crate) fn score(&self, metric: Metric, logits: &[f32]) -> Option<f64> {
        metric.score(&self.labels, &self.test, Logits::new(logits, self.labels.width()))
    }

    /// How far the confidence in the predictions of the test nodes is from how often they are right.
    pub(crate) fn calibration_error(&self, logits: &[f32]) -> Option<f64> {
        expected_calibration_error(
            &self.labels,
            &self.test,
            Logits::new(logits, self.labels.width()),
            CALIBRATION_BINS,
        )
    }
}

impl Material {
    /// Parts a dataset into what a run may know and who judges it.
    ///
    /// # Errors
    /// The split is of another graph, or the dataset has no labels.
    pub fn new(dataset: &Dataset, split: &Split) -> Result<(Arc<Material>, Judge), TrainError> {
        let (material, judge) = Self::parted(dataset, split)?;
        Ok((Arc::new(material), judge))
    }

    /// The same for a dataset that noise came to: `name` is what it was called before, and `noise` what came, with its seed.
    /// Both go into records and model files, so that the same graph can be had again.
    ///
    /// # Errors
    /// As [`Material::new`].
    pub fn with_noise(
        dataset: &Dataset,
        split: &Split,
        name: &str,
        noise: &str,
    ) -> Result<(Arc<Material>, Judge), TrainError> {
        let (material, judge) = Self::parted(dataset, split)?;
        Ok((Arc::new(Material { name: name.to_owned(), noise: noise.to_owned(), ..material }), judge))
    }

    fn parted(dataset: &Dataset, split: &Split) -> Result<(Material, Judge), TrainError> {
        let labels = dataset.labels();
        if labels.width() == 0 {
            let found = format!("{} without labels", dataset.name());
            return Err(TrainError::refused("dataset", found, "one with labels: there is nothing to learn"));
        }
        if split.nodes() != dataset.graph().nodes() {
            let found = format!("{} of {} nodes", split.name(), split.nodes());
            let expected = format!("a split of the {} nodes of the graph", dataset.graph().nodes());
            return Err(TrainError::refused("split", found, expected));
        }
        let graph = dataset.weighted_graph()?;
        let material = Material {
            name: dataset.name().to_owned(),
            noise: String::new(),
            checksum: dataset.checksum(),
            split: split.clone(),
            uneven: graph.is_uneven(),
            graph,
            features: Arc::clone(dataset.features()),
            labels: Arc::new(without_test(labels, split)?),
            class_names: dataset.class_names().cloned().map(Arc::new),
            labelled: (0..labels.nodes()).filter(|&node| labels.is_labelled(node)).count(),
            profile: OnceLock::new(),
            prepared: Mutex::new(None),
        };
        let judge = Judge { labels: Arc::clone(labels), test: split.test().to_vec() };
        Ok((material, judge))
    }

    /// The name of the dataset, without its noise.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The noise with its seed; empty without.
    pub fn noise(&self) -> &str {
        &self.noise
    }

    /// SHA-256 of graph, weights, features and labels, with the noise.
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// The split, whose test nodes have no labels here.
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        self.graph.graph()
    }

    /// The graph with what its edges weigh.
    pub fn weighted_graph(&self) -> &WeightedGraph {
        &self.graph
    }

    /// The features as the dataset has them.
    pub fn features(&self) -> &Arc<Features> {
        &self.features
    }

    /// Labels of training and validation nodes; other nodes are [`UNLABELLED`], or 0 where there are many labels.
    pub fn labels(&self) -> &Arc<Labels> {
        &self.labels
    }

    /// How many nodes have labels, those of the test nodes with them.
    pub(crate) fn labelled(&self) -> usize {
        self.labelled
    }

    /// The name of a class, or its number.
    pub(crate) fn class_name(&self, class: usize) -> String {
        self.class_names.as_ref().map_or_else(|| class.to_string(), |names| names.get(class).to_owned())
    }

    /// What the features of the dataset are like.
    pub(crate) fn profile(&self) -> &Profile {
        self.profile.get_or_init(|| {
            let profile = Profile::of(&self.features);
            self.features.release_memory();
            profile
        })
    }

    /// What a model with these settings takes of memory.
    pub(crate) fn footprint(&self, config: &RunConfig) -> Footprint {
        let (columns, stored) = config.features_from.extent(self.profile(), config.features);
        let graph = self.graph();
        let extent = Extent {
            nodes: graph.nodes(),
            edges: graph.edges(),
            symmetric: graph.twins().is_some(),
            uneven: self.uneven,
            columns,
            stored,
            outputs: self.labels.width(),
        };
        Footprint::new(config.model(), extent)
    }

    /// What a run with these settings, complete, learns from.
    pub fn used_features(&self, config: &RunConfig) -> UsedFeatures {
        let (from, preparation) = (config.features_from, config.features);
        UsedFeatures { columns: from.extent(self.profile(), preparation).0, from, preparation }
    }

    /// The features that a run with these settings learns from; those of the latest such settings are kept.
    ///
    /// # Errors
    /// Features that cannot be made, or as [`Fitted::apply`](crate::Fitted::apply).
    pub fn prepared(&self, config: &RunConfig, threads: &Threads) -> Result<Arc<Features>, TrainError> {
        let (from, step) = (config.features_from, config.features);
        let mut kept = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, features)) = kept.as_ref().filter(|kept| (kept.0, kept.1) == (from, step)) {
            return Ok(Arc::clone(features));
        }
        *kept = None;
        let made = from.make(threads, &self.graph, &self.features)?;
        let features = step.apply(&made)?;
        if !Arc::ptr_eq(&features, &self.features) {
            self.features.release_memory();
        }
        *kept = Some((from, step, Arc::clone(&features)));
        Ok(features)
    }
}

/// The labels of training and validation nodes alone.
fn without_test(labels: &Labels, split: &Split) -> Result<Labels, TrainError> {
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
