//! `edgepace completions` and `edgepace man`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Args as ClapArgs, Command};
use clap_complete::Shell;
use edgepace_graph::files;

use crate::messages::with_help;
use crate::output;
use crate::table::say;

/// Print the completions of a shell.
///
/// Commands, flags and the names of datasets, methods and presets are completed. They are written to standard output, for the file that your shell reads.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace completions bash > /etc/bash_completion.d/edgepace
  edgepace completions zsh > ~/.zfunc/_edgepace
  edgepace completions fish > ~/.config/fish/completions/edgepace.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args, mut program: Command) -> Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "edgepace", &mut text);
    say(String::from_utf8_lossy(&text).trim_end())?;
    Ok(ExitCode::SUCCESS)
}

/// Write the manual, a page for each command.
///
/// Without `--out` the page of the program is printed.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  edgepace man --out man1
  edgepace man > edgepace.1")]
pub(crate) struct ManArgs {
    /// The folder to write `edgepace.1`, `edgepace-train.1`, … into
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace pages that are there
    #[arg(long, requires = "out")]
    overwrite: bool,
}

pub(crate) fn manual(args: &ManArgs, mut program: Command) -> Result<ExitCode> {
    program.build();
    let pages = pages(program)?;
    let Some(folder) = &args.out else {
        let (_, page) = pages.first().context("the program has a page")?;
        say(String::from_utf8_lossy(page).trim_end())?;
        return Ok(ExitCode::SUCCESS);
    };
    let paths: Vec<PathBuf> = pages.iter().map(|(name, _)| folder.join(format!("{name}.1"))).collect();
    if let Some(there) = paths.iter().find(|path| !args.overwrite && path.exists()) {
        let found = anyhow::anyhow!("`--out` has {} in it", there.display());
        return Err(with_help(found, "choose another folder, or give `--overwrite`"));
    }
    if folder.exists() && !folder.is_dir() {
        bail!("`--out` is `{}`, expected a folder", folder.display());
    }
    files::create_folder(folder)?;
    for (path, (_, page)) in paths.iter().zip(&pages) {
        files::write(path, page)?;
    }
    output::say_written(&paths)?;
    Ok(ExitCode::SUCCESS)
}

/// The page of a command and those of the commands below it, by name.
fn pages(command: Command) -> Result<Vec<(String, Vec<u8>)>> {
    let below: Vec<Command> = command
        .get_subcommands()
        .filter(|below| !below.is_hide_set() && below.get_name() != "help")
        .cloned()
        .collect();
    // `edgepace-data-info`, once the command is built.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let mut all = vec![(name, page)];
    for command in below {
        all.extend(pages(command)?);
    }
    Ok(all)
}
