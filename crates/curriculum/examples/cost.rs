//! What the curriculum costs on a graph of the size of ogbn-arxiv: `cargo run --release -p edgepace-curriculum --example cost`.
//!
//! Arguments: threads (2), repeats (5), and the one preset to run (all; memory is exact only for one). The graph has 169 343 nodes, about 2.3 million directed edges, power-law degrees
//! with hubs of about ten thousand, 128 dense features and 40 classes.

use std::sync::Arc;
use std::time::Instant;

use edgepace_curriculum::{Curriculum, CurriculumConfig, Feedback, Pairs, ResidualTerm};
use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{DenseFeatures, Features, Graph, Threads};

const NODES: usize = 169_343;
const PAIRS: usize = 1_200_000;
const COLUMNS: usize = 128;
const CLASSES: usize = 40;
const HIDDEN: usize = 64;

/// Ends drawn with probability ∝ rank^−0.56, over ids that a fixed stride scatters, so that hubs lie anywhere.
fn graph() -> Graph {
    let stream = Stream::new(1, Purpose::Benchmark, 0);
    let node = |at: u64| {
        let rank = libm::pow(stream.uniform(at), 1.0 / (1.0 - 0.56)) * NODES as f64;
        (rank as usize * 92_821 % NODES) as u32
    };
    let (a, b): (Vec<u32>, Vec<u32>) =
        (0..PAIRS as u64).map(|pair| (node(2 * pair), node(2 * pair + 1))).unzip();
    Graph::undirected(NODES, &a, &b).expect("ids are below the number of nodes")
}

fn numbers(count: usize, index: u32) -> Vec<f32> {
    let stream = Stream::new(2, Purpose::Benchmark, index);
    (0..count).map(|at| stream.uniform(at as u64) as f32 * 4.0 - 2.0).collect()
}

/// Resident memory in bytes, where the system tells it.
fn resident() -> Option<f64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    pages.split_whitespace().nth(1)?.parse::<f64>().ok().map(|pages| pages * 4096.0)
}

/// Seconds of processor time of all threads so far, where the system tells it: what a busy machine does not distort much.
fn processor() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().ok()? + fields[12].parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let threads = Threads::new(arguments.first().copied().unwrap_or(2))?;
    let repeats = arguments.get(1).copied().unwrap_or(5);
    let graph = Arc::new(graph());
    let features = Features::from(DenseFeatures::new(NODES, COLUMNS, numbers(NODES * COLUMNS, 1))?);
    let logits = numbers(NODES * CLASSES, 2);
    let embeddings = numbers(NODES * HIDDEN, 3);
    let largest = (0..NODES).map(|node| graph.in_edges(node).len()).max().unwrap_or(0);
    println!("{NODES} nodes, {} edges, largest degree {largest}, {} threads", graph.edges(), threads.count());
    let train: Vec<u32> = (0..NODES as u32).step_by(2).collect();
    let losses: Vec<f32> = train.iter().map(|&node| (node % 97) as f32 / 40.0).collect();
    let trust = vec![0.5; Pairs::new(&graph).len()];
    let feedback = Feedback::new()
        .embeddings(&embeddings, HIDDEN)
        .logits(&logits, CLASSES)
        .losses(&train, &losses)
        .trust(&trust);

    threads.run(|| {
        let only = std::env::args().nth(3);
        for name in CurriculumConfig::PRESETS.into_iter().filter(|&name| only.as_deref().is_none_or(|only| only == name)) {
            let config = CurriculumConfig::preset(name)?;
            let before = resident();
            let (start, processor_start) = (Instant::now(), processor().unwrap_or(0.0));
            let mut curriculum = Curriculum::new(&threads, Arc::clone(&graph), Some(&features), &config, 150, 0)?;
            let once = start.elapsed();
            let processor_once = processor().unwrap_or(0.0) - processor_start;
            let mut updates = Vec::new();
            for repeat in 0..repeats {
                let start = Instant::now();
                curriculum.update(repeat * 20, &feedback)?;
                updates.push(start.elapsed().as_secs_f64() * 1e3);
            }
            let processor_updates = processor().unwrap_or(0.0) - processor_start - processor_once;
            updates.sort_by(f64::total_cmp);
            let median = updates[updates.len() / 2];
            let memory = before.zip(resident()).map_or(0.0, |(before, after)| (after - before) / 1e6);
            println!(
                "{name:10} once {:5.0} ms (processor {:5.0}), update {median:5.0} ms (median of {repeats}; processor {:5.0}), \
                 memory {memory:.0} MB, {} edges in",
                once.as_secs_f64() * 1e3,
                processor_once * 1e3,
                processor_updates * 1e3 / repeats as f64,
                curriculum.selected()
            );
            if config.residual_term != ResidualTerm::Off {
                let mut out = vec![0.0; embeddings.len()];
                let start = Instant::now();
                curriculum.residual_gradient(&feedback, &mut out)?;
                println!("{name:10} gradient {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
            }
        }
        Ok(())
    })
}
