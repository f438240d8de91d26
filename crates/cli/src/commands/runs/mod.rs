//! `edgepace runs`

mod compare;
mod list;
mod remove;
mod show;
mod transfer;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use clap::{Args as ClapArgs, Subcommand};
use edgepace_lab::{Filter, LabError, Order, RunRow, Store};

use crate::messages::with_help;

/// Look at the runs in a store, and move them.
///
/// A store is an SQLite file that `edgepace sweep` fills: one complete record for each run, by its id, which is the hash of
/// all that determines its result.
#[derive(ClapArgs)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

/// Each line fits a terminal of 80 columns.
const EXAMPLES: &str = "Examples:
  edgepace runs list --where \"dataset=cora method=rcl seed<3\" --sort -test
      the runs that fit, the best first
  edgepace runs show 3f2a
      all about one; the begin of its id is enough
  edgepace runs compare --where \"dataset=cora\"
      what differs, and what came out
  edgepace runs export runs.jsonl
      complete, to be imported on another machine
  edgepace runs export runs.parquet
      a table for pandas";

#[derive(Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Compare(compare::Args),
    Export(transfer::ExportArgs),
    Import(transfer::ImportArgs),
    Remove(remove::Args),
}

/// Which store.
#[derive(ClapArgs)]
pub(crate) struct StoreArg {
    /// The store
    #[arg(long = "store", value_name = "FILE", default_value = "edgepace.sqlite")]
    path: PathBuf,
}

impl StoreArg {
    /// To look at.
    pub(crate) fn read(&self) -> Result<Store> {
        Store::read(&self.path).map_err(|error| match error {
            LabError::Store { .. } if !self.path.exists() => {
                with_help(error.into(), "`edgepace sweep` makes one, `--store` names another")
            }
            error => error.into(),
        })
    }
}

/// Which of its runs.
#[derive(ClapArgs)]
struct WhichArgs {
    /// Those that fit: `field=value` between blanks, also with !=, <, <=, >, >= and ~ (contains), as `"dataset=cora seed<3"`
    #[arg(long = "where", value_name = "CONDITIONS", default_value = "", hide_default_value = true)]
    filter: Filter,
    /// Their order: fields between commas, with a minus for largest first, as `dataset,-test`
    #[arg(
        long,
        value_name = "FIELDS",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    sort: Order,
}

impl WhichArgs {
    fn rows(&self, store: &Store) -> Result<Vec<RunRow>> {
        Ok(store.select(&self.filter, &self.sort)?)
    }
}

/// The one run whose id begins so.
fn one(store: &Store, id: &str) -> Result<RunRow> {
    let mut found: Vec<RunRow> = store.rows()?.into_iter().filter(|row| row.id.starts_with(id)).collect();
    match (found.len(), found.pop()) {
        (1, Some(row)) => Ok(row),
        (0, _) | (_, None) => {
            let error = anyhow!("{} has no run whose id begins with `{id}`", store.path().display());
            Err(with_help(error, "`edgepace runs list` shows them"))
        }
        (several, _) => bail!("{several} runs have an id that begins with `{id}`: give more of it"),
    }
}

/// As much of an id as tells it.
fn short(id: &str) -> String {
    id.chars().take(8).collect()
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Export(args) => transfer::export(args),
        Command::Import(args) => transfer::import(args),
        Command::Remove(args) => remove::run(args),
    }?;
    Ok(ExitCode::SUCCESS)
}
