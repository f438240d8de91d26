//! Zip archives: unpacked beside their target and moved there in one step, or refused with nothing left behind.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use edgepace_graph::files;
use rustc_hash::FxHashSet;
use zip::ZipArchive;

use super::Limits;
use crate::error::{format_error, io_error};
use crate::{DataError, Place};

const BUFFER: usize = 1 << 16;
/// Unpacked bytes that no ratio forbids: a few lines of text may well shrink to nothing.
const SMALL: u64 = 1 << 20;
/// The longest name of an entry, in bytes.
const MAX_NAME: usize = 512;

/// Unpacks `archive` so that its folder `top` becomes `target`.
pub(crate) fn unpack(archive: &Path, top: &str, target: &Path, limits: &Limits) -> Result<(), DataError> {
    let file = File::open(archive).map_err(io_error("open", archive))?;
    let bytes = file.metadata().map_err(io_error("read", archive))?.len();
    let parent = target.parent().unwrap_or(Path::new("."));
    let prefix = format!(".{top}-unpacking-");
    remove_leftovers(parent, &prefix);
    let folder =
        tempfile::Builder::new().prefix(&prefix).tempdir_in(parent).map_err(io_error("create", parent))?;
    extract(BufReader::new(file), bytes, archive, folder.path(), limits)?;
    let unpacked = folder.path().join(top);
    if !unpacked.is_dir() {
        return Err(format_error(archive, Place::Whole, format!("a folder `{top}`"), "none"));
    }
    fs::rename(&unpacked, target).map_err(io_error("put in its place", target))?;
    files::sync_folder_of(target)?;
    Ok(())
}

/// Unpacks an archive of `bytes` bytes into a folder that is there and empty. `archive` is its name in messages.
pub(crate) fn extract(
    reader: impl Read + Seek,
    bytes: u64,
    archive: &Path,
    folder: &Path,
    limits: &Limits,
) -> Result<(), DataError> {
    let whole = |expected: String, found: String| format_error(archive, Place::Whole, expected, found);
    let invalid = |error: zip::result::ZipError| whole("a zip archive".into(), short(&error.to_string()));
    let mut zip = ZipArchive::new(reader).map_err(invalid)?;
    let entries = zip.len() as u64;
    if entries > limits.entries {
        return Err(whole(format!("at most {} entries", limits.entries), entries.to_string()));
    }
    if zip.has_duplicate_names() {
        return Err(whole("every name once".into(), "a name twice".into()));
    }
    if zip.has_overlapping_files().map_err(invalid)? {
        return Err(whole("every entry with bytes of its own".into(), "entries that share bytes".into()));
    }
    let by_ratio = bytes.saturating_mul(limits.ratio).max(SMALL);
    let most = limits.unpacked.min(by_ratio);
    let too_large = |found: String| {
        let archive_says = format!("at most {most} bytes in an archive of {bytes}");
        whole(archive_says, found).with_help("it would fill the disk: get the archive elsewhere")
    };
    let mut declared = 0u64;
    let (mut paths, mut files) = (FxHashSet::default(), FxHashSet::default());
    for index in 0..zip.len() {
        let entry = zip.by_index_data(index).map_err(invalid)?;
        declared = declared.saturating_add(entry.size());
        let name = entry.name().map_err(invalid)?;
        let refuse = |expected: &str, found: &str| {
            Err(format_error(archive, Place::Part(short(&name)), expected, found)
                .with_help("nothing was unpacked"))
        };
        let Some(path) = safe_path(&name) else {
            return refuse("a path below the archive's folder", "one that could lead out of it");
        };
        let kind = entry.unix_mode().map_or(0, |mode| mode & 0o170_000);
        if entry.is_symlink() || !matches!(kind, 0 | 0o040_000 | 0o100_000) {
            return refuse("a file or a folder", "a link or a device");
        }
        if entry.encrypted() {
            return refuse("a file that can be read", "an encrypted one");
        }
        // Some systems take names that differ in capitals for the same.
        let plain = PathBuf::from(path.to_string_lossy().to_lowercase());
        if !entry.is_dir() {
            files.insert(plain.clone());
        }
        if !paths.insert(plain) {
            return refuse("every path once", "a path twice");
        }
    }
    // The smallest, so that the message does not depend on the order in a set.
    if let Some(path) =
        paths.iter().filter(|path| path.ancestors().skip(1).any(|above| files.contains(above))).min()
    {
        let place = Place::Part(short(&path.to_string_lossy()));
        return Err(format_error(archive, place, "folders above a file", "a file above it"));
    }
    if declared > most {
        return Err(too_large(format!("{declared}")));
    }

    let (mut left, mut buffer) = (most, vec![0; BUFFER]);
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).map_err(invalid)?;
        let name = entry.name().map_err(invalid)?.into_owned();
        let Some(path) = safe_path(&name).map(|path| folder.join(path)) else { continue };
        let parent = if entry.is_dir() { path.as_path() } else { path.parent().unwrap_or(folder) };
        fs::create_dir_all(parent).map_err(io_error("create", parent))?;
        if entry.is_dir() {
            continue;
        }
        let mut file = File::create_new(&path).map_err(io_error("create", &path))?;
        loop {
            let read = entry.read(&mut buffer).map_err(|error| {
                format_error(
                    archive,
                    Place::Part(short(&name)),
                    "compressed bytes",
                    short(&error.to_string()),
                )
            })?;
            if read == 0 {
                break;
            }
            left = left.checked_sub(read as u64).ok_or_else(|| too_large("more than it declares".into()))?;
            file.write_all(&buffer[..read]).map_err(io_error("write", &path))?;
        }
        file.sync_all().map_err(io_error("write", &path))?;
    }
    Ok(())
}

/// The path of an entry, if on every system it stays below the folder it is unpacked in.
fn safe_path(name: &str) -> Option<PathBuf> {
    let name = name.strip_suffix('/').unwrap_or(name);
    let odd = |character: char| character.is_control() || matches!(character, '\\' | ':');
    if name.len() > MAX_NAME || name.contains(odd) {
        return None;
    }
    let parts = name.split('/');
    let fine = |part: &str| !part.is_empty() && part != "." && part != "..";
    parts.clone().all(fine).then(|| parts.collect())
}

/// Text of the archive's, fit for a message.
fn short(text: &str) -> String {
    text.chars().take(120).flat_map(char::escape_debug).collect()
}

/// Folders of runs that were killed while unpacking. The caller holds the lock, so no one is at work in them.
fn remove_leftovers(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
