//! What `--dry-run` tells: what would run, on what, how long and with how much memory. Nothing is written.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use edgepace_graph::Threads;
use edgepace_lab::{Forecast, Seeds, Sweep};
use edgepace_train::{RunConfig, available_bytes};
use serde::Serialize;
use toml::{Table, Value};

use crate::help::{WIDTH, hanging, shown};
use crate::messages;
use crate::runs::WorkArgs;
use crate::table::{count, say};

/// How long the first run is timed at most.
const TIMED: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Told<'a> {
    dry_run: bool,
    dataset: &'a str,
    nodes: usize,
    edges: usize,
    features: usize,
    classes: usize,
    noise: Option<String>,
    split: Split<'a>,
    method: &'a str,
    preset: Option<&'a str>,
    /// Complete, but for what a run that chooses leaves open.
    config: &'a RunConfig,
    seeds: &'a [u64],
    jobs: usize,
    time: Time,
    memory: Memory,
    /// Where files would go; none: nowhere.
    out: Option<&'a Path>,
}

/// Of the first seed.
#[derive(Serialize)]
struct Split<'a> {
    name: &'a str,
    train: usize,
    validation: usize,
    test: usize,
}

#[derive(Serialize)]
struct Time {
    /// Of all runs; none where there is too little memory to try.
    seconds: Option<f64>,
    seconds_per_run: Option<f64>,
    epochs_per_run: u64,
    /// What the estimate comes from.
    epochs_timed: u64,
    seconds_timed: f64,
}

#[derive(Serialize)]
struct Memory {
    bytes_per_run: u64,
    /// Of all runs at once, beside the dataset.
    bytes: u64,
    free_bytes: Option<u64>,
}

/// Tells what a sweep would do.
pub(crate) fn tell(sweep: &Sweep, work: &WorkArgs, out: Option<&Path>) -> Result<()> {
    let (plan, dataset) = (sweep.plan(), sweep.dataset());
    let runs = plan.seeds.len();
    let jobs = work.jobs.min(runs);
    let forecast: Forecast = sweep.forecast(&Threads::new(work.threads_of_each(jobs))?, TIMED)?;
    let rounds = runs.div_ceil(jobs.max(1));
    let told = Told {
        dry_run: true,
        dataset: sweep.dataset_name(),
        nodes: dataset.graph().nodes(),
        edges: dataset.graph().edges(),
        features: dataset.features().cols(),
        classes: dataset.labels().width(),
        noise: (!plan.noise.is_none()).then(|| plan.noise.to_string()),
        split: Split {
            name: &forecast.split,
            train: forecast.sizes[0],
            validation: forecast.sizes[1],
            test: forecast.sizes[2],
        },
        method: &plan.config.method,
        preset: sweep.config().preset(),
        config: &forecast.config,
        seeds: &plan.seeds,
        jobs,
        time: Time {
            seconds: forecast.seconds.map(|seconds| seconds * rounds as f64),
            seconds_per_run: forecast.seconds,
            epochs_per_run: forecast.epochs,
            epochs_timed: forecast.timed_epochs,
            seconds_timed: forecast.timed_seconds,
        },
        memory: Memory {
            bytes_per_run: forecast.bytes,
            bytes: forecast.bytes.saturating_mul(jobs as u64),
            free_bytes: work.memory_limit.or_else(available_bytes),
        },
        out,
    };
    if messages::json() {
        return Ok(say(&serde_json::to_string(&told)?)?);
    }
    print(&told)
}

fn print(told: &Told<'_>) -> Result<()> {
    let line = |name: &str, text: &str| -> Result<()> {
        for line in hanging(&format!("{name:10}"), text, WIDTH) {
            say(&line)?;
        }
        Ok(())
    };
    let whole = |number: usize| count(number as u64);
    say("Dry run: this is what would be done; nothing is written.\n")?;
    line("dataset", told.dataset)?;
    line(
        "",
        &format!(
            "{} nodes, {} directed edges, {} features, {} classes",
            whole(told.nodes),
            whole(told.edges),
            whole(told.features),
            whole(told.classes)
        ),
    )?;
    line("noise", told.noise.as_deref().unwrap_or("none"))?;
    let split = &told.split;
    line(
        "split",
        &format!(
            "{}: {} nodes to train on, {} to validate, {} to test (seed {})",
            split.name,
            whole(split.train),
            whole(split.validation),
            whole(split.test),
            told.seeds.first().copied().unwrap_or(0)
        ),
    )?;
    let preset = told.preset.map_or_else(String::new, |preset| format!(", preset {preset}"));
    line("method", &format!("{}{preset}, on {}", told.method, told.config.backbone.name()))?;
    line("run", &settings(&shared(told.config)?))?;
    if !told.config.settings.is_empty() {
        line("settings", &settings(&told.config.settings))?;
    }
    let seeds = Seeds::new(told.seeds.to_vec()).map_or_else(|_| String::new(), |seeds| seeds.to_string());
    line("runs", &format!("{}, of seeds {seeds}; {} at once", told.seeds.len(), told.jobs))?;
    let time = &told.time;
    match time.seconds.zip(time.seconds_per_run) {
        Some((all, one)) => line(
            "time",
            &format!(
                "about {} in all, {} a run: {} of about {} epochs were tried and took {}",
                readable_time(all),
                readable_time(one),
                time.epochs_timed,
                time.epochs_per_run,
                readable_time(time.seconds_timed)
            ),
        )?,
        None => line("time", "not known: there is too little memory to try")?,
    }
    let free = told.memory.free_bytes.map_or_else(String::new, |free| format!("; {} are free", size(free)));
    line(
        "memory",
        &format!(
            "{} in all, {} a run, estimated from sizes, beside the dataset{free}",
            size(told.memory.bytes),
            size(told.memory.bytes_per_run)
        ),
    )?;
    match told.out {
        Some(folder) => line("files", &format!("into {}", folder.display())),
        None => line("files", "none: `--out` names a folder"),
    }
}

/// The settings that every method shares.
fn shared(config: &RunConfig) -> Result<Table> {
    let mut table = Table::try_from(config)?;
    for apart in ["settings", "method", "preset", "backbone"] {
        table.remove(apart);
    }
    Ok(table)
}

fn settings(table: &Table) -> String {
    let one = |(name, value): (&String, &Value)| format!("{name}={}", shown(value));
    table.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn readable_time(seconds: f64) -> String {
    match seconds {
        7200.0.. => format!("{:.1} h", seconds / 3600.0),
        120.0.. => format!("{:.0} min", seconds / 60.0),
        10.0.. => format!("{seconds:.0} s"),
        _ => format!("{seconds:.2} s"),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        1_000_000_000.. => format!("{:.1} GB", bytes as f64 / 1e9),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
