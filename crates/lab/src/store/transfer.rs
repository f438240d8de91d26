//! Runs as JSON lines, complete: what is exported on one machine goes on when it is imported on another.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;

use edgepace_graph::files::{self, FileError};
use edgepace_train::{Cells, Column, RunRecord, TableFormat, write_table};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Label, RunRow, Status, Store};
use crate::error::LabError;

/// A run with all that the store has of it, as a line has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    run: RunRow,
    labels: Vec<Label>,
    config: Value,
    record: Option<RunRecord>,
}

/// What an import brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Runs that are new here, or failed here before.
    pub added: usize,
    /// Runs that were here already.
    pub known: usize,
}

impl Store {
    /// Writes runs with their records as JSON lines, or without them as the table that the extension of the file names: CSV,
    /// Parquet or JSON.
    ///
    /// # Errors
    /// A store that cannot be read, or a file that cannot be written.
    pub fn export(&self, rows: &[RunRow], path: &Path) -> Result<(), LabError> {
        let format = TableFormat::of(path)?;
        if format != TableFormat::JsonLines {
            return Ok(write_table(path, format, [Ok(columns(rows))])?);
        }
        let labels = self.labels(None)?;
        let mut cause = None;
        let written = files::write_with(path, |file| {
            for row in rows {
                let line = self.line(row, &labels).map_err(|error| {
                    let reason = error.to_string();
                    cause = Some(error);
                    std::io::Error::other(reason)
                })?;
                serde_json::to_writer(&mut *file, &line)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        });
        match cause {
            Some(error) => Err(error),
            None => Ok(written?),
        }
    }

    /// A run with its record as one line of JSON, as [`Store::export`] writes it and [`Store::import`] reads it.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn export_line(&self, row: &RunRow) -> Result<String, LabError> {
        let line = self.line(row, &self.labels(None)?)?;
        serde_json::to_string(&line).map_err(|error| LabError::Store {
            path: self.path().to_owned(),
            action: "read",
            reason: format!("run {}: {error}", row.id),
        })
    }

    fn line(&self, row: &RunRow, labels: &[Label]) -> Result<Line, LabError> {
        Ok(Line {
            run: row.clone(),
            labels: labels.iter().filter(|label| label.id == row.id).cloned().collect(),
            config: self.config(&row.id)?.unwrap_or_default(),
            record: self.record(&row.id)?,
        })
    }

    /// Takes up runs that [`Store::export`] wrote as JSON lines. The whole file is read before anything is stored; a run that is
    /// here already stays as it is.
    ///
    /// # Errors
    /// A file that cannot be read, a line that is no run, or a store that cannot be written.
    pub fn import(&self, path: &Path) -> Result<Imported, LabError> {
        let failed = |source| FileError { action: "read", path: path.to_owned(), source };
        self.import_from(path, BufReader::new(std::fs::File::open(path).map_err(failed)?))
    }

    /// The same of what is in memory already; `path` is what errors call it.
    ///
    /// # Errors
    /// As [`Store::import`].
    pub fn import_from(&self, path: &Path, lines: impl BufRead) -> Result<Imported, LabError> {
        let failed = |source| FileError { action: "read", path: path.to_owned(), source };
        let given = lines;
        let mut lines = Vec::new();
        for (number, line) in given.lines().enumerate() {
            let line = line.map_err(failed)?;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |reason: String| LabError::Plan {
                path: path.to_owned(),
                line: Some(number + 1),
                field: None,
                reason,
            };
            let line: Line = serde_json::from_str(&line)
                .map_err(|error| wrong(format!("no run as `edgepace runs export` writes it: {error}")))?;
            let record_id = line.record.as_ref().map(|record| &record.result.id);
            if (line.run.status == Status::Done) != record_id.is_some() {
                return Err(wrong("a run has either a record or an error".to_owned()));
            }
            if record_id.is_some_and(|id| *id != line.run.id) {
                return Err(wrong(format!("the record is not of the run {}", line.run.id)));
            }
            lines.push(line);
        }
        let mut imported = Imported::default();
        for line in &lines {
            match self.row(&line.run.id)? {
                Some(row) if row.status == Status::Done || line.run.status == Status::Failed => {
                    self.put_labels(&line.labels)?;
                    imported.known += 1;
                }
                _ => {
                    self.put(&line.run, &line.config, line.record.as_ref(), &line.labels)?;
                    imported.added += 1;
                }
            }
        }
        Ok(imported)
    }
}

/// The fields of runs, column by column.
fn columns(rows: &[RunRow]) -> Vec<Column> {
    let texts = |name: &str, of: fn(&RunRow) -> Option<String>| {
        Column::new(name, Cells::Texts(rows.iter().map(of).collect()))
    };
    let numbers = |name: &str, of: fn(&RunRow) -> Option<f64>| {
        Column::new(
            name,
            Cells::Numbers(rows.iter().map(|row| of(row).map(|number| number as f32)).collect()),
        )
    };
    vec![
        texts("id", |row| Some(row.id.clone())),
        texts("status", |row| Some(row.status.name().to_owned())),
        texts("dataset", |row| Some(row.dataset.clone())),
        texts("noise", |row| Some(row.noise.clone())),
        texts("split", |row| Some(row.split.clone())),
        texts("backbone", |row| Some(row.backbone.clone())),
        texts("method", |row| Some(row.method.clone())),
        texts("preset", |row| row.preset.clone()),
        texts("seed", |row| Some(row.seed.to_string())),
        texts("metric", |row| Some(row.metric.clone())),
        numbers("test", |row| row.test),
        numbers("validation", |row| row.validation),
        Column::new("epochs", Cells::Ids(rows.iter().map(|row| Some(row.epochs)).collect())),
        numbers("seconds", |row| Some(row.seconds)),
        texts("program", |row| Some(row.program.clone())),
        Column::new("numerics", Cells::Ids(rows.iter().map(|row| Some(row.numerics)).collect())),
        texts("chosen", |row| row.chosen.clone()),
        texts("error", |row| row.error.clone()),
    ]
}
