//! Downloads that are archives: unpacked whole, or refused with nothing left.

use std::fs;
use std::time::{Duration, Instant};

use edgepace_data::fetch::{Limits, Options, get};
use edgepace_data::registry::{RemoteFile, Set, Unpack};

use super::archive::{Entry, file, zip};
use super::server::{Reply, Server};
use super::{cache, left, options, run, set, unknown};

fn archive_set(archive: Vec<u8>) -> (Server, Set) {
    let server = Server::start(move |request| Reply::ranged(&archive, "1", request));
    let unpack = Some(Unpack { top: "top", folder: "data_set", limit: 1 << 30 });
    let set = set(RemoteFile { name: "top.zip", unpack, ..unknown(1 << 24) }, &[&server]);
    (server, set)
}

/// Asserts that the archive is refused with that word, and that nothing of it stays.
fn refused(entries: &[Entry], limits: Limits, word: &str) {
    let (_folder, cache) = cache();
    let (_server, set) = archive_set(zip(entries));
    let error = get(&set, &cache, &Options { limits, ..options() }, &mut |_| ()).unwrap_err().to_string();
    assert!(error.contains(word), "{error}");
    assert!(left(&cache).is_empty(), "{word}: {:?}", left(&cache));
    assert!(
        fs::read_dir(cache.root().join("folder")).unwrap().next().is_none(),
        "{word}: an empty folder stays"
    );
    assert!(!cache.has(&set));
}

#[test]
fn an_archive_becomes_its_folder() {
    let (_folder, cache) = cache();
    let folder = Entry { mode: 0o040_755, ..file("top/empty/", b"") };
    let entries =
        [folder, file("top/raw/edge.csv", b"1,2\n"), file("top/RELEASE.txt", b"1"), file("other", b"2")];
    let (server, set) = archive_set(zip(&entries));
    // What a killed run left is cleared away.
    fs::create_dir_all(cache.root().join("folder/.top-unpacking-x/top")).unwrap();
    fs::write(cache.root().join("folder/.top-unpacking-x/top/half"), "1").unwrap();
    let outcome = run(&set, &cache).unwrap();
    assert_eq!(outcome.fetched[0].path, cache.path_of(&set));
    assert_eq!(
        left(&cache),
        ["SHA256SUMS.local", "folder/data_set/RELEASE.txt", "folder/data_set/raw/edge.csv"]
    );
    assert_eq!(fs::read(cache.path_of(&set).join("raw/edge.csv")).unwrap(), b"1,2\n");
    assert!(cache.path_of(&set).join("empty").is_dir());
    assert!(cache.has(&set));
    run(&set, &cache).unwrap();
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn entries_that_lead_out_of_the_folder_are_refused_by_name() {
    for name in [
        "../evil",
        "top/../../evil",
        "/tmp/evil",
        "C:evil",
        "C:\\evil",
        "top\\..\\evil",
        "top//evil",
        "top/./evil",
        "..",
        "top/a\0b",
    ] {
        let shown: String = name.chars().flat_map(char::escape_debug).collect();
        refused(&[file("top/fine", b"1"), file(name, b"evil")], Limits::default(), &format!("`{shown}`"));
    }
}

#[test]
fn links_and_devices_are_refused() {
    for mode in [0o120_777, 0o020_644, 0o010_644] {
        let link = Entry { mode, ..file("top/link", b"/etc/passwd") };
        refused(&[file("top/fine", b"1"), link], Limits::default(), "`top/link`");
    }
}

#[test]
fn names_that_clash_are_refused() {
    refused(&[file("top/a", b"1"), file("top/a", b"2")], Limits::default(), "twice");
    refused(&[file("top/a", b"1"), file("top/A", b"2")], Limits::default(), "`top/A`");
}

#[test]
fn a_bomb_is_refused_before_it_goes_off() {
    let zeros = vec![0; 200_000_000];
    let honest = zip(&[file("top/zeros", &zeros)]);
    let liar = zip(&[Entry { declared: Some(10), ..file("top/zeros", &zeros) }]);
    for (archive, word) in [(honest, "found 200000000"), (liar, "larger than its declared")] {
        assert!(archive.len() < 2_000_000);
        let (_folder, cache) = cache();
        let (_server, set) = archive_set(archive);
        let started = Instant::now();
        let error = run(&set, &cache).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5), "{error}");
        assert!(left(&cache).is_empty(), "{error}");
    }
}

#[test]
fn size_number_of_entries_and_the_folder_itself_are_checked() {
    let entries = || [file("top/a", &[7; 3000]), file("top/b", b"2")];
    refused(&entries(), Limits { unpacked: 3000, ..Limits::default() }, "at most 3000 bytes");
    refused(&entries(), Limits { entries: 1, ..Limits::default() }, "at most 1 entries");
    refused(&[file("else/a", b"1")], Limits::default(), "a folder `top`");
    refused(&[file("top/a", b"1"), file("top/A/b", b"1")], Limits::default(), "`top/a/b`");
}

#[test]
fn what_is_no_archive_is_refused() {
    for bytes in [&b"<html>Sign in</html>"[..], b"", b"PK\x05\x06"] {
        let (_folder, cache) = cache();
        let (_server, set) = archive_set(bytes.to_vec());
        let error = run(&set, &cache).unwrap_err().to_string();
        assert!(error.contains("a zip archive"), "{error}");
        assert!(left(&cache).is_empty());
    }
}

#[test]
fn an_archive_that_could_not_be_unpacked_for_want_of_space_is_not_fetched_again() {
    let (_folder, cache) = cache();
    let (server, set) = archive_set(zip(&[file("top/a", b"1")]));
    // Stands for a full disk: the folder cannot be put in its place.
    fs::create_dir(cache.root().join("folder")).unwrap();
    fs::write(cache.path_of(&set), "in the way").unwrap();
    run(&set, &cache).unwrap_err();
    assert_eq!(left(&cache), ["SHA256SUMS.local", "folder/data_set", "folder/top.zip"]);
    fs::remove_file(cache.path_of(&set)).unwrap();
    run(&set, &cache).unwrap();
    assert_eq!(left(&cache), ["SHA256SUMS.local", "folder/data_set/a"]);
    assert_eq!(server.requests().len(), 1);
}
