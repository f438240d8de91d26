//! Nothing is allocated inside an update once the first one has grown every buffer.

#[path = "../../graph/tests/shared/counting.rs"]
mod counting;

use std::sync::Arc;

use edgepace_curriculum::{Curriculum, CurriculumConfig, Feedback, Order, Pace, ResidualTerm};
use edgepace_graph::{DenseFeatures, Features, Graph, Threads};

const NODES: usize = 4000;
const WIDTH: usize = 8;
const EPOCHS: usize = 20;

/// A ring with chords: enough pairs for several pieces of work.
fn graph() -> Arc<Graph> {
    let (a, b): (Vec<u32>, Vec<u32>) = (0..NODES)
        .flat_map(|node| [1, 2, 17, 640].map(|hop| (node as u32, ((node + hop) % NODES) as u32)))
        .unzip();
    Arc::new(Graph::undirected(NODES, &a, &b).unwrap())
}

fn values(epoch: usize) -> Vec<f32> {
    (0..NODES * WIDTH).map(|at| ((at * 31 + epoch * 7) % 97) as f32 / 48.0 - 1.0).collect()
}

fn allocations(threads: &Threads, config: &CurriculumConfig) -> Vec<usize> {
    let features = Features::from(DenseFeatures::new(NODES, WIDTH, values(3)).unwrap());
    let mut curriculum = Curriculum::new(threads, graph(), Some(&features), config, EPOCHS, 1).unwrap();
    let train: Vec<u32> = (0..NODES as u32).step_by(3).collect();
    let losses = vec![0.5; train.len()];
    let mut gradient = vec![0.0; NODES * WIDTH];
    let mut counts = Vec::with_capacity(EPOCHS);
    for epoch in 0..EPOCHS {
        let values = values(epoch);
        let trust = vec![0.25 + 0.5 / (epoch + 1) as f32; curriculum.pairs().len()];
        let feedback = Feedback::new()
            .embeddings(&values, WIDTH)
            .logits(&values, WIDTH)
            .losses(&train, &losses)
            .trust(&trust);
        let before = counting::allocations();
        curriculum.update(epoch, &feedback).unwrap();
        if config.residual_term != ResidualTerm::Off {
            curriculum.residual_gradient(&feedback, &mut gradient).unwrap();
        }
        counts.push(counting::allocations() - before);
    }
    counts
}

/// One test, so that no other runs beside it and is counted.
#[test]
fn after_the_first_update_no_update_allocates() {
    let mut configs: Vec<CurriculumConfig> =
        CurriculumConfig::PRESETS.iter().map(|name| CurriculumConfig::preset(name).unwrap()).collect();
    configs.push(CurriculumConfig { order: Order::Random, pace: Pace::Root, ..CurriculumConfig::edgepace() });
    // They live until the end, because threads that are to end go on allocating for a while.
    let budgets = [1, 2].map(|count| Threads::new(count).unwrap());
    // A worker allocates when it takes over work for the first time, which on a busy machine may be updates later.
    let idle = || std::thread::sleep(std::time::Duration::from_millis(2));
    for threads in &budgets {
        threads.run(|| (0..5).for_each(|_| threads.on_each(idle)));
    }
    for config in configs {
        let config = CurriculumConfig { period: 1, ..config };
        for threads in &budgets {
            // Inside, because a way to the threads from outside allocates by itself.
            let counts = threads.run(|| allocations(threads, &config));
            assert!(counts[0] > 0, "the first update grows the buffers, so the counter must have seen it");
            assert_eq!(counts[1..], [0; EPOCHS - 1], "{} threads, {config:?}", threads.count());
        }
    }
}
