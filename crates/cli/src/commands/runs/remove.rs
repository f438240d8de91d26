//! `edgepace runs remove`

use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use edgepace_lab::{Filter, Store};
use serde_json::json;

use super::{StoreArg, WhichArgs, one};
use crate::messages;
use crate::table::say;

/// Remove runs and their files.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Ids of runs, or how they begin
    ids: Vec<String>,
    #[command(flatten)]
    store: StoreArg,
    #[command(flatten)]
    which: WhichArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    if args.ids.is_empty() && args.which.filter == Filter::default() {
        bail!("name the runs to remove by their ids, or by `--where`");
    }
    let path = args.store.read()?.path().to_owned();
    let store = Store::open(&path)?;
    let rows = if args.ids.is_empty() {
        args.which.rows(&store)?
    } else {
        args.ids.iter().map(|id| one(&store, id)).collect::<Result<_>>()?
    };
    let ids: Vec<String> = rows.into_iter().map(|row| row.id).collect();
    let removed = store.remove(&ids)?;
    if messages::json() {
        return Ok(say(&json!({ "removed": removed, "ids": ids }).to_string())?);
    }
    say(&format!("removed {removed} runs of {}", path.display()))?;
    Ok(())
}
