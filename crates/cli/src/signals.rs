//! SIGINT and SIGTERM: the first asks runs to save and stop, the second ends the program at once. SIGBUS: a graph file was
//! cut short while it was in use.

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

/// From now on a SIGBUS in a mapped graph file ends the program as an error does: with a message that names the file, and
/// exit code 2. Any other goes its way.
#[cfg(unix)]
#[allow(unsafe_code, reason = "there is no other way to learn the address of the fault")]
pub(crate) fn name_lost_files() {
    use std::sync::OnceLock;

    struct Before(libc::sigaction);
    // SAFETY: it is written once, and only read afterwards.
    unsafe impl Send for Before {}
    unsafe impl Sync for Before {}
    static BEFORE: OnceLock<Before> = OnceLock::new();

    extern "C" fn tell(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the system passes valid information. Nothing here allocates, locks or unwinds: `write`, `sigaction` and
        // `_exit` may be called from a handler.
        unsafe {
            let address = (*info).si_addr() as usize;
            if let Some(file) = edgepace_data::native::mapped_file_at(address) {
                let pieces: [&[u8]; 3] =
                    [b"error: ", file, b" was cut short while it was in use, or cannot be read any more\n"];
                for piece in pieces {
                    libc::write(libc::STDERR_FILENO, piece.as_ptr().cast(), piece.len());
                }
                libc::_exit(2);
            }
            // Not ours: the fault comes again, and meets who was there before.
            match BEFORE.get() {
                Some(before) => libc::sigaction(signal, &raw const before.0, std::ptr::null_mut()),
                None => libc::sigaction(signal, &raw const DEFAULT.0, std::ptr::null_mut()),
            };
        }
    }

    // SAFETY: all zeros is the default action.
    static DEFAULT: Before = Before(unsafe { std::mem::zeroed() });

    // SAFETY: the action is complete, and its handler does only what a handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = tell as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, &raw const action, &raw mut before) == 0 {
            let _ = BEFORE.set(Before(before));
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn name_lost_files() {}
