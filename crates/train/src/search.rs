//! What a search on validation tries: the method's presets, unless the config names one, then the values that its settings
//! name as worth trying, one setting after the other, each with the best of what was tried before. What the config sets itself
//! is not touched.

use toml::Value;

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::methods::rcl::default_preset;
use crate::registry::MethodInfo;
use crate::setting::Setting;

/// Whether there is anything to try.
pub(crate) fn has_trials(method: &MethodInfo, config: &RunConfig) -> Result<bool, TrainError> {
    Ok(trials(method, &rounds(method, config), config)? > 0)
}

/// What the config leaves open.
pub(crate) fn rounds(method: &MethodInfo, config: &RunConfig) -> Vec<Round> {
    let open = method.settings.iter().filter(|setting| !config.settings.contains_key(setting.name));
    config.preset.is_none().then_some(Round::Presets).into_iter().chain(open.map(Round::Values)).collect()
}

/// How much there is to try in these rounds instead of `base`.
pub(crate) fn trials(method: &MethodInfo, rounds: &[Round], base: &RunConfig) -> Result<usize, TrainError> {
    rounds.iter().try_fold(0, |sum, round| Ok(sum + round.others(method, base)?.len()))
}

/// What a search varies at a time.
pub(crate) enum Round {
    Presets,
    Values(&'static Setting),
}

impl Round {
    /// What there is to try instead of `base`: all that the method takes.
    pub(crate) fn others(&self, method: &MethodInfo, base: &RunConfig) -> Result<Vec<RunConfig>, TrainError> {
        let mut others: Vec<RunConfig> = match self {
            Round::Presets => {
                let with = |&preset: &&str| RunConfig { preset: Some(preset.into()), ..base.clone() };
                let default = default_preset(base);
                method.presets.iter().filter(|&&preset| preset != default).map(with).collect()
            }
            Round::Values(setting) => {
                let defaults = method.defaults_of(base)?;
                let differs = |value: &Value| defaults.get(setting.name).is_none_or(|one| !same(one, value));
                let with = |value| {
                    let mut config = base.clone();
                    config.settings.insert(setting.name.to_owned(), value);
                    config
                };
                setting.trials().filter(differs).map(with).collect()
            }
        };
        others.retain(|config| method.candidates(config).is_none() && method.recipe(config).is_ok());
        Ok(others)
    }
}

/// The preset and the settings of a config, as `key=value`; where it has none, that it has the defaults.
pub(crate) fn changes(config: &RunConfig) -> String {
    let settings = config.settings.iter().map(|(name, value)| match value {
        Value::String(word) => format!("{name}={word}"),
        value => format!("{name}={value}"),
    });
    let preset = config.preset.iter().map(|preset| format!("preset={preset}"));
    let changes: Vec<String> = preset.chain(settings).collect();
    if changes.is_empty() { "the defaults".to_owned() } else { changes.join(" ") }
}

/// Whether two values mean the same; 1 is 1.0.
fn same(one: &Value, other: &Value) -> bool {
    let number =
        |value: &Value| value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64));
    one == other || number(one).is_some_and(|value| number(other) == Some(value))
}
