//! `edgepace report`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_lab::{Filter, Order, Seeds, Store};

use crate::dataset::{DataFolder, budget};
use crate::numbers::whole;
use crate::output::say_written;
use crate::page;
use crate::runs::MOST_AT_ONCE;

/// Make one page of runs: how they learned, which edges came in when, and the graph itself.
///
/// RUN is a folder that `edgepace train --out` wrote, or the folder of one of its seeds. With several, methods are compared;
/// where they have fake edges in different numbers, so is how they stand them. The first run whose method orders edges is shown
/// in detail: its graph as a drawing that plays the curriculum, its most suspicious edges and why they are, its confusion matrix,
/// its calibration.
///
/// A store that `edgepace sweep` filled is reported as a whole, or as far as `--where` says; the graph is shown where the sweep
/// kept models and edges.
///
/// The page is one file. It opens in any browser, without a network, and loads nothing from anywhere.
///
/// A graph of more than 20 000 nodes or 100 000 edges is drawn in part: the neighbourhoods of its most suspicious edges.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace train cora --noise fake=1.0 --out run
  edgepace report run -o report.html
  edgepace report run-gcn run-rcl -o compared.html    methods beside each other
  edgepace report --store edgepace.sqlite -o all.html
  edgepace audit cora --report audit.html             in one step")]
pub(crate) struct Args {
    /// Folders of `edgepace train --out`, or of single seeds
    #[arg(value_name = "RUN", required_unless_present = "store")]
    runs: Vec<PathBuf>,
    /// Instead of folders: a store that `edgepace sweep` filled
    #[arg(long, value_name = "FILE", conflicts_with_all = ["runs", "seeds"])]
    store: Option<PathBuf>,
    /// Runs of the store that fit, as for `edgepace runs list`
    #[arg(long = "where", value_name = "CONDITIONS", requires = "store")]
    filter: Option<Filter>,
    /// The page to write, as `report.html`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    overwrite: bool,
    /// What the page is called [default: method and graph]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Runs of these seeds alone: `5`, `0,2,7`, or `0..3` [default: all that are over]
    #[arg(long)]
    seeds: Option<Seeds>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole(1, MOST_AT_ONCE), allow_negative_numbers = true)]
    threads: Option<usize>,
    #[command(flatten)]
    data_folder: DataFolder,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    page::check("--output", &args.output, args.overwrite)?;
    let threads = budget(args.threads)?;
    let mut report = match &args.store {
        None => {
            let seeds = args.seeds.as_ref().map(Seeds::as_slice);
            page::of_folders(&args.runs, seeds, &args.data_folder, &threads)?
        }
        Some(path) => {
            let store = Store::read(path)?;
            let rows = store.select(&args.filter.clone().unwrap_or_default(), &Order::default())?;
            page::of_store(&store, &rows, &args.data_folder, &threads)?
        }
    };
    if let Some(title) = &args.title {
        report.title.clone_from(title);
    }
    page::write(&report, &args.output, &threads)?;
    say_written(std::slice::from_ref(&args.output))?;
    Ok(ExitCode::SUCCESS)
}
