//! `edgepace predict`

mod ground;
mod table;

use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{ArgGroup, Args as ClapArgs};
use edgepace_data::native::check_unchanged;
use edgepace_graph::Labels;
use edgepace_train::{ModelHeader, SavedModel, TableFormat, write_table, write_table_to};
use serde::Serialize;

use self::ground::Ground;
use self::table::Predictions;
use crate::dataset::{DataFolder, budget};
use crate::messages;
use crate::numbers::whole;
use crate::output::check_file;
use crate::own_files::OwnFiles;
use crate::runs::MOST_AT_ONCE;
use crate::table::{count, say, shown};
use edgepace_lab::Seeds;

/// Say the class of every node with a trained model: of the training graph, of new nodes, or of another graph.
///
/// RUN is a folder that `edgepace train --out` wrote, the folder of one of its seeds, or a model file. Where a run has
/// several seeds, they answer together: the mean of their probabilities.
///
/// Without a DATASET the nodes are those of the training graph: a model knows where its data came from, own files included.
/// Noise that the run added is added again, and edges weigh what they weighed in training.
///
/// With a DATASET that is not the one of the training, its nodes are new: a graph of new nodes alone, or one with old and new
/// nodes together. It needs the same features, which are prepared as in training; columns of a table are encoded as in
/// training, and unknown ones refused. Its edges weigh what those of the training did on average, times their own weight if they
/// have one.
///
/// Columns: node; name, if it has one; class and its probability; label, the class in the data, where it has classes; split
/// (train, val or test), where the nodes are those of the training. `--proba` adds one column per class, p_CLASS. Where nodes
/// have many labels there are the columns p_LABEL alone.
///
/// Probabilities are calibrated: logits are divided by the temperature at which the run's validation nodes are as sure as they are
/// right, so that of predictions with 0.9 about nine in ten are right. `--raw` leaves that out.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace train cora --seeds 0..3 --out run
  edgepace predict run -o predictions.csv             every node of Cora
  edgepace predict run --unlabelled --proba -o p.parquet
  edgepace predict run/seed-0 --json
  edgepace predict run new.graph -o new.csv           another graph
  edgepace predict run --edges e.csv --nodes n.csv    own files, as CSV to the terminal")]
#[command(group(ArgGroup::new("edges").args(["dataset", "edges_file"]).multiple(true)))]
#[allow(clippy::struct_excessive_bools, reason = "flags that do not exclude each other")]
pub(crate) struct Args {
    /// A folder of `edgepace train --out`, the folder of a seed, or a model file
    run: PathBuf,
    /// Other data than the run's own: a name, a generator, a graph file, or a file or folder of your own
    dataset: Option<String>,
    /// The table to write: csv, parquet, json or jsonl by its name [default: CSV to standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    overwrite: bool,
    /// One column per class with its probability
    #[arg(long)]
    proba: bool,
    /// Only nodes that have no label
    #[arg(long)]
    unlabelled: bool,
    /// Probabilities as the model gives them, without calibration
    #[arg(long)]
    raw: bool,
    /// Models of these seeds alone: `5`, `0,2,7`, or `0..3` [default: all that are over]
    #[arg(long)]
    seeds: Option<Seeds>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole(1, MOST_AT_ONCE), allow_negative_numbers = true)]
    threads: Option<usize>,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Instead of a dataset: a file of edges of your own
    #[arg(long = "edges", value_name = "FILE", help_heading = "Own files")]
    edges_file: Option<PathBuf>,
    #[command(flatten)]
    own_files: OwnFiles,
}

#[derive(Serialize)]
struct Output<'a> {
    dataset: &'a str,
    checksum: &'a str,
    /// By name, or their numbers.
    classes: &'a [String],
    seeds: Vec<u64>,
    /// What logits were divided by, for each seed; null where they were not.
    temperatures: Vec<Option<f64>>,
    /// Whether the nodes are other than those of the training.
    new_data: bool,
    predictions: Vec<Prediction>,
}

#[derive(Serialize)]
struct Prediction {
    node: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The number of the most probable class; none where nodes have many labels.
    class: Option<usize>,
    /// Of each class, or of each label.
    probabilities: Vec<f32>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let format = args.output.as_deref().map(TableFormat::of).transpose()?;
    if let Some(file) = &args.output {
        check_file("--output", file, args.overwrite)?;
    }
    let models = ground::models(&args.run, args.seeds.as_ref().map(edgepace_lab::Seeds::as_slice))?;
    let threads = budget(args.threads)?;
    let ground = Ground::find(args, &threads, &models)?;
    if args.unlabelled && matches!(**ground.dataset.labels(), Labels::Many(_)) {
        bail!(
            "`--unlabelled` is for nodes with one class; those of {} have many labels",
            ground.dataset.name()
        );
    }
    let predicted = Predictions::new(&threads, &models, &ground, args)?;
    // What was read of a graph that changed meanwhile is nothing that anyone asked for.
    check_unchanged()?;
    if let (Some(file), Some(format)) = (&args.output, format) {
        write_table(file, format, predicted.pieces(args.proba).map(Ok))?;
    }
    if messages::json() {
        say(&serde_json::to_string(&predicted.output(&ground, &models, args.raw))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    for note in notes(args, &models, &ground) {
        messages::tell(note);
    }
    if let Some(file) = &args.output {
        say(&format!("wrote {}: {} nodes", file.display(), count(predicted.nodes.len() as u64)))?;
    } else {
        let mut out = BufWriter::new(std::io::stdout());
        write_table_to(&mut out, TableFormat::Csv, predicted.pieces(args.proba))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What edges weigh to a model that has not seen them; to a pool, with the experts to which they weigh something else.
fn weight_of_edges(header: &ModelHeader) -> String {
    let of_experts: Vec<String> = header
        .experts
        .iter()
        .filter_map(|expert| Some(format!("{mean:.2} for {}", expert.name, mean = expert.mean_weight?)))
        .collect();
    match header.mean_weight {
        Some(mean) => format!("{mean:.2}"),
        None if of_experts.is_empty() => "1".to_owned(),
        None => format!("1 ({})", of_experts.join(", ")),
    }
}

/// What a person should know about the predictions.
fn notes(args: &Args, models: &[SavedModel], ground: &Ground) -> Vec<String> {
    let mut notes = Vec::new();
    let trained_on = &models[0].header().dataset;
    if ground.is_new() {
        let edges = ground.dataset.graph().edges();
        let mut weights: Vec<String> = models.iter().map(|model| weight_of_edges(model.header())).collect();
        weights.dedup();
        let why = if weights == ["1"] { "" } else { ", as those of the training on average" };
        notes.push(format!(
            "new data: the model was trained on {trained_on}, not on {}; its {} edges have weight {}{why}",
            shown(ground.dataset.name()),
            count(edges as u64),
            weights.join(", ")
        ));
    }
    if !ground.unknown_classes.is_empty() {
        notes.push(format!(
            "labels that the model does not know: {}",
            shown(&ground.unknown_classes.join(", "))
        ));
    }
    let list = |of: &dyn Fn(&SavedModel) -> String| models.iter().map(of).collect::<Vec<_>>().join(", ");
    if models.len() > 1 {
        notes.push(format!("mean of seeds {}", list(&|model| model.header().seed.to_string())));
    }
    let temperature = |model: &SavedModel| match model.header().temperature {
        Some(temperature) => format!("{temperature:.2}"),
        None => "none (no validation nodes)".to_owned(),
    };
    if args.raw {
        notes.push("probabilities are not calibrated".to_owned());
    } else if models.iter().all(|model| model.header().temperature.is_none()) {
        notes.push("probabilities are not calibrated: there were no validation nodes".to_owned());
    } else {
        notes.push(format!("probabilities are calibrated, temperature {}", list(&temperature)));
    }
    notes
}
