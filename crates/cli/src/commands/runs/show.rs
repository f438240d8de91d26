//! `edgepace runs show`

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_lab::Label;
use serde_json::{Map, Value, json};

use super::{StoreArg, one};
use crate::help::{WIDTH, hanging};
use crate::messages;
use crate::report::fixed;
use crate::table::say;

/// Show all about one run.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// The id of the run, or the begin of it
    id: String,
    #[command(flatten)]
    store: StoreArg,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let store = args.store.read()?;
    let row = one(&store, &args.id)?;
    let (config, record) = (store.config(&row.id)?, store.record(&row.id)?);
    let labels: Vec<Label> = store.labels(None)?.into_iter().filter(|label| label.id == row.id).collect();
    if messages::json() {
        let shown = json!({ "run": row, "labels": labels, "config": config, "record": record });
        return Ok(say(&shown.to_string())?);
    }
    let line = |name: &str, text: &str| -> Result<()> {
        for line in hanging(&format!("{name:12}"), text, WIDTH) {
            say(&line)?;
        }
        Ok(())
    };
    line("id", &row.id)?;
    line("status", row.status.name())?;
    if let Some(error) = &row.error {
        line("error", error)?;
    }
    line("dataset", &format!("{}, {} nodes, {} directed edges", row.dataset, row.nodes, row.edges))?;
    if !row.noise.is_empty() {
        line("noise", &row.noise)?;
    }
    let preset = row.preset.as_ref().map_or_else(String::new, |preset| format!(", preset {preset}"));
    line("method", &format!("{}{preset}, on {}, seed {}", row.method, row.backbone, row.seed))?;
    if let Some(Value::Object(config)) = &config {
        line("run", &settings(config))?;
        if let Some(Value::Object(own)) = config.get("settings").filter(|own| **own != json!({})) {
            line("settings", &settings(own))?;
        }
    }
    if let Some(record) = &record {
        let result = &record.result;
        line("split", &result.split)?;
        line(
            "result",
            &format!(
                "{} {} on test, {} on validation at epoch {} of {}",
                result.metric,
                fixed(result.test, 2),
                fixed(result.validation, 2),
                result.best_epoch,
                result.epochs
            ),
        )?;
        if let Some(chosen) = &result.chosen {
            let trials = record.trials.len();
            let cost = result.search.map_or_else(String::new, |cost| {
                format!(", which took {} epochs and {:.2} s", cost.epochs, cost.seconds)
            });
            line("chosen", &format!("{chosen}, the best on validation of {trials}{cost}"))?;
        }
        for warning in &result.warnings {
            line("warning", &warning.to_string())?;
        }
    }
    line("time", &format!("{:.2} s", row.seconds))?;
    line("made by", &format!("edgepace {}, arithmetic {}", row.program, row.numerics))?;
    for Label { experiment, graph, method, .. } in &labels {
        line("called", &format!("{graph}, {method} in {experiment}"))?;
    }
    let folder = store.folder_of(&row.id);
    if folder.exists() {
        line("files", &folder.display().to_string())?;
    }
    Ok(())
}

fn settings(config: &Map<String, Value>) -> String {
    let apart = ["settings", "method", "preset", "backbone"];
    let one = |(name, value): (&String, &Value)| match value {
        Value::Null | Value::Object(_) => None,
        _ if apart.contains(&&name[..]) => None,
        Value::String(text) => Some(format!("{name}={text}")),
        value => Some(format!("{name}={value}")),
    };
    config.iter().filter_map(one).collect::<Vec<_>>().join(" ")
}
