//! Runs that share their data: the same graph, noise, split and seed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use edgepace_graph::{Dataset, Threads};
use edgepace_train::{RunConfig, Shelf};

use super::Load;
use crate::experiment::{Cell, Experiment};
use crate::plan::{DataSource, Plan, RunData};

/// Runs that share their data.
pub(super) struct Group {
    /// Where the data comes from.
    plan: Plan,
    pub(super) seed: u64,
    /// Cells of the experiment, in the order in which they are run: plain training first, because it is what others start from.
    pub(super) cells: Vec<usize>,
    shared: Mutex<Option<Result<Arc<Shared>, String>>>,
}

/// What the runs of a group share.
pub(super) struct Shared {
    pub(super) data: RunData,
    pub(super) shelf: Arc<Shelf>,
}

/// The groups of an experiment, seeds outermost.
pub(super) fn of(experiment: &Experiment) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<(usize, String), usize> = HashMap::new();
    let most = experiment.cells.iter().map(|cell| cell.seeds.len()).max().unwrap_or(0);
    for round in 0..most {
        for (number, cell) in experiment.cells.iter().enumerate() {
            let Some(&seed) = cell.seeds.get(round) else { continue };
            let split = cell.split.as_ref().map(ToString::to_string);
            let key = (round, format!("{}\n{}\n{split:?}\n{seed}", cell.dataset, cell.noise));
            let at = *known.entry(key).or_insert_with(|| {
                let plan = cell.data(seed);
                groups.push(Group { plan, seed, cells: Vec::new(), shared: Mutex::new(None) });
                groups.len() - 1
            });
            groups[at].cells.push(number);
        }
    }
    for group in &mut groups {
        group.cells.sort_by_key(|&cell| {
            let config = experiment.cells[cell].run.config();
            (config.backbone.name(), config.method != "vanilla", cell)
        });
    }
    groups
}

impl Cell {
    /// What the run of a seed learns from.
    fn data(&self, seed: u64) -> Plan {
        Plan {
            data: DataSource::Name(self.dataset.clone()),
            noise: self.noise,
            split: self.split.clone(),
            config: RunConfig::default(),
            seeds: vec![seed],
        }
    }

    /// The name by which [`Load`] is asked for the graph of a seed: that of a generator has the seed in it.
    pub fn data_name(&self, seed: u64) -> String {
        self.data(seed).first_name().unwrap_or_default()
    }
}

impl Group {
    /// What its runs share, made by whoever asks first.
    pub(super) fn shared(&self, datasets: &Datasets<'_>, threads: &Threads) -> Result<Arc<Shared>, String> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.get_or_insert_with(|| self.make(datasets, threads).map(Arc::new)).clone()
    }

    /// Lets go of it.
    pub(super) fn forget(&self) {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn make(&self, datasets: &Datasets<'_>, threads: &Threads) -> Result<Shared, String> {
        let name = self.plan.first_name().unwrap_or_default();
        let dataset = datasets.get(threads, &name)?;
        let data = self.plan.data_of(threads, &dataset, self.seed).map_err(|error| error.to_string())?;
        Ok(Shared { data, shelf: Shelf::new() })
    }
}

/// Datasets in use, each there once.
pub(super) struct Datasets<'a> {
    load: &'a dyn Load,
    known: Mutex<HashMap<String, Arc<Mutex<Weak<Dataset>>>>>,
    /// The latest ones are kept: the next group is likely to need one of them.
    latest: Mutex<Vec<Arc<Dataset>>>,
}

/// How many datasets are kept that no group uses.
const KEPT: usize = 2;

impl<'a> Datasets<'a> {
    pub(super) fn new(load: &'a dyn Load) -> Self {
        Self { load, known: Mutex::default(), latest: Mutex::default() }
    }

    fn get(&self, threads: &Threads, name: &str) -> Result<Arc<Dataset>, String> {
        let slot = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(name.to_owned()).or_default())
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dataset) = slot.upgrade() {
            return Ok(dataset);
        }
        let dataset = Arc::new(self.load.load(threads, name)?);
        *slot = Arc::downgrade(&dataset);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        latest.insert(0, Arc::clone(&dataset));
        latest.truncate(KEPT);
        Ok(dataset)
    }
}
