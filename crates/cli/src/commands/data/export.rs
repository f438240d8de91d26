//! `edgepace data export`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args as ClapArgs, ValueEnum};
use edgepace_data::DataError;
use edgepace_data::export::{Format, export};
use edgepace_data::native::check_unchanged;

use crate::dataset::{DataFolder, budget};
use crate::messages::with_help;
use crate::output;

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A name, a generator or a graph file
    name: String,
    /// The folder to write into
    #[arg(long, value_name = "DIR", required_unless_present = "folder")]
    out: Option<PathBuf>,
    /// The same as it was said before `--out`
    #[arg(hide = true, conflicts_with = "out")]
    folder: Option<PathBuf>,
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
    let folder = args.out.as_ref().or(args.folder.as_ref()).context("`--out` is missing")?;
    let files = export(&dataset, folder, format, args.overwrite).map_err(|error| match error {
        DataError::Request { .. } => with_help(error.into(), "choose another folder, or give `--overwrite`"),
        other => other.into(),
    });
    output::say_written(&files?)?;
    check_unchanged()?;
    Ok(ExitCode::SUCCESS)
}
