//! `edgepace predict`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args as ClapArgs;
use edgepace_data::{Noise, SplitRule, splits};
use edgepace_graph::{Dataset, Labels, Threads, files};
use edgepace_lab::with_noise;
use edgepace_nn::{argmax, sigmoid, softmax};
use edgepace_train::{ModelHeader, SavedModel, class_name};
use serde::Serialize;

use crate::dataset::{DataFolder, budget};
use crate::own_files::{self, OwnFiles};
use crate::table::{count, say};

/// Say the class of every node of the training graph with a saved model.
///
/// The model is one that `edgepace train --out` wrote, the dataset the one that it was trained on: its content is held to
/// the checksum in the model. Noise that the run added to the graph is added again.
///
/// Columns of the CSV: node; name, if it has one; class, by name or number; probability that the model gives it. Where nodes
/// have many labels there is one column for each, with its probability.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace train cora --out run
  edgepace predict run/seed-0/model.safetensors cora -o predictions.csv
  edgepace predict run/seed-0/model.safetensors cora --json")]
pub(crate) struct Args {
    /// The model, as `edgepace train --out` wrote it
    model: PathBuf,
    /// The dataset that it was trained on [default: the one that it names]
    dataset: Option<String>,
    /// The table of predictions to write (CSV)
    #[arg(short, long, value_name = "FILE", required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data_folder: DataFolder,
    /// Instead of a dataset: a file of edges of your own
    #[arg(long, value_name = "FILE", help_heading = "Own files")]
    edges: Option<PathBuf>,
    #[command(flatten)]
    own_files: OwnFiles,
}

#[derive(Serialize)]
struct Output {
    dataset: String,
    checksum: String,
    /// By name, or their numbers.
    classes: Vec<String>,
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
    let saved = SavedModel::open(&args.model)?;
    let threads = budget(None)?;
    let dataset = match (&args.dataset, &args.edges) {
        (Some(name), None) => args.data_folder.load(&threads, name)?,
        (None, Some(edges)) => own_files::read(&threads, &args.own_files.request(edges))?,
        (None, None) => args.data_folder.load(&threads, &saved.header().dataset)?,
        (Some(_), Some(_)) => bail!("there are two datasets: name one, or give `--edges`"),
    };
    let dataset = as_trained(&threads, dataset, saved.header())?;
    let output = predict(&saved, &dataset)?;
    if let Some(file) = &args.output {
        files::write(file, &table(&output, &dataset)?)?;
    }
    match &args.output {
        _ if args.json => say(&serde_json::to_string(&output)?)?,
        Some(file) => {
            say(&format!("wrote {}: {} nodes", file.display(), count(output.predictions.len() as u64)))?;
        }
        None => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// The dataset with the noise of the run, if it is the one that the model was trained on.
fn as_trained(threads: &Threads, dataset: Dataset, record: &ModelHeader) -> Result<Dataset> {
    let mut found = dataset.checksum();
    if found != record.checksum && !record.noise.is_empty() {
        let noise: Noise = record.noise.parse()?;
        let rule: SplitRule = record.split.parse()?;
        let split = splits::make(threads, &rule, &dataset, record.seed)?;
        let noisy = with_noise(threads, &dataset, &noise, &split, record.seed)?;
        found = noisy.checksum();
        if found == record.checksum {
            return Ok(noisy);
        }
    }
    if found != record.checksum {
        bail!(
            "`dataset` is `{}` with content {found}, expected that of the model: `{}` with content {}",
            dataset.name(),
            record.dataset,
            record.checksum
        );
    }
    Ok(dataset)
}

fn predict(saved: &SavedModel, dataset: &Dataset) -> Result<Output> {
    let logits = saved.logits(dataset).context("the model does not fit the dataset")?;
    let width = dataset.labels().width();
    let one_class = matches!(**dataset.labels(), Labels::Classes(_));
    let of_node = |(node, logits): (usize, &[f32])| Prediction {
        node,
        name: dataset.node_names().map(|names| names.get(node).to_owned()),
        class: one_class.then(|| argmax(logits)),
        probabilities: if one_class {
            softmax(logits).map(|p| p as f32).collect()
        } else {
            logits.iter().map(|&logit| sigmoid(logit) as f32).collect()
        },
    };
    Ok(Output {
        dataset: dataset.name().to_owned(),
        checksum: saved.header().checksum.clone(),
        classes: (0..width).map(|class| class_name(dataset, class)).collect(),
        predictions: logits.chunks_exact(width.max(1)).enumerate().map(of_node).collect(),
    })
}

fn table(output: &Output, dataset: &Dataset) -> Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    let one_class = matches!(**dataset.labels(), Labels::Classes(_));
    let mut head = vec!["node".to_owned()];
    head.extend(dataset.node_names().map(|_| "name".to_owned()));
    if one_class {
        head.extend(["class".to_owned(), "probability".to_owned()]);
    } else {
        head.extend(output.classes.iter().cloned());
    }
    csv.write_record(&head)?;
    for prediction in &output.predictions {
        let mut row = vec![prediction.node.to_string()];
        row.extend(prediction.name.clone());
        match prediction.class {
            Some(class) => {
                row.push(output.classes[class].clone());
                row.push(prediction.probabilities[class].to_string());
            }
            None => row.extend(prediction.probabilities.iter().map(ToString::to_string)),
        }
        csv.write_record(&row)?;
    }
    Ok(csv.into_inner()?)
}
