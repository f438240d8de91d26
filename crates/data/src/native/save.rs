use std::io::Write as _;
use std::path::Path;

use edgepace_graph::{Dataset, Features, Labels, Names, Threads, files};
use safetensors::Dtype;
use serde_json::{Map, Value, json};

use super::header::{Digests, FORMAT, HEADER_BLANK, HEADER_KEY, Info, digest, header_digest};
use super::{VERSION, open};
use crate::DataError;
use crate::error::request_error;

/// Writes a dataset to a native file, whole or not at all; a file of that name is replaced.
///
/// Sections are written from where they lie in memory: nothing is copied. Equal datasets give equal files.
///
/// # Errors
/// A file that cannot be written, or a machine that is not little endian with 64 bits.
pub fn save(threads: &Threads, dataset: &Dataset, path: &Path) -> Result<(), DataError> {
    save_with_record(threads, dataset, "", path)
}

/// As [`save`], with a word on where the dataset came from and what was done to it ([`Info::record`]).
///
/// # Errors
/// As [`save`].
pub fn save_with_record(
    threads: &Threads,
    dataset: &Dataset,
    record: &str,
    path: &Path,
) -> Result<(), DataError> {
    open::check_machine(path)?;
    let sections = sections(dataset);
    let header = header(threads, &Info::of(dataset, record), &sections)?;
    files::write_with(path, |file| {
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(&header)?;
        sections.iter().try_for_each(|section| file.write_all(section.bytes))
    })?;
    Ok(())
}

struct Section<'a> {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

/// All sections in the order of the file: wide numbers first, so that each is aligned.
fn sections(dataset: &Dataset) -> Vec<Section<'_>> {
    let mut sections = Sections(Vec::new());
    let graph = dataset.graph();
    sections.counts("graph.offsets", graph.offsets());
    sections.ids("graph.sources", graph.sources());
    if let Some(twins) = graph.twins() {
        sections.ids("graph.twins", twins);
    }
    match &**dataset.features() {
        Features::Dense(dense) => {
            sections.floats("features.values", vec![dense.rows(), dense.cols()], dense.values());
        }
        Features::Sparse(sparse) => {
            sections.counts("features.offsets", sparse.offsets());
            sections.ids("features.columns", sparse.columns());
            sections.floats("features.values", vec![sparse.values().len()], sparse.values());
        }
    }
    match &**dataset.labels() {
        Labels::Classes(classes) => sections.ids("labels", classes.of()),
        Labels::Many(many) => {
            sections.add("labels", Dtype::U8, vec![many.nodes(), many.width()], many.values());
        }
    }
    for (position, split) in dataset.splits().iter().enumerate() {
        for (set, ids) in split.sets() {
            sections.ids(&format!("split.{position}.{set}"), ids);
        }
    }
    for (position, (_, values)) in dataset.edge_columns().enumerate() {
        sections.floats(&format!("edge.{position}"), vec![values.len()], values);
    }
    for (name, names) in [
        ("node_names", dataset.node_names()),
        ("class_names", dataset.class_names()),
        ("feature_names", dataset.feature_names()),
    ] {
        if let Some(names) = names {
            sections.names(name, names);
        }
    }
    if let Some(text) = dataset.encoding() {
        sections.add("encoding", Dtype::U8, vec![text.len()], text.as_bytes());
    }
    sections.0.sort_by_key(|section| std::cmp::Reverse(section.dtype.bitsize()));
    sections.0
}

struct Sections<'a>(Vec<Section<'a>>);

impl<'a> Sections<'a> {
    fn add(&mut self, name: &str, dtype: Dtype, shape: Vec<usize>, bytes: &'a [u8]) {
        self.0.push(Section { name: name.to_owned(), dtype, shape, bytes });
    }

    fn counts(&mut self, name: &str, values: &'a [usize]) {
        self.add(name, Dtype::U64, vec![values.len()], bytemuck::cast_slice(values));
    }

    fn ids(&mut self, name: &str, values: &'a [u32]) {
        self.add(name, Dtype::U32, vec![values.len()], bytemuck::cast_slice(values));
    }

    fn floats(&mut self, name: &str, shape: Vec<usize>, values: &'a [f32]) {
        self.add(name, Dtype::F32, shape, bytemuck::cast_slice(values));
    }

    fn names(&mut self, name: &str, names: &'a Names) {
        let offsets = bytemuck::cast_slice(names.offsets());
        self.add(&format!("{name}.offsets"), Dtype::U64, vec![names.offsets().len()], offsets);
        self.add(&format!("{name}.bytes"), Dtype::U8, vec![names.bytes().len()], names.bytes());
    }
}

/// The header, padded so that the sections start at a multiple of 8 bytes.
fn header(threads: &Threads, info: &Info, sections: &[Section<'_>]) -> Result<Vec<u8>, DataError> {
    let digests: Digests =
        sections.iter().map(|section| (section.name.clone(), digest(threads, section.bytes))).collect();
    let broken =
        |error: serde_json::Error| request_error("dataset", error.to_string(), "text that JSON can hold");
    let mut header = Map::new();
    header.insert(
        "__metadata__".to_owned(),
        json!({
            "format": FORMAT,
            "version": VERSION.to_string(),
            "info": serde_json::to_string(info).map_err(broken)?,
            "sections": serde_json::to_string(&digests).map_err(broken)?,
            HEADER_KEY: HEADER_BLANK,
        }),
    );
    let mut start = 0;
    for Section { name, dtype, shape, bytes } in sections {
        let end = start + bytes.len();
        let tensor = json!({ "dtype": dtype, "shape": shape, "data_offsets": [start, end] });
        header.insert(name.clone(), tensor);
        start = end;
    }
    let mut text = serde_json::to_string(&Value::Object(header)).map_err(broken)?;
    while !text.len().is_multiple_of(8) {
        text.push(' ');
    }
    let own = header_digest(text.as_bytes());
    let blank = format!("\"{HEADER_KEY}\":\"{HEADER_BLANK}\"");
    Ok(text.replacen(&blank, &format!("\"{HEADER_KEY}\":\"{own}\""), 1).into_bytes())
}
