//! Datasets as commands take them: by name, fetched when they are not there, with a bar for what takes long.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use edgepace_data::fetch::{self, Options, Outcome, Progress, Stage};
use edgepace_data::registry::Set;
use edgepace_data::{Cache, DataError, Source};
use edgepace_graph::{Dataset, Threads};
use indicatif::{ProgressBar, ProgressStyle};

use crate::messages;
use crate::own_files::in_flags;

/// Where datasets are kept.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Where")]
pub(crate) struct DataFolder {
    /// Folder of datasets [default: $EDGEPACE_DATA, or the cache folder of the platform]
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<PathBuf>,
    /// Never use the network
    #[arg(long, global = true)]
    offline: bool,
}

impl DataFolder {
    /// The folder, if one was named.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.data.as_deref()
    }

    /// Whether the network is not to be used.
    pub(crate) fn is_offline(&self) -> bool {
        self.offline
    }

    pub(crate) fn cache(&self) -> Result<Cache> {
        Ok(match &self.data {
            Some(folder) => Cache::at(folder),
            None => Cache::from_env()?,
        })
    }

    /// The dataset of that name; a set of the registry is fetched when it is not there.
    pub(crate) fn load(&self, threads: &Threads, name: &str) -> Result<Dataset> {
        let (cache, source) = (self.cache()?, source(name)?);
        if let Source::Set(set) = &source
            && !cache.has(set)
        {
            self.fetch(set, &cache)?;
        }
        let bar = spinner(format!("reading {name}"));
        let dataset = source.load(threads, &cache);
        bar.finish_and_clear();
        dataset.map_err(in_flags)
    }

    /// Fetches what is missing of a set.
    pub(crate) fn fetch(&self, set: &'static Set, cache: &Cache) -> Result<Outcome> {
        let options = Options { offline: self.offline || Options::from_env().offline, ..Options::from_env() };
        let bar = spinner(format!("{}: connecting", set.name));
        let outcome = fetch::get(set, cache, &options, &mut |progress| show(&bar, &progress));
        bar.finish_and_clear();
        outcome.with_context(|| format!("cannot get {}", set.name))
    }
}

/// What the name of a dataset means. The refusal of one that means nothing adds which commands help.
pub(crate) fn source(name: &str) -> Result<Source> {
    Source::parse(name).map_err(|error| match &error {
        DataError::Request { refusal, .. } if refusal.field == "dataset" => anyhow!(
            "{error} (`edgepace data list` shows the names, `edgepace data import` makes files of tables)"
        ),
        _ => error.into(),
    })
}

/// As many threads as were asked for, or as the machine has cores.
pub(crate) fn budget(asked: Option<usize>) -> Result<Threads> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Threads::new(asked.unwrap_or_else(cores))?)
}

fn show(bar: &ProgressBar, progress: &Progress<'_>) {
    let Some(total) = progress.total else {
        bar.set_message(format!("{} {}", verb(progress.stage), progress.file));
        return;
    };
    if bar.length() != Some(total) {
        bar.set_length(total);
        bar.set_style(bytes_style());
    }
    bar.set_message(format!("{} {}", verb(progress.stage), progress.file));
    bar.set_position(progress.done);
}

fn verb(stage: Stage) -> &'static str {
    match stage {
        Stage::Waiting => "waiting for",
        Stage::Downloading => "downloading",
        Stage::Unpacking => "unpacking",
    }
}

/// A bar of bytes with speed and time left.
pub(crate) fn bytes_style() -> ProgressStyle {
    ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Shows that something is going on, from a second on; nothing where there is no terminal.
pub(crate) fn spinner(message: String) -> ProgressBar {
    let bar = messages::bar(ProgressBar::new_spinner().with_message(message));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
