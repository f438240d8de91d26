//! Trains on a shape and takes the times.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Dataset, Labels};
use edgepace_nn::{Adam, AdamConfig, Backbone, KernelKind, Meter, Metric, Model, ModelConfig, Task, Threads};
use serde::Serialize;

use crate::machine::Machine;
use crate::shape::streams;

/// What was measured: the interface that other programs read.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measurement {
    pub(crate) shape: String,
    pub(crate) backbone: &'static str,
    pub(crate) nodes: usize,
    /// Directed edges.
    pub(crate) edges: usize,
    pub(crate) features: usize,
    pub(crate) outputs: usize,
    pub(crate) threads: usize,
    /// Timed epochs.
    pub(crate) epochs: usize,
    /// Median of: new edge weights, forward, loss, backward, optimiser.
    pub(crate) train_ms: f64,
    /// Median of: forward over all nodes, accuracy on validation and test (for classes).
    pub(crate) eval_ms: f64,
    /// Median of both together.
    pub(crate) epoch_ms: f64,
    /// What the epoch's work would take at the machine's peak rates.
    pub(crate) roofline_ms: f64,
    /// `epoch_ms / roofline_ms`.
    pub(crate) distance: f64,
    /// Edges per second of one propagation, on average over all timed epochs; `None` where nothing is propagated.
    pub(crate) propagated_edges_per_second: Option<f64>,
    /// The process's largest memory during the measurement, graph included; `None` where the system does not tell.
    pub(crate) peak_bytes: Option<u64>,
    pub(crate) machine: Machine,
    pub(crate) kernels: Vec<KernelTime>,
}

/// One group of kernels, per epoch.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct KernelTime {
    pub(crate) kernel: &'static str,
    pub(crate) calls: f64,
    pub(crate) ms: f64,
    pub(crate) gigaflops: f64,
    pub(crate) gigabytes: f64,
    pub(crate) roofline_ms: f64,
}

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Epochs before the clock starts: buffers grow, caches fill.
    pub(crate) warm_up: usize,
    /// Timed epochs at most.
    pub(crate) epochs: usize,
    /// No new epoch starts after this time, when at least three are timed.
    pub(crate) budget: Duration,
}

/// One epoch: the model is trained with new edge weights, then evaluated on every node.
struct Epochs<'a> {
    dataset: &'a Dataset,
    model: Model<f32>,
    task: Task<f32>,
    optimiser: Adam<f32>,
    weights: Vec<f32>,
    epoch: u32,
}

impl Epochs<'_> {
    /// Times of training and evaluation.
    fn next(&mut self) -> Result<[Duration; 2]> {
        // As a curriculum does: another weight for every edge, the same for both directions. Not timed.
        let factor = if self.epoch.is_multiple_of(2) { 0.75 } else { 4.0 / 3.0 };
        for weight in &mut self.weights {
            *weight *= factor;
        }
        let start = Instant::now();
        self.model.set_edge_weights(&self.weights)?;
        self.model.train(&self.task, &mut self.optimiser, self.epoch)?;
        let train = start.elapsed();
        let start = Instant::now();
        let evaluation = self.model.evaluate();
        if let (Labels::Classes(_), [split]) = (&**self.dataset.labels(), self.dataset.splits()) {
            for nodes in [split.validation(), split.test()] {
                std::hint::black_box(evaluation.score(Metric::Accuracy, self.dataset.labels(), nodes)?);
            }
        }
        self.epoch += 1;
        Ok([train, start.elapsed()])
    }
}

/// Trains `backbone` on `dataset` and measures it. `progress` hears how many epochs are done.
pub(crate) fn measure(
    dataset: &Dataset,
    backbone: Backbone,
    threads: &Threads,
    machine: Machine,
    effort: Effort,
    mut progress: impl FnMut(usize) + Send,
) -> Result<Measurement> {
    forget_peak();
    let (metered, meter) = threads.metered();
    let (graph, labels) = (dataset.graph(), Arc::clone(dataset.labels()));
    let outputs = labels.width();
    let config = ModelConfig::new(backbone);
    let model = Model::new(Arc::clone(graph), Arc::clone(dataset.features()), outputs, config, 0, &metered)?;
    let optimiser = Adam::new(AdamConfig::default(), model.parameter_count())?;
    let task = Task::new(labels, dataset.splits()[0].train())?;
    let weights = edge_weights(graph);
    let mut epochs = Epochs { dataset, model, task, optimiser, weights, epoch: 0 };

    let mut times = Vec::with_capacity(effort.epochs);
    threads.run(|| -> Result<()> {
        for done in 0..effort.warm_up {
            epochs.next()?;
            progress(done + 1);
        }
        meter.reset();
        let start = Instant::now();
        while times.len() < effort.epochs && (times.len() < 3 || start.elapsed() < effort.budget) {
            times.push(epochs.next()?);
            progress(effort.warm_up + times.len());
        }
        Ok(())
    })?;

    let median = |of: fn(&[Duration; 2]) -> Duration| {
        let mut all: Vec<f64> = times.iter().map(|both| of(both).as_secs_f64() * 1e3).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let kernels = kernel_times(&meter, &machine, times.len());
    let roofline_ms = kernels.iter().map(|kernel| kernel.roofline_ms).sum();
    let epoch_ms = median(|[train, eval]| *train + *eval);
    let propagate = meter.work(KernelKind::Propagate);
    Ok(Measurement {
        shape: dataset.name().to_owned(),
        backbone: backbone.name(),
        nodes: graph.nodes(),
        edges: graph.edges(),
        features: dataset.features().cols(),
        outputs,
        threads: threads.count(),
        epochs: times.len(),
        train_ms: median(|[train, _]| *train),
        eval_ms: median(|[_, eval]| *eval),
        epoch_ms,
        roofline_ms,
        distance: epoch_ms / roofline_ms,
        propagated_edges_per_second: (propagate.calls > 0 && backbone != Backbone::Mlp).then(|| {
            (propagate.calls as usize * graph.edges()) as f64 / (propagate.nanoseconds as f64 * 1e-9)
        }),
        peak_bytes: peak_bytes(),
        machine,
        kernels,
    })
}

/// Weights in [½, 1½), equal for both directions of an edge.
fn edge_weights(graph: &edgepace_graph::Graph) -> Vec<f32> {
    let stream = Stream::new(0, Purpose::Benchmark, streams::WEIGHTS);
    let id = |edge: usize, twin: u32| edge.min(twin as usize) as u64;
    match graph.twins() {
        Some(twins) => {
            twins.iter().enumerate().map(|(e, &twin)| 0.5 + stream.uniform(id(e, twin)) as f32).collect()
        }
        None => (0..graph.edges()).map(|e| 0.5 + stream.uniform(e as u64) as f32).collect(),
    }
}

fn kernel_times(meter: &Meter, machine: &Machine, epochs: usize) -> Vec<KernelTime> {
    let share = 1.0 / epochs as f64;
    KernelKind::ALL
        .into_iter()
        .map(|kernel| (kernel, meter.work(kernel)))
        .filter(|(_, work)| work.calls > 0)
        .map(|(kernel, work)| {
            let (flops, bytes) = (work.flops as f64 * share, work.bytes as f64 * share);
            KernelTime {
                kernel: kernel.name(),
                calls: work.calls as f64 * share,
                ms: work.nanoseconds as f64 * share * 1e-6,
                gigaflops: flops * 1e-9,
                gigabytes: bytes * 1e-9,
                roofline_ms: machine.limit_ms(flops, bytes),
            }
        })
        .collect()
}

/// Makes the system count the largest memory of this process anew. Where it cannot, the peak is that of the whole run.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The largest resident memory of this process since then.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
