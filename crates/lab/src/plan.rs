//! What to run on what: one dataset, one config, many seeds.

use std::sync::Arc;

use edgepace_data::import::Import;
use edgepace_data::{Generator, Noise, Source, SplitRule, generate, splits};
use edgepace_graph::{Dataset, Split, Threads};
use edgepace_train::{Judge, Material, RunConfig};
use serde::{Deserialize, Serialize};

use crate::error::LabError;

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Where the graph comes from.
    pub data: DataSource,
    /// What is added to it.
    #[serde(with = "as_text")]
    pub noise: Noise,
    /// How it is split; none: the dataset's usual way.
    #[serde(with = "optional_as_text")]
    pub split: Option<SplitRule>,
    /// The settings.
    pub config: RunConfig,
    /// One run each.
    pub seeds: Vec<u64>,
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
    /// The same with files whose names mean the same from any folder.
    pub(crate) fn absolute(&self) -> std::io::Result<Self> {
        let mut plan = self.clone();
        match &mut plan.data {
            DataSource::Name(name) => {
                if let Ok(Source::File(path)) = Source::parse(name) {
                    *name = std::path::absolute(path)?.display().to_string();
                }
            }
            DataSource::Files(import) => {
                import.edges = std::path::absolute(&import.edges)?;
                for file in [&mut import.nodes, &mut import.features].into_iter().flatten() {
                    *file = std::path::absolute(&*file)?;
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
            None => self.absolute().map_or_else(|_| self.data.clone(), |plan| plan.data),
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

mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
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
