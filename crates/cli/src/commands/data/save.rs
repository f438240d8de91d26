//! `edgepace data save`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_data::native::{check_unchanged, save_with_record};
use edgepace_data::{Noise, SplitRule, splits};

use crate::dataset::{DataFolder, budget, spinner};
use crate::output;
use crate::seeds::OneSeed;

#[derive(ClapArgs)]
pub(crate) struct Args {
    /// A name, a generator or a graph file
    name: String,
    /// Noise to add, as `fake=1.0,delete=0.1,flip=0.05,perturb=0.1,dice=0.2`
    #[arg(long, default_value = "")]
    noise: Noise,
    /// Add this split to the dataset's own, as `kfold:5:0`; `flip` flips labels of its training nodes
    #[arg(long)]
    split: Option<SplitRule>,
    /// Seed of noise and split
    #[arg(long, alias = "seed", value_name = "SEED", default_value = "0", allow_negative_numbers = true)]
    seeds: OneSeed,
    /// The graph file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    overwrite: bool,
}

pub(crate) fn run(args: &Args, data_folder: &DataFolder) -> Result<ExitCode> {
    output::check_graph_file(&args.output, args.overwrite)?;
    let (threads, seed) = (budget(None)?, args.seeds.0);
    let mut dataset = data_folder.load(&threads, &args.name)?;
    let bar = spinner(format!("making {}", args.output.display()));
    let mut split_name = None;
    if let Some(rule) = &args.split {
        let split = splits::make(&threads, rule, &dataset, seed)?;
        split_name = Some(split.name().to_owned());
        let mut all = dataset.splits().to_vec();
        all.retain(|own| own.name() != split.name());
        all.push(split);
        dataset = dataset.with_splits(all)?;
    }
    let mut record = format!("from {}", args.name);
    if !args.noise.is_none() {
        dataset = args.noise.apply(&threads, dataset, split_name.as_deref(), seed)?;
        record = format!("{record}, noise {}", args.noise.record(seed));
    }
    check_unchanged()?;
    save_with_record(&threads, &dataset, &record, &args.output)?;
    bar.finish_and_clear();
    output::say_written(std::slice::from_ref(&args.output))?;
    Ok(ExitCode::SUCCESS)
}
