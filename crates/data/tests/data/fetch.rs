//! Downloads against a server that misbehaves.

mod archive;
mod archives;
mod server;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use edgepace_data::fetch::{Options, Outcome, Stage, Timeouts, get};
use edgepace_data::registry::{self, Origin, RemoteFile, Set};
use edgepace_data::{Cache, DataError};
use server::{Reply, Request, Server};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Bytes without a pattern that a shifted copy would share.
fn content() -> Vec<u8> {
    (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// A file whose content is known.
fn known(bytes: &[u8]) -> RemoteFile {
    let (sha256, size) = (sha256(bytes).leak(), bytes.len() as u64);
    RemoteFile { name: "a.bin", sha256: Some(sha256), bytes: Some(size), limit: size, unpack: None }
}

/// A file of which nothing is known but a limit.
fn unknown(limit: u64) -> RemoteFile {
    RemoteFile { name: "a.bin", sha256: None, bytes: None, limit, unpack: None }
}

/// A dataset with one file at these mirrors.
fn set(file: RemoteFile, mirrors: &[&Server]) -> Set {
    let mirrors: Vec<&str> = mirrors.iter().map(|server| &*server.url.clone().leak()).collect();
    let origin = Origin { folder: "folder", mirrors: mirrors.leak() };
    Set { name: "test", origin, files: vec![file].leak(), ..registry::SETS[0].clone() }
}

fn options() -> Options {
    let timeouts = Timeouts { connect: Duration::from_secs(5), stalled: Duration::from_secs(5) };
    Options { pause: Duration::from_millis(1), timeouts, ..Options::default() }
}

fn cache() -> (TempDir, Cache) {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::at(folder.path());
    (folder, cache)
}

fn run(set: &Set, cache: &Cache) -> Result<Outcome, DataError> {
    get(set, cache, &options(), &mut |_| ())
}

/// Every file below the cache but the locks, in order.
fn left(cache: &Cache) -> Vec<String> {
    fn walk(folder: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.ends_with(".locks") {
                continue;
            }
            if path.is_dir() {
                walk(&path, root, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    let mut found = Vec::new();
    walk(cache.root(), cache.root(), &mut found);
    found.sort();
    found
}

fn stored(cache: &Cache) -> Vec<u8> {
    fs::read(cache.root().join("folder/a.bin")).unwrap()
}

#[test]
fn a_file_arrives_whole_and_is_not_fetched_twice() {
    let server = Server::start(|request| Reply::ranged(&content(), "1", request));
    let (_folder, cache) = cache();
    let set = set(known(&content()), &[&server]);
    assert!(!cache.has(&set));
    let mut seen = Vec::new();
    let outcome = get(&set, &cache, &options(), &mut |progress| {
        assert_eq!((progress.file, progress.stage), ("folder/a.bin", Stage::Downloading));
        assert_eq!((progress.total, progress.resumed_from), (Some(200_000), 0));
        assert_eq!(progress.mirror, format!("{}a.bin", server.url));
        seen.push(progress.done);
    })
    .unwrap();
    assert_eq!((outcome.present, outcome.fetched[0].bytes), (0, 200_000));
    assert_eq!(outcome.fetched[0].sha256, sha256(&content()));
    assert!(seen.is_sorted() && seen.first() == Some(&0) && seen.last() == Some(&200_000), "{seen:?}");
    assert_eq!(stored(&cache), content());
    assert!(cache.has(&set) && cache.path_of(&set).is_file());
    assert_eq!(left(&cache), ["folder/a.bin"]);

    let again = run(&set, &cache).unwrap();
    assert_eq!((again.present, again.fetched.len(), server.requests().len()), (1, 0, 1));
}

#[test]
fn a_damaged_file_in_the_cache_is_replaced() {
    let server = Server::start(|request| Reply::ranged(&content(), "1", request));
    let (_folder, cache) = cache();
    let set = set(known(&content()), &[&server]);
    run(&set, &cache).unwrap();
    let mut damaged = content();
    damaged[77] ^= 1;
    fs::write(cache.root().join("folder/a.bin"), damaged).unwrap();
    let offline = get(&set, &cache, &Options { offline: true, ..options() }, &mut |_| ()).unwrap_err();
    assert!(offline.to_string().contains(&sha256(&content())), "{offline}");
    run(&set, &cache).unwrap();
    assert_eq!(stored(&cache), content());
}

#[test]
fn a_broken_connection_is_continued_from_the_right_byte() {
    for file in [known(&content()), unknown(1 << 20)] {
        let server = Server::start(|request| match request.number {
            0 => Reply::ranged(&content(), "1", request).cut(70_000),
            1 => Reply::ranged(&content(), "1", request).cut(50_001),
            _ => Reply::ranged(&content(), "1", request),
        });
        let (_folder, cache) = cache();
        let outcome = run(&set(file, &[&server]), &cache).unwrap();
        assert_eq!(stored(&cache), content());
        assert_eq!(outcome.fetched[0].resumed_from, 120_001);
        let asked: Vec<_> = server.requests().iter().map(|request| request.from).collect();
        assert_eq!(asked, [None, Some(70_000), Some(120_001)]);
        assert_eq!(server.requests()[1].if_range.as_deref(), Some("\"1\""));
    }
}

#[test]
fn bytes_of_an_older_version_are_dropped_when_the_file_changed() {
    let new: Vec<u8> = content().into_iter().rev().collect();
    let body = new.clone();
    let server = Server::start(move |request| match request.number {
        0 => Reply::ranged(&content(), "old", request).cut(70_000),
        _ => Reply::ranged(&body, "new", request),
    });
    let (_folder, cache) = cache();
    let outcome = run(&set(unknown(1 << 20), &[&server]), &cache).unwrap();
    assert_eq!(server.requests()[1].if_range.as_deref(), Some("\"old\""));
    assert_eq!((outcome.fetched[0].resumed_from, stored(&cache) == new), (0, true));
}

#[test]
fn without_checksum_and_version_nothing_is_continued() {
    let server = Server::start(|request| match request.number {
        0 => Reply::whole(&content()).cut(70_000),
        _ => Reply::whole(&content()),
    });
    let (_folder, cache) = cache();
    run(&set(unknown(1 << 20), &[&server]), &cache).unwrap();
    assert_eq!(server.requests()[1].from, None);
    assert_eq!(stored(&cache), content());
}

#[test]
fn a_server_without_ranges_starts_again() {
    let server = Server::start(|request| match request.number {
        0 => Reply::whole(&content()).cut(70_000),
        _ => Reply::whole(&content()),
    });
    let (_folder, cache) = cache();
    let outcome = run(&set(known(&content()), &[&server]), &cache).unwrap();
    assert_eq!(server.requests()[1].from, Some(70_000));
    assert_eq!((outcome.fetched[0].resumed_from, stored(&cache) == content()), (0, true));
}

#[test]
fn what_a_killed_run_left_is_continued_and_a_damaged_part_is_not_kept() {
    let mut wrong = content();
    wrong[5] ^= 1;
    for (part, asked) in [
        (&content()[..90_000], vec![Some(90_000)]),
        (&wrong[..90_000], vec![Some(90_000), None]),
        (&content()[..], vec![]),
        (&[content(), content()].concat()[..], vec![None]),
    ] {
        let server = Server::start(|request| Reply::ranged(&content(), "1", request));
        let (_folder, cache) = cache();
        fs::create_dir(cache.root().join("folder")).unwrap();
        fs::write(cache.root().join("folder/a.bin.part"), part).unwrap();
        run(&set(known(&content()), &[&server]), &cache).unwrap();
        assert_eq!(stored(&cache), content());
        assert_eq!(server.requests().iter().map(|request| request.from).collect::<Vec<_>>(), asked);
        assert_eq!(left(&cache), ["folder/a.bin"]);
    }
}

#[test]
fn a_run_that_gives_up_leaves_its_part_for_the_next() {
    let server = Server::start(|request| match request.number {
        0 => Reply::ranged(&content(), "1", request).cut(70_000),
        1..=2 => Reply::status("503 Service Unavailable"),
        _ => Reply::ranged(&content(), "1", request),
    });
    let (_folder, cache) = cache();
    let set = set(unknown(1 << 20), &[&server]);
    let error = run(&set, &cache).unwrap_err().to_string();
    assert!(error.contains("503") && error.contains("EDGEPACE_MIRROR"), "{error}");
    assert!(!cache.has(&set));
    assert_eq!(run(&set, &cache).unwrap().fetched[0].resumed_from, 70_000);
    assert_eq!(stored(&cache), content());
}

#[test]
fn the_second_mirror_mends_what_the_first_has_wrong() {
    let mut wrong = content();
    wrong[100_000] ^= 1;
    let (bad, good) =
        (Server::start(move |_| Reply::whole(&wrong)), Server::start(|_| Reply::whole(&content())));
    let (_folder, cache) = cache();
    let outcome = run(&set(known(&content()), &[&bad, &good]), &cache).unwrap();
    assert_eq!(outcome.fetched[0].mirror, format!("{}a.bin", good.url));
    assert_eq!(stored(&cache), content());
    assert_eq!(good.requests()[0].from, None, "wrong bytes are not continued");
}

#[test]
fn a_file_that_is_wrong_everywhere_is_refused_with_both_checksums() {
    let mut wrong = content();
    wrong[100_000] ^= 1;
    let body = wrong.clone();
    let server = Server::start(move |_| Reply::whole(&body));
    let (_folder, cache) = cache();
    let error = run(&set(known(&content()), &[&server, &server]), &cache).unwrap_err().to_string();
    assert!(error.contains(&sha256(&wrong)) && error.contains(&sha256(&content())), "{error}");
    assert!(left(&cache).is_empty(), "{:?}", left(&cache));
}

#[test]
fn redirects_are_followed_but_not_in_circles_nor_to_plain_http_elsewhere() {
    let target = Server::start(|request| Reply::ranged(&content(), "1", request));
    let away = format!("{}real.bin", target.url);
    let server = Server::start(move |request| match request.path.as_str() {
        "/a.bin" => Reply::redirect("/next/b.bin"),
        "/next/b.bin" => Reply::redirect("c.bin"),
        _ => Reply::redirect(&away),
    });
    let (_folder, cache) = cache();
    run(&set(known(&content()), &[&server]), &cache).unwrap();
    assert_eq!(stored(&cache), content());
    let paths: Vec<_> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(
        (paths.as_slice(), &*target.requests()[0].path),
        (&["/a.bin", "/next/b.bin", "/next/c.bin"].map(String::from)[..], "/real.bin")
    );

    let refused = |answer: fn(&Request) -> Reply, word: &str| {
        let server = Server::start(answer);
        let (_folder, cache) = self::cache();
        let error = run(&set(known(&content()), &[&server]), &cache).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        assert!(server.requests().len() <= 6, "{}", server.requests().len());
        assert!(left(&cache).is_empty());
    };
    refused(|request| Reply::redirect(if request.path == "/a.bin" { "/b" } else { "/a.bin" }), "circle");
    refused(|request| Reply::redirect(&format!("{}x", request.path)), "redirects");
    refused(|_| Reply::redirect("http://example.org/a.bin"), "https");
    refused(|_| Reply::redirect("file:///etc/passwd"), "https");
    refused(|_| Reply::status("302 Found"), "without an address");
}

#[test]
fn no_more_is_taken_than_the_limit_declared_or_not() {
    for (unmeasured, word) in [(false, "at most 1000"), (true, "more than 1000")] {
        let server = Server::start(move |_| {
            let reply = Reply::whole(&content());
            if unmeasured { reply.unmeasured() } else { reply }
        });
        let (_folder, cache) = cache();
        let error = run(&set(unknown(1000), &[&server]), &cache).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        assert!(left(&cache).is_empty());
    }
}

#[test]
fn a_missing_file_is_reported_with_every_mirror() {
    let servers =
        [Server::start(|_| Reply::status("404 Not Found")), Server::start(|_| Reply::status("410 Gone"))];
    let (_folder, cache) = cache();
    let error = run(&set(known(&content()), &[&servers[0], &servers[1]]), &cache).unwrap_err().to_string();
    for (server, word) in servers.iter().zip(["404", "410"]) {
        assert!(error.contains(&server.url) && error.contains(word), "{error}");
        assert_eq!(server.requests().len(), 1, "what is not there is not asked for again");
    }
}

#[test]
fn a_server_that_falls_silent_is_given_up() {
    let server = Server::start(|_| Reply::whole(&content()).delay(3000));
    let (_folder, cache) = cache();
    let timeouts = Timeouts { stalled: Duration::from_millis(100), ..Timeouts::default() };
    let options = Options { timeouts, retries: 0, ..options() };
    let started = std::time::Instant::now();
    let error = get(&set(known(&content()), &[&server]), &cache, &options, &mut |_| ()).unwrap_err();
    assert!(started.elapsed() < Duration::from_millis(2500), "{error}");
}

#[test]
fn a_server_that_does_not_speak_tls_is_an_error() {
    let mut server = Server::start(|_| Reply::whole(&content()));
    server.url = server.url.replace("http://", "https://");
    let (_folder, cache) = cache();
    let error = run(&set(known(&content()), &[&server]), &cache).unwrap_err().to_string();
    assert!(error.contains(&server.url), "{error}");
    assert!(left(&cache).is_empty());
}

#[test]
fn offline_says_what_is_missing_and_where_it_was_looked_for() {
    let server = Server::start(|_| Reply::whole(&content()));
    let (_folder, cache) = cache();
    let options = Options { offline: true, ..options() };
    let error =
        get(&set(known(&content()), &[&server]), &cache, &options, &mut |_| ()).unwrap_err().to_string();
    let looked = cache.root().join("folder").join("a.bin").display().to_string();
    assert!(
        error.contains("folder/a.bin") && error.contains(&looked) && error.contains("offline"),
        "{error}"
    );
    assert!(server.requests().is_empty() && fs::read_dir(cache.root()).unwrap().next().is_none());
}

#[test]
fn a_mirror_of_the_users_is_asked_first() {
    let (own, other) =
        (Server::start(|_| Reply::whole(&content())), Server::start(|_| Reply::whole(&content())));
    let (_folder, cache) = cache();
    let options = Options { mirror: Some(format!("{}data/", own.url)), ..options() };
    get(&set(known(&content()), &[&other]), &cache, &options, &mut |_| ()).unwrap();
    assert_eq!((&*own.requests()[0].path, other.requests().len()), ("/data/folder/a.bin", 0));
}

#[test]
fn a_file_without_published_checksum_is_held_to_its_first_download() {
    let server = Server::start(|request| {
        let mut body = content();
        body[9] ^= u8::from(request.number > 0);
        Reply::whole(&body)
    });
    let (_folder, cache) = cache();
    let set = set(unknown(1 << 20), &[&server]);
    run(&set, &cache).unwrap();
    let sums = cache.root().join("SHA256SUMS.local");
    assert_eq!(fs::read_to_string(&sums).unwrap(), format!("{}  folder/a.bin\n", sha256(&content())));
    fs::remove_file(cache.root().join("folder/a.bin")).unwrap();
    let error = run(&set, &cache).unwrap_err().to_string();
    assert!(
        error.contains(&sha256(&content())) && error.contains("remove the line of folder/a.bin"),
        "{error}"
    );
    assert_eq!(left(&cache), ["SHA256SUMS.local"]);

    fs::remove_file(sums).unwrap();
    run(&set, &cache).unwrap();
    assert_eq!(stored(&cache)[9], content()[9] ^ 1);
}

#[test]
fn two_at_once_download_once() {
    let server = Server::start(|_| Reply::whole(&content()).delay(300));
    let (_folder, cache) = cache();
    let (set, cache) = (Arc::new(set(known(&content()), &[&server])), Arc::new(cache));
    let runs: Vec<_> = (0..4)
        .map(|_| {
            let (set, cache) = (Arc::clone(&set), Arc::clone(&cache));
            thread::spawn(move || {
                let mut waited = false;
                let outcome =
                    get(&set, &cache, &options(), &mut |progress| waited |= progress.stage == Stage::Waiting);
                (outcome.unwrap().fetched.len(), waited)
            })
        })
        .collect();
    let mut results: Vec<_> = runs.into_iter().map(|run| run.join().unwrap()).collect();
    results.sort_unstable();
    assert_eq!(results.iter().map(|(fetched, _)| fetched).sum::<usize>(), 1, "{results:?}");
    assert_eq!((server.requests().len(), stored(&cache) == content()), (1, true));
    assert!(results[0].1, "the others waited");
}
