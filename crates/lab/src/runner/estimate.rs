//! How long runs will take: from sizes at first, then from what runs took.

use std::collections::HashMap;

use edgepace_graph::Graph;
use edgepace_nn::Backbone;
use edgepace_train::RunConfig;

use super::SweepProgress;
use crate::experiment::Cell;
use crate::store::{RunRow, Status};

/// Work per second of one thread, before anything was measured: about that of a small machine, to which the weights of
/// [`of_epoch`] were fitted.
const WORK_PER_SECOND: f64 = 5e10;

/// How much work runs are, and what it took so far.
pub(super) struct Estimates {
    cells: Vec<CellEstimate>,
    /// Seconds and work of runs that are over, by what they have in common with others, from much to nothing.
    known: HashMap<Key, (f64, f64)>,
    /// Seconds that were done of the runs in progress, by worker.
    within: HashMap<usize, f64>,
    failed: usize,
    runs: usize,
    over: usize,
    /// Estimated seconds of what is over.
    done_seconds: f64,
}

struct CellEstimate {
    keys: [Key; 4],
    /// Runs that are not over.
    left: usize,
    /// The work of one; none before its data was read.
    work: Option<f64>,
}

/// What runs may have in common.
type Key = [String; 5];

fn keys(dataset: &str, noise: &str, backbone: &str, method: &str, preset: Option<&str>) -> [Key; 4] {
    let preset = preset.unwrap_or_default();
    let key = |parts: [&str; 5]| parts.map(ToOwned::to_owned);
    [
        key([dataset, noise, backbone, method, preset]),
        key(["", "", backbone, method, preset]),
        key(["", "", "", method, ""]),
        key([""; 5]),
    ]
}

impl Estimates {
    pub(super) fn new(cells: &[Cell], rows: &[RunRow]) -> Self {
        let mut own = Self {
            cells: cells.iter().map(CellEstimate::new).collect(),
            known: HashMap::new(),
            within: HashMap::new(),
            failed: 0,
            runs: cells.iter().map(|cell| cell.seeds.len()).sum(),
            over: 0,
            done_seconds: 0.0,
        };
        rows.iter().filter(|row| row.status == Status::Done).for_each(|row| own.learn(row));
        own
    }

    /// Takes up what a run took.
    pub(super) fn learn(&mut self, row: &RunRow) {
        for key in keys(&row.dataset, &row.noise, &row.backbone, &row.method, row.preset.as_deref()) {
            let (seconds, work) = self.known.entry(key).or_default();
            *seconds += row.seconds;
            *work += row.work;
        }
    }

    /// How much work a run of a cell is: that of an epoch times epochs, roughly.
    pub(super) fn measure(
        &mut self,
        cell: usize,
        graph: &Graph,
        stored_features: usize,
        config: &RunConfig,
        epochs: u64,
    ) -> f64 {
        let work = epochs.max(1) as f64 * of_epoch(graph, stored_features, config);
        self.cells[cell].work = Some(work);
        work
    }

    /// A run of a cell is over.
    pub(super) fn over(&mut self, cell: usize, failed: bool) {
        self.over += 1;
        self.failed += usize::from(failed);
        self.done_seconds += self.seconds_of(&self.cells[cell]).unwrap_or(0.0);
        self.cells[cell].left = self.cells[cell].left.saturating_sub(1);
    }

    /// A worker has done so much of a run.
    pub(super) fn within(&mut self, worker: usize, cell: usize, share: f64) {
        let seconds = share * self.seconds_of(&self.cells[cell]).unwrap_or(0.0);
        self.within.insert(worker, seconds);
    }

    /// A worker is not at a run any more.
    pub(super) fn left(&mut self, worker: usize) {
        self.within.remove(&worker);
    }

    /// How long one run takes; none before its data was read.
    fn seconds_of(&self, cell: &CellEstimate) -> Option<f64> {
        let known = cell.keys.iter().find_map(|key| self.known.get(key).filter(|(_, work)| *work > 0.0));
        let per_work = known.map_or(1.0 / WORK_PER_SECOND, |(seconds, work)| seconds / work);
        Some(cell.work? * per_work)
    }

    /// How far so many jobs are.
    pub(super) fn progress(&self, jobs: usize) -> SweepProgress {
        let (mut seconds, mut known, mut unknown) = (0.0, 0, 0);
        for cell in self.cells.iter().filter(|cell| cell.left > 0) {
            match self.seconds_of(cell) {
                Some(one) => {
                    seconds += one * cell.left as f64;
                    known += cell.left;
                }
                None => unknown += cell.left,
            }
        }
        // What has not been read yet is expected to be like what has.
        let mean = (self.done_seconds + seconds) / (self.over + known).max(1) as f64;
        seconds += mean * unknown as f64;
        let within: f64 = self.within.values().sum();
        let left = (seconds - within).max(0.0);
        let all = self.done_seconds + seconds;
        SweepProgress {
            runs: self.runs,
            over: self.over,
            failed: self.failed,
            share: if all > 0.0 { 1.0 - left / all } else { 0.0 },
            seconds_left: (all > 0.0).then(|| left / jobs.clamp(1, known + unknown + 1) as f64),
        }
    }
}

impl CellEstimate {
    fn new(cell: &Cell) -> Self {
        let (dataset, noise) = (&cell.dataset, cell.noise.to_string());
        let (backbone, method) = (cell.run.config().backbone.name(), &cell.run.asked().method);
        Self {
            keys: keys(dataset, &noise, backbone, method, cell.run.preset()),
            left: cell.seeds.len(),
            work: None,
        }
    }
}

/// What an epoch is made of, forward, backward and in evaluation: so much for each stored feature, each edge and each node, times
/// hidden units, for nodes squared. The weights are those that fit the times of 1000 runs on graphs of 183 to 19 717 nodes.
fn of_epoch(graph: &Graph, stored_features: usize, config: &RunConfig) -> f64 {
    let (nodes, edges) = (graph.nodes() as f64, graph.edges() as f64);
    let (stored, hidden) = (stored_features as f64, config.units() as f64);
    let sum = |[by_stored, by_edges, by_nodes]: [f64; 3]| {
        by_stored * stored * hidden + by_edges * edges * hidden + by_nodes * nodes * hidden * hidden
    };
    let of_network = sum(match config.backbone {
        Backbone::Mlp => [9.0, 0.0, 2.2],
        Backbone::Gcn => [10.0, 13.0, 0.9],
        Backbone::Sage => [10.0, 13.0, 2.5],
        Backbone::Gin => [5.0, 19.0, 14.0],
        Backbone::Pna => [10.0, 40.0, 28.0],
    });
    let of_method = match &config.method[..] {
        // All pairs, and a singular value decomposition of them.
        "pro-gnn" => 470.0 * nodes * nodes,
        "gnn-svd" | "pro-gnn-sparse" => sum([0.0, 0.0, 8.0]),
        "neural-sparse" => sum([0.0, 46.0, 11.0]),
        "ptdnet" => sum([0.0, 64.0, 12.0]),
        "drop-edge" => sum([0.0, 25.0, 0.0]),
        _ => 0.0,
    };
    of_network + of_method
}
