//! `edgepace runs`

mod list;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};

/// Look at the runs in a store.
#[derive(ClapArgs)]
#[command(arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    List(list::Args),
}

/// Which store.
#[derive(ClapArgs)]
pub(crate) struct StoreArg {
    /// The store
    #[arg(long, value_name = "FILE", default_value = "edgepace.sqlite")]
    pub(crate) store: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.command {
        Command::List(args) => list::run(args),
    }?;
    Ok(ExitCode::SUCCESS)
}
