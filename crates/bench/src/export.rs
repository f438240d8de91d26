//! Writes a shape as arrays, so that other programs can be measured on the very same graph.

use std::path::Path;

use anyhow::Result;
use edgepace_data::export::{self, Format};
use edgepace_graph::{Dataset, files};
use serde_json::json;

/// Writes `dataset` into `folder`, which is made if it is not there: `dataset.npz`, and `shape.json` with what arrays
/// cannot say.
pub(crate) fn export(dataset: &Dataset, hidden: usize, folder: &Path) -> Result<()> {
    export::export(dataset, folder, Format::Npz, true)?;
    // Last, so that a folder with it is complete.
    let shape = json!({ "shape": dataset.name(), "outputs": dataset.labels().width(), "hidden": hidden });
    files::write(&folder.join("shape.json"), format!("{shape:#}\n").as_bytes())?;
    Ok(())
}
