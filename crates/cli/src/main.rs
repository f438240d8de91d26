//! The program `edgepace`.

use std::process::ExitCode;

fn main() -> ExitCode {
    edgepace_cli::run(std::env::args_os())
}
