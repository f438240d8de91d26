//! `edgepace methods`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_train::{METHODS, MethodInfo, find_method};
use serde::Serialize;
use toml::Value;

use crate::messages;
use crate::table::{Align, Table, say};

/// List the methods: what decides which edges and nodes a model learns from. With a name: all that can be set for it.
///
/// The first preset of a method is its default, and the defaults shown are its settings; `--set key=value` of `train`
/// changes them. Values to try are for a choice on validation.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace methods
  edgepace methods clnode
  edgepace train cora --method rcl --preset paper")]
pub(crate) struct Args {
    /// Show this method with its presets and settings
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let text = match (&args.name, messages::json()) {
        (Some(name), true) => serde_json::to_string(&Described::new(find_method(name)?)?)?,
        (Some(name), false) => page(&Described::new(find_method(name)?)?),
        (None, true) => {
            serde_json::to_string(&METHODS.iter().map(Described::new).collect::<Result<Vec<_>>>()?)?
        }
        (None, false) => list(),
    };
    say(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A method with the defaults of its settings.
#[derive(Serialize)]
struct Described {
    name: &'static str,
    backbones: &'static [&'static str],
    summary: &'static str,
    presets: &'static [&'static str],
    settings: Vec<DescribedSetting>,
}

#[derive(Serialize)]
struct DescribedSetting {
    name: &'static str,
    /// None: unset.
    default: Option<Value>,
    meaning: &'static str,
    search: Vec<Value>,
}

impl Described {
    fn new(method: &MethodInfo) -> Result<Self> {
        let defaults = method.defaults()?;
        let settings = method.settings.iter().map(|setting| DescribedSetting {
            name: setting.name,
            default: defaults.get(setting.name).cloned(),
            meaning: setting.meaning,
            search: setting.trials().collect(),
        });
        Ok(Self {
            name: method.name,
            backbones: method.backbones,
            summary: method.summary,
            presets: method.presets,
            settings: settings.collect(),
        })
    }
}

/// One line for each method.
fn list() -> String {
    let columns = ["method", "what it does", "backbones"];
    let mut table = Table::new(&columns.map(|name| (name, Align::Left)));
    for method in METHODS {
        table.row([method.name.to_owned(), method.summary.to_owned(), method.backbones.join(", ")]);
    }
    format!("{table}\n`edgepace methods NAME` shows the presets and settings of one.")
}

/// All about one method.
fn page(method: &Described) -> String {
    let mut lines = vec![
        format!("{}: {}", method.name, method.summary),
        format!("backbones  {}", method.backbones.join(", ")),
    ];
    if !method.presets.is_empty() {
        lines.push(format!("presets    {}", method.presets.join(", ")));
    }
    if method.settings.is_empty() {
        lines.push("It has no settings of its own.".into());
        return lines.join("\n");
    }
    let columns = ["setting", "default", "try", "meaning"];
    let mut table = Table::new(&columns.map(|name| (name, Align::Left)));
    for setting in &method.settings {
        let search: Vec<String> = setting.search.iter().map(shown).collect();
        table.row([
            setting.name.to_owned(),
            setting.default.as_ref().map_or_else(|| "unset".into(), shown),
            if search.is_empty() { "–".into() } else { search.join(", ") },
            setting.meaning.to_owned(),
        ]);
    }
    format!("{}\n\n{table}", lines.join("\n"))
}

/// A value as one types it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => short(*number),
        other => other.to_string(),
    }
}

/// A number with as many digits as tell it to a thousandth of itself: two thirds are 0.667.
fn short(number: f64) -> String {
    let told =
        |text: &String| text.parse().is_ok_and(|told: f64| (told - number).abs() <= 1e-3 * number.abs());
    let texts = (0..=9).map(|digits| format!("{number:.digits$}"));
    texts.into_iter().find(told).unwrap_or_else(|| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_another() {
        for (number, text) in [
            (0.0005, "0.0005"),
            (2.0 / 3.0, "0.667"),
            (1.0, "1"),
            (0.0, "0"),
            (1e-12, "0.000000000001"),
            (8192.0, "8192"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn every_default_is_shown_as_it_is() {
        for method in METHODS {
            for (name, default) in method.defaults().unwrap() {
                let Some(number) = default.as_float() else { continue };
                let told: f64 = shown(&default).parse().unwrap();
                assert!((told - number).abs() <= 1e-3 * number.abs(), "{} {name}: {told}", method.name);
            }
        }
    }
}
