//! The program `edgepace`.

fn main() {}
