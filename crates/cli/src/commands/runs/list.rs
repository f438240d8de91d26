//! `edgepace runs list`

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_lab::{RunRow, Store};

use super::StoreArg;
use crate::messages;
use crate::report::fixed;
use crate::table::{Align, Table, say};

/// List runs.
#[derive(ClapArgs)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreArg,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let rows = Store::read(&args.store.store)?.rows()?;
    if messages::json() {
        return Ok(say(&serde_json::to_string(&rows)?)?);
    }
    say(&table(&rows))?;
    Ok(())
}

fn table(rows: &[RunRow]) -> String {
    let (left, right) = (Align::Left, Align::Right);
    let mut table = Table::new(&[
        ("id", left),
        ("dataset", left),
        ("noise", left),
        ("backbone", left),
        ("method", left),
        ("preset", left),
        ("seed", right),
        ("validation", right),
        ("test", right),
        ("seconds", right),
    ]);
    for row in rows {
        let test = if row.error.is_some() { "failed".to_owned() } else { fixed(row.test, 2) };
        table.row([
            row.id.chars().take(8).collect(),
            row.dataset.clone(),
            row.noise.clone(),
            row.backbone.clone(),
            row.method.clone(),
            row.preset.clone().unwrap_or_default(),
            row.seed.to_string(),
            fixed(row.validation, 2),
            test,
            format!("{:.2}", row.seconds),
        ]);
    }
    table.to_string()
}
