//! No input makes a reader panic, hang, or use more memory than the input's size accounts for.
//!
//! Each reader gets valid files and thousands of damaged ones: cut short, with bits flipped, bytes replaced by large
//! numbers, pieces repeated, removed or exchanged with pieces of other files. The damage is drawn from a fixed seed, so
//! that a failure repeats; `fuzz/` has the same readers for an endless search.

#[path = "../../graph/tests/shared/counting.rs"]
mod counting;
#[path = "hostile/seeds.rs"]
mod seeds;

use edgepace_data::fuzz::TARGETS;
use edgepace_graph::random::{Purpose, Stream};

/// Damaged files per valid file.
const MUTATIONS: u32 = 400;
/// What a reader may allocate whatever the input: buffers, tables, the error.
const SLACK: usize = 4 << 20;

/// One test, because memory is counted for the whole process.
#[test]
fn readers_survive_whatever_they_are_given() {
    for target in TARGETS {
        let valid = seeds::of(target.name);
        assert!(!valid.is_empty(), "{} has no valid file to start from", target.name);
        for (number, bytes) in valid.iter().enumerate() {
            let result = (target.read)(bytes);
            assert!(result.is_ok(), "{}: valid file {number} is refused: {}", target.name, chain(&result));
            let mut refused = 0;
            for mutation in 0..MUTATIONS {
                let damaged = damage(bytes, &valid, Stream::new(number as u64, Purpose::Split, mutation));
                let (result, used) = counting::peak_bytes(|| (target.read)(&damaged));
                refused += u32::from(result.is_err());
                let allowed = damaged.len() * target.expansion + SLACK;
                assert!(
                    used <= allowed,
                    "{}: file {number}, damage {mutation}: {used} bytes of memory for {} bytes of input, {allowed} allowed",
                    target.name,
                    damaged.len()
                );
                assert!(chain(&result).len() < 2000, "{}: an endless message", target.name);
            }
            assert!(refused > MUTATIONS / 20, "{}: damage goes unnoticed", target.name);
        }
    }
}

/// What `cargo fuzz run` begins with: without valid files it would hardly get past the first bytes of a format.
#[test]
#[ignore = "writes fuzz/corpus: cargo test -p edgepace-data --test hostile -- --ignored"]
fn valid_files_are_the_corpus_of_each_fuzz_target() {
    for target in TARGETS {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target.name);
        std::fs::create_dir_all(&folder).expect("a folder");
        for (number, bytes) in seeds::of(target.name).iter().enumerate() {
            std::fs::write(folder.join(format!("valid-{number}")), bytes).expect("a file");
        }
    }
}

fn chain(result: &Result<(), edgepace_data::DataError>) -> String {
    let mut text = String::new();
    let mut cause = result.as_ref().err().map(|error| error as &dyn std::error::Error);
    while let Some(error) = cause {
        text = format!("{text}{error}: ");
        cause = error.source();
    }
    text
}

/// The bytes with some damage, drawn from `stream`.
fn damage(bytes: &[u8], others: &[Vec<u8>], stream: Stream) -> Vec<u8> {
    let mut draws = 0;
    let mut below = |bound: usize| {
        draws += 1;
        stream.below(draws, bound.max(1) as u64) as usize
    };
    let mut damaged = bytes.to_vec();
    for _ in 0..=below(3) {
        let len = damaged.len();
        let (place, piece) = (below(len), 1 + below(16));
        let end = (place + piece).min(len);
        match below(8) {
            0 => damaged.truncate(place),
            1 if len > 0 => damaged[place] ^= 1 << below(8),
            2 => damaged[place..end].fill(0xff),
            3 => damaged[place..end].fill(0),
            4 => drop(damaged.drain(place..end)),
            5 => {
                let piece = damaged[place..end].to_vec();
                damaged.splice(place..place, piece);
            }
            6 => {
                let other = &others[below(others.len())];
                let from = below(other.len());
                let piece = other[from..(from + 64).min(other.len())].to_vec();
                damaged.splice(place..end, piece);
            }
            _ => {
                let digits = [&b"99999999999"[..], b"-1", b"nan", b"1e400", b"\0", b"\xf0\x9f"][below(6)];
                damaged.splice(place..end, digits.iter().copied());
            }
        }
    }
    damaged
}

/// Every reader has its fuzz target, so that none is forgotten.
#[test]
fn every_reader_is_a_fuzz_target() {
    let fuzz = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).expect("the manifest");
    for target in TARGETS {
        let file = std::fs::read_to_string(fuzz.join(format!("fuzz_targets/{}.rs", target.name)));
        assert!(file.is_ok_and(|text| text.contains(&format!("\"{}\"", target.name))), "{}", target.name);
        let named = format!("name = \"{}\"", target.name);
        assert_eq!(manifest.matches(&named).count(), 1, "{}", target.name);
    }
}
