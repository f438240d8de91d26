//! The one way for whatever takes long: another thread does it, and this one lets others use the interpreter, shows progress and
//! listens for Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::fault::{Fault, Outcome};

/// How often Ctrl-C is looked for.
const LOOKED_EVERY: Duration = Duration::from_millis(50);
/// How often progress is told.
const TOLD_EVERY: Duration = Duration::from_millis(100);
/// How long a job that is told to stop is waited for. After that it ends by itself, and nobody asks for what it made.
const PATIENCE: Duration = Duration::from_millis(400);

/// How far a job is, and whether it is to stop.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    /// What turns true when the job is to stop.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    pub(crate) fn stops(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// `done` steps are behind it and `left` to come.
    pub(crate) fn tell(&self, done: u64, left: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(done + left, Ordering::Relaxed);
    }

    fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

/// Does `job`. `progress`, if there is one, is called with what is done and what there is to do. Where a signal raises, as Ctrl-C
/// does, or `progress` raises, the job is told to stop, and the error is raised.
pub(crate) fn long<R: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&Watch) -> Outcome<R> + Send + 'static,
) -> PyResult<R> {
    let watch = Arc::new(Watch::default());
    let (sender, mut answers) = mpsc::channel();
    let own = Arc::clone(&watch);
    let work = move || {
        let answer = catch_unwind(AssertUnwindSafe(|| job(&own)));
        // Nobody listens any more where it was told to stop.
        let _ = sender.send(answer);
    };
    let started = std::thread::Builder::new().name("edgepace".to_owned()).spawn(work);
    started.map_err(|error| Fault::new("EdgepaceError", format!("cannot start a thread: {error}")))?;
    let mut told = Instant::now();
    loop {
        let (answer, again) = py.detach(move || (answers.recv_timeout(LOOKED_EVERY), answers));
        answers = again;
        match answer {
            Ok(Ok(result)) => {
                let result = result?;
                if let Some(progress) = progress {
                    progress.call1(watch.progress())?;
                }
                return Ok(result);
            }
            Ok(Err(panic)) => return Err(broken(&*panic).into()),
            Err(RecvTimeoutError::Disconnected) => return Err(broken(&"it ended without an answer").into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let mut goes_on = py.check_signals();
        if let (Ok(()), Some(progress)) = (&goes_on, progress)
            && told.elapsed() >= TOLD_EVERY
        {
            told = Instant::now();
            goes_on = progress.call1(watch.progress()).map(drop);
        }
        if let Err(error) = goes_on {
            watch.stop.store(true, Ordering::Relaxed);
            py.detach(move || drop(answers.recv_timeout(PATIENCE)));
            return Err(error);
        }
    }
}

/// An error of ours.
fn broken(panic: &(dyn std::any::Any + Send)) -> Fault {
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    Fault::new("InternalError", format!("a fault in edgepace, please report it: {text}"))
}
