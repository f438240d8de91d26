//! `edgepace limit`

use std::process::ExitCode;

use anyhow::Result;
use clap::Args as ClapArgs;
use edgepace_data::SplitRule;
use edgepace_lab::{Limits, Seeds};

use crate::dataset::budget;
use crate::messages;
use crate::numbers::whole;
use crate::runs::MOST_AT_ONCE;
use crate::table::{Align, Table, say};

/// Say which accuracy nobody can be expected to beat on a synthetic graph.
///
/// The class of each test node is found with the generator's own parameters: class centres, spread, and how likely each two
/// classes are linked; labels of training nodes are known. No method knows more, so none is right more often but by luck. The
/// posterior is that of belief propagation, which on sparse random graphs is as good as exact.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace limit synthetic:homophily=0.3
  edgepace limit synthetic:homophily=0.1,law=inverse --seeds 0..10 --json")]
pub(crate) struct Args {
    /// A graph of the paper's family, as `synthetic:homophily=0.3,law=inverse`
    dataset: String,
    /// A split of the dataset, or a rule, as for `edgepace train` [default: the dataset's usual one]
    #[arg(long)]
    split: Option<SplitRule>,
    /// `5`, `0,2,7`, or `0..3` for 0, 1 and 2. Split and graph follow the seed unless they have their own
    #[arg(long, alias = "seed", default_value = "0", allow_negative_numbers = true)]
    seeds: Seeds,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole(1, MOST_AT_ONCE), allow_negative_numbers = true)]
    threads: Option<usize>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let threads = budget(args.threads)?;
    let seeds = args.seeds.as_slice().to_vec();
    let limits = Limits::new(&threads, &args.dataset, args.split.clone(), seeds)?;
    say(&if messages::json() { serde_json::to_string(&limits)? } else { shown(&limits) })?;
    Ok(ExitCode::SUCCESS)
}

fn shown(limits: &Limits) -> String {
    let percent = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"));
    let mut table = Table::new(&[
        ("seed", Align::Right),
        ("split", Align::Left),
        ("features alone %", Align::Right),
        ("limit %", Align::Right),
    ]);
    for seed in &limits.seeds {
        table.row([seed.seed.to_string(), seed.split.clone(), percent(seed.features), percent(seed.limit)]);
    }
    let spread = limits.limit_sd.map_or_else(String::new, |sd| format!(" ± {sd:.2}"));
    format!("{table}\n{}: {}{spread} % of test nodes at most", limits.dataset, percent(limits.limit_mean))
}
