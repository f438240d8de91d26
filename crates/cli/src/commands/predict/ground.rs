//! What is predicted with, and on what.

use std::path::Path;

use anyhow::{Context, Result, bail};
use edgepace_data::import::{Encoding, Import};
use edgepace_graph::{Dataset, Labels, Split, Threads};
use edgepace_lab::{DataSource, FinishedRuns, TrainingData, as_trained, source_of};
use edgepace_train::{ModelHeader, SavedModel};

use super::Args;
use crate::messages;
use crate::own_files;
use crate::runs::with_remedy;

/// The models of a folder of runs, of the folder of a seed, or of a file.
pub(super) fn models(path: &Path, seeds: Option<&[u64]>) -> Result<Vec<SavedModel>> {
    if !path.is_dir() {
        let model = SavedModel::open(path)?;
        if let Some(seed) = seeds.into_iter().flatten().find(|&&seed| seed != model.header().seed) {
            bail!("{} is of seed {}, not of seed {seed}", path.display(), model.header().seed);
        }
        return Ok(vec![model]);
    }
    let found = FinishedRuns::open(path, seeds).map_err(|error| with_remedy(error.into()))?;
    if !found.unfinished.is_empty() {
        let seeds: Vec<String> = found.unfinished.iter().map(ToString::to_string).collect();
        messages::warn(format_args!("runs that are not over are left out: seeds {}", seeds.join(", ")));
    }
    let models = found.runs.iter().map(|run| SavedModel::open(&run.folder.model()));
    Ok(models.collect::<Result<_, _>>()?)
}

/// What is predicted on.
pub(super) struct Ground {
    /// As it is read, without the noise of a run.
    pub(super) dataset: Dataset,
    pub(super) checksum: String,
    /// For each model the data that it was trained on; none where this is other data.
    pub(super) trained: Vec<Option<TrainingData>>,
    /// Classes of the data that the models do not have.
    pub(super) unknown_classes: Vec<String>,
}

impl Ground {
    pub(super) fn find(args: &Args, threads: &Threads, models: &[SavedModel]) -> Result<Self> {
        let header = models[0].header();
        for model in models {
            let own = model.header();
            if (own.inputs, own.outputs, &own.class_names)
                != (header.inputs, header.outputs, &header.class_names)
            {
                bail!("seeds {} and {} have other features or classes", header.seed, own.seed);
            }
        }
        let (name, edges) = (args.dataset.as_deref(), args.edges_file.as_deref());
        let given = name.is_some() || edges.is_some();
        if name.is_some() && edges.is_some() {
            bail!("there are two datasets: name one, or give `--edges`");
        }
        let dataset = match (args.own_files.requested(name, edges)?, name) {
            (Some(request), _) => own_files::read(threads, &encoded(request, header)?)?,
            (None, Some(name)) => args.data_folder.load(threads, name)?,
            (None, None) => own_data(args, threads, models)?,
        };
        let mut trained = Vec::new();
        for model in models {
            let found = as_trained(threads, &dataset, model.header())?;
            if found.is_none() && !given {
                let header = model.header();
                bail!(
                    "the data of the run has changed: `{}` has content {}, expected {}; to predict on it as new data, \
                     name it after the run",
                    dataset.name(),
                    dataset.checksum(),
                    header.checksum
                );
            }
            if found.is_none() {
                model.check_new(&dataset).with_context(|| {
                    format!(
                        "the model, which was trained on {}, does not fit {}",
                        header.dataset,
                        dataset.name()
                    )
                })?;
            }
            trained.push(found);
        }
        let checksum = match trained.first() {
            Some(Some(_)) => header.checksum.clone(),
            _ => dataset.checksum(),
        };
        let unknown_classes = match (dataset.class_names(), &header.class_names) {
            (Some(found), Some(known)) => found
                .iter()
                .filter(|name| !known.iter().any(|own| own == name))
                .map(ToOwned::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        Ok(Self { dataset, checksum, trained, unknown_classes })
    }

    /// Whether some model was not trained on this.
    pub(super) fn is_new(&self) -> bool {
        self.trained.iter().any(Option::is_none)
    }

    /// The split of the training, where all models share it.
    pub(super) fn split(&self) -> Option<&Split> {
        let of = |trained: &'_ Option<TrainingData>| {
            trained.as_ref()?.split.as_ref().map(|split| split.hash().to_owned())
        };
        let first = of(self.trained.first()?)?;
        let shared = self.trained.iter().all(|trained| of(trained).as_ref() == Some(&first));
        self.trained.first()?.as_ref()?.split.as_ref().filter(|_| shared)
    }

    /// The nodes that are asked for.
    pub(super) fn nodes(&self, unlabelled: bool) -> Vec<u32> {
        let all = 0..self.dataset.graph().nodes() as u32;
        match &**self.dataset.labels() {
            labels @ Labels::Classes(_) if unlabelled => {
                all.filter(|&node| !labels.is_labelled(node as usize)).collect()
            }
            _ => all.collect(),
        }
    }
}

/// Has the columns of a table encoded as those of the training were.
fn encoded(mut request: Import, header: &ModelHeader) -> Result<Import> {
    if let Some(text) = &header.encoding
        && request.features.is_none()
    {
        request.encoding = Some(Encoding::parse(text).context("cannot use the encoding in the model file")?);
    }
    Ok(request)
}

/// The data that the run itself names.
fn own_data(args: &Args, threads: &Threads, models: &[SavedModel]) -> Result<Dataset> {
    let source = |model: &SavedModel| source_of(model.header());
    let Some(first) = source(&models[0]) else {
        bail!("the model does not say where its data came from: name it after the run, or give `--edges`");
    };
    if models.iter().any(|model| source(model).as_ref() != Some(&first)) {
        bail!("each seed has a graph of its own: choose one by `--seeds`, or name a dataset");
    }
    let read = match &first {
        DataSource::Name(name) => args.data_folder.load(threads, name),
        DataSource::Files(request) => own_files::read(threads, request),
    };
    let named = match &first {
        DataSource::Name(name) => name.clone(),
        DataSource::Files(request) => request.edges.display().to_string(),
    };
    read.with_context(|| {
        format!("cannot read the data of the run, {named}: name it after the run if it is elsewhere, or give `--edges`")
    })
}
