//! Writes a shape as `.npy` files, so that other programs can be measured on the very same graph.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use edgepace_graph::{Dataset, Features, Labels};
use npyz::WriterBuilder;
use serde_json::json;

/// Writes `dataset` into `folder`, which is made if needed: `meta.json`, then edges, features, labels and split.
pub(crate) fn export(dataset: &Dataset, hidden: usize, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let graph = dataset.graph();
    let (nodes, features) = (graph.nodes() as u64, dataset.features().cols() as u64);
    write(folder, "sources.npy", &[graph.edges() as u64], graph.sources())?;
    write(folder, "targets.npy", &[graph.edges() as u64], &graph.targets())?;
    match &**dataset.features() {
        Features::Dense(dense) => write(folder, "x.npy", &[nodes, features], dense.values())?,
        Features::Sparse(sparse) => {
            let offsets: Vec<u64> = sparse.offsets().iter().map(|&offset| offset as u64).collect();
            write(folder, "x_offsets.npy", &[offsets.len() as u64], &offsets)?;
            write(folder, "x_columns.npy", &[sparse.columns().len() as u64], sparse.columns())?;
            write(folder, "x_values.npy", &[sparse.values().len() as u64], sparse.values())?;
        }
    }
    match &**dataset.labels() {
        Labels::Classes(classes) => write(folder, "labels.npy", &[nodes], classes.of())?,
        Labels::Many(many) => write(folder, "labels.npy", &[nodes, many.width() as u64], many.values())?,
    }
    for (name, set) in dataset.splits()[0].sets() {
        write(folder, &format!("{name}.npy"), &[set.len() as u64], set)?;
    }
    // Last, so that a folder with it is complete.
    let meta = json!({
        "shape": dataset.name(),
        "nodes": nodes,
        "edges": graph.edges(),
        "features": features,
        "outputs": dataset.labels().width(),
        "hidden": hidden,
        "multilabel": matches!(**dataset.labels(), Labels::Many(_)),
        "sparse": matches!(**dataset.features(), Features::Sparse(_)),
    });
    let path = folder.join("meta.json");
    std::fs::write(&path, format!("{meta:#}\n")).with_context(|| format!("cannot write {}", path.display()))
}

fn write<T: npyz::AutoSerialize + Copy>(
    folder: &Path,
    name: &str,
    shape: &[u64],
    values: &[T],
) -> Result<()> {
    let path = folder.join(name);
    let save = || -> std::io::Result<()> {
        let mut file = BufWriter::new(File::create(&path)?);
        let mut npy = npyz::WriteOptions::new().default_dtype().shape(shape).writer(&mut file).begin_nd()?;
        npy.extend(values.iter().copied())?;
        npy.finish()?;
        file.flush()
    };
    save().with_context(|| format!("cannot write {}", path.display()))
}
