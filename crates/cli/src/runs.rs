//! One config, many seeds: what `train`, `audit` and `demo` share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use anyhow::{Context, Result, bail};
use clap::Args;
use edgepace_data::{Generator, Noise, SplitRule, generate, splits};
use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;
use edgepace_train::{Event, RunConfig, Trained, find_method, run};

use crate::dataset::Place;
use crate::progress::Progress;
use crate::seeds::Seeds;
use crate::tables::Tables;

/// What to run on what.
#[derive(Args)]
pub(crate) struct RunArgs {
    /// A name that `edgepace data list` shows, a generator as `synthetic:homophily=0.3`, or a graph file
    #[arg(required_unless_present = "edges")]
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
    #[arg(long)]
    epochs: Option<u32>,
    /// Step size of Adam [default: 0.01]
    #[arg(long)]
    lr: Option<f64>,
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
    /// generator follow the seed unless they have their own
    #[arg(long, default_value = "0")]
    seeds: Seeds,
    /// Runs at the same time
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Threads of each run [default: all cores, or 1 with several jobs]
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    place: Place,
    /// Instead of a dataset: a file of edges of your own
    #[arg(long, value_name = "FILE", help_heading = "Own files")]
    edges: Option<PathBuf>,
    #[command(flatten)]
    tables: Tables,
}

impl RunArgs {
    /// The settings, checked: what no run can do is refused before any data is read.
    fn config(&self) -> Result<RunConfig> {
        let mut config = match &self.config {
            None => RunConfig::default(),
            Some(file) => {
                let context = || format!("cannot use the settings in {}", file.display());
                let text = std::fs::read_to_string(file).with_context(context)?;
                RunConfig::parse(&text).with_context(context)?
            }
        };
        let named = [("backbone", &self.backbone), ("method", &self.method), ("preset", &self.preset)];
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
        config.check()?;
        Ok(config)
    }

    pub(crate) fn plan(&self) -> Result<Plan> {
        let config = self.config()?;
        if self.jobs == 0 || self.threads == Some(0) {
            let name = if self.jobs == 0 { "jobs" } else { "threads" };
            bail!("`--{name}` is 0, expected at least 1");
        }
        let unseeded = self.dataset.clone().filter(|name| is_generator_without_seed(name));
        let dataset = match (&self.dataset, &self.edges) {
            (Some(name), None) => match (&unseeded, self.seeds.0.first()) {
                (Some(name), Some(&seed)) => self.place.load(&with_seed(name, seed))?,
                _ => self.place.load(name)?,
            },
            (None, Some(edges)) => self.tables.read(edges)?,
            (None, None) => bail!("there is no dataset: name one, or give `--edges`"),
            (Some(_), Some(_)) => bail!("there are two datasets: name one, or give `--edges`"),
        };
        Ok(Plan {
            dataset,
            unseeded,
            config,
            noise: self.noise,
            split: self.split.clone(),
            seeds: self.seeds.0.clone(),
            jobs: self.jobs.min(self.seeds.0.len()),
            threads: self.threads,
        })
    }
}

/// Whether a name is that of a graph that is made, and leaves the seed open.
fn is_generator_without_seed(name: &str) -> bool {
    matches!(Generator::parse(name), Ok(Some(_))) && !name.contains("seed=")
}

/// The name of a generator with a seed.
fn with_seed(name: &str, seed: u64) -> String {
    let between = match name.split_once(':') {
        None => ":",
        Some((_, "")) => "",
        Some(_) => ",",
    };
    format!("{name}{between}seed={seed}")
}

/// Runs to do.
pub(crate) struct Plan {
    /// Without noise; that of the first seed where the graph follows the seed.
    pub(crate) dataset: Dataset,
    /// The name of a generator that says no seed: the graph then follows the seed of the run.
    pub(crate) unseeded: Option<String>,
    pub(crate) config: RunConfig,
    pub(crate) noise: Noise,
    pub(crate) split: Option<SplitRule>,
    pub(crate) seeds: Vec<u64>,
    pub(crate) jobs: usize,
    pub(crate) threads: Option<usize>,
}

/// A run that is over, with what it ran on.
pub(crate) struct Finished {
    /// With its noise.
    pub(crate) dataset: Dataset,
    /// The name of the dataset before noise came to it, which brings it back.
    pub(crate) source: String,
    pub(crate) trained: Trained,
    pub(crate) events: Vec<Event>,
    /// The noise with its seed; empty without.
    pub(crate) noise: String,
}

impl Plan {
    /// The name of what is trained on: as it was given where the graph follows the seeds.
    pub(crate) fn dataset_name(&self) -> &str {
        self.unseeded.as_deref().unwrap_or(self.dataset.name())
    }

    /// The preset that runs; none for a method without presets.
    pub(crate) fn preset(&self) -> Option<String> {
        let default = || find_method(&self.config.method).ok()?.presets.first().map(|&name| name.to_owned());
        self.config.preset.clone().or_else(default)
    }

    /// The backbone that runs: the method `mlp` has its own.
    pub(crate) fn backbone(&self) -> &'static str {
        if self.config.method == "mlp" { "mlp" } else { self.config.backbone.name() }
    }

    /// Does all runs, `jobs` at a time, and hands each to `finish` as soon as it is over. Answers are in the order of the
    /// seeds; after an error no further run is begun.
    pub(crate) fn each<R: Send>(&self, finish: impl Fn(Finished) -> Result<R> + Sync) -> Result<Vec<R>> {
        if self.dataset.labels().width() == 0 {
            bail!("{} has no labels: there is nothing to learn", self.dataset.name());
        }
        let jobs = self.jobs.max(1);
        let progress = Progress::new(&self.config, self.seeds.len());
        let next = AtomicUsize::new(0);
        let (sender, results) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                let (sender, next, progress, finish) = (sender.clone(), &next, &progress, &finish);
                scope.spawn(move || {
                    while let Some((place, &seed)) =
                        Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, self.seeds.get(i)?)))
                    {
                        let result = self.one(seed, progress).and_then(finish);
                        if result.is_err() {
                            next.store(self.seeds.len(), Ordering::Relaxed);
                        }
                        // The receiver outlives every sender.
                        let _ = sender.send((place, result));
                    }
                });
            }
        });
        drop(sender);
        progress.finish();
        let mut results: Vec<(usize, Result<R>)> = results.into_iter().collect();
        results.sort_by_key(|(place, _)| *place);
        results.into_iter().map(|(_, result)| result).collect()
    }

    fn one(&self, seed: u64, progress: &Progress) -> Result<Finished> {
        let (dataset, split, source) = self.material(seed)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = Threads::new(self.threads.unwrap_or(if self.jobs > 1 { 1 } else { cores }))?;
        let mut events = Vec::new();
        let mut watch = progress.of_run();
        let mut listener = |event: &Event| {
            events.push(*event);
            watch.on(event);
            true
        };
        let trained = if threads.count() == 1 {
            // What is not told of the budget, too, stays within it.
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
            alone.install(|| run(&dataset, &split, &self.config, seed, &threads, &mut listener))?
        } else {
            run(&dataset, &split, &self.config, seed, &threads, &mut listener)?
        };
        watch.done();
        let noise = self.noise.record(seed);
        Ok(Finished { dataset, source, trained, events, noise })
    }

    /// The dataset with the noise of this seed, its split, and its name without noise.
    fn material(&self, seed: u64) -> Result<(Dataset, Split, String)> {
        let made = match &self.unseeded {
            Some(name) if self.seeds.first() != Some(&seed) => generate(&with_seed(name, seed))?,
            _ => None,
        };
        let dataset = made.as_ref().unwrap_or(&self.dataset);
        let rule = self.split.clone().unwrap_or_else(|| SplitRule::standard(dataset, seed));
        let split = splits::make(&rule, dataset, seed)?;
        let source = dataset.name().to_owned();
        Ok((with_noise(dataset, &self.noise, &split, seed)?, split, source))
    }
}

/// The dataset with noise, which may ask for the split.
pub(crate) fn with_noise(dataset: &Dataset, noise: &Noise, split: &Split, seed: u64) -> Result<Dataset> {
    if noise.is_none() {
        return Ok(dataset.clone());
    }
    let mut all = dataset.splits().to_vec();
    all.retain(|own| own.name() != split.name());
    all.push(split.clone());
    Ok(noise.apply(dataset.clone().with_splits(all)?, Some(split.name()), seed)?)
}
