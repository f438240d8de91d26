//! SIGINT and SIGTERM: the first asks runs to save and stop, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Result;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the program was asked to stop, and by which signal.
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Signals {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self> {
        let own = Self { stop: Arc::default(), signal: Arc::default() };
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal is not the second.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&own.stop))?;
            flag::register_usize(signal, Arc::clone(&own.signal), signal as usize)?;
            flag::register(signal, Arc::clone(&own.stop))?;
        }
        Ok(own)
    }

    /// True from the first signal on.
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.stop
    }

    /// The exit code that says which signal it was.
    pub(crate) fn exit_code(&self) -> u8 {
        128 + self.signal.load(Ordering::Relaxed) as u8
    }
}
