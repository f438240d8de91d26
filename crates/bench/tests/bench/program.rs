//! Runs the program.

use std::process::Command;

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `edgepace-bench` with these arguments.
pub(crate) fn bench<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_edgepace-bench")).args(arguments).output();
    let output = output.expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
