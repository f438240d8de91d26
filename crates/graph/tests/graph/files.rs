//! Files that appear whole or not at all.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use edgepace_graph::files::{check_writable, create_folder, sweep, write, write_with};
use tempfile::{TempDir, tempdir};

fn folder() -> TempDir {
    tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// What no one can write to, not even root: a name below a file.
fn below_a_file(folder: &Path) -> PathBuf {
    fs::write(folder.join("file"), "").unwrap();
    folder.join("file/below")
}

#[test]
fn a_file_is_written_and_replaced() {
    let folder = folder();
    let path = folder.path().join("a.txt");
    write(&path, b"first").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
    write_with(&path, |file| file.write_all(b"second")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn readers_see_the_old_file_until_the_new_one_is_whole() {
    let folder = folder();
    let path = folder.path().join("a.txt");
    write(&path, b"old").unwrap();
    write_with(&path, |file| {
        file.write_all(b"new")?;
        file.flush()?;
        assert_eq!(fs::read(&path)?, b"old");
        let [unfinished, target] = &names(folder.path())[..] else { panic!("two files") };
        assert_eq!(target, "a.txt");
        assert!(unfinished.starts_with(".unfinished-"), "{unfinished}");
        Ok(())
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_writer_that_fails_leaves_the_old_file_and_no_litter() {
    let folder = folder();
    let path = folder.path().join("a.txt");
    let fail = || {
        write_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no more"))
        })
    };
    let error = io::Error::from(fail().unwrap_err());
    assert_eq!(error.to_string(), format!("cannot write {}: no more", path.display()));
    assert!(names(folder.path()).is_empty());
    write(&path, b"old").unwrap();
    fail().unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["a.txt"]);
}

#[test]
fn a_missing_folder_is_named_and_not_made() {
    let folder = folder();
    let missing = folder.path().join("no/such");
    let path = missing.join("a.txt");
    let text = format!("cannot write {}: there is no folder {}", path.display(), missing.display());
    for error in [write(&path, b"").unwrap_err(), check_writable(&path).unwrap_err()] {
        assert_eq!(error.source.kind(), io::ErrorKind::NotFound);
        assert_eq!(io::Error::from(error).to_string(), text);
    }
    assert!(names(folder.path()).is_empty());
    create_folder(&missing).unwrap();
    write(&path, b"").unwrap();
}

#[test]
fn what_cannot_be_written_is_told_with_path_and_cause() {
    let folder = folder();
    let path = below_a_file(folder.path());
    for error in [write(&path, b"").unwrap_err(), check_writable(&path).unwrap_err()] {
        assert_eq!((error.action, &error.path), ("write", &path));
        assert_eq!(error.source.kind(), io::ErrorKind::NotADirectory);
    }
    assert_eq!(create_folder(&path).unwrap_err().path, path);
    assert_eq!(sweep(&path).unwrap_err().path, path);
    // A folder in the place of the file.
    for error in [write(folder.path(), b"").unwrap_err(), check_writable(folder.path()).unwrap_err()] {
        assert_eq!(error.source.kind(), io::ErrorKind::IsADirectory);
    }
    assert_eq!(names(folder.path()), ["file"]);
}

#[cfg(unix)]
#[test]
fn a_new_file_has_the_permissions_of_any_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    fs::write(folder.path().join("plain"), "").unwrap();
    write(&folder.path().join("whole"), b"").unwrap();
    let mode = |name| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("whole"), mode("plain"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_to_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    // Permissions do not bind root.
    if fs::write(folder.path().join("probe"), "").is_err() {
        let error = write(&folder.path().join("a.txt"), b"").unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::PermissionDenied);
    }
}

#[test]
fn a_sweep_removes_what_killed_writers_left_and_nothing_else() {
    let folder = folder();
    for name in [".unfinished-abc", ".unfinished-def", "a.txt", ".hidden", "x.unfinished-"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    fs::create_dir(folder.path().join(".unfinished-folder")).unwrap();
    assert_eq!(sweep(folder.path()).unwrap(), 2);
    assert_eq!(names(folder.path()), [".hidden", ".unfinished-folder", "a.txt", "x.unfinished-"]);
    assert_eq!(sweep(folder.path()).unwrap(), 0);
}

#[test]
fn a_sweep_leaves_a_file_that_is_being_written() {
    let folder = folder();
    let path = folder.path().join("a.txt");
    write_with(&path, |file| {
        assert_eq!(sweep(folder.path()).unwrap(), 0);
        file.write_all(b"whole")
    })
    .unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"whole");
}

#[test]
fn writers_and_sweeps_at_once_do_not_disturb_each_other() {
    let folder = folder();
    std::thread::scope(|scope| {
        let writers: Vec<_> = ["a", "b"]
            .into_iter()
            .map(|name| {
                let path = folder.path().join(name);
                scope.spawn(move || (0..50_u8).for_each(|round| write(&path, &[round; 100]).unwrap()))
            })
            .collect();
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            // It may take a file that is made but not yet locked; its writer then makes another.
            sweep(folder.path()).unwrap();
        }
    });
    assert_eq!(names(folder.path()), ["a", "b"]);
    assert_eq!(fs::read(folder.path().join("a")).unwrap(), [49; 100]);
}
