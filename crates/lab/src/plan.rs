//! What to run on what: one dataset, one config, many seeds; and how that is written down.

use std::path::Path;
use std::sync::Arc;

use edgepace_data::import::Import;
use edgepace_data::{Generator, Noise, Source, SplitRule, generate, splits};
use edgepace_graph::files::FileError;
use edgepace_graph::{Dataset, Split, Threads};
use edgepace_train::{Judge, Material, RunConfig};
use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};

use crate::error::LabError;
use crate::seeds::Seeds;
use crate::toml_text::{self, line};

/// Where the graph comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataSource {
    /// A name of the registry, a generator, or a graph file.
    Name(String),
    /// Files of one's own.
    Files(Box<Import>),
}

/// Runs to do. Noise, split and the graph of a generator follow the seed of each run unless they name their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Where the graph comes from.
    pub data: DataSource,
    /// What is added to it.
    pub noise: Noise,
    /// How it is split; none: the dataset's usual way.
    pub split: Option<SplitRule>,
    /// The settings.
    pub config: RunConfig,
    /// One run each.
    pub seeds: Vec<u64>,
}

/// A plan as TOML has it. All of it may be left out, so that a file can hold the settings alone and a command line the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanFile {
    /// A name of the registry, a generator, or a graph file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// What is added to the graph.
    #[serde(with = "optional_as_text", skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// How it is split.
    #[serde(with = "optional_as_text", skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitRule>,
    /// One run each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Seeds>,
    /// The settings.
    pub run: RunConfig,
    /// Files of one's own, instead of a dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Box<Import>>,
}

/// The keys of a plan beside its settings. A file with none of them has the settings alone, as older ones do.
const PLAN_KEYS: [&str; 6] = ["dataset", "noise", "split", "seeds", "run", "files"];
/// The part of a plan that has the settings.
const RUN: &str = "run";
/// The part of the settings that has the method's own.
const SETTINGS: &str = "settings";

impl PlanFile {
    /// Reads a plan, or settings alone. `path` is what errors call it.
    ///
    /// # Errors
    /// Not TOML, an unknown field, or a value that it cannot have, with line and field.
    pub fn parse(path: &Path, text: &str) -> Result<Self, LabError> {
        let table = toml_text::table(path, text)?;
        let whole = table.get_ref().is_empty()
            || table.get_ref().keys().any(|key| PLAN_KEYS.contains(&key.get_ref().as_ref()));
        if whole {
            toml_text::read(path, text)
        } else {
            toml_text::read(path, text).map(|run| Self { run, ..Self::default() })
        }
    }

    /// The plan as TOML.
    ///
    /// # Errors
    /// A file name that is no text.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    /// The line of a setting in the text of a plan, if it is there.
    pub fn line_of(text: &str, setting: &str) -> Option<usize> {
        let table = DeTable::parse(text).ok()?;
        let whole = table.get_ref();
        let run = table_in(whole, RUN).unwrap_or(whole);
        let found = [Some(whole), Some(run), table_in(run, SETTINGS)];
        let keys = found.into_iter().flatten().flat_map(|table| table.keys());
        let key = keys.into_iter().find(|key| key.get_ref().as_ref() == setting)?;
        Some(line(text, key.span().start))
    }
}

fn table_in<'a, 'b>(table: &'a DeTable<'b>, name: &str) -> Option<&'a DeTable<'b>> {
    match table.get(name)?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

impl From<Plan> for PlanFile {
    fn from(plan: Plan) -> Self {
        let (dataset, files) = match plan.data {
            DataSource::Name(name) => (Some(name), None),
            DataSource::Files(import) => (None, Some(import)),
        };
        Self {
            dataset,
            noise: Some(plan.noise).filter(|noise| !noise.is_none()),
            split: plan.split,
            // Checked when the plan was made; one without seeds has nothing to run.
            seeds: Seeds::new(plan.seeds).ok(),
            run: plan.config,
            files,
        }
    }
}

impl PlanFile {
    /// The plan, if it says what to run on. One seed, 0, unless it says otherwise.
    ///
    /// # Errors
    /// No dataset, or two.
    pub fn into_plan(self) -> Result<Plan, &'static str> {
        let data = match (self.dataset, self.files) {
            (Some(name), None) => DataSource::Name(name),
            (None, Some(files)) => DataSource::Files(files),
            (None, None) => return Err("there is no dataset"),
            (Some(_), Some(_)) => return Err("there are two datasets"),
        };
        Ok(Plan {
            data,
            noise: self.noise.unwrap_or_default(),
            split: self.split,
            config: self.run,
            seeds: self.seeds.map_or_else(|| vec![0], Seeds::into_vec),
        })
    }
}

/// What one run works on.
pub struct RunData {
    /// With its noise.
    pub dataset: Dataset,
    /// What the run may know.
    pub material: Arc<Material>,
    /// Who judges it.
    pub judge: Judge,
    /// Where the graph comes from, to be read from any folder, without its noise.
    pub source: DataSource,
}

impl Plan {
    /// The same as it is written down: with all settings, and files whose names mean the same from any folder.
    ///
    /// # Errors
    /// Settings that no run can have, or a folder that is gone.
    pub fn resolved(&self) -> Result<Self, LabError> {
        let mut plan = Self { config: self.config.check()?.resolved()?, ..self.clone() };
        let absolute = |path: &Path| {
            std::path::absolute(path).map_err(|source| FileError {
                action: "find",
                path: path.to_owned(),
                source,
            })
        };
        match &mut plan.data {
            DataSource::Name(name) => {
                if let Ok(Source::File(path)) = Source::parse(name) {
                    *name = absolute(&path)?.display().to_string();
                }
            }
            DataSource::Files(import) => {
                import.edges = absolute(&import.edges)?;
                for file in [&mut import.nodes, &mut import.features].into_iter().flatten() {
                    *file = absolute(file)?;
                }
            }
        }
        Ok(plan)
    }

    /// The name of a generator that leaves the seed open: the graph then follows the seed of the run.
    pub fn unseeded(&self) -> Option<&str> {
        match &self.data {
            DataSource::Name(name)
                if matches!(Generator::parse(name), Ok(Some(_))) && !name.contains("seed=") =>
            {
                Some(name)
            }
            _ => None,
        }
    }

    /// The name that brings the graph of the first run.
    pub fn first_name(&self) -> Option<String> {
        match &self.data {
            DataSource::Name(name) => Some(match (self.unseeded(), self.seeds.first()) {
                (Some(name), Some(&seed)) => with_seed(name, seed),
                _ => name.clone(),
            }),
            DataSource::Files(_) => None,
        }
    }

    /// What the run of a seed works on; `dataset` is that of the first seed, without noise.
    ///
    /// # Errors
    /// A split that the dataset does not have, noise that it cannot take, or a dataset without labels.
    pub fn data_of(&self, threads: &Threads, dataset: &Dataset, seed: u64) -> Result<RunData, LabError> {
        let made = match self.unseeded() {
            Some(name) if self.seeds.first() != Some(&seed) => generate(threads, &with_seed(name, seed))?,
            _ => None,
        };
        let dataset = made.as_ref().unwrap_or(dataset);
        let rule = self.split.clone().unwrap_or_else(|| SplitRule::standard(dataset, seed));
        let split = splits::make(threads, &rule, dataset, seed)?;
        let noisy = with_noise(threads, dataset, &self.noise, &split, seed)?;
        let noise = self.noise.record(seed);
        let (material, judge) = Material::with_noise(&noisy, &split, dataset.name(), &noise)?;
        Ok(RunData { dataset: noisy, material, judge, source: self.source_of(seed) })
    }

    /// Where the graph of a seed comes from.
    fn source_of(&self, seed: u64) -> DataSource {
        match self.unseeded() {
            Some(name) => DataSource::Name(with_seed(name, seed)),
            // Names that are not absolute, if the folder that we are in is gone.
            None => self.resolved().map_or_else(|_| self.data.clone(), |plan| plan.data),
        }
    }
}

/// The dataset with noise, which may ask for the split.
///
/// # Errors
/// Noise that the dataset cannot take.
pub fn with_noise(
    threads: &Threads,
    dataset: &Dataset,
    noise: &Noise,
    split: &Split,
    seed: u64,
) -> Result<Dataset, LabError> {
    if noise.is_none() {
        return Ok(dataset.clone());
    }
    let mut all = dataset.splits().to_vec();
    all.retain(|own| own.name() != split.name());
    all.push(split.clone());
    let dataset = dataset.clone().with_splits(all).map_err(edgepace_data::DataError::from)?;
    Ok(noise.apply(threads, dataset, Some(split.name()), seed)?)
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

mod optional_as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serialize as _, Serializer, de::Error};

    #[allow(clippy::ref_option, reason = "serde asks for a reference")]
    pub(super) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(D::Error::custom)).transpose()
    }
}
