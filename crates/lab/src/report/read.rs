//! What the files of a run add to its record.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::Deserialize;

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
