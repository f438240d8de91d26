//! How fast an edge list becomes a graph, and how much memory it takes on the way.
//!
//! ```text
//! cargo run --release -p edgepace-data --example import_speed -- write FILE EDGES NODES [PREFIX]
//! cargo run --release -p edgepace-data --example import_speed -- read FILE
//! ```
//! `write` makes a CSV file of random edges, with PREFIX before each number; `read` makes an undirected graph of a file.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use edgepace_data::import::{Import, import};
use edgepace_graph::random::{Purpose, Stream};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", file, edges, nodes] => write(Path::new(file), edges.parse()?, nodes.parse()?, ""),
        ["write", file, edges, nodes, prefix] => {
            write(Path::new(file), edges.parse()?, nodes.parse()?, prefix)
        }
        ["read", file] => read(Path::new(file)),
        _ => Err("usage: import_speed write FILE EDGES NODES [PREFIX] | import_speed read FILE".into()),
    }
}

fn write(file: &Path, edges: u64, nodes: u64, prefix: &str) -> Result<(), Box<dyn Error>> {
    let stream = Stream::new(1, Purpose::Benchmark, 0);
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    for edge in 0..edges {
        let (a, b) = (stream.below(2 * edge, nodes), stream.below(2 * edge + 1, nodes));
        writeln!(out, "{prefix}{a},{prefix}{b}")?;
    }
    Ok(out.flush()?)
}

fn read(file: &Path) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let dataset = import(&Import::file(file), &|_, _| {})?;
    let graph = dataset.graph();
    let seconds = start.elapsed().as_secs_f64();
    let twins = graph.twins().map_or(0, <[u32]>::len);
    let bytes = 8 * graph.offsets().len() + 4 * (graph.edges() + twins);
    let lines = graph.edges() / 2 + graph.dropped().duplicates + graph.dropped().loops;
    println!("{lines} edges in {seconds:.2} s: {:.2} million per second", lines as f64 / seconds / 1e6);
    println!(
        "graph: {} nodes, {} directed edges, {:.2} GB",
        graph.nodes(),
        graph.edges(),
        bytes as f64 / 1e9
    );
    if let Some(peak) = peak_memory() {
        println!("peak memory: {:.2} GB, {:.2} times the graph", peak / 1e9, peak / bytes as f64);
    }
    Ok(())
}

/// The most memory that this process ever held, where the system tells (Linux).
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}
