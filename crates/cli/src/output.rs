//! Files that a command is told to write: refused before any work where they are there already or cannot be written.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use edgepace_graph::files;
use serde_json::json;

use crate::messages::{self, with_help};
use crate::table::say;

/// Refuses a file that is there, unless it may be overwritten, and one that could not be written: no such folder, no permission.
/// `flag` is what it was named by, as `--output`.
pub(crate) fn check_file(flag: &str, file: &Path, overwrite: bool) -> Result<()> {
    files::check_writable(file)?;
    if !overwrite && file.exists() {
        let found = anyhow!("`{flag}` is `{}`, which is there already", file.display());
        return Err(with_help(found, "choose another name, or give `--overwrite`"));
    }
    Ok(())
}

/// The same for a graph file, which is told by its name.
pub(crate) fn check_graph_file(file: &Path, overwrite: bool) -> Result<()> {
    if file.extension().is_none_or(|extension| extension != "graph") {
        bail!("`--output` is `{}`, expected a name that ends in `.graph`", file.display());
    }
    check_file("--output", file, overwrite)
}

/// Says what was written: `wrote FILE` line by line, or `{"wrote": [FILE, …]}`.
pub(crate) fn say_written(files: &[PathBuf]) -> Result<()> {
    if messages::json() {
        return Ok(say(&json!({ "wrote": files }).to_string())?);
    }
    for file in files {
        say(&format!("wrote {}", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_written_only_where_one_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        assert!(check_file("--output", &file, false).is_ok());
        assert!(!file.exists(), "nothing is left of the attempt");
        std::fs::write(&file, "mine").unwrap();
        assert!(check_file("--output", &file, true).is_ok());
        let refused = check_file("--output", &file, false).unwrap_err().to_string();
        assert!(
            refused.ends_with("is there already: choose another name, or give `--overwrite`"),
            "{refused}"
        );
        assert!(check_file("--output", &folder.path().join("no/x"), true).is_err());
        assert!(!folder.path().join("no").exists());
    }
}
