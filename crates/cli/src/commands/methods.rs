//! `edgepace methods`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_train::{Group, METHODS, MethodInfo, find_method};
use serde::Serialize;
use toml::Value;

use crate::help::{WIDTH, hanging, shown};
use crate::messages::{self, with_help};
use crate::names::METHOD_NAMES;
use crate::table::say;

/// List the methods, or show all that can be set for one.
///
/// A method decides which edges and nodes a model learns from.
/// The first preset of a method is its default, and the defaults shown are its settings; `--set key=value` of `train`
/// changes them. On the paper's ground the default of rcl is edgepace. Values to try are for a choice on validation.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace methods
  edgepace methods clnode
  edgepace train cora --method rcl --preset paper")]
pub(crate) struct Args {
    /// Show this method with its presets and settings
    #[arg(value_parser = METHOD_NAMES, hide_possible_values = true)]
    name: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let find =
        |name| find_method(name).map_err(|error| with_help(error.into(), "`edgepace methods` lists them"));
    let text = match (&args.name, messages::json()) {
        (Some(name), true) => serde_json::to_string(&Described::new(find(name)?)?)?,
        (Some(name), false) => page(&Described::new(find(name)?)?),
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
    group: Group,
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
            group: method.group,
            backbones: method.backbones,
            summary: method.summary,
            presets: method.presets,
            settings: settings.collect(),
        })
    }
}

/// One line for each method, those to use first.
fn list() -> String {
    let groups = [
        (Group::Use, "Use these"),
        (Group::Compare, "Compare with these"),
        (Group::Ablation, "Ablations: rcl without, or with another, part"),
    ];
    let widest = METHODS.iter().map(|method| method.name.len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (group, title) in groups {
        lines.push(title.to_owned());
        for method in METHODS.iter().filter(|method| method.group == group) {
            lines.extend(hanging(&format!("  {:widest$}  ", method.name), method.summary, WIDTH));
        }
        lines.push(String::new());
    }
    lines.push("`edgepace methods NAME` shows backbones, presets and settings of one.".to_owned());
    lines.join("\n")
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
    lines.push("\nSettings, for `--set KEY=VALUE`:".to_owned());
    let widest = method.settings.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    for setting in &method.settings {
        let default = setting.default.as_ref().map_or_else(|| "unset".into(), shown);
        let search: Vec<String> = setting.search.iter().map(shown).collect();
        let search = if search.is_empty() { String::new() } else { format!(" [try: {}]", search.join(", ")) };
        let text = format!("{} [default: {default}]{search}", setting.meaning);
        lines.extend(hanging(&format!("  {:widest$}  ", setting.name), &text, WIDTH));
    }
    lines.push("Settings of every run: `edgepace train --help`.".to_owned());
    lines.join("\n")
}
