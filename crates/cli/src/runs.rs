//! One config, many seeds: what `train` and `audit` are told, and how runs are done.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use clap::{ArgGroup, Args};
use edgepace_data::{Noise, SplitRule, splits};
use edgepace_graph::{Refusal, Threads};
use edgepace_lab::{
    DataSource, FinishedRun, FinishedRuns, LabError, Options, Outcome, Plan, PlanFile, RunFolder, Seeds,
    Sweep, TensorBoard, Watch,
};
use edgepace_train::{CheckedConfig, Search, TrainError};

use crate::dataset::{DataFolder, budget};
use crate::help::flag;
use crate::messages::{self, with_help};
use crate::names::{BACKBONES, DATASETS, GROUNDS, METHOD_NAMES, METRICS, PRESETS};
use crate::numbers::{bytes, positive, whole};
use crate::own_files::{self, OwnFiles};
use crate::progress::Progress;

/// As `RunConfig::check` has it.
pub(crate) const MOST_EPOCHS: u32 = 1_000_000;
/// More runs or threads at once than any machine is for.
pub(crate) const MOST_AT_ONCE: usize = 4096;

/// What to run on what.
#[derive(Args)]
#[command(group(ArgGroup::new("edges").args(["dataset", "edges_file"]).multiple(true)))]
pub(crate) struct RunArgs {
    /// A name that `edgepace data list` shows, a generator as `synthetic:homophily=0.3`, a graph file, or a file or folder of
    /// your own
    #[arg(value_parser = DATASETS, hide_possible_values = true)]
    dataset: Option<String>,
    /// Noise to add, as `fake=1.0,delete=0.1,flip=0.05`; with `seed=N` the same for every run
    #[arg(long, help_heading = "What")]
    noise: Option<Noise>,
    /// A split of the dataset, as `public`, `full` or `geom:0`, or a rule: `kfold:K:I`, `fraction:TRAIN:VALIDATION`,
    /// `per-class:TRAIN:VALIDATION:TEST`, each also with `:stratified` and `:seed=N` [default: the dataset's usual one]
    #[arg(long, help_heading = "What")]
    split: Option<SplitRule>,
    /// One run per seed: `5`, `0,2,7`, or `0..3` for 0, 1 and 2. Noise, split and the graph of a
    /// generator follow the seed unless they have their own [default: 0]
    #[arg(long, alias = "seed", help_heading = "What", allow_negative_numbers = true)]
    seeds: Option<Seeds>,
    /// All of this and all settings from a file, as `--out` writes it; what else is given here counts more
    #[arg(long, value_name = "FILE", help_heading = "What")]
    config: Option<PathBuf>,
    #[arg(long, value_name = "NAME", help = flag("backbone"), value_parser = BACKBONES)]
    #[arg(hide_possible_values = true, help_heading = "How")]
    backbone: Option<String>,
    #[arg(long, value_name = "NAME", help = flag("method") + "; `edgepace methods` lists them", value_parser = METHOD_NAMES)]
    #[arg(hide_possible_values = true, help_heading = "How")]
    method: Option<String>,
    #[arg(long, value_name = "NAME", help = flag("preset"), value_parser = PRESETS)]
    #[arg(hide_possible_values = true, help_heading = "How")]
    preset: Option<String>,
    #[arg(long, value_name = "NAME", help = flag("ground"), value_parser = GROUNDS)]
    #[arg(hide_possible_values = true, help_heading = "How")]
    ground: Option<String>,
    #[arg(long, value_name = "N", help = flag("epochs"), value_parser = whole(1, MOST_EPOCHS))]
    #[arg(allow_negative_numbers = true, help_heading = "How")]
    epochs: Option<u32>,
    #[arg(long, value_name = "RATE", help = flag("lr"), value_parser = positive)]
    #[arg(allow_negative_numbers = true, help_heading = "How")]
    lr: Option<f64>,
    #[arg(long, value_name = "NAME", help = flag("metric"), value_parser = METRICS)]
    #[arg(hide_possible_values = true, help_heading = "How")]
    metric: Option<String>,
    #[arg(long, value_name = "RULE", help = flag("epoch_rule"), help_heading = "How")]
    epoch_rule: Option<String>,
    #[arg(long, value_name = "HOW", help = flag("features"), help_heading = "How")]
    prepare: Option<String>,
    #[arg(long, value_name = "SOURCE", help = flag("features_from"), help_heading = "How")]
    features_from: Option<String>,
    /// Any setting of the run or of its method, over all others; may be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "How")]
    set: Vec<String>,
    /// Try settings and keep the best on validation: presets and values that `edgepace methods NAME` lists, one setting after
    /// the other; `--search=grid` the paper's epochs, lr and pace; `--search=random:N` so many of all combinations;
    /// `--search=halving` many briefly, the best of them longer. What `--preset` and `--set` set stays
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "settings")]
    #[arg(help_heading = "How")]
    search: Option<Search>,
    /// Say what would run, how long and with how much memory, and stop there
    #[arg(long, help_heading = "How")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Instead of a dataset: a file of edges of your own
    #[arg(long = "edges", value_name = "FILE", help_heading = "Own files")]
    edges_file: Option<PathBuf>,
    #[command(flatten)]
    own_files: OwnFiles,
}

/// How runs are done. None of it changes what comes out.
#[derive(Args)]
#[command(next_help_heading = "Where")]
pub(crate) struct WorkArgs {
    /// Runs at the same time
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole(1, MOST_AT_ONCE), allow_negative_numbers = true)]
    pub(crate) jobs: usize,
    /// Threads of each run [default: all cores, or 1 with several jobs]
    #[arg(long, value_name = "N", value_parser = whole(1, MOST_AT_ONCE), allow_negative_numbers = true)]
    pub(crate) threads: Option<usize>,
    /// Refuse runs that need more memory than this, as `4GB` or `500MB` [default: what the system has]
    #[arg(long, value_name = "SIZE", value_parser = bytes, allow_hyphen_values = true)]
    pub(crate) memory_limit: Option<u64>,
}

impl WorkArgs {
    /// Threads of each of so many runs at once.
    pub(crate) fn threads_of_each(&self, jobs: usize) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or(if jobs > 1 { 1 } else { cores })
    }

    /// Does all runs, with a bar, and hands each to `finish` as soon as it is over.
    pub(crate) fn each<R: Send>(
        &self,
        sweep: &Sweep,
        saving: &Saving<'_>,
        finish: impl Fn(FinishedRun) -> Result<R> + Sync,
    ) -> Result<Vec<Outcome<R>>> {
        let runs = sweep.plan().seeds.len();
        let jobs = self.jobs.min(runs);
        let progress = Progress::new(runs);
        let mut watch: Vec<&dyn Watch> = vec![&progress];
        watch.extend(saving.tensorboard.map(|own| -> &dyn Watch { own }));
        let options = Options {
            jobs,
            threads: self.threads_of_each(jobs),
            folder: saving.folder,
            checkpoint: saving.checkpoint,
            deadline: saving.deadline,
            stop: saving.stop,
            memory: self.memory_limit,
            watch: &watch,
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
        let saving = Saving { folder, tensorboard: None, checkpoint: None, deadline: None, stop: &stop };
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
    pub(crate) tensorboard: Option<&'a TensorBoard>,
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

/// A plan from a file, with its text to find lines in.
struct ConfigFile {
    path: PathBuf,
    text: String,
    plan: PlanFile,
}

impl ConfigFile {
    fn read(path: &PathBuf) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read `--config` {}", path.display()))?;
        let plan = PlanFile::parse(path, &text)?;
        Ok(Self { path: path.clone(), text, plan })
    }
}

impl RunArgs {
    /// Where datasets are kept.
    pub(crate) fn data_folder(&self) -> &DataFolder {
        &self.data_folder
    }

    /// The seeds that were asked for.
    pub(crate) fn seeds(&self) -> Option<&[u64]> {
        self.seeds.as_ref().map(Seeds::as_slice)
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
            ("ground", self.ground.is_some()),
            ("noise", self.noise.is_some()),
            ("split", self.split.is_some()),
            ("epochs", self.epochs.is_some()),
            ("lr", self.lr.is_some()),
            ("metric", self.metric.is_some()),
            ("epoch-rule", self.epoch_rule.is_some()),
            ("set", !self.set.is_empty()),
            ("search", self.search.is_some()),
            ("config", self.config.is_some()),
            ("dry-run", self.dry_run),
            ("edges", self.edges_file.is_some()),
        ];
        if let Some((name, _)) = told.iter().find(|(_, told)| *told) {
            bail!("{} is a run that is over: `--{name}` can change nothing of it", folder.display());
        }
        Ok(Some(folder))
    }

    /// The settings, checked: what no run can do is refused before any data is read.
    fn config(&self, file: Option<&ConfigFile>) -> Result<CheckedConfig> {
        let mut config = file.map(|file| file.plan.run.clone()).unwrap_or_default();
        let explained = |error: TrainError| self.explained(error, file);
        for (_, key, value) in self.named() {
            config.set(key, value).map_err(explained)?;
        }
        config.epochs = self.epochs.unwrap_or(config.epochs);
        config.lr = self.lr.or(config.lr);
        config.search = self.search.unwrap_or(config.search);
        for setting in &self.set {
            let Some((key, value)) = setting.split_once('=') else {
                return Err(with_help(
                    anyhow!("`--set` is `{setting}`, expected KEY=VALUE"),
                    "as `--set hidden=64`",
                ));
            };
            config.set(key.trim(), value.trim()).map_err(explained)?;
        }
        config.check().map_err(explained)
    }

    /// The settings that have a flag of their own for a name, as far as they are given: flag, setting and value.
    fn named(&self) -> impl Iterator<Item = (&'static str, &'static str, &str)> {
        let named = [
            ("backbone", "backbone", &self.backbone),
            ("method", "method", &self.method),
            ("preset", "preset", &self.preset),
            ("ground", "ground", &self.ground),
            ("epoch-rule", "epoch_rule", &self.epoch_rule),
            ("metric", "metric", &self.metric),
            ("prepare", "features", &self.prepare),
            ("features-from", "features_from", &self.features_from),
        ];
        named.into_iter().filter_map(|(flag, key, value)| Some((flag, key, value.as_deref()?)))
    }

    /// Says which flag or which line of the file a refused setting comes from, and where legal names are listed.
    fn explained(&self, error: TrainError, file: Option<&ConfigFile>) -> anyhow::Error {
        let field = match &error {
            TrainError::Refused(refusal) => refusal.field.clone().into_owned(),
            TrainError::Settings { field, .. } => field.clone(),
            _ => return error.into(),
        };
        let set = |given: &&String| {
            given.split_once('=').is_some_and(|(key, _)| key.trim().replace('-', "_") == field)
        };
        let others =
            [("epochs", self.epochs.is_some()), ("lr", self.lr.is_some()), ("search", self.search.is_some())];
        let others = others.into_iter().filter(|(_, given)| *given).map(|(name, _)| (name, name));
        let mut flags = self.named().map(|(flag, key, _)| (flag, key)).chain(others);
        let flagged = flags.find(|(_, key)| *key == field).map(|(flag, _)| flag);
        let suggests = error.to_string().contains("did you mean");
        let unknown = matches!(&error, TrainError::Settings { .. });
        let error = match (self.set.iter().rev().find(set), flagged, error) {
            (Some(given), _, TrainError::Refused(refusal)) => {
                anyhow!("`--set {given}`: expected {}", refusal.expected)
            }
            (Some(given), _, TrainError::Settings { reason, .. }) => anyhow!("`--set {given}`: {reason}"),
            (None, Some(flag), TrainError::Refused(refusal)) => {
                let Refusal { found, expected, .. } = refusal;
                anyhow!("`--{flag}` is {found}, expected {expected}")
            }
            (_, _, error) => {
                match file.and_then(|file| PlanFile::line_of(&file.text, &field).zip(Some(file))) {
                    Some((line, file)) => anyhow!("{}, line {line}: {error}", file.path.display()),
                    None => error.into(),
                }
            }
        };
        let help = match &field[..] {
            "method" => "`edgepace methods` lists them",
            "preset" => "`edgepace methods NAME` shows the presets of one",
            _ if unknown && suggests => {
                "`edgepace methods NAME` shows the settings of a method, `edgepace train --help` those of a run"
            }
            _ => return error,
        };
        with_help(error, help)
    }

    /// What was asked for, its settings checked. No data is read yet.
    pub(crate) fn plan(&self) -> Result<(Plan, CheckedConfig)> {
        let file = self.config.as_ref().map(ConfigFile::read).transpose()?;
        let checked = self.config(file.as_ref())?;
        let mut plan = file.map(|file| file.plan).unwrap_or_default();
        plan.run = checked.asked().clone();
        let (dataset, edges) = (self.dataset.as_deref(), self.edges_file.as_deref());
        if dataset.is_some() || edges.is_some() {
            plan.files = self.own_files.requested(dataset, edges)?.map(Box::new);
            plan.dataset = self.dataset.clone().filter(|_| plan.files.is_none() || edges.is_some());
        }
        plan.noise = self.noise.or(plan.noise);
        plan.split = self.split.clone().or(plan.split);
        plan.seeds = self.seeds.clone().or(plan.seeds);
        let plan = plan.into_plan().map_err(|reason| {
            let help = "name one that `edgepace data list` shows, or give `--edges` with a file of your own";
            with_help(anyhow!("{reason}"), help)
        })?;
        Ok((plan, checked))
    }

    /// The plan with its dataset, which has the split that is asked for.
    pub(crate) fn load(&self, plan: Plan, config: CheckedConfig) -> Result<Sweep> {
        let threads: Threads = budget(self.work.threads)?;
        let dataset = match (&plan.data, plan.first_name()) {
            (DataSource::Files(request), _) => own_files::read(&threads, request)?,
            (DataSource::Name(name), first) => {
                self.data_folder.load(&threads, first.as_deref().unwrap_or(name))?
            }
        };
        if dataset.labels().width() == 0 {
            return Err(own_files::without_labels(&threads, &plan.data));
        }
        let (graph, name) = (dataset.graph(), dataset.name());
        messages::note(format_args!("{name}: {} nodes, {} directed edges", graph.nodes(), graph.edges()));
        if let (Some(rule), Some(&seed)) = (&plan.split, plan.seeds.first()) {
            splits::make(&threads, rule, &dataset, seed)?;
        }
        Ok(Sweep::new(plan, config, dataset))
    }
}
