//! Files that are mapped, and what is done about those who change them meanwhile.
//!
//! What is mapped is the file itself: whoever writes into it changes what is computed, and whoever cuts it short takes the
//! pages away, which the system answers with SIGBUS. Nothing but a copy could prevent that, so it is found out:
//! [`check_unchanged`] compares size and time stamp with those at the opening, and [`mapped_file_at`] lets a signal handler name
//! the file. A file that is replaced by another of its name, as every save does it, is a new file and harms no one.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::SystemTime;

use crate::error::{format_error, io_error};
use crate::{DataError, Place};

/// A file that is mapped, as it was when it was opened.
#[derive(Debug)]
pub(super) struct Mapped {
    path: PathBuf,
    file: File,
    stamp: Stamp,
    slot: Option<&'static Slot>,
}

/// What changes when a file does.
#[derive(Debug, PartialEq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(data: &Metadata) -> Stamp {
        Stamp { length: data.len(), modified: data.modified().ok() }
    }
}

/// All files that are mapped.
static FILES: Mutex<Vec<Weak<Mapped>>> = Mutex::new(Vec::new());

impl Mapped {
    /// Watches a file that is mapped to `memory` from now until this is dropped.
    pub(super) fn watch(
        path: &Path,
        file: File,
        data: &Metadata,
        memory: &[u8],
    ) -> Result<Arc<Mapped>, DataError> {
        // A message that names a file by half a path helps less.
        let path = std::path::absolute(path).map_err(io_error("open", path))?;
        let slot = Slot::take(&path, memory);
        let mapped = Arc::new(Mapped { path, file, stamp: Stamp::of(data), slot });
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| file.strong_count() > 0);
        files.push(Arc::downgrade(&mapped));
        Ok(mapped)
    }

    pub(super) fn check(&self) -> Result<(), DataError> {
        let now = self.file.metadata().map_err(io_error("read", &self.path))?;
        if Stamp::of(&now) == self.stamp {
            return Ok(());
        }
        let found =
            format!("one that was written to meanwhile ({} bytes, now {})", self.stamp.length, now.len());
        Err(format_error(&self.path, Place::Whole, "a file that stays as it is while it is in use", found)
            .with_help("do it again, and write changes to another file or replace this one as a whole"))
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.end.store(0, Ordering::Release);
        }
    }
}

/// Checks that no graph file that is in use has been written to since it was opened. Files that were read into memory
/// as a whole are not in use.
///
/// # Errors
/// The first that was.
pub fn check_unchanged() -> Result<(), DataError> {
    let files: Vec<Arc<Mapped>> = {
        let files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().filter_map(Weak::upgrade).collect()
    };
    files.iter().try_for_each(|file| file.check())
}

/// The path, in the bytes of the platform, of the graph file that is mapped to this address. It takes no lock and allocates
/// nothing: a handler of SIGBUS may call it.
pub fn mapped_file_at(address: usize) -> Option<&'static [u8]> {
    let holds = |slot: &&Slot| {
        (slot.start.load(Ordering::Acquire)..slot.end.load(Ordering::Acquire)).contains(&address)
    };
    SLOTS.iter().find(holds)?.path.get().copied()
}

/// Where a file is mapped, for [`mapped_file_at`]. A slot is used once, and its path stays: a signal handler may be
/// reading it.
#[derive(Debug)]
struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    path: OnceLock<&'static [u8]>,
}

/// As many mapped files of a process have their names in messages of a signal handler.
static SLOTS: [Slot; 64] =
    [const { Slot { start: AtomicUsize::new(0), end: AtomicUsize::new(0), path: OnceLock::new() } }; 64];
static TAKEN: AtomicUsize = AtomicUsize::new(0);

impl Slot {
    fn take(path: &Path, memory: &[u8]) -> Option<&'static Slot> {
        let slot = SLOTS.get(TAKEN.fetch_add(1, Ordering::Relaxed))?;
        let name = path.as_os_str().as_encoded_bytes().to_vec();
        slot.path.set(Box::leak(name.into_boxed_slice())).ok()?;
        let start = memory.as_ptr() as usize;
        slot.start.store(start, Ordering::Release);
        slot.end.store(start + memory.len(), Ordering::Release);
        Some(slot)
    }
}
