//! Runs the program.

use std::path::Path;
use std::process::{Command, Output};

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `edgepace` with these arguments, in an empty folder of its own.
pub(crate) fn edgepace<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Run {
    let folder = tempfile::tempdir().expect("a temporary folder");
    edgepace_in(folder.path(), arguments)
}

/// Runs `edgepace` with these arguments in a folder.
pub(crate) fn edgepace_in<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_edgepace")).args(arguments).current_dir(folder).output();
    output.expect("the program starts").into()
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
