//! Which run a worker does next.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Later;

/// Runs by group. A worker stays with its group, then takes one that nobody is at, and helps others only when there is none
/// left: so data and warm starts are made once.
pub(super) struct Queue(Mutex<Vec<Waiting>>);

struct Waiting {
    group: usize,
    /// Cells, the next one last.
    cells: Vec<usize>,
    /// Whether a worker has begun with it.
    begun: bool,
    /// Runs of it that are being done.
    running: usize,
}

impl Queue {
    pub(super) fn new(groups: impl Iterator<Item = (usize, Vec<usize>)>) -> Self {
        let waiting = groups.map(|(group, mut cells)| {
            cells.reverse();
            Waiting { group, cells, begun: false, running: 0 }
        });
        Self(Mutex::new(waiting.collect()))
    }

    /// What had to wait.
    pub(super) fn of(later: &[Later]) -> Self {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for Later { group, cell, .. } in later {
            groups.entry(*group).or_default().push(*cell);
        }
        Self::new(groups.into_iter())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs that are left.
    pub(super) fn len(&self) -> usize {
        self.lock().iter().map(|waiting| waiting.cells.len()).sum()
    }

    /// The next run: its group and its cell. `at` is where the worker is in the queue.
    pub(super) fn next(&self, at: &mut Option<usize>) -> Option<(usize, usize)> {
        let mut all = self.lock();
        if let Some(waiting) = at.and_then(|at| all.get_mut(at)) {
            waiting.running -= 1;
        }
        let own = at.filter(|&at| !all[at].cells.is_empty());
        let fresh = || all.iter().position(|waiting| !waiting.begun && !waiting.cells.is_empty());
        let others = || {
            let longest = all.iter().enumerate().max_by_key(|(_, waiting)| waiting.cells.len());
            longest.filter(|(_, waiting)| !waiting.cells.is_empty()).map(|(place, _)| place)
        };
        *at = own.or_else(fresh).or_else(others);
        let waiting = &mut all[(*at)?];
        waiting.begun = true;
        waiting.running += 1;
        Some((waiting.group, waiting.cells.pop()?))
    }

    /// Takes a run and all of its group that is left out of the queue.
    pub(super) fn defer(&self, group: usize, cell: usize) -> Vec<usize> {
        let mut all = self.lock();
        let left = all
            .iter_mut()
            .find(|waiting| waiting.group == group)
            .map(|waiting| std::mem::take(&mut waiting.cells));
        std::iter::once(cell).chain(left.into_iter().flatten().rev()).collect()
    }

    /// Whether nothing of a group is left but what the caller has just done.
    pub(super) fn is_over(&self, group: usize) -> bool {
        let all = self.lock();
        let of_group = all.iter().find(|waiting| waiting.group == group);
        of_group.is_none_or(|waiting| waiting.cells.is_empty() && waiting.running <= 1)
    }
}
