//! One config, many seeds: what `train` and `audit` are told, and how runs are done.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use edgepace_data::{Noise, SplitRule};
use edgepace_graph::Threads;
use edgepace_lab::{
    DataSource, FinishedRun, FinishedRuns, LabError, Options, Outcome, Plan, RunFolder, Sweep,
};
use edgepace_train::{CheckedConfig, RunConfig, TrainError};

use crate::dataset::{DataFolder, budget};
use crate::messages::{self, with_help};
use crate::numbers::{bytes, positive, whole};
use crate::own_files::{self, OwnFiles};
use crate::progress::Progress;
use crate::seeds::Seeds;

/// As `RunConfig::check` has it.
const MOST_EPOCHS: u32 = 1_000_000;
/// More runs or threads at once than any machine is for.
pub(crate) const MOST_AT_ONCE: usize = 4096;

/// What to run on what.
#[derive(Args)]
pub(crate) struct RunArgs {
    /// A name that `edgepace data list` shows, a generator as `synthetic:homophily=0.3`, or a graph file
    dataset: Option<String>,
    /// The convolution: gcn, gin, sage, pna or mlp [default: gcn]
    #[arg(long)]
    backbone: Option<String>,
    /// What decides which edges to learn from; `edgepace methods` lists them [default: rcl]
    #[arg(long)]
    method: Option<String>,
    /// A named set of the method's settings [default: the first that `edgepace methods` shows]
    #[arg(long)]
    preset: Option<String>,
    /// Noise to add, as `fake=1.0,delete=0.1,flip=0.05`; with `seed=N` the same for every run
    #[arg(long, default_value = "", hide_default_value = true)]
    noise: Noise,
    /// A split of the dataset, as `public`, `full` or `geom:0`, or a rule: `kfold:K:I`, `fraction:TRAIN:VALIDATION`,
    /// `per-class:TRAIN:VALIDATION:TEST`, each also with `:stratified` and `:seed=N` [default: the dataset's usual one]
    #[arg(long)]
    split: Option<SplitRule>,
    /// Training epochs [default: 150]
    #[arg(long, value_name = "N", value_parser = whole(1, MOST_EPOCHS), allow_negative_numbers = true)]
    epochs: Option<u32>,
    /// Step size of Adam [default: 0.01]
    #[arg(long, value_name = "RATE", value_parser = positive, allow_negative_numbers = true)]
    lr: Option<f64>,
    /// What validation is judged by: accuracy, macro-f1, balanced-accuracy, roc-auc or log-loss; the others are reported
    /// beside it [default: accuracy, or roc-auc where nodes have many labels]
    #[arg(long)]
    metric: Option<String>,
    /// What is done to features: none, rows (each of sum 1), lengths (each row of length 1) or standardise (columns of mean 0
    /// and deviation 1) [default: lengths for words and tags, standardise for all else]
    #[arg(long, value_name = "HOW")]
    prepare: Option<String>,
    /// Features to learn from: given (the dataset's), filled (the same, with columns for nodes that have none), or instead of
    /// them identity (a column for each node), degree, spectral (eigenvectors of the adjacency, and degree) or none
    /// [default: given, filled where a quarter of the nodes has none; identity or, from 100 000 nodes, spectral without any]
    #[arg(long, value_name = "SOURCE")]
    features_from: Option<String>,
    /// Any setting of the run or of its method, over all others; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Try the presets, then the values that `edgepace methods NAME` lists as worth trying, one setting after the other, and
    /// keep the best on validation; what `--preset` and `--set` set stays
    #[arg(long)]
    search: bool,
    /// Settings as TOML, as `--out` writes them
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// One run per seed: `5`, `0,2,7`, or `0..3` for 0, 1 and 2. Noise, split and the graph of a
    /// generator follow the seed unless they have their own [default: 0]
    #[arg(long)]
    seeds: Option<Seeds>,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Instead of a dataset: a file of edges of your own
    #[arg(long, value_name = "FILE", help_heading = "Own files")]
    edges: Option<PathBuf>,
    #[command(flatten)]
    own_files: OwnFiles,
}

/// How runs are done. None of it changes what comes out.
#[derive(Args)]
pub(crate) struct WorkArgs {
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole(1, MOST_AT_ONCE), allow_negative_numbers = true)]
    pub(crate) jobs: usize,
    /// Threads of each run [default: all cores, or 1 with several jobs]
    #[arg(long, value_name = "N", value_parser = whole(1, MOST_AT_ONCE), allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// Refuse runs that need more memory than this, as `4GB` or `500MB` [default: what the system has]
    #[arg(long, value_name = "SIZE", value_parser = bytes, allow_negative_numbers = true)]
    pub(crate) memory_limit: Option<u64>,
}

impl WorkArgs {
    /// Does all runs, with a bar, and hands each to `finish` as soon as it is over.
    pub(crate) fn each<R: Send>(
        &self,
        sweep: &Sweep,
        saving: &Saving<'_>,
        finish: impl Fn(FinishedRun) -> Result<R> + Sync,
    ) -> Result<Vec<Outcome<R>>> {
        let runs = sweep.plan().seeds.len();
        let jobs = self.jobs.min(runs);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let progress = Progress::new(runs);
        let options = Options {
            jobs,
            threads: self.threads.unwrap_or(if jobs > 1 { 1 } else { cores }),
            folder: saving.folder,
            checkpoint: saving.checkpoint,
            deadline: saving.deadline,
            stop: saving.stop,
            memory: self.memory_limit,
            watch: &progress,
        };
        messages::note(format_args!("{runs} runs, {jobs} at once, {} threads each", options.threads));
        let outcomes = sweep.each(&options, |run: FinishedRun| {
            let result = &run.finished.record.result;
            let score = result.validation.map_or_else(|| "none".to_owned(), |score| format!("{score:.2}"));
            messages::note(format_args!(
                "seed {}: {} epochs in {:.1} s, best validation {score} at epoch {} on split {}",
                result.seed,
                result.epochs,
                result.seconds + result.warm_start_seconds,
                result.best_epoch,
                result.split,
            ));
            finish(run)
        });
        progress.finish();
        outcomes.map_err(with_remedy)
    }

    /// The same where nothing is saved on the way.
    pub(crate) fn each_finished<R: Send>(
        &self,
        sweep: &Sweep,
        folder: Option<&RunFolder>,
        finish: impl Fn(FinishedRun) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let stop = AtomicBool::new(false);
        let saving = Saving { folder, checkpoint: None, deadline: None, stop: &stop };
        let outcomes = self.each(sweep, &saving, finish)?;
        let done = |outcome| match outcome {
            Outcome::Done(result) => Some(result),
            Outcome::Before(_) | Outcome::Left => None,
        };
        Ok(outcomes.into_iter().filter_map(done).collect())
    }
}

/// Where and when runs are saved, and when they end.
pub(crate) struct Saving<'a> {
    pub(crate) folder: Option<&'a RunFolder>,
    pub(crate) checkpoint: Option<Duration>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) stop: &'a AtomicBool,
}

/// What to do about an error, in the words of the command line.
pub(crate) fn with_remedy(error: anyhow::Error) -> anyhow::Error {
    let remedy = match error.downcast_ref::<LabError>() {
        Some(LabError::Used { .. }) => "choose another folder, or give `--overwrite`",
        Some(LabError::Busy { .. }) => "wait for it, or choose another folder",
        Some(LabError::NoRun { .. }) => "name a folder that `edgepace train --out` wrote to",
        Some(LabError::Train(TrainError::Memory { .. })) => {
            "see `--jobs`, `--method` and `--set`, or raise `--memory-limit`"
        }
        Some(LabError::OtherRun { .. }) => {
            "give the data that it began with, or begin anew with `--overwrite`"
        }
        _ => return error,
    };
    with_help(error, remedy)
}

impl RunArgs {
    /// The seeds that were asked for.
    pub(crate) fn seeds(&self) -> Option<&[u64]> {
        self.seeds.as_ref().map(|seeds| &seeds.0[..])
    }

    /// The folder of runs that are over, where one is named in place of a dataset. What only a new run can be told is then
    /// refused.
    pub(crate) fn finished(&self) -> Result<Option<PathBuf>> {
        let Some(path) = self.dataset.as_ref().map(PathBuf::from) else { return Ok(None) };
        let folder = match path.parent() {
            Some(folder) if path.is_file() && path.extension().is_some_and(|own| own == "safetensors") => {
                folder.to_owned()
            }
            _ => path,
        };
        if !FinishedRuns::are_in(&folder) {
            return Ok(None);
        }
        let told = [
            ("backbone", self.backbone.is_some()),
            ("method", self.method.is_some()),
            ("preset", self.preset.is_some()),
            ("noise", !self.noise.is_none()),
            ("split", self.split.is_some()),
            ("epochs", self.epochs.is_some()),
            ("lr", self.lr.is_some()),
            ("metric", self.metric.is_some()),
            ("set", !self.set.is_empty()),
            ("search", self.search),
            ("config", self.config.is_some()),
            ("edges", self.edges.is_some()),
        ];
        if let Some((name, _)) = told.iter().find(|(_, told)| *told) {
            bail!("{} is a run that is over: `--{name}` can change nothing of it", folder.display());
        }
        Ok(Some(folder))
    }

    /// The settings, checked: what no run can do is refused before any data is read.
    fn config(&self) -> Result<CheckedConfig> {
        let mut config = match &self.config {
            None => RunConfig::default(),
            Some(file) => {
                let context = || format!("cannot use the settings in {}", file.display());
                let text = std::fs::read_to_string(file).with_context(context)?;
                RunConfig::parse(&text).with_context(context)?
            }
        };
        let named = [
            ("backbone", &self.backbone),
            ("method", &self.method),
            ("preset", &self.preset),
            ("metric", &self.metric),
            ("features", &self.prepare),
            ("features_from", &self.features_from),
        ];
        for (key, value) in named {
            if let Some(value) = value {
                config.set(key, value)?;
            }
        }
        config.epochs = self.epochs.unwrap_or(config.epochs);
        config.lr = self.lr.unwrap_or(config.lr);
        config.search |= self.search;
        for setting in &self.set {
            let Some((key, value)) = setting.split_once('=') else {
                bail!("`--set` is `{setting}`, expected KEY=VALUE");
            };
            config.set(key.trim(), value.trim())?;
        }
        Ok(config.check()?)
    }

    /// What was asked for, its settings checked. No data is read yet.
    pub(crate) fn plan(&self) -> Result<(Plan, CheckedConfig)> {
        let checked = self.config()?;
        let data = match (&self.dataset, &self.edges) {
            (Some(name), None) => DataSource::Name(name.clone()),
            (None, Some(edges)) => DataSource::Files(Box::new(self.own_files.request(edges))),
            (None, None) => bail!("there is no dataset: name one, or give `--edges`"),
            (Some(_), Some(_)) => bail!("there are two datasets: name one, or give `--edges`"),
        };
        let plan = Plan {
            data,
            noise: self.noise,
            split: self.split.clone(),
            config: checked.asked().clone(),
            seeds: self.seeds().map_or_else(|| vec![0], <[u64]>::to_vec),
        };
        Ok((plan, checked))
    }

    /// The plan with its dataset.
    pub(crate) fn load(&self, plan: Plan, config: CheckedConfig) -> Result<Sweep> {
        let threads: Threads = budget(self.work.threads)?;
        let dataset = match (&plan.data, plan.first_name()) {
            (DataSource::Files(request), _) => own_files::read(&threads, request)?,
            (DataSource::Name(name), first) => {
                self.data_folder.load(&threads, first.as_deref().unwrap_or(name))?
            }
        };
        let (graph, name) = (dataset.graph(), dataset.name());
        messages::note(format_args!("{name}: {} nodes, {} directed edges", graph.nodes(), graph.edges()));
        Ok(Sweep::new(plan, config, dataset))
    }
}
