//! Parameters of plainly trained networks by the id of their run. What is there need not be trained again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Warm starts, shared by runs that need the same one.
#[derive(Debug, Default)]
pub struct Shelf {
    parameters: Mutex<HashMap<String, Arc<[f32]>>>,
}

impl Shelf {
    /// An empty one.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The parameters of the run with that id, at its epoch of best validation.
    pub fn get(&self, id: &str) -> Option<Arc<[f32]>> {
        self.lock().get(id).cloned()
    }

    /// Keeps the parameters of a run.
    pub fn put(&self, id: &str, parameters: Arc<[f32]>) {
        self.lock().insert(id.to_owned(), parameters);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<[f32]>>> {
        self.parameters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
