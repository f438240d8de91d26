//! `edgepace runs compare`

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use clap::Args as ClapArgs;
use edgepace_lab::{RunRow, Status, Store};
use serde::Serialize;
use serde_json::Value;

use super::{StoreArg, WhichArgs, one};
use crate::messages;
use crate::report::mean_and_deviation;
use crate::table::{Align, Table, say};

/// Compare runs: those that differ in their seed alone are one row.
///
/// The columns are what differs between them; the scores are mean ± standard deviation over their seeds.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Ids of runs, or how they begin; unset: all that fit `--where`
    ids: Vec<String>,
    #[command(flatten)]
    store: StoreArg,
    #[command(flatten)]
    which: WhichArgs,
}

/// Runs that differ in their seed alone.
#[derive(Serialize)]
struct Compared {
    /// What it has that others have not, or have otherwise.
    differs: BTreeMap<String, String>,
    seeds: Vec<u64>,
    ids: Vec<String>,
    validation: Vec<Option<f64>>,
    test: Vec<Option<f64>>,
    seconds: f64,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let store = args.store.read()?;
    let rows = if args.ids.is_empty() {
        args.which.rows(&store)?
    } else {
        args.ids.iter().map(|id| one(&store, id)).collect::<Result<_>>()?
    };
    let rows: Vec<RunRow> = rows.into_iter().filter(|row| row.status == Status::Done).collect();
    if rows.is_empty() {
        bail!("{} has no such run that is over", store.path().display());
    }
    let compared = compare(&store, rows)?;
    if messages::json() {
        return Ok(say(&serde_json::to_string(&compared)?)?);
    }
    say(&table(&compared))?;
    Ok(())
}

fn compare(store: &Store, rows: Vec<RunRow>) -> Result<Vec<Compared>> {
    let mut groups: Vec<(BTreeMap<String, String>, Vec<RunRow>)> = Vec::new();
    for row in rows {
        let fields = fields(&row, store.config(&row.id)?.as_ref());
        match groups.iter_mut().find(|(known, _)| *known == fields) {
            Some((_, of_group)) => of_group.push(row),
            None => groups.push((fields, vec![row])),
        }
    }
    // A setting that some do not have is theirs alone: their method says why.
    let differs = |name: &String| {
        let mut values = groups.iter().filter_map(|(fields, _)| fields.get(name));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let names: Vec<String> = groups.iter().flat_map(|(fields, _)| fields.keys()).cloned().collect();
    let different: Vec<String> = names.into_iter().filter(differs).collect();
    let compared = groups.iter().map(|(fields, rows)| Compared {
        differs: fields
            .iter()
            .filter(|(name, _)| different.contains(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        seeds: rows.iter().map(|row| row.seed).collect(),
        ids: rows.iter().map(|row| row.id.clone()).collect(),
        validation: rows.iter().map(|row| row.validation).collect(),
        test: rows.iter().map(|row| row.test).collect(),
        seconds: rows.iter().map(|row| row.seconds).sum::<f64>() / rows.len() as f64,
    });
    Ok(compared.collect())
}

/// All that a run was asked for but its seed.
fn fields(row: &RunRow, config: Option<&Value>) -> BTreeMap<String, String> {
    let mut fields: BTreeMap<String, String> = [
        ("dataset", &row.dataset),
        ("noise", &row.noise),
        ("split", &row.split),
        ("backbone", &row.backbone),
        ("method", &row.method),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.clone()))
    .collect();
    fields.insert("preset".to_owned(), row.preset.clone().unwrap_or_default());
    let empty = serde_json::Map::new();
    let config = config.and_then(Value::as_object).unwrap_or(&empty);
    let own = config.get("settings").and_then(Value::as_object).unwrap_or(&empty);
    for (name, value) in config.iter().chain(own) {
        let text = match value {
            Value::Object(_) | Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        fields.entry(name.clone()).or_insert(text);
    }
    fields
}

fn table(compared: &[Compared]) -> String {
    // What names a run first, settings after it.
    const FIRST: [&str; 6] = ["dataset", "noise", "split", "backbone", "method", "preset"];
    let mut names: Vec<&String> = compared.iter().flat_map(|one| one.differs.keys()).collect();
    names.sort_by_key(|name| {
        (FIRST.iter().position(|first| first == name).unwrap_or(FIRST.len()), name.as_str())
    });
    names.dedup();
    let mut heads: Vec<(&str, Align)> = names.iter().map(|name| (&name[..], Align::Left)).collect();
    heads.extend([
        ("runs", Align::Right),
        ("validation", Align::Right),
        ("test", Align::Right),
        ("seconds", Align::Right),
    ]);
    let mut table = Table::new(&heads);
    for one in compared {
        let named = names.iter().map(|name| one.differs.get(*name).cloned().unwrap_or_default());
        let scores = [
            one.seeds.len().to_string(),
            mean_and_deviation(&one.validation, 2),
            mean_and_deviation(&one.test, 2),
            format!("{:.2}", one.seconds),
        ];
        table.row(named.chain(scores));
    }
    table.to_string()
}
