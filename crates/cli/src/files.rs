//! Files that appear whole or not at all.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

/// Writes a file under another name in its folder, which is made if it is not there, and gives it its name when it is
/// whole.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let context = || format!("cannot write {}", path.display());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".unfinished-");
    #[cfg(unix)]
    {
        // As any other new file, not for its owner alone.
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut unfinished = builder.tempfile_in(folder).with_context(context)?;
    unfinished.write_all(bytes).with_context(context)?;
    unfinished.persist(path).with_context(context)?;
    Ok(())
}
