//! Runs that are stopped, killed, diverge or meet each other.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::tempdir;

use crate::folders::{assert_same, contents};
use crate::program::{Run, edgepace_in};

const GRAPH: &str = "synthetic:nodes=400,edges=2000,classes=4";

fn here(folder: &Path, arguments: &str) -> Run {
    edgepace_in(folder, arguments.split(' '))
}

/// Starts a run, waits until its first checkpoint is there, and sends it a signal.
fn signalled(folder: &Path, arguments: &str, out: &str, signal: &str) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_edgepace"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let begin = Instant::now();
    let begun = || folder.join(out).join("seed-0/checkpoint.safetensors").exists();
    while !begun() && begin.elapsed() < Duration::from_mins(1) {
        assert!(child.try_wait().expect("a state").is_none(), "it is over before it could be stopped");
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().expect("kill");
    assert!(sent.success());
    child.wait_with_output().expect("it ends").into()
}

#[test]
#[cfg(unix)]
fn a_signal_saves_the_run_and_resuming_gives_what_it_would_have_given() {
    let folder = tempdir().expect("a folder");
    let arguments = format!("train {GRAPH} --epochs 2000 --seeds 0,3 --checkpoint 0");
    let whole = here(folder.path(), &format!("train {GRAPH} --epochs 2000 --seeds 0,3 --out whole"));
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let run = signalled(folder.path(), &format!("{arguments} --out parts"), "parts", signal);
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert_eq!(run.stderr, "stopped and saved: go on with `edgepace train --resume parts`\n");
        assert!(!folder.path().join("parts/result.json").exists());
        let resumed = here(folder.path(), "train --resume parts --json");
        assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
        let of = |name: &str| folder.path().join(name);
        // What was asked for is the same but for the folder's name, which no file holds.
        assert_same(&of("whole"), &of("parts"));
        let again = here(folder.path(), "train --resume parts");
        assert_eq!(again.code, Some(0), "a run that is over is shown again: {}", again.stderr);
        std::fs::remove_dir_all(of("parts")).expect("removed");
    }
}

#[test]
fn a_time_limit_ends_with_the_best_so_far_and_the_run_can_go_on() {
    let folder = tempdir().expect("a folder");
    let whole = here(folder.path(), &format!("train {GRAPH} --epochs 1500 --out whole"));
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let run = here(folder.path(), &format!("train {GRAPH} --epochs 1500 --out parts --time-limit 0.05"));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("edgepace train --resume parts"), "{}", run.stdout);
    let result = std::fs::read(folder.path().join("parts/result.json")).expect("a result");
    let result: Value = serde_json::from_slice(&result).expect("JSON");
    assert_eq!(result["runs"][0]["stopped"], "time limit");
    assert!(result["runs"][0]["test"].is_number());
    assert!(folder.path().join("parts/seed-0/model.safetensors").exists());
    let resumed = here(folder.path(), "train --resume parts");
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_same(&folder.path().join("whole"), &folder.path().join("parts"));
}

#[test]
fn training_that_diverges_is_no_success_and_keeps_what_was_good() {
    let folder = tempdir().expect("a folder");
    let at_once = here(folder.path(), &format!("train {GRAPH} --method vanilla --epochs 10 --lr 1e30"));
    assert_eq!((at_once.code, &at_once.stdout[..]), (Some(2), ""));
    let expected =
        "error: seed 0: the predictions are not finite in epoch 0: training diverges, try a smaller `lr`\n";
    assert_eq!(at_once.stderr, expected);
    // Weights that grow with each step overflow later.
    let later =
        here(folder.path(), &format!("train {GRAPH} --method vanilla --epochs 60 --lr 1e12 --out run"));
    assert_eq!(later.code, Some(2));
    let expected =
        "training diverges, try a smaller `lr`; the model of the best epoch until then is in run/seed-0\n";
    assert!(later.stderr.ends_with(expected), "{}", later.stderr);
    let predicted =
        here(folder.path(), &format!("predict run/seed-0/model.safetensors {GRAPH},seed=0 -o p.csv"));
    assert_eq!(predicted.code, Some(0), "{}", predicted.stderr);
    let table = std::fs::read_to_string(folder.path().join("p.csv")).expect("a table");
    assert!(table.lines().count() == 401 && !table.contains("NaN"), "{table}");
}

#[test]
#[cfg(unix)]
fn a_folder_has_one_owner_at_a_time_and_says_who() {
    let folder = tempdir().expect("a folder");
    let arguments = format!("train {GRAPH} --epochs 200000 --checkpoint 0 --out run");
    let mut owner = Command::new(env!("CARGO_BIN_EXE_edgepace"))
        .args(arguments.split(' '))
        .current_dir(folder.path())
        .spawn()
        .expect("the program starts");
    while !folder.path().join("run/seed-0/checkpoint.safetensors").exists() {
        assert!(owner.try_wait().expect("a state").is_none());
        std::thread::sleep(Duration::from_millis(2));
    }
    for arguments in [format!("train {GRAPH} --out run --overwrite"), "train --resume run".to_owned()] {
        let other = here(folder.path(), &arguments);
        assert_eq!(other.code, Some(2));
        let expected = format!("error: run is in use: process {} runs `", owner.id());
        assert!(other.stderr.starts_with(&expected), "{}", other.stderr);
    }
    owner.kill().expect("killed");
    owner.wait().expect("it ends");
    // Nobody holds it any more, though its lock file is there.
    assert!(folder.path().join("run/.lock").exists());
    let next = here(folder.path(), &format!("train {GRAPH} --epochs 2 --out run --overwrite"));
    assert_eq!(next.code, Some(0), "{}", next.stderr);
    assert!(!folder.path().join("run/.lock").exists());
}

#[test]
fn what_an_earlier_run_left_is_gone_after_overwriting() {
    let folder = tempdir().expect("a folder");
    assert_eq!(
        here(folder.path(), &format!("train {GRAPH} --epochs 4 --seeds 0..3 --out run")).code,
        Some(0)
    );
    std::fs::write(folder.path().join("run/notes.txt"), "mine").expect("written");
    std::fs::write(folder.path().join("run/.unfinished-abc"), "left").expect("written");
    let again = here(
        folder.path(),
        &format!("train {GRAPH} --epochs 4 --method vanilla --seeds 1 --out run --overwrite"),
    );
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let files: Vec<String> = contents(&folder.path().join("run")).into_keys().collect();
    let expected = [
        "config.toml",
        "notes.txt",
        "result.json",
        "seed-1/history.jsonl",
        "seed-1/model.safetensors",
        "seed-1/record.json",
    ];
    assert_eq!(files, expected);
}

#[test]
fn a_checkpoint_of_another_run_or_a_damaged_one_is_refused_with_the_difference() {
    let folder = tempdir().expect("a folder");
    let run = |arguments: &str| here(folder.path(), arguments);
    let of = |lr: &str, out: &str| {
        run(&format!("train {GRAPH} --epochs 3000 --lr {lr} --time-limit 0.05 --out {out}"))
    };
    assert_eq!((of("0.01", "one").code, of("0.02", "two").code), (Some(0), Some(0)));
    let path = |out: &str| folder.path().join(out).join("seed-0/checkpoint.safetensors");
    let own = std::fs::read(path("one")).expect("a checkpoint");
    std::fs::copy(path("two"), path("one")).expect("copied");
    let other = run("train --resume one");
    assert_eq!(other.code, Some(2));
    assert!(
        other.stderr.contains("it is of another run: `config.lr` is 0.02, expected 0.01"),
        "{}",
        other.stderr
    );
    let mut damaged = own.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(path("one"), &damaged).expect("written");
    let refused = run("train --resume one");
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("it is damaged"), "{}", refused.stderr);
    std::fs::write(path("one"), &own[..own.len() / 3]).expect("written");
    assert_eq!(run("train --resume one").code, Some(2));
    std::fs::write(path("one"), &own).expect("written");
    assert_eq!(run("train --resume one").code, Some(0));
}

#[test]
fn a_folder_without_a_run_and_a_mistyped_dataset_leave_nothing_behind() {
    let folder = tempdir().expect("a folder");
    let none = here(folder.path(), "train --resume nothing");
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.starts_with("error: nothing has no run in it: "), "{}", none.stderr);
    assert_eq!(here(folder.path(), "train corra --out run").code, Some(2));
    assert!(!folder.path().join("run").exists());
}
