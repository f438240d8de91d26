//! How long belief propagation takes on a graph of 5000 nodes and about 60 000 directed edges, by the number of classes.
//!
//! `cargo run --release -p edgepace-nn --example belief [THREADS [CLASSES …]]` prints medians, and a fingerprint of all
//! results: two versions of a kernel that show the same one give the same bits.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Graph, WeightedGraph};
use edgepace_nn::{Beliefs, Threads};

const NODES: usize = 5000;
const PAIRS: u64 = 30_000;
const CLASSES: [usize; 6] = [3, 7, 10, 15, 17, 40];
/// How often each step is timed.
const TIMES: usize = 41;

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<usize> =
        std::env::args().skip(1).map(|number| number.parse()).collect::<Result<_, _>>()?;
    let (threads, classes) = match &numbers[..] {
        [] => (2, &CLASSES[..]),
        [threads] => (*threads, &CLASSES[..]),
        [threads, classes @ ..] => (*threads, classes),
    };
    let threads = Threads::new(threads)?;
    let draws = Stream::new(0, Purpose::Benchmark, 0);
    let end = |at: u64| draws.below(at, NODES as u64) as u32;
    let (a, b): (Vec<u32>, Vec<u32>) = (0..PAIRS).map(|pair| (end(2 * pair), end(2 * pair + 1))).unzip();
    let graph: WeightedGraph = Arc::new(Graph::undirected(NODES, &a, &b)?).into();
    println!("classes  sweep µs  moved µs  counts µs  ratios µs  fingerprint");
    for &classes in classes {
        let draws = Stream::new(0, Purpose::Benchmark, 1);
        let unaries = (0..(NODES * classes) as u64).map(|at| 2.0 * draws.normal(at) as f32).collect();
        let other = 0.5;
        let same = 1.0 + other * (classes - 1) as f32;
        let entry = |at: usize| if at.is_multiple_of(classes + 1) { same } else { other };
        let compatibility: Vec<f32> = (0..classes * classes).map(entry).collect();
        let mut beliefs = Beliefs::new(&graph, classes, unaries)?;
        let mut times = [const { Vec::new() }; 4];
        let mut fingerprint = Fingerprint(0);
        for _ in 0..TIMES {
            let start = Instant::now();
            beliefs.sweep(&threads, &compatibility, 0.5, 0.5);
            let swept = Instant::now();
            let moved = beliefs.moved(&threads);
            let compared = Instant::now();
            let counts = beliefs.expected_edges(&threads, &compatibility);
            let counted = Instant::now();
            let ratios = beliefs.likelihood_ratios(&threads, &compatibility);
            let ends = [start, swept, compared, counted, Instant::now()];
            for (times, step) in times.iter_mut().zip(ends.windows(2)) {
                times.push((step[1] - step[0]).as_secs_f64() * 1e6);
            }
            beliefs.logits().iter().chain(&ratios).for_each(|x| fingerprint.add(u64::from(x.to_bits())));
            counts.iter().chain([&moved]).for_each(|x| fingerprint.add(x.to_bits()));
        }
        let [sweep, moved, counts, ratios] = times.map(median);
        let Fingerprint(bits) = fingerprint;
        println!("{classes:7} {sweep:9.0} {moved:9.0} {counts:10.0} {ratios:10.0}  {bits:016x}");
    }
    Ok(())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

struct Fingerprint(u64);

impl Fingerprint {
    fn add(&mut self, bits: u64) {
        self.0 = (self.0 ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }
}
