//! A run of a store, without its record.

use edgepace_train::{CheckedConfig, NUMERICS, RunRecord};
use rusqlite::{Connection, Row, named_params};
use serde::{Deserialize, Serialize};

/// Whether a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has a record.
    Done,
    /// It has an error.
    Failed,
}

impl Status {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

/// A run, without its record. Dataset, noise, split, method and preset are as they were asked for, so that runs that differ in
/// their seed alone are alike in all of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// The hash of all that determined the result.
    pub id: String,
    /// Whether it came to its end.
    pub status: Status,
    /// What brought the graph: a name of the registry, a generator, or a file.
    pub dataset: String,
    /// What was added to it; empty without.
    pub noise: String,
    /// How it was split.
    pub split: String,
    /// The convolution.
    pub backbone: String,
    /// The method.
    pub method: String,
    /// Its preset; none for a method without presets.
    pub preset: Option<String>,
    /// The seed.
    pub seed: u64,
    /// What validation is judged by.
    pub metric: String,
    /// The test score; none without test nodes, or where the run failed.
    pub test: Option<f64>,
    /// The best validation score.
    pub validation: Option<f64>,
    /// Epochs of the training that was kept.
    pub epochs: u32,
    /// Wall time, the warm start included where the run trained one itself.
    pub seconds: f64,
    /// When it was stored, in seconds since 1970.
    pub created: i64,
    /// The version of the program.
    pub program: String,
    /// The version of the arithmetic.
    pub numerics: u32,
    /// Nodes of the graph.
    pub nodes: u64,
    /// Directed edges of the graph.
    pub edges: u64,
    /// How much work it was estimated to be, from sizes, epochs and backbone: what later estimates are scaled by.
    pub work: f64,
    /// What the best of several candidates was, where the run had to choose.
    pub chosen: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
}

/// What a run was asked for, to make its row.
pub(crate) struct Asked<'a> {
    pub(crate) id: &'a str,
    pub(crate) dataset: &'a str,
    pub(crate) noise: String,
    pub(crate) split: String,
    pub(crate) config: &'a CheckedConfig,
    pub(crate) metric: &'a str,
    pub(crate) seed: u64,
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    pub(crate) work: f64,
}

impl RunRow {
    /// The row of a run that is over.
    pub(crate) fn done(asked: &Asked<'_>, record: &RunRecord) -> Self {
        let result = &record.result;
        Self {
            test: result.test,
            validation: result.validation,
            epochs: result.epochs,
            seconds: result.seconds + result.warm_start_seconds,
            chosen: result.chosen.clone(),
            ..Self::failed(asked, None)
        }
    }

    /// That of one that failed.
    pub(crate) fn failed(asked: &Asked<'_>, error: Option<String>) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            id: asked.id.to_owned(),
            status: if error.is_some() { Status::Failed } else { Status::Done },
            dataset: asked.dataset.to_owned(),
            noise: asked.noise.clone(),
            split: asked.split.clone(),
            backbone: asked.config.config().backbone.name().to_owned(),
            method: asked.config.asked().method.clone(),
            preset: asked.config.preset().map(ToOwned::to_owned),
            seed: asked.seed,
            metric: asked.metric.to_owned(),
            test: None,
            validation: None,
            epochs: 0,
            seconds: 0.0,
            created: now.map_or(0, |now| now.as_secs() as i64),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            numerics: NUMERICS,
            nodes: asked.nodes as u64,
            edges: asked.edges as u64,
            work: asked.work,
            chosen: None,
            error,
        }
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let wrong = |column: usize, cause: String| {
            rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, cause.into())
        };
        let status: String = row.get("status")?;
        let seed: String = row.get("seed")?;
        Ok(Self {
            id: row.get("id")?,
            status: match &status[..] {
                "done" => Status::Done,
                "failed" => Status::Failed,
                other => return Err(wrong(1, format!("status `{other}`"))),
            },
            dataset: row.get("dataset")?,
            noise: row.get("noise")?,
            split: row.get("split")?,
            backbone: row.get("backbone")?,
            method: row.get("method")?,
            preset: row.get("preset")?,
            seed: seed.parse().map_err(|_| wrong(8, format!("seed `{seed}`")))?,
            metric: row.get("metric")?,
            test: row.get("test")?,
            validation: row.get("validation")?,
            epochs: row.get("epochs")?,
            seconds: row.get("seconds")?,
            created: row.get("created")?,
            program: row.get("program")?,
            numerics: row.get("numerics")?,
            nodes: row.get::<_, i64>("nodes")? as u64,
            edges: row.get::<_, i64>("edges")? as u64,
            work: row.get("work")?,
            chosen: row.get("chosen")?,
            error: row.get("error")?,
        })
    }

    pub(super) fn write(&self, to: &Connection, config: &str, record: Option<&str>) -> rusqlite::Result<()> {
        let mut statement = to.prepare_cached(&INSERT)?;
        statement.execute(named_params! {
            ":id": self.id,
            ":status": self.status.name(),
            ":dataset": self.dataset,
            ":noise": self.noise,
            ":split": self.split,
            ":backbone": self.backbone,
            ":method": self.method,
            ":preset": self.preset,
            // SQLite has no whole numbers above 2^63.
            ":seed": self.seed.to_string(),
            ":metric": self.metric,
            ":test": self.test,
            ":validation": self.validation,
            ":epochs": self.epochs,
            ":seconds": self.seconds,
            ":created": self.created,
            ":program": self.program,
            ":numerics": self.numerics,
            ":nodes": self.nodes as i64,
            ":edges": self.edges as i64,
            ":work": self.work,
            ":chosen": self.chosen,
            ":error": self.error,
            ":config": config,
            ":record": record,
        })?;
        Ok(())
    }
}

/// All columns but the long ones.
pub(super) const COLUMNS: &str = "id, status, dataset, noise, split, backbone, method, preset, seed, metric, test, validation, \
                                  epochs, seconds, created, program, numerics, nodes, edges, work, chosen, error";

/// A run that is over stays as it is; one that failed may be replaced.
static INSERT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    let columns = format!("{COLUMNS}, config, record");
    let values: Vec<String> = columns.split(", ").map(|name| format!(":{name}")).collect();
    let set: Vec<String> =
        columns.split(", ").skip(1).map(|name| format!("{name} = excluded.{name}")).collect();
    format!(
        "INSERT INTO runs ({columns}) VALUES ({}) ON CONFLICT (id) DO UPDATE SET {} WHERE runs.status = 'failed'",
        values.join(", "),
        set.join(", ")
    )
});
