//! How fast a table of nodes with columns of every kind becomes features.
//!
//! ```text
//! cargo run --release -p edgepace-data --example table_speed -- FOLDER ROWS
//! ```
//! Writes `nodes.parquet` with 50 columns (25 of numbers, 12 categories, 5 dates, 5 truth values, an id, a label and a text; a
//! tenth of the values of some is missing) and `edges.csv` with two edges per node into the folder, unless they are there,
//! imports them three times and prints one JSON object with the seconds of each.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use edgepace_data::import::{Dates, Encode, Import, import};
use edgepace_graph::Threads;
use edgepace_graph::random::{Purpose, Stream};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::json;

/// Of these columns each value is missing with a chance of one in ten.
const GAPS: [&str; 3] = ["number", "category", "date"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rows] = &arguments[..] else { return Err("usage: table_speed FOLDER ROWS".into()) };
    let (folder, rows) = (Path::new(folder), rows.parse::<u64>()?);
    let (nodes, edges) = (folder.join("nodes.parquet"), folder.join("edges.csv"));
    if !nodes.exists() {
        write_nodes(&nodes, rows)?;
        write_edges(&edges, rows)?;
    }
    let threads = Threads::new(std::thread::available_parallelism()?.get())?;
    let encode = Encode { dates: Dates::Year, ..Encode::default() };
    let request = Import { nodes: Some(nodes.clone()), encode, ..Import::file(edges) };
    let mut seconds = Vec::new();
    let mut features = 0;
    for _ in 0..3 {
        let start = Instant::now();
        let imported = import(&threads, &request, &|_, _| {})?;
        seconds.push(start.elapsed().as_secs_f64());
        features = imported.dataset.features().cols();
    }
    println!("{}", json!({ "rows": rows, "columns": 50, "features": features, "seconds": seconds }));
    Ok(())
}

fn columns() -> Vec<String> {
    let mut names = vec!["id".to_owned(), "label".to_owned(), "title".to_owned()];
    for (kind, count) in [("number", 25), ("category", 12), ("date", 5), ("truth", 5)] {
        names.extend((0..count).map(|column| format!("{kind}{column}")));
    }
    names
}

fn write_nodes(file: &Path, rows: u64) -> Result<(), Box<dyn Error>> {
    let names = columns();
    let mut fields = Vec::new();
    for name in &names {
        let (physical, logical) = match name.trim_end_matches(|letter: char| letter.is_ascii_digit()) {
            "number" => (Physical::DOUBLE, None),
            "date" => (Physical::INT32, Some(LogicalType::Date)),
            "truth" => (Physical::BOOLEAN, None),
            _ => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        fields.push(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?));
    }
    let schema = Arc::new(Type::group_type_builder("nodes").with_fields(fields).build()?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(File::create(file)?, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (position, name) in names.iter().enumerate() {
        let stream = Stream::new(position as u64, Purpose::Benchmark, 0);
        let gaps = GAPS.iter().any(|kind| name.starts_with(kind));
        let levels: Vec<i16> =
            (0..rows).map(|row| i16::from(!gaps || stream.below(2 * row + 1, 10) > 0)).collect();
        let there: Vec<u64> = (0..rows).filter(|&row| levels[row as usize] == 1).collect();
        let draw = |row: u64, below: u64| stream.below(2 * row, below);
        let text = |row: u64| match &name[..] {
            "id" => format!("node-{row}"),
            "label" => format!("class {}", draw(row, 10)),
            "title" => format!("the title of node {row}"),
            _ => format!("value {}", draw(row, 4 + position as u64 % 5)),
        };
        let mut column = group.next_column()?.ok_or("a column too many")?;
        match name.trim_end_matches(|letter: char| letter.is_ascii_digit()) {
            "number" => {
                let values: Vec<f64> = there.iter().map(|&row| draw(row, 1 << 40) as f64 / 1e6).collect();
                column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
            }
            "date" => {
                let values: Vec<i32> = there.iter().map(|&row| 15_000 + draw(row, 4000) as i32).collect();
                column.typed::<Int32Type>().write_batch(&values, Some(&levels), None)?;
            }
            "truth" => {
                let values: Vec<bool> = there.iter().map(|&row| draw(row, 2) == 1).collect();
                column.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
            }
            _ => {
                let values: Vec<ByteArray> =
                    there.iter().map(|&row| ByteArray::from(&text(row)[..])).collect();
                column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn write_edges(file: &Path, rows: u64) -> Result<(), Box<dyn Error>> {
    let stream = Stream::new(99, Purpose::Benchmark, 0);
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "source,target")?;
    for edge in 0..2 * rows {
        writeln!(out, "node-{},node-{}", edge % rows, stream.below(edge, rows))?;
    }
    Ok(out.flush()?)
}
