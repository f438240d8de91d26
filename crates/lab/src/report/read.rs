//! Runs of a store, and what the files of a run add to its record.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::{CellName, ReportRun};
use crate::error::LabError;
use crate::folder::SeedFolder;
use crate::store::{Label, RunRow, Status, Store};

/// What is read of a line of `history.jsonl`.
#[derive(Deserialize)]
struct Line {
    event: String,
    #[serde(default)]
    epoch: u32,
    #[serde(default)]
    objective: Option<[f64; 2]>,
}

/// The joint objective after each update, by epoch, from `history.jsonl`. What is no such file has none: a report does without.
pub fn objective_of(history: &Path) -> Vec<(u32, f64)> {
    let Ok(file) = std::fs::File::open(history) else { return Vec::new() };
    let mut found: Vec<(u32, f64)> = Vec::new();
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        let Ok(line) = serde_json::from_str::<Line>(&line) else { continue };
        if let ("update", Some([_, after])) = (&line.event[..], line.objective) {
            // A run that chooses trains several times: the last one that began is shown.
            if found.last().is_some_and(|&(epoch, _)| epoch >= line.epoch) {
                found.clear();
            }
            found.push((line.epoch, after));
        }
    }
    found
}

/// The runs of a store that came to their end, under the names that experiments give them, or else what was asked for; and how many
/// of the rows failed.
///
/// # Errors
/// A store that cannot be read.
pub fn runs_of_store(store: &Store, rows: &[RunRow]) -> Result<(Vec<ReportRun>, usize), LabError> {
    let mut names: BTreeMap<String, Label> = BTreeMap::new();
    for label in store.labels(None)? {
        match names.get_mut(&label.id) {
            // The first in their order, whatever that of the store.
            Some(known) if *known > label => *known = label,
            Some(_) => {}
            None => {
                names.insert(label.id.clone(), label);
            }
        }
    }
    let mut runs = Vec::new();
    for row in rows.iter().filter(|row| row.status == Status::Done) {
        let Some(record) = store.record(&row.id)? else { continue };
        let folder = SeedFolder::at(&store.folder_of(&row.id));
        let objective = objective_of(&folder.history());
        let cell = Some(names.get(&row.id).map_or_else(|| asked(row), named));
        let folder = Some(folder.path().to_owned()).filter(|path| path.is_dir());
        runs.push(ReportRun { record, folder, objective, cell });
    }
    let failed = rows.iter().filter(|row| row.status == Status::Failed).count();
    Ok((runs, failed))
}

fn named(label: &Label) -> CellName {
    let config = if label.config.is_empty() { String::new() } else { format!(", {}", label.config) };
    CellName {
        graph: label.graph.clone(),
        noise: label.noise.clone(),
        backbone: label.backbone.clone(),
        method: format!("{}{config}", label.method),
    }
}

fn asked(row: &RunRow) -> CellName {
    let preset = row.preset.as_ref().map_or_else(String::new, |preset| format!(" ({preset})"));
    CellName {
        graph: row.dataset.clone(),
        noise: row.noise.clone(),
        backbone: row.backbone.clone(),
        method: format!("{}{preset}", row.method),
    }
}
