//! Snapshots by the id of the run that they are of. What is there need not be trained again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::snapshot::Snapshot;

/// Snapshots in memory, shared by runs that need the same warm start.
#[derive(Debug, Default)]
pub struct Shelf {
    snapshots: Mutex<HashMap<String, Arc<Snapshot>>>,
}

impl Shelf {
    /// An empty one.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The snapshot of the run with that id.
    pub fn get(&self, id: &str) -> Option<Arc<Snapshot>> {
        self.lock().get(id).cloned()
    }

    /// Keeps the snapshot of a run.
    pub fn put(&self, id: &str, snapshot: Arc<Snapshot>) {
        self.lock().insert(id.to_owned(), snapshot);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Snapshot>>> {
        self.snapshots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
