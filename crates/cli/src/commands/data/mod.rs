//! `edgepace data`: graphs by name, from the network, from own files.

mod export;
mod get;
mod import;
mod info;
mod list;
mod save;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};

use crate::dataset::DataFolder;

/// List, fetch, inspect, import and export graphs.
///
/// A dataset is a name that `edgepace data list` shows, a generator with its settings as
/// `synthetic:homophily=0.3,law=inverse,seed=0`, or a graph file that `edgepace data import` made. Downloads are checked
/// against SHA-256, resume where they stopped, and are put in place when they are whole.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace data list
      what can be had by name
  edgepace data get cora
      fetch it
  edgepace data info synthetic:homophily=0.3 --json
      counts, homophily, splits and checksum
  edgepace data import --edges e.csv --nodes n.csv -o my.graph
      my.graph is a dataset name from now on
  edgepace data save cora --noise fake=1.0 -o noisy.graph
      a graph with as many fake edges as real ones
  edgepace data export cora --out tables
      the same for other programs")]
pub(crate) struct Args {
    #[command(flatten)]
    data_folder: DataFolder,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show the datasets that can be had by name
    List,
    /// Fetch datasets
    Get(get::Args),
    /// Show what a dataset holds
    Info(info::Args),
    /// Show where datasets are kept, or where one of them is
    Path(get::PathArgs),
    /// Make a graph file of tables, arrays or GraphML
    Import(Box<import::Args>),
    /// Make a graph file of any dataset, with noise if you like
    Save(save::Args),
    /// Write a dataset as CSV tables or NumPy arrays
    Export(export::Args),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let data_folder = &args.data_folder;
    match &args.command {
        Command::List => list::run(data_folder),
        Command::Get(args) => get::run(args, data_folder),
        Command::Info(args) => info::run(args, data_folder),
        Command::Path(args) => get::path(args, data_folder),
        Command::Import(args) => import::run(args),
        Command::Save(args) => save::run(args, data_folder),
        Command::Export(args) => export::run(args, data_folder),
    }
}
