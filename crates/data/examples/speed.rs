//! How fast datasets are read, imported, stored, opened and made. `bench/data.py` runs it beside other programs.
//!
//! ```text
//! cargo run --release -p edgepace-data --example speed -- load NAME             a dataset by name, 5 times
//! cargo run --release -p edgepace-data --example speed -- write FILE EDGES NODES [PREFIX]   a CSV file of random edges
//! cargo run --release -p edgepace-data --example speed -- import FILE           a graph of a file of edges
//! cargo run --release -p edgepace-data --example speed -- native FILE MILLIONS  save, open and verify a graph file
//! ```
//! Each prints one JSON object.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use edgepace_data::import::{Import, import};
use edgepace_data::native::{Native, save};
use edgepace_data::{Cache, load};
use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Classes, Dataset, DenseFeatures, Dropped, Features, Graph, Labels, Threads};
use serde_json::{Value, json};

type Outcome = Result<Value, Box<dyn Error>>;

/// Edges in and out of each node of the graph that is stored.
const DEGREE: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["load", name] => load_five_times(name)?,
        ["write", file, edges, nodes] => write(Path::new(file), edges.parse()?, nodes.parse()?, "")?,
        ["write", file, edges, nodes, prefix] => {
            write(Path::new(file), edges.parse()?, nodes.parse()?, prefix)?
        }
        ["import", file] => import_edges(Path::new(file))?,
        ["native", file, millions] => native(Path::new(file), millions.parse()?)?,
        _ => return Err(
            "usage: speed load NAME | write FILE EDGES NODES [PREFIX] | import FILE | native FILE MILLIONS"
                .into(),
        ),
    };
    println!("{result}");
    Ok(())
}

fn all_cores() -> Result<Threads, Box<dyn Error>> {
    Ok(Threads::new(std::thread::available_parallelism()?.get())?)
}

fn load_five_times(name: &str) -> Outcome {
    let (threads, cache) = (all_cores()?, Cache::from_env()?);
    let mut seconds = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        let dataset = load(&threads, name, &cache)?;
        seconds.push(start.elapsed().as_secs_f64());
        drop(dataset);
    }
    Ok(json!({"name": name, "seconds": seconds}))
}

fn write(file: &Path, edges: u64, nodes: u64, prefix: &str) -> Outcome {
    let stream = Stream::new(1, Purpose::Benchmark, 0);
    let mut out = BufWriter::with_capacity(1 << 20, File::create(file)?);
    for edge in 0..edges {
        let (a, b) = (stream.below(2 * edge, nodes), stream.below(2 * edge + 1, nodes));
        writeln!(out, "{prefix}{a},{prefix}{b}")?;
    }
    out.flush()?;
    Ok(json!({"bytes": std::fs::metadata(file)?.len()}))
}

fn import_edges(file: &Path) -> Outcome {
    let threads = all_cores()?;
    let start = Instant::now();
    let dataset = import(&threads, &Import::file(file), &|_, _| {})?.dataset;
    let seconds = start.elapsed().as_secs_f64();
    let graph = dataset.graph();
    let twins = graph.twins().map_or(0, <[u32]>::len);
    let bytes = 8 * graph.offsets().len() + 4 * (graph.edges() + twins);
    let lines = graph.edges() / 2 + graph.dropped().duplicates + graph.dropped().loops;
    Ok(json!({
        "lines": lines, "seconds": seconds, "nodes": graph.nodes(), "edges": graph.edges(),
        "graph_bytes": bytes, "peak_bytes": peak_memory(),
    }))
}

/// The most memory that this process ever held, where the system tells (Linux).
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

fn native(file: &Path, millions: usize) -> Outcome {
    let threads = all_cores()?;
    let dataset = ring(millions * 1_000_000 * 2 / DEGREE)?;
    let timed = |start: Instant| start.elapsed().as_secs_f64();
    let start = Instant::now();
    save(&threads, &dataset, file)?;
    let save_seconds = timed(start);
    let start = Instant::now();
    let native = Native::open(file)?;
    let mapped = native.dataset()?;
    let open_seconds = timed(start);
    let start = Instant::now();
    native.verify(&threads)?;
    let verify_seconds = timed(start);
    if mapped.graph() != dataset.graph() {
        return Err("the graph came back changed".into());
    }
    Ok(json!({
        "edges": dataset.graph().edges(), "bytes": native.bytes(), "save_seconds": save_seconds,
        "open_seconds": open_seconds, "verify_seconds": verify_seconds,
    }))
}

/// Each node joined to its nearest `DEGREE` neighbours on a ring, built without a sort.
fn ring(nodes: usize) -> Result<Dataset, Box<dyn Error>> {
    let half = DEGREE / 2;
    let mut sources: Vec<u32> = Vec::with_capacity(nodes * DEGREE);
    for node in 0..nodes {
        let start = sources.len();
        let around = (1..=half).flat_map(|step| [(node + step) % nodes, (node + nodes - step) % nodes]);
        sources.extend(around.map(|neighbour| neighbour as u32));
        sources[start..].sort_unstable();
    }
    let offsets: Vec<usize> = (0..=nodes).map(|node| node * DEGREE).collect();
    let position = |of: usize, neighbour: u32| {
        let row = &sources[offsets[of]..offsets[of + 1]];
        row.binary_search(&neighbour).map_or(0, |within| (offsets[of] + within) as u32)
    };
    let twins: Vec<u32> =
        (0..sources.len()).map(|edge| position(sources[edge] as usize, (edge / DEGREE) as u32)).collect();
    let graph = Graph::trusted(offsets, sources, Some(twins.into()), Dropped::default())?;
    let features = DenseFeatures::new(nodes, 1, vec![1.0; nodes])?;
    let labels = Classes::new(2, (0..nodes as u32).map(|node| node % 2).collect())?;
    Ok(Dataset::new("ring", graph, Features::from(features), Labels::from(labels), Vec::new())?)
}
