//! The program `edgepace-bench`: step and evaluation time per backbone and shape, beside the machine's limits.

mod export;
mod machine;
mod measure;
mod report;
mod shape;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Parser, ValueEnum};
use edgepace_nn::{Backbone, ModelConfig, Threads};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use crate::export::export;
use crate::machine::Machine;
use crate::measure::{Effort, Measurement, measure};
use crate::shape::Shape;

/// Measure how fast this machine trains, beside what the machine could do at best.
///
/// An epoch is one training step (new edge weights, forward, loss, backward, Adam) and one evaluation of all nodes.
/// Times are medians. The roofline is the time that the same work would take at the machine's measured peak rates: for
/// each kernel its bytes at the speed of one long read, or its arithmetic at the speed of a large matrix product,
/// whichever takes longer. Every gathered row counts in full, so a graph that fits the cache can come out below 1.
#[derive(Parser)]
#[command(name = "edgepace-bench", version)]
#[command(after_help = "Examples:
  edgepace-bench                                    GCN on four shapes
  edgepace-bench --shape arxiv --backbone all       every backbone on one shape
  edgepace-bench --shape cora --json                one JSON object per line, for programs
  edgepace-bench --shape arxiv --growth             1, 4 and 16 times the graph
  edgepace-bench --shape cora --export cora-shape   the graph as NumPy arrays, to measure other programs on

Exit codes: 0 done; 1 `--growth` is not linear; 2 it could not be done.")]
struct Args {
    /// Size of the graph; all but `proteins` when not given
    #[arg(long, value_enum)]
    shape: Vec<Shape>,
    /// Model to train
    #[arg(long, value_enum, default_value = "gcn")]
    backbone: Vec<BackboneArg>,
    /// Threads to use; as many as the machine has cores when not given
    #[arg(long)]
    threads: Option<usize>,
    /// Timed epochs at most
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
    /// Start no new epoch after so many seconds, once three are timed
    #[arg(long, default_value_t = 4)]
    seconds: u32,
    /// Measure the shape at 1, 4 and 16 times its nodes and edges
    #[arg(long, conflicts_with = "export")]
    growth: bool,
    /// Show where the time of an epoch goes
    #[arg(long)]
    kernels: bool,
    /// Print one JSON object per measurement instead of a table
    #[arg(long)]
    json: bool,
    /// Write the graph into this folder instead of measuring
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BackboneArg {
    Gcn,
    Gin,
    Sage,
    Pna,
    Mlp,
    /// All of them
    All,
}

impl BackboneArg {
    fn backbones(self) -> Vec<Backbone> {
        match self {
            Self::Gcn => vec![Backbone::Gcn],
            Self::Gin => vec![Backbone::Gin],
            Self::Sage => vec![Backbone::Sage],
            Self::Pna => vec![Backbone::Pna],
            Self::Mlp => vec![Backbone::Mlp],
            Self::All => Backbone::ALL.to_vec(),
        }
    }
}

/// Growth is linear when the time per edge stays within this share.
const LINEAR_WITHIN: f64 = 0.25;

fn main() -> ExitCode {
    give_memory_back();
    match run(&Args::parse()) {
        Ok(status) => status,
        // Who reads the output has seen enough, as `head` does.
        Err(error)
            if error.downcast_ref().is_some_and(|io: &io::Error| io.kind() == io::ErrorKind::BrokenPipe) =>
        {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Memory as the program `edgepace` takes it, so that its peak is measured: large buffers go back to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "a setting of the C library")]
fn give_memory_back() {
    const LARGE: libc::c_int = 4 << 20;
    // SAFETY: before any other thread starts. It changes where memory comes from, not what is in it.
    let _ = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_memory_back() {}

fn run(args: &Args) -> Result<ExitCode> {
    let shapes = match &args.shape[..] {
        [] => vec![Shape::Cora, Shape::Synthetic, Shape::Computers, Shape::Arxiv],
        given => given.to_vec(),
    };
    if let Some(folder) = &args.export {
        for shape in &shapes {
            let folder = if shapes.len() == 1 { folder.clone() } else { folder.join(shape.name()) };
            export(&shape.size().dataset(shape.name(), 0)?, ModelConfig::new(Backbone::Gcn).hidden, &folder)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = Threads::new(args.threads.unwrap_or_else(cores))?;
    let progress = Progress::new("measuring the machine");
    let machine = Machine::measure(&threads);
    let bench = Bench { args, threads, machine, progress };
    if !args.json {
        bench.progress.print(&report::machine(&bench.machine, bench.threads.count()))?;
        bench.progress.print(&report::head())?;
    }
    let mut status = ExitCode::SUCCESS;
    for shape in shapes {
        if args.growth {
            if !bench.growth(shape)? {
                status = ExitCode::FAILURE;
            }
        } else {
            bench.measure(shape, 1)?;
        }
    }
    Ok(status)
}

struct Bench<'a> {
    args: &'a Args,
    threads: Threads,
    machine: Machine,
    progress: Progress,
}

impl Bench<'_> {
    /// Every backbone on a shape at `times` its size.
    fn measure(&self, shape: Shape, times: usize) -> Result<Vec<Measurement>> {
        let name = if times == 1 { shape.name().to_owned() } else { format!("{} ×{times}", shape.name()) };
        self.progress.say(&format!("making {name}"));
        let dataset = shape.size().times(times).dataset(&name, 0)?;
        let mut measurements = Vec::new();
        for backbone in self.args.backbone.iter().flat_map(|arg| arg.backbones()) {
            let effort = Effort {
                warm_up: 3,
                epochs: self.args.epochs as usize,
                budget: Duration::from_secs(u64::from(self.args.seconds)),
            };
            let all = effort.warm_up + effort.epochs;
            let m = measure(&dataset, backbone, &self.threads, self.machine, effort, |done| {
                self.progress.epochs(&name, backbone, done, all);
            })?;
            if self.args.json {
                self.progress.print(&serde_json::to_string(&m)?)?;
            } else {
                self.progress.print(&report::row(&m))?;
                if self.args.kernels {
                    self.progress.print(&report::kernels(&m))?;
                }
            }
            measurements.push(m);
        }
        Ok(measurements)
    }

    /// Whether the time per edge stays within a quarter from 1 to 16 times the graph.
    fn growth(&self, shape: Shape) -> Result<bool> {
        let sizes =
            [1, 4, 16].map(|times| self.measure(shape, times)).into_iter().collect::<Result<Vec<_>>>()?;
        let mut linear = true;
        for (at, base) in sizes[0].iter().enumerate() {
            let per_edge = |m: &Measurement| m.epoch_ms * 1e6 / m.edges as f64;
            let ratios: Vec<f64> = sizes.iter().map(|size| per_edge(&size[at]) / per_edge(base)).collect();
            let within = ratios.iter().all(|ratio| (ratio - 1.0).abs() <= LINEAR_WITHIN);
            linear &= within;
            self.progress.print(&if self.args.json {
                let (shape, backbone) = (shape.name(), base.backbone);
                json!({"shape": shape, "backbone": backbone, "time_per_edge": ratios, "linear": within})
                    .to_string()
            } else {
                let times: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
                format!(
                    "{} {}: time per edge at 1×, 4×, 16× the graph: {} ({})",
                    shape.name(),
                    base.backbone,
                    times.join(", "),
                    if within { "linear within 25 %" } else { "not linear within 25 %" },
                )
            })?;
        }
        Ok(linear)
    }
}

/// A line on the terminal that says what is going on; nothing when there is no terminal.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(message: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(Duration::from_millis(200));
        let progress = Self { bar };
        progress.say(message);
        progress
    }

    fn say(&self, message: &str) {
        self.bar.set_style(ProgressStyle::default_spinner());
        self.bar.set_message(message.to_owned());
    }

    fn epochs(&self, shape: &str, backbone: Backbone, done: usize, all: usize) {
        if done == 1 {
            let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} epochs, {eta} left");
            self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar.set_message(format!("{shape} {}", backbone.name()));
            self.bar.set_length(all as u64);
            self.bar.reset_eta();
        }
        self.bar.set_position(done as u64);
    }

    /// Prints a line of the result.
    fn print(&self, line: &str) -> Result<()> {
        Ok(self.bar.suspend(|| writeln!(io::stdout(), "{line}"))?)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
