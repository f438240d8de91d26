//! `edgepace methods`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_train::METHODS;

use crate::table::{Align, Table, say};

/// List the methods: what decides which edges a model learns from.
///
/// The first preset of a method is its default.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace methods
  edgepace train cora --method rcl --preset paper")]
pub(crate) struct Args {
    /// Print one JSON list
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.json {
        say(&serde_json::to_string(METHODS)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let columns = ["method", "what it does", "backbones", "presets"];
    let mut table = Table::new(&columns.map(|name| (name, Align::Left)));
    for method in METHODS {
        let presets = if method.presets.is_empty() { "–".to_owned() } else { method.presets.join(", ") };
        table.row([method.name.to_owned(), method.summary.to_owned(), method.backbones.join(", "), presets]);
    }
    say(&table.to_string())?;
    Ok(ExitCode::SUCCESS)
}
