//! Tests on the real datasets: where there are none, they are listed as ignored.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The folder of real datasets: `$EDGEPACE_DATA`, or `../shared/data` beside the repository.
fn folder() -> PathBuf {
    std::env::var_os("EDGEPACE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from)
}

pub(crate) fn is_there() -> bool {
    folder().join("planetoid").is_dir()
}

/// A claim about the real datasets, given their folder. Asked for by `--ignored` where there are none, it fails.
pub(crate) fn trial(name: impl Into<String>, claim: impl FnOnce(&Path) + Send + 'static) -> Trial {
    let test = move || {
        if !is_there() {
            return Err(missing().into());
        }
        claim(&folder());
        Ok(())
    };
    Trial::test(name, test).with_ignored_flag(!is_there())
}

/// Runs tests as `cargo test` asks for them.
pub(crate) fn run(trials: Vec<Trial>) -> ExitCode {
    if !is_there() {
        // Not where `--list` prints.
        eprintln!("ignored: {}", missing());
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn missing() -> String {
    format!("no datasets at {}; EDGEPACE_DATA names their folder", folder().display())
}
