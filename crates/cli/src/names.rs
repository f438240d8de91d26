//! Names that a flag takes: listed for shells to complete, judged by whoever knows what they mean.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use edgepace_data::Generator;
use edgepace_data::registry::SETS;
use edgepace_nn::{Backbone, Metric};
use edgepace_train::METHODS;

/// Takes any text. The names are for shells alone: what is none of them may be a file or a generator, and the crate that looks it up
/// says what was probably meant.
#[derive(Clone)]
pub(crate) struct Names(fn() -> Vec<&'static str>);

pub(crate) const DATASETS: Names = Names(|| {
    let generators = Generator::NAMES;
    SETS.iter().map(|set| set.name).chain(generators).collect()
});
pub(crate) const METHOD_NAMES: Names = Names(|| METHODS.iter().map(|method| method.name).collect());
pub(crate) const PRESETS: Names = Names(|| {
    let mut presets: Vec<&str> = METHODS.iter().flat_map(|method| method.presets).copied().collect();
    presets.sort_unstable();
    presets.dedup();
    presets
});
pub(crate) const BACKBONES: Names = Names(|| Backbone::ALL.map(Backbone::name).to_vec());
pub(crate) const GROUNDS: Names = Names(|| vec!["paper", "strong"]);
pub(crate) const METRICS: Names = Names(|| Metric::ALL.map(Metric::name).to_vec());

impl Names {
    /// Names of a list that a command keeps.
    pub(crate) const fn of(names: fn() -> Vec<&'static str>) -> Self {
        Self(names)
    }
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let text = value.to_str().map(ToOwned::to_owned);
        text.ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
