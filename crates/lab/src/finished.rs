//! Runs that are over, as their files tell: a folder of runs, the folder of one seed, or a file in it.

use std::path::Path;

use edgepace_data::{Noise, SplitRule, splits};
use edgepace_graph::{Dataset, Split, Threads};
use edgepace_train::{ModelHeader, RunRecord};

use crate::error::LabError;
use crate::folder::{RunFolder, SeedFolder};
use crate::plan::{DataSource, Plan, with_noise};

/// Runs of one plan that are over.
pub struct FinishedRuns {
    /// What was asked for.
    pub plan: Plan,
    /// One for each seed that was asked for and is over.
    pub runs: Vec<FinishedSeed>,
    /// Seeds of the plan whose run is not over yet.
    pub unfinished: Vec<u64>,
}

/// A run that is over.
pub struct FinishedSeed {
    /// Where its files are.
    pub folder: SeedFolder,
    /// What was measured, and how.
    pub record: RunRecord,
}

impl FinishedRuns {
    /// Whether a path is a folder of runs, or the folder of one seed.
    pub fn are_in(path: &Path) -> bool {
        RunFolder::is_one(path) || SeedFolder::is_one(path)
    }

    /// The runs in a folder of runs, or in the folder of one seed; with seeds those alone.
    ///
    /// # Errors
    /// A folder without a run, a seed that it does not have or that is not over, or a file that cannot be read.
    pub fn open(path: &Path, seeds: Option<&[u64]>) -> Result<Self, LabError> {
        let no_run = |reason: String| LabError::NoRun { folder: path.to_owned(), reason };
        let mut found = if RunFolder::is_one(path) {
            let plan = RunFolder::plan_of(path)?;
            let mut found = Self { runs: Vec::new(), unfinished: Vec::new(), plan };
            for &seed in &found.plan.seeds {
                let folder = SeedFolder::of(path, seed);
                match folder.finished_record()? {
                    Some(record) => found.runs.push(FinishedSeed { folder, record }),
                    None => found.unfinished.push(seed),
                }
            }
            found
        } else {
            let folder = SeedFolder::at(path);
            let record = folder.finished_record()?;
            let record =
                record.ok_or_else(|| no_run("there is neither config.toml nor record.json".into()))?;
            let above = std::path::absolute(path).ok().and_then(|path| path.parent().map(Path::to_owned));
            let above = above.ok_or_else(|| no_run("it is in no folder".into()))?;
            let plan = RunFolder::plan_of(&above)?;
            Self { plan, runs: vec![FinishedSeed { folder, record }], unfinished: Vec::new() }
        };
        if let Some(seeds) = seeds {
            let over: Vec<u64> = found.runs.iter().map(|run| run.record.result.seed).collect();
            if let Some(&seed) = seeds.iter().find(|seed| !over.contains(seed)) {
                return Err(LabError::NoSeed { folder: path.to_owned(), seed, over });
            }
            found.runs.retain(|run| seeds.contains(&run.record.result.seed));
            found.unfinished.clear();
        }
        if found.runs.is_empty() {
            return Err(no_run("none of its runs is over".into()));
        }
        Ok(found)
    }
}

/// Where the data of a model came from, if it says so: to be read from any folder.
pub fn source_of(header: &ModelHeader) -> Option<DataSource> {
    serde_json::from_str(header.source.as_deref()?).ok()
}

/// What a model was trained on.
pub struct TrainingData {
    /// With its noise.
    pub dataset: Dataset,
    /// As it was trained with; none where its name does not tell how to make it.
    pub split: Option<Split>,
}

/// The dataset as a model was trained on it, its noise added again; none where it is another one.
///
/// # Errors
/// Noise or a split that the dataset refuses.
pub fn as_trained(
    threads: &Threads,
    dataset: &Dataset,
    header: &ModelHeader,
) -> Result<Option<TrainingData>, LabError> {
    let split = || -> Result<Option<Split>, LabError> {
        let Ok(rule) = header.split.parse::<SplitRule>() else { return Ok(None) };
        Ok(Some(splits::make(threads, &rule, dataset, header.seed)?))
    };
    if dataset.checksum() == header.checksum {
        return Ok(Some(TrainingData { dataset: dataset.clone(), split: split()? }));
    }
    let Ok(noise) = header.noise.parse::<Noise>() else { return Ok(None) };
    if noise.is_none() || dataset.name() != header.dataset {
        return Ok(None);
    }
    let Some(split) = split()? else { return Ok(None) };
    let noisy = with_noise(threads, dataset, &noise, &split, header.seed)?;
    let same = noisy.checksum() == header.checksum;
    Ok(same.then_some(TrainingData { dataset: noisy, split: Some(split) }))
}
