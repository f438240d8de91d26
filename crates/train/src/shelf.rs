//! Plain trainings by the id of their run. What is there need not be trained again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::trained::Trained;

/// Warm starts, shared by runs that need the same one.
#[derive(Debug, Default)]
pub struct Shelf {
    plain: Mutex<HashMap<String, Arc<Trained>>>,
}

impl Shelf {
    /// An empty one.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The run with that id, at its epoch of best validation.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<Trained>> {
        self.lock().get(id).cloned()
    }

    /// Keeps a run.
    pub(crate) fn put(&self, id: &str, plain: Arc<Trained>) {
        self.lock().insert(id.to_owned(), plain);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Trained>>> {
        self.plain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
