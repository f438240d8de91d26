//! `edgepace runs list`

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_lab::RunRow;

use super::{StoreArg, WhichArgs, short};
use crate::messages;
use crate::report::fixed;
use crate::table::{Align, Table, say};

/// List runs.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArg,
    #[command(flatten)]
    which: WhichArgs,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let rows = args.which.rows(&args.store.read()?)?;
    if messages::json() {
        return Ok(say(&serde_json::to_string(&rows)?)?);
    }
    say(&table(&rows))?;
    Ok(())
}

/// A column: its name, its side, and its cell.
type Column = (&'static str, Align, fn(&RunRow) -> String);

/// What can be left out where no run has it.
const OPTIONAL: [&str; 3] = ["noise", "split", "preset"];

const COLUMNS: [Column; 11] = [
    ("id", Align::Left, |row| short(&row.id)),
    ("dataset", Align::Left, |row| row.dataset.clone()),
    ("noise", Align::Left, |row| row.noise.clone()),
    ("split", Align::Left, |row| row.split.clone()),
    ("backbone", Align::Left, |row| row.backbone.clone()),
    ("method", Align::Left, |row| row.method.clone()),
    ("preset", Align::Left, |row| row.preset.clone().unwrap_or_default()),
    ("seed", Align::Right, |row| row.seed.to_string()),
    ("validation", Align::Right, |row| fixed(row.validation, 2)),
    ("test", Align::Right, |row| if row.error.is_some() { "failed".to_owned() } else { fixed(row.test, 2) }),
    ("seconds", Align::Right, |row| format!("{:.2}", row.seconds)),
];

fn table(rows: &[RunRow]) -> String {
    let says =
        |(name, _, cell): &&Column| !OPTIONAL.contains(name) || rows.iter().any(|row| !cell(row).is_empty());
    let columns: Vec<&Column> = COLUMNS.iter().filter(says).collect();
    let heads: Vec<(&str, Align)> = columns.iter().map(|(name, align, _)| (*name, *align)).collect();
    let mut table = Table::new(&heads);
    for row in rows {
        table.row(columns.iter().map(|(_, _, cell)| cell(row)));
    }
    table.to_string()
}
