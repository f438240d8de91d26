//! `edgepace methods`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_train::{METHODS, MethodInfo, find_method};
use serde::Serialize;
use toml::Value;

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

    /// Print JSON: a list, or one method
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let text = match (&args.name, args.json) {
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
        Value::Float(number) => format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        other => other.to_string(),
    }
}
