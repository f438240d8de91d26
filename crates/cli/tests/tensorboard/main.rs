//! `--tensorboard`: what the program writes is what TensorBoard's own reader finds. That claim needs the Python package
//! `tensorboard` (`EDGEPACE_PYTHON` names a Python that has it) and is listed as ignored without it.

#[path = "../cli/program.rs"]
#[allow(dead_code, reason = "other tests start the program in other ways")]
mod program;

use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};
use tempfile::tempdir;

use crate::program::{Run, edgepace_in};

const GRAPH: &str = "synthetic:nodes=300,edges=1200,classes=3";
const EVENTS: &str = "events.out.tfevents.edgepace";

fn main() -> ExitCode {
    let claim = |name: &str, claim: fn()| {
        Trial::test(name, move || {
            claim();
            Ok(())
        })
    };
    let has_reader =
        python().args(["-c", "import tensorboard"]).output().is_ok_and(|run| run.status.success());
    if !has_reader {
        eprintln!("ignored: no Python package `tensorboard`; EDGEPACE_PYTHON names a Python that has it");
    }
    let trials = vec![
        claim(
            "resumed_runs_have_the_event_files_of_whole_ones",
            resumed_runs_have_the_event_files_of_whole_ones,
        ),
        claim("event_files_of_another_run_are_kept", event_files_of_another_run_are_kept),
        claim("tensorboard_reads_every_event_file", tensorboard_reads_every_event_file)
            .with_ignored_flag(!has_reader),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn python() -> Command {
    Command::new(std::env::var("EDGEPACE_PYTHON").unwrap_or_else(|_| "python3".to_owned()))
}

fn here(folder: &Path, arguments: &str) -> Run {
    edgepace_in(folder, arguments.split(' '))
}

fn done(folder: &Path, arguments: &str) {
    let run = here(folder, arguments);
    assert_eq!((run.code, &run.stderr[..]), (Some(0), ""), "{arguments}");
}

/// Sizes are those of the records, which hold no number of varying length but the step.
fn size(folder: &Path, seed: &str) -> u64 {
    std::fs::metadata(folder.join(seed).join(EVENTS)).expect("an event file").len()
}

/// One whole run, one that was stopped twice, and one whose events were asked for when it was over.
fn three_ways(folder: &Path) {
    let train = format!("train {GRAPH} --seeds 0..2 --epochs 60 --quiet");
    done(folder, &format!("{train} --out whole --tensorboard logs/whole"));
    done(folder, &format!("{train} --out parts --tensorboard logs/parts --time-limit 0.001"));
    assert!(size(folder, "logs/parts/seed-0") < size(folder, "logs/whole/seed-0"), "it was stopped");
    done(folder, "train --resume parts --tensorboard logs/parts --time-limit 0.001 --quiet");
    done(folder, "train --resume parts --tensorboard logs/parts --quiet");
    done(folder, "train --resume whole --tensorboard logs/later --quiet");
}

fn resumed_runs_have_the_event_files_of_whole_ones() {
    let folder = tempdir().expect("a folder");
    three_ways(folder.path());
    for seed in ["seed-0", "seed-1"] {
        let whole = size(folder.path(), &format!("logs/whole/{seed}"));
        assert_eq!(size(folder.path(), &format!("logs/parts/{seed}")), whole);
        assert_eq!(size(folder.path(), &format!("logs/later/{seed}")), whole);
    }
}

fn event_files_of_another_run_are_kept() {
    let folder = tempdir().expect("a folder");
    let train = format!("train {GRAPH} --method vanilla --quiet");
    done(folder.path(), &format!("{train} --epochs 3 --tensorboard logs"));
    let before = std::fs::read(folder.path().join("logs/seed-0").join(EVENTS)).expect("an event file");
    let again = here(folder.path(), &format!("{train} --epochs 4 --out run --tensorboard logs"));
    let refused = "error: logs/seed-0 has a run in it\nhelp: choose another folder, or give `--overwrite`\n";
    assert_eq!((again.code, &again.stderr[..]), (Some(2), refused));
    assert!(!folder.path().join("run").exists(), "nothing is written");
    done(folder.path(), &format!("{train} --epochs 4 --out run"));
    let other = here(folder.path(), "train --resume run --tensorboard logs");
    assert_eq!((other.code, &other.stderr[..]), (Some(2), refused));
    assert_eq!(std::fs::read(folder.path().join("logs/seed-0").join(EVENTS)).expect("an event file"), before);
    done(folder.path(), &format!("{train} --epochs 4 --tensorboard logs --overwrite"));
    assert!(size(folder.path(), "logs/seed-0") > before.len() as u64);
    // What is refused leaves no folder behind.
    let mistaken = here(folder.path(), &format!("{train} --split geom:0 --tensorboard nowhere"));
    assert_eq!((mistaken.code, folder.path().join("nowhere").exists()), (Some(2), false));
}

/// `read_events.py` compares what it finds with `history.jsonl` and `config.toml`.
fn tensorboard_reads_every_event_file() {
    let folder = tempdir().expect("a folder");
    three_ways(folder.path());
    done(
        folder.path(),
        &format!("train {GRAPH} --preset auto --epochs 20 --quiet --out auto --tensorboard logs/auto"),
    );
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tensorboard/read_events.py");
    let runs = ["whole", "parts", "auto"].map(|run| [run.to_owned(), format!("logs/{run}")]);
    let later = ["whole".to_owned(), "logs/later".to_owned()];
    for pair in runs.iter().chain([&later]) {
        let run = python().arg(&script).args(pair).current_dir(folder.path()).output().expect("Python 3");
        assert!(run.status.success(), "{pair:?}: {}", String::from_utf8_lossy(&run.stderr));
    }
}
