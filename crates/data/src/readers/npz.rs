//! Arrays as NumPy saves them: npz, a zip file of arrays by name, and npy, a single array.
//!
//! Only the arrays that are asked for are read, by name: others may hold pickled objects, which are never unpickled.

mod header;
mod matrix;
mod npy;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use edgepace_graph::Names;
use zip::ZipArchive;
use zip::result::ZipError;

use self::npy::{At, Stored};
use crate::DataError;
use crate::error::{Place, format_error, io_error};
use crate::expansion;

pub(crate) use self::matrix::{Compressed, features_of};
pub(crate) use self::npy::Array;

/// The name of the only array of an npy file.
pub(crate) const ONLY: &str = "array";
/// The most bytes that deflate can make of one byte.
pub(crate) const DEFLATE_LIMIT: u64 = 1032;

/// How many arrays a message lists, and how much of their names.
const MOST_SHOWN: usize = 12;
const LONGEST_SHOWN: usize = 40;

/// The size that an array must have, dimension by dimension; `None` allows any.
pub(crate) type Dims<'a> = &'a [Option<usize>];

/// The arrays of an npz file, or the one of an npy file.
pub(crate) struct Npz<R> {
    file: PathBuf,
    /// Bytes of the whole file.
    size: u64,
    /// Bytes of the arrays that were read so far.
    unpacked: u64,
    content: Content<R>,
}

enum Content<R> {
    Many(ZipArchive<R>),
    One(R),
}

impl Npz<BufReader<File>> {
    /// Opens a file and reads the names of its arrays.
    pub(crate) fn open(file: &Path) -> Result<Npz<BufReader<File>>, DataError> {
        let data = File::open(file).map_err(io_error("read", file))?;
        Npz::new(file, BufReader::new(data))
    }
}

impl<'a> Npz<Cursor<&'a [u8]>> {
    /// Takes a file that is already in memory; `file` is its name in messages.
    pub(crate) fn from_bytes(file: &Path, bytes: &'a [u8]) -> Result<Npz<Cursor<&'a [u8]>>, DataError> {
        Npz::new(file, Cursor::new(bytes))
    }
}

impl<R: Read + Seek> Npz<R> {
    fn new(file: &Path, mut data: R) -> Result<Npz<R>, DataError> {
        let mut magic = Vec::new();
        let size = (&mut data)
            .take(header::MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .and_then(|_| data.seek(SeekFrom::End(0)))
            .map_err(io_error("read", file))?;
        let content = if magic == header::MAGIC {
            Content::One(data)
        } else {
            Content::Many(ZipArchive::new(data).map_err(|error| {
                match error {
                    ZipError::Io(source) if source.raw_os_error().is_some() => io_error("read", file)(source),
                    other => format_error(
                        file,
                        Place::Whole,
                        "an npz file (a zip of arrays) or npy",
                        other.to_string(),
                    )
                    .with_help("the file is damaged or cut short, fetch it again"),
                }
            })?)
        };
        Ok(Npz { file: file.to_owned(), size, unpacked: 0, content })
    }

    /// The file, for messages.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The names of all arrays.
    pub(crate) fn names(&self) -> Vec<String> {
        match &self.content {
            Content::One(_) => vec![ONLY.to_owned()],
            Content::Many(archive) => {
                let names = archive.file_names().filter_map(Result::ok);
                names.filter_map(|name| name.strip_suffix(".npy").map(str::to_owned)).collect()
            }
        }
    }

    /// Whether there is an array of that name.
    pub(crate) fn has(&self, key: &str) -> bool {
        match &self.content {
            Content::One(_) => key == ONLY,
            Content::Many(archive) => archive.index_for_name(&entry_name(key)).is_some(),
        }
    }

    /// The shape of an array.
    pub(crate) fn shape(&mut self, key: &str) -> Result<Vec<usize>, DataError> {
        self.open_array(key, |stored, _| Ok(stored.shape().to_vec()))
    }

    /// All arrays with their shapes and types, for a message.
    pub(crate) fn summary(&mut self) -> String {
        let mut names = self.names();
        names.sort();
        if names.is_empty() {
            return "no arrays".to_owned();
        }
        let shown = names.iter().take(MOST_SHOWN).map(|name| {
            let what = self.open_array(name, |stored, _| Ok(stored.summary()));
            let name: String = name.escape_debug().take(LONGEST_SHOWN).collect();
            format!("`{name}` ({})", what.unwrap_or_else(|_| "unreadable".to_owned()))
        });
        let shown: Vec<String> = shown.collect();
        let more = names.len().saturating_sub(MOST_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("the arrays {}{more}", shown.join(", "))
    }

    /// Whole numbers that name nodes, columns or classes.
    pub(crate) fn ids(&mut self, key: &str, dims: Dims<'_>) -> Result<Array<u32>, DataError> {
        let id = |value: i64| u32::try_from(value).ok().filter(|&id| id != u32::MAX);
        self.with(key, |stored| {
            stored.check_shape(dims)?;
            stored.numbers("a whole number from 0 to 4294967294", id, |value| whole(value).and_then(id))
        })
    }

    /// Ids, each below `limit`; `what` says of what, as in "nodes".
    pub(crate) fn ids_below(
        &mut self,
        key: &str,
        dims: Dims<'_>,
        limit: usize,
        what: &str,
    ) -> Result<Array<u32>, DataError> {
        let ids = self.ids(key, dims)?;
        match ids.values.iter().position(|&id| id as usize >= limit) {
            None => Ok(ids),
            Some(entry) => {
                let place = Place::Entry(key.to_owned(), entry as u64);
                let expected = format!("an id below the number of {what}, {limit}");
                Err(format_error(&self.file, place, expected, ids.values[entry].to_string()))
            }
        }
    }

    /// Whole numbers that count.
    pub(crate) fn counts(&mut self, key: &str, dims: Dims<'_>) -> Result<Array<usize>, DataError> {
        let count = |value: i64| usize::try_from(value).ok();
        self.with(key, |stored| {
            stored.check_shape(dims)?;
            stored.numbers("a whole number that is at least 0", count, |value| whole(value).and_then(count))
        })
    }

    /// Numbers.
    pub(crate) fn floats(&mut self, key: &str, dims: Dims<'_>) -> Result<Array<f32>, DataError> {
        self.with(key, |stored| {
            stored.check_shape(dims)?;
            stored.numbers("a number", |value| Some(value as f32), |value| Some(value as f32))
        })
    }

    /// Truth values, or numbers that are 0 or 1.
    pub(crate) fn mask(&mut self, key: &str, dims: Dims<'_>) -> Result<Array<bool>, DataError> {
        let truth = |value: i64| (value == 0 || value == 1).then_some(value == 1);
        self.with(key, |stored| {
            stored.check_shape(dims)?;
            stored.numbers("0 or 1", truth, |value| whole(value).and_then(truth))
        })
    }

    /// Text; nothing when there is no such array, or when it holds pickled objects.
    pub(crate) fn strings(&mut self, key: &str, dims: Dims<'_>) -> Result<Option<Names>, DataError> {
        if !self.has(key) {
            return Ok(None);
        }
        self.with(key, |stored| {
            stored.check_shape(dims)?;
            stored.strings()
        })
    }

    /// An array that cannot be what it says: a message for what readers find out about its values.
    pub(crate) fn wrong(
        &self,
        key: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> DataError {
        At { file: &self.file, key }.wrong(expected, found)
    }

    /// Reads the values of an array, which count towards what the file may unpack to.
    fn with<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Stored<'_, &mut dyn Read>) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        let (before, packed, file) = (self.unpacked, self.size, self.file.clone());
        let (value, size) = self.open_array(key, |stored, size| {
            let all = before.saturating_add(size);
            if all > expansion::limit(packed) {
                let key = key.chars().take(LONGEST_SHOWN).collect();
                return Err(expansion::refusal(&file, Place::Part(key), packed));
            }
            Ok((read(stored)?, size))
        })?;
        self.unpacked = self.unpacked.saturating_add(size);
        Ok(value)
    }

    /// Opens an array; `read` also gets the bytes that it unpacks to.
    fn open_array<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Stored<'_, &mut dyn Read>, u64) -> Result<T, DataError>,
    ) -> Result<T, DataError> {
        let at = At { file: &self.file, key };
        let archive = match &mut self.content {
            Content::One(data) => {
                data.seek(SeekFrom::Start(0)).map_err(io_error("read", &self.file))?;
                return read(Stored::open(at, data as &mut dyn Read, self.size)?, self.size);
            }
            Content::Many(archive) => archive,
        };
        let mut entry = match archive.by_name(&entry_name(key)) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Err(at.wrong("an array of this name", "none")),
            Err(ZipError::Io(error)) => return Err(at.unreadable(error)),
            Err(error) => return Err(at.wrong("an array, stored or deflated", error.to_string())),
        };
        let (packed, size) = (entry.compressed_size(), entry.size());
        if packed > self.size || size > packed.saturating_mul(DEFLATE_LIMIT) {
            let found = format!("{size} bytes from {packed} in a file of {}", self.size);
            return Err(at.wrong("a size that its packed bytes can unpack to", found));
        }
        read(Stored::open(at, &mut entry as &mut dyn Read, size)?, size)
    }
}

fn entry_name(key: &str) -> String {
    format!("{key}.npy")
}

/// A floating-point number that is a whole one, as labels saved by the wrong dtype are.
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 2_f64.powi(53)).then_some(value as i64)
}
