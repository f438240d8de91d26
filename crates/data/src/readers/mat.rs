//! MATLAB's files of variables, version 5 (what MATLAB saves as `-v6` and `-v7`, and `scipy.io.savemat` writes).
//!
//! A header of 128 bytes, then one element per variable: a type, a size, and content that may be compressed by zlib. Read
//! are numbers, dense and sparse, and the fields of structures of one element, as `Problem.A`; all else is only named.
//! Version 7.3 is HDF5, another format, and is refused by name.

mod element;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use self::element::{Element, Elements};
use crate::DataError;
use crate::error::{Place, excerpt, format_error, io_error};

/// Bytes before the first variable.
const HEADER: usize = 128;
/// What to do about another version.
const SAVE: &str = "save it in MATLAB with `-v7`, or in Python with scipy.io.savemat";
/// How many variables a message lists, and how much of their names.
const MOST_SHOWN: usize = 12;
const LONGEST_SHOWN: usize = 40;

/// The variables of a file.
pub(crate) struct Mat {
    file: PathBuf,
    /// Bytes of the whole file.
    pub(crate) size: u64,
    /// By name, fields of structures as `Problem.A`; in the order of the file.
    pub(crate) variables: Vec<(String, Value)>,
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Dense(Dense),
    Sparse(Sparse),
    /// What is not read, in a word.
    Other(&'static str),
}

/// A matrix with all values, column after column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dense {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

/// A matrix by columns: the entries of column `j` are `offsets[j]..offsets[j + 1]`, each with a row below `rows`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sparse {
    pub(crate) rows: usize,
    pub(crate) offsets: Vec<usize>,
    pub(crate) row_of: Vec<u32>,
    pub(crate) values: Vec<f32>,
}

impl Sparse {
    pub(crate) fn cols(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The column of each entry.
    pub(crate) fn column_of(&self) -> Vec<u32> {
        let mut columns = Vec::with_capacity(self.row_of.len());
        for (column, pair) in (0..).zip(self.offsets.windows(2)) {
            columns.resize(pair[1], column);
        }
        columns
    }
}

impl Value {
    /// Rows and columns of a matrix.
    pub(crate) fn sides(&self) -> Option<[usize; 2]> {
        match self {
            Value::Dense(Dense { shape, .. }) => <[usize; 2]>::try_from(&shape[..]).ok(),
            Value::Sparse(sparse) => Some([sparse.rows, sparse.cols()]),
            Value::Other(_) => None,
        }
    }

    /// Size and kind, for a message.
    pub(crate) fn summary(&self) -> String {
        match self {
            Value::Dense(Dense { shape, .. }) => {
                let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
                sizes.join(" × ")
            }
            Value::Sparse(sparse) => format!("{} × {}, sparse", sparse.rows, sparse.cols()),
            Value::Other(kind) => (*kind).to_owned(),
        }
    }
}

impl Mat {
    /// Reads a file.
    pub(crate) fn open(file: &Path) -> Result<Mat, DataError> {
        Mat::from_bytes(file, &fs::read(file).map_err(io_error("read", file))?)
    }

    /// Reads a file that is already in memory; `file` is its name in messages.
    pub(crate) fn from_bytes(file: &Path, bytes: &[u8]) -> Result<Mat, DataError> {
        let big_endian = check_header(file, bytes)?;
        let mut mat = Mat { file: file.to_owned(), size: bytes.len() as u64, variables: Vec::new() };
        let mut elements = Elements { file, bytes: &bytes[HEADER..], start: HEADER, big_endian };
        let mut unpacked = 0;
        while let Some(element) = elements.next()? {
            mat.add(element, bytes.len() as u64, &mut unpacked)?;
        }
        Ok(mat)
    }

    /// Adds a variable, taken out of its compression. `unpacked` counts what was unpacked so far.
    fn add(&mut self, element: Element<'_>, packed: u64, unpacked: &mut u64) -> Result<(), DataError> {
        if element.kind != element::COMPRESSED {
            return element.variable(&mut self.variables);
        }
        let bytes = element.inflate(packed, unpacked)?;
        let mut inner = Elements { bytes: &bytes, ..element.within() };
        match inner.next()? {
            Some(variable) => variable.variable(&mut self.variables),
            None => Err(element.wrong("a variable", "nothing")),
        }
    }

    /// The first variable of one of these names, in their order; capitals do not matter, nor the structure that it is in.
    pub(crate) fn find(&self, names: &[&str]) -> Option<(&str, &Value)> {
        names.iter().find_map(|name| {
            let own = |own: &str| own.eq_ignore_ascii_case(name);
            let short =
                |own: &str| own.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(name));
            let found = self.variables.iter().find(|(variable, _)| own(variable));
            let found = found.or_else(|| self.variables.iter().find(|(variable, _)| short(variable)));
            found.map(|(variable, value)| (&variable[..], value))
        })
    }

    /// The file, for messages.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// A variable that cannot be what it is taken for.
    pub(crate) fn wrong(
        &self,
        name: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> DataError {
        let name = name.chars().take(LONGEST_SHOWN).collect();
        format_error(&self.file, Place::Part(name), expected, found)
    }

    /// All variables with their sizes, for a message.
    pub(crate) fn summary(&self) -> String {
        if self.variables.is_empty() {
            return "no variables".to_owned();
        }
        let shown: Vec<String> = self
            .variables
            .iter()
            .take(MOST_SHOWN)
            .map(|(name, value)| {
                let name: String = name.escape_debug().take(LONGEST_SHOWN).collect();
                format!("`{name}` ({})", value.summary())
            })
            .collect();
        let more = self.variables.len().saturating_sub(MOST_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("the variables {}{more}", shown.join(", "))
    }
}

/// Checks version and byte order; whether the latter is big endian.
fn check_header(file: &Path, bytes: &[u8]) -> Result<bool, DataError> {
    let wrong = |found: String, help: &str| {
        Err(format_error(file, Place::Byte(0), "a MATLAB file of version 5", found).with_help(help))
    };
    if bytes.starts_with(b"\x89HDF") || bytes.starts_with(b"MATLAB 7.3") {
        return wrong("version 7.3, which is HDF5".to_owned(), SAVE);
    }
    let Some(header) = bytes.get(..HEADER) else {
        return wrong(format!("a file of {} bytes", bytes.len()), "the file is cut short, fetch it again");
    };
    // Version 4 has no text at the start, but numbers of which the first is small.
    if header[..4].contains(&0) {
        return wrong("an older version, or another format".to_owned(), SAVE);
    }
    match (&header[126..128], &header[124..126]) {
        (b"IM", [_, 1]) => Ok(false),
        (b"MI", [1, _]) => Ok(true),
        _ => wrong(format!("a file that starts with {}", excerpt(header)), SAVE),
    }
}
