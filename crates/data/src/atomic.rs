//! Files that appear whole or not at all.

use std::fs::File;
use std::path::Path;

use crate::DataError;
use crate::error::io_error;

/// Writes a file through `write` under another name in the same folder, and gives it its name once everything is on
/// disk. A file that was there before is replaced; when something fails, it stays.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".unfinished-");
    #[cfg(unix)]
    {
        // As any other new file, not for its owner alone.
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut unfinished = builder.tempfile_in(folder).map_err(io_error("create a file in", folder))?;
    write(unfinished.as_file_mut())?;
    unfinished.as_file().sync_all().map_err(io_error("write", path))?;
    unfinished.persist(path).map_err(|error| io_error("write", path)(error.error))?;
    #[cfg(unix)]
    {
        // The new name is safe only when the folder is. Some file systems cannot do this, and lose nothing else.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}
