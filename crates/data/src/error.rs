use std::fmt::{self, Display};
use std::io;
use std::path::{Path, PathBuf};

use edgepace_graph::files::FileError;
use edgepace_graph::{GraphError, Refusal};
use thiserror::Error;

/// Why a graph could not be had: what was wrong, where, and what to do about it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file could not be read or written.
    #[error("cannot {action} {}", file.display())]
    Io {
        /// What was tried, as in "read".
        action: &'static str,
        /// The file or folder.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// A file holds something else than its format promises.
    #[error("{}{place}: expected {expected}, found {found}{}", file.display(), hint(help))]
    Format {
        /// The file.
        file: PathBuf,
        /// Where in the file.
        place: Place,
        /// What the format asks for.
        expected: String,
        /// What the file has.
        found: String,
        /// What to do about it, or empty.
        help: String,
    },

    /// A file is well formed, but what it says is not a graph.
    #[error("{}", file.display())]
    Graph {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: GraphError,
    },

    /// What the caller asked for is not possible: an unknown name, a value out of range.
    #[error("{refusal}{}", hint(help))]
    Request {
        /// The argument or its part, what was given, and what is legal.
        refusal: Refusal,
        /// What to do about it, or empty.
        help: String,
    },

    /// A download failed at every mirror.
    #[error("cannot download {what}: {reason}{}", hint(help))]
    Download {
        /// The file or dataset.
        what: String,
        /// What went wrong, mirror by mirror.
        reason: String,
        /// What to do about it, or empty.
        help: String,
    },

    /// Parts of a dataset do not fit each other.
    #[error(transparent)]
    Parts(#[from] GraphError),
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// A line, counted from 1, and a column by its name.
    Field(u64, String),
    /// A byte, counted from 0.
    Byte(u64),
    /// A named part, as an array of an npz file.
    Part(String),
    /// An entry of a named part, counted from 0.
    Entry(String, u64),
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Field(line, field) => write!(f, ", line {line}, field `{field}`"),
            Place::Byte(byte) => write!(f, ", byte {byte}"),
            Place::Part(part) => write!(f, ", `{part}`"),
            Place::Entry(part, entry) => write!(f, ", `{part}`[{entry}]"),
        }
    }
}

fn hint(help: &str) -> String {
    if help.is_empty() { String::new() } else { format!(": {help}") }
}

/// A [`DataError::Format`] without help.
pub(crate) fn format_error(
    file: &Path,
    place: Place,
    expected: impl Into<String>,
    found: impl Into<String>,
) -> DataError {
    let (expected, found) = (expected.into(), found.into());
    DataError::Format { file: file.to_owned(), place, expected, found, help: String::new() }
}

/// A [`DataError::Request`] without help. What was found is quoted, because it is often text that a user wrote.
pub(crate) fn request_error(
    field: impl Into<String>,
    found: impl Display,
    expected: impl Into<String>,
) -> DataError {
    let refusal = Refusal::new(field.into(), format_args!("`{found}`"), expected.into());
    DataError::Request { refusal, help: String::new() }
}

impl From<FileError> for DataError {
    fn from(FileError { action, path, source }: FileError) -> Self {
        DataError::Io { action, file: path, source }
    }
}

impl DataError {
    /// The same error with a word on what to do.
    #[must_use]
    pub(crate) fn with_help(mut self, text: impl Into<String>) -> DataError {
        if let DataError::Format { help, .. }
        | DataError::Request { help, .. }
        | DataError::Download { help, .. } = &mut self
        {
            *help = text.into();
        }
        self
    }
}

/// Names the file in what the system says about it: `.map_err(io_error("read", path))`.
pub(crate) fn io_error(action: &'static str, file: &Path) -> impl FnOnce(io::Error) -> DataError {
    let file = file.to_owned();
    move |source| match crate::expansion::told(&file, &source) {
        Some(expanded) => expanded,
        None => DataError::Io { action, file, source },
    }
}

/// Names the file in what a constructor says about its content: `.map_err(graph_error(path))`.
pub(crate) fn graph_error(file: &Path) -> impl FnOnce(GraphError) -> DataError {
    let file = file.to_owned();
    move |source| DataError::Graph { file, source }
}

/// The most bytes of a file that a message shows.
const EXCERPT: usize = 48;

/// A piece of a file for a message: quoted, without control characters, cut when long.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(EXCERPT)]);
    let cut = if bytes.len() > EXCERPT { "…" } else { "" };
    format!("`{}{cut}`", text.escape_debug())
}
