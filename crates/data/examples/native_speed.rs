//! How fast a native file is saved, opened, verified and used.
//!
//! `cargo run --release -p edgepace-data --example native_speed -- FILE [MILLIONS OF UNDIRECTED EDGES]` writes FILE, and
//! removes it at the end.

use std::path::PathBuf;
use std::time::Instant;

use edgepace_data::native::{Native, save};
use edgepace_graph::{Classes, Dataset, DenseFeatures, Dropped, Features, Graph, Labels};

/// Edges in and out of each node of the generated graph.
const DEGREE: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("which file?")?);
    let millions: usize = arguments.next().map_or(Ok(100), |text| text.parse())?;
    let dataset = ring(millions * 1_000_000 * 2 / DEGREE)?;

    let start = Instant::now();
    save(&dataset, &path)?;
    let bytes = std::fs::metadata(&path)?.len() as f64;
    let rate = |start: Instant| bytes / 1e9 / start.elapsed().as_secs_f64();
    println!("{} edges, {:.2} GB", dataset.graph().edges(), bytes / 1e9);
    println!("save:    {:6.2} s, {:.2} GB/s", start.elapsed().as_secs_f64(), rate(start));

    let start = Instant::now();
    let native = Native::open(&path)?;
    println!("open:    {:6.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let mapped = native.dataset()?;
    println!("dataset: {:6.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    native.verify()?;
    println!("verify:  {:6.2} s, {:.2} GB/s", start.elapsed().as_secs_f64(), rate(start));
    let same = mapped.graph() == dataset.graph();
    drop((mapped, native));
    std::fs::remove_file(&path)?;
    if same { Ok(()) } else { Err("the graph came back changed".into()) }
}

/// Each node joined to its nearest `DEGREE` neighbours on a ring, built without a sort.
fn ring(nodes: usize) -> Result<Dataset, Box<dyn std::error::Error>> {
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
