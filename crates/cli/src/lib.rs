//! The program `edgepace`: reads the command line, calls one command, prints the whole chain of causes of an error.
//!
//! It is a library so that the Python package can be the same program.

mod commands;
mod dataset;
mod dry_run;
mod engine;
mod help;
mod messages;
mod names;
mod numbers;
mod output;
mod own_files;
mod page;
mod progress;
mod report;
mod runs;
mod seeds;
mod signals;
mod sweep_progress;
mod table;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::{CommandFactory, Parser, Subcommand};

/// Trains graph neural networks that learn which edges to trust.
#[derive(Parser)]
#[command(name = "edgepace", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done; 1 the job ran but its answer is no; 2 the job could\nnot be done."
)]
struct Cli {
    #[command(flatten)]
    voice: messages::Voice,
    #[command(subcommand)]
    command: Command,
}

// A command says what it does in its own file: a line here would hide the rest of its help.
#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Args),
    Train(Box<commands::train::Args>),
    Audit(Box<commands::audit::Args>),
    Predict(Box<commands::predict::Args>),
    Report(Box<commands::report::Args>),
    Reproduce(Box<commands::reproduce::Args>),
    Sweep(Box<commands::sweep::Args>),
    Runs(commands::runs::Args),
    Limit(commands::limit::Args),
    Methods(commands::methods::Args),
    Data(Box<commands::data::Args>),
    Completions(commands::completions::Args),
    Man(commands::completions::ManArgs),
}

pub use engine::{Engine, EngineError, EngineSweep};

/// The words of the command line, the program's own name first.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// The words behind the program's name.
fn words() -> &'static [OsString] {
    WORDS.get().and_then(|words| words.get(1..)).unwrap_or_default()
}

/// Does what a command line asks for, of which the first word is the program's own name. What it says holds for the rest of the
/// process: call it once.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    give_memory_back();
    signals::name_lost_files();
    let words = WORDS.get_or_init(|| words.into_iter().collect());
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return messages::usage(&error),
    };
    messages::speak_as(cli.voice);
    let result = match cli.command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Predict(args) => commands::predict::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Sweep(args) => commands::sweep::run(&args),
        Command::Runs(args) => commands::runs::run(&args),
        Command::Limit(args) => commands::limit::run(&args),
        Command::Methods(args) => commands::methods::run(&args),
        Command::Data(args) => commands::data::run(&args),
        Command::Completions(args) => commands::completions::run(&args, Cli::command()),
        Command::Man(args) => commands::completions::manual(&args, Cli::command()),
    };
    match result {
        Ok(status) => status,
        // Who reads the output has seen enough, as `head` does.
        Err(error) if closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => messages::fail(&error),
    }
}

/// The same with an engine that does what `--engine ray` asks for.
pub fn run_with(words: impl IntoIterator<Item = OsString>, ray: Box<Engine>) -> ExitCode {
    engine::bring(ray);
    run(words)
}

/// Lets buffers of several megabytes come from the system and go back to it. Otherwise the C library keeps freed blocks of
/// up to 32 MB for later, in pieces that seldom fit: a tenth of the memory of a run on a large graph.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "a setting of the C library")]
fn give_memory_back() {
    const LARGE: libc::c_int = 4 << 20;
    // SAFETY: before any other thread starts. It changes where memory comes from, not what is in it.
    let _ = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_memory_back() {}

fn closed_pipe(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
