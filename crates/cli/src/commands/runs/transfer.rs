//! `edgepace runs export` and `edgepace runs import`

use std::path::PathBuf;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_lab::{Imported, Store};

use super::{StoreArg, WhichArgs};
use crate::messages;
use crate::output::{check_file, say_written};
use crate::table::say;

/// Write runs to a file: complete as .jsonl, or as a table as .csv, .parquet or .json.
#[derive(ClapArgs)]
pub(crate) struct ExportArgs {
    /// The file; its extension says what it holds
    file: PathBuf,
    #[command(flatten)]
    store: StoreArg,
    #[command(flatten)]
    which: WhichArgs,
    /// Replace a file that is there
    #[arg(long)]
    overwrite: bool,
}

pub(super) fn export(args: &ExportArgs) -> Result<()> {
    let store = args.store.read()?;
    check_file("FILE", &args.file, args.overwrite)?;
    store.export(&args.which.rows(&store)?, &args.file)?;
    say_written(std::slice::from_ref(&args.file))
}

/// Take up runs that `edgepace runs export` wrote as .jsonl.
///
/// A run that is in the store already stays as it is.
#[derive(ClapArgs)]
pub(crate) struct ImportArgs {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The store, made if it is not there
    #[arg(long, value_name = "FILE", default_value = "edgepace.sqlite")]
    store: PathBuf,
}

pub(super) fn import(args: &ImportArgs) -> Result<()> {
    let store = Store::open(&args.store)?;
    let mut imported = Imported::default();
    for file in &args.files {
        let Imported { added, known } = store.import(file)?;
        imported.added += added;
        imported.known += known;
    }
    if messages::json() {
        return Ok(say(&serde_json::to_string(&imported)?)?);
    }
    let Imported { added, known } = imported;
    say(&format!("{added} runs are new in {}, {known} were there", store.path().display()))?;
    Ok(())
}
