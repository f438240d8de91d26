//! `edgepace data export`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args as ClapArgs, ValueEnum};
use edgepace_data::export::{Format, export};

use crate::dataset::{DataFolder, budget};
use crate::table::say;

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A name, a generator or a graph file
    name: String,
    /// The folder to write into
    folder: PathBuf,
    /// As tables or as arrays
    #[arg(long, value_enum, default_value = "csv")]
    format: FormatArg,
    /// Replace files that are there
    #[arg(long)]
    overwrite: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    /// nodes.csv, edges.csv, dataset.json, and features.npz where features are sparse
    Csv,
    /// dataset.npz
    Npz,
}

pub(crate) fn run(args: &Args, data_folder: &DataFolder) -> Result<ExitCode> {
    let dataset = data_folder.load(&budget(None)?, &args.name)?;
    let format = match args.format {
        FormatArg::Csv => Format::Csv,
        FormatArg::Npz => Format::Npz,
    };
    for file in export(&dataset, &args.folder, format, args.overwrite)? {
        say(&format!("wrote {}", file.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
