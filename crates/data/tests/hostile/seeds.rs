//! Small valid files for every reader.

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        other => panic!("no seeds for {other}"),
    }
}
