//! `edgepace data list`

use std::process::ExitCode;

use anyhow::Result;
use edgepace_data::registry::SETS;
use serde_json::json;

use crate::dataset::DataFolder;
use crate::messages;
use crate::table::{Align, Table, count, say};

pub(crate) fn run(data_folder: &DataFolder) -> Result<ExitCode> {
    let cache = data_folder.cache()?;
    if messages::json() {
        let sets: Vec<_> = SETS
            .iter()
            .map(|set| {
                json!({
                    "name": set.name, "title": set.title, "description": set.description, "here": cache.has(set),
                    "nodes": set.counts.nodes, "edges": set.counts.edges, "features": set.counts.features,
                    "classes": set.counts.classes, "edge_rule": set.edge_rule, "split": set.split,
                    "reference": set.reference, "licence": set.licence,
                })
            })
            .collect();
        say(&serde_json::to_string(&sets)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(&[
        ("name", Align::Left),
        ("here", Align::Left),
        ("nodes", Align::Right),
        ("edges", Align::Right),
        ("features", Align::Right),
        ("classes", Align::Right),
        ("what it is", Align::Left),
    ]);
    for set in SETS {
        let here = if cache.has(set) { "yes" } else { "" };
        let counts = set.counts;
        table.row([
            set.name.to_owned(),
            here.to_owned(),
            count(counts.nodes),
            count(counts.edges),
            count(counts.features),
            count(counts.classes),
            set.description.to_owned(),
        ]);
    }
    say(&table.to_string())?;
    say("Edges are directed: an undirected one counts twice. Fetch with `edgepace data get NAME`.")?;
    Ok(ExitCode::SUCCESS)
}
