//! Where the real files are.

use std::path::{Path, PathBuf};

/// The folder of real datasets: `$EDGEPACE_DATA`, or `../shared/data` beside the repository. Without it the test says
/// that it was skipped.
#[allow(dead_code, reason = "its users come next")]
pub(crate) fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("EDGEPACE_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    if folder.join("planetoid").is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no datasets at {} (set EDGEPACE_DATA)", folder.display());
    None
}
