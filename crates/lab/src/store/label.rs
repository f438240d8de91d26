//! What experiments call a run.

use rusqlite::{Connection, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use super::Store;
use crate::error::LabError;

/// What an experiment calls a run: a cell of its tables, and a seed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Label {
    /// The experiment.
    pub experiment: String,
    /// What tables call the graph.
    pub graph: String,
    /// What was added to it; empty without.
    pub noise: String,
    /// How it was split; empty: the dataset's usual way.
    pub split: String,
    /// The convolution that was asked for.
    pub backbone: String,
    /// What tables call the method.
    pub method: String,
    /// What tables call the config; empty without.
    pub config: String,
    /// The seed.
    pub seed: u64,
    /// The id of the run.
    pub id: String,
}

impl Store {
    /// What experiments call their runs, those of one experiment or of all; in no order that means anything.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn labels(&self, experiment: Option<&str>) -> Result<Vec<Label>, LabError> {
        let connection = self.lock();
        let failed = self.failed("read");
        let mut statement = connection
            .prepare_cached("SELECT * FROM labels WHERE ?1 IS NULL OR experiment = ?1")
            .map_err(&failed)?;
        let read = |row: &Row<'_>| {
            Ok(Label {
                experiment: row.get("experiment")?,
                graph: row.get("graph")?,
                noise: row.get("noise")?,
                split: row.get("split")?,
                backbone: row.get("backbone")?,
                method: row.get("method")?,
                config: row.get("config")?,
                seed: row.get::<_, String>("seed")?.parse().unwrap_or_default(),
                id: row.get("id")?,
            })
        };
        let labels = statement.query_map([experiment], read).map_err(&failed)?;
        labels.collect::<Result<_, _>>().map_err(&failed)
    }

    /// Says what runs are called; what was called so before is not any more.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn put_labels(&self, labels: &[Label]) -> Result<(), LabError> {
        if labels.is_empty() {
            return Ok(());
        }
        let failed = self.failed("write to");
        let mut connection = self.lock();
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        write(&transaction, labels).map_err(&failed)?;
        transaction.commit().map_err(&failed)
    }
}

pub(super) fn write(to: &Connection, labels: &[Label]) -> rusqlite::Result<()> {
    let mut statement =
        to.prepare_cached("INSERT OR REPLACE INTO labels VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
    for label in labels {
        let Label { experiment, graph, noise, split, backbone, method, config, seed, id } = label;
        let seed = seed.to_string();
        statement.execute(params![experiment, graph, noise, split, backbone, method, config, seed, id])?;
    }
    Ok(())
}
