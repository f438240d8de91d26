//! Kills the program at random moments, then lets it go on: it must end with the files of a run that was never killed.
//!
//! `EDGEPACE_KILLS=200 cargo test --release -p edgepace-cli --test crash -- --nocapture` is the long form, whose figures are
//! in `docs/reliability.md`.

#[path = "../shared/folders.rs"]
mod folders;
#[path = "../cli/program.rs"]
#[allow(dead_code, reason = "other tests start the program in other ways")]
mod program;
#[path = "../shared/stores.rs"]
mod stores;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use edgepace_graph::random::{Purpose, Stream};
use libtest_mimic::{Arguments, Trial};

use crate::folders::{assert_same, contents};
use crate::program::edgepace_in;

/// Kills in all, over all scenarios, unless `EDGEPACE_KILLS` says otherwise.
const KILLS: usize = 20;
/// The seed of all that is drawn at random.
const SEED: u64 = 7;

const GRAPH: &str = "synthetic:nodes=600,edges=3600,classes=4";

/// What is killed: a name, and what `train` is told.
const RUNS: [(&str, &str); 5] = [
    ("train", "--epochs 400"),
    ("seeds", "--epochs 150 --seeds 0..3 --jobs 2"),
    ("auto", "--preset auto --epochs 60"),
    ("search", "--method clnode --search --epochs 40"),
    ("halving", "--method clnode --search=halving:9 --epochs 60"),
];

fn main() -> ExitCode {
    let kills = std::env::var("EDGEPACE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let scenarios = RUNS.len() + 3;
    let share = move |number: usize| kills / scenarios + usize::from(number < kills % scenarios);
    let mut trials: Vec<Trial> = RUNS
        .iter()
        .enumerate()
        .map(|(number, &(name, arguments))| {
            Trial::test(format!("kill {name}"), move || {
                kill_runs(name, arguments, share(number), number as u32);
                Ok(())
            })
        })
        .collect();
    for (number, (name, arguments, file)) in [
        ("import", "data import --edges edges.csv --nodes nodes.csv -o made.graph --overwrite", "made.graph"),
        ("save", "data save synthetic:nodes=60000,edges=400000 -o made.graph --overwrite", "made.graph"),
    ]
    .into_iter()
    .enumerate()
    {
        let number = RUNS.len() + number;
        trials.push(Trial::test(format!("kill {name}"), move || {
            kill_writers(name, arguments, file, share(number), number as u32);
            Ok(())
        }));
    }
    trials.push(Trial::test("kill sweep", move || {
        kill_sweeps(share(RUNS.len() + 2).max(SWEEP_KILLS), (RUNS.len() + 2) as u32);
        Ok(())
    }));
    let mounts = can_mount();
    for (name, test) in [
        ("a full disk", full_disk as fn()),
        ("a read-only folder", read_only as fn()),
        ("a store on a full disk", store_on_a_full_disk as fn()),
        ("a store that may only be read", read_only_store as fn()),
    ] {
        let trial = Trial::test(name, move || {
            test();
            Ok(())
        });
        trials.push(trial.with_ignored_flag(!mounts));
    }
    if !mounts {
        eprintln!("ignored: tests on a small disk, because this user cannot mount one");
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Runs a command and kills it after so long, unless it is over before. Returns whether it was killed.
fn killed_after(folder: &Path, arguments: &str, wait: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_edgepace"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let begin = Instant::now();
    while begin.elapsed() < wait {
        if child.try_wait().expect("a state").is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    // SIGKILL: nothing can be done about it.
    child.kill().expect("killed");
    child.wait().expect("it ends");
    true
}

fn kill_runs(name: &str, arguments: &str, kills: usize, number: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let train = |out: &str| format!("train {GRAPH} {arguments} --checkpoint 0.01 --out {out}");
    let begin = Instant::now();
    let whole = edgepace_in(folder.path(), train("whole").split(' '));
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let length = begin.elapsed();
    let stream = Stream::new(SEED, Purpose::Benchmark, number);
    let (mut done, mut resumed, mut before, mut draws) = (0, 0, 0, 0);
    while done < kills {
        let mut draw = || {
            draws += 1;
            length.mul_f64(stream.uniform(draws))
        };
        let mut command = train("parts");
        // The first is killed, and now and then its successors too.
        while done < kills && killed_after(folder.path(), &command, draw()) {
            done += 1;
            if at("parts/config.toml").exists() {
                resumed += 1;
                "train --resume parts".clone_into(&mut command);
            } else {
                before += 1;
            }
            if done % 3 == 0 {
                break;
            }
        }
        let last = edgepace_in(folder.path(), command.split(' '));
        let over = at("parts/result.json").exists();
        assert!(last.code == Some(0) || over, "{name}: {}", last.stderr);
        assert_same(&at("whole"), &at("parts"));
        std::fs::remove_dir_all(at("parts")).expect("removed");
    }
    println!(
        "{name}: {done} kills in a run of {length:.1?}, {resumed} resumed, {before} before anything was written"
    );
}

/// At least so many kills of a sweep.
const SWEEP_KILLS: usize = 10;

/// A grid that takes a few seconds: methods with and without warm starts, one that chooses, and one that fails.
const PLAN: &str = r#"
seeds = "0..2"
noise = ["", "fake=0.5"]
[run]
epochs = 60
[[graphs]]
dataset = "synthetic:nodes=400,edges=2400,classes=4"
[[methods]]
method = "vanilla"
[[methods]]
method = "rcl"
settings = { keep = "method" }
[[methods]]
method = "clnode"
settings = { search = true, epochs = 12 }
[[methods]]
name = "diverges"
method = "vanilla"
settings = { lr = 1e30 }
"#;

/// A sweep that is killed again and again ends with the store of one that never was.
fn kill_sweeps(kills: usize, number: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("plan.toml"), PLAN).expect("written");
    let sweep = |store: &str| format!("sweep plan.toml --store {store} --jobs 2 --checkpoint 0.01");
    let begin = Instant::now();
    let whole = edgepace_in(folder.path(), sweep("whole.sqlite").split(' '));
    assert_eq!(whole.code, Some(1), "one of them diverges: {}", whole.stderr);
    let length = begin.elapsed();
    let expected = stores::contents(&at("whole.sqlite"));
    assert_eq!(expected.len(), 16);
    let stream = Stream::new(SEED, Purpose::Benchmark, number);
    let (mut done, mut draws, mut sweeps, mut checkpoints) = (0, 0, 0, 0);
    while done < kills {
        sweeps += 1;
        for _ in 0..4 {
            draws += 1;
            let wait = length.mul_f64(0.7 * stream.uniform(draws));
            done += usize::from(killed_after(folder.path(), &sweep("parts.sqlite"), wait));
            let left = std::fs::read_dir(at("parts.sqlite.d")).into_iter().flatten().flatten();
            checkpoints += left.filter(|run| run.path().join("checkpoint.safetensors").exists()).count();
        }
        let last = edgepace_in(folder.path(), sweep("parts.sqlite").split(' '));
        assert_eq!(last.code, Some(1), "{}", last.stderr);
        let found = stores::contents(&at("parts.sqlite"));
        assert!(found == expected, "the store differs after {done} kills");
        let left = contents_of(&at("parts.sqlite.d"));
        assert!(left.is_empty(), "nothing unfinished is left: {left:?}");
        for name in ["parts.sqlite", "parts.sqlite-wal", "parts.sqlite-shm"] {
            let _ = std::fs::remove_file(at(name));
        }
    }
    println!(
        "sweep: {done} kills in {sweeps} sweeps of {length:.1?}, {checkpoints} runs went on from a checkpoint"
    );
    assert!(checkpoints > 0, "some were killed within a run");
}

fn store_on_a_full_disk() {
    let whole = tempfile::tempdir().expect("a folder");
    std::fs::write(whole.path().join("plan.toml"), PLAN).expect("written");
    let sweep = "sweep plan.toml --store s.sqlite --checkpoint 0";
    assert_eq!(edgepace_in(whole.path(), sweep.split(' ')).code, Some(1));
    let expected = stores::contents(&whole.path().join("s.sqlite"));
    for size in ["8k", "80k", "200k", "400k"] {
        let disk = Disk::new(size).expect("a disk");
        let plan = whole.path().join("plan.toml").display().to_string();
        let folder = disk.0.path();
        let line = sweep.replace("plan.toml", &plan);
        let full = edgepace_in(folder, line.split(' '));
        assert_eq!(full.code, Some(2), "{size}: {}", full.stdout);
        assert!(
            full.stderr.contains("No space left") && full.stderr.contains("s.sqlite"),
            "{size}: {}",
            full.stderr
        );
        println!("{size}: {}", full.stderr.trim());
        disk.remount("size=50m");
        let again = edgepace_in(folder, line.split(' '));
        assert_eq!(again.code, Some(1), "{size}: {}", again.stderr);
        assert!(stores::contents(&folder.join("s.sqlite")) == expected, "{size}: the store differs");
    }
}

fn read_only_store() {
    let disk = Disk::new("50m").expect("a disk");
    let folder = disk.0.path();
    std::fs::write(folder.join("plan.toml"), PLAN).expect("written");
    let sweep = |seeds: &str| format!("sweep plan.toml --store s.sqlite --seeds {seeds}");
    assert_eq!(edgepace_in(folder, sweep("0").split(' ')).code, Some(1));
    let before = stores::contents(&folder.join("s.sqlite"));
    disk.remount("ro");
    let refused = edgepace_in(folder, sweep("0..2").split(' '));
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("s.sqlite"), "{}", refused.stderr);
    println!("read-only: {}", refused.stderr.trim());
    assert_eq!(stores::contents(&folder.join("s.sqlite")), before, "it can still be read");
    disk.remount("rw");
    assert_eq!(stores::contents(&folder.join("s.sqlite")), before, "nothing is lost");
}

/// Commands that write one file: it is there whole, or not at all, and the next attempt sweeps up.
fn kill_writers(name: &str, arguments: &str, file: &str, kills: usize, number: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut edges, mut nodes) = ("source,target\n".to_owned(), "id,label,x,y\n".to_owned());
    for node in 0..40_000_u32 {
        writeln!(nodes, "{node},{},{},{}", node % 5, node % 97, node % 31).expect("text");
        for step in [1, 17, 400] {
            writeln!(edges, "{node},{}", (node + step) % 40_000).expect("text");
        }
    }
    std::fs::write(folder.path().join("edges.csv"), edges).expect("written");
    std::fs::write(folder.path().join("nodes.csv"), nodes).expect("written");
    let begin = Instant::now();
    let whole = edgepace_in(folder.path(), arguments.split(' '));
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let length = begin.elapsed();
    let path = folder.path().join(file);
    let expected = std::fs::read(&path).expect("a file");
    let stream = Stream::new(SEED, Purpose::Benchmark, number);
    let (mut done, mut unharmed, mut draws) = (0, 0, 0);
    while done < kills {
        // A file that was there before stays until the new one is whole.
        if done % 2 == 0 {
            std::fs::remove_file(&path).expect("removed");
        }
        draws += 1;
        done += usize::from(killed_after(folder.path(), arguments, length.mul_f64(stream.uniform(draws))));
        if path.exists() {
            unharmed += 1;
            assert!(std::fs::read(&path).expect("a file") == expected, "{name}: a part of a file");
        }
        let again = edgepace_in(folder.path(), arguments.split(' '));
        assert_eq!(again.code, Some(0), "{}", again.stderr);
        assert!(std::fs::read(&path).expect("a file") == expected, "{name}: another file");
        let names: Vec<String> = contents_of(folder.path());
        assert_eq!(names, ["edges.csv", file, "nodes.csv"], "{name}: nothing unfinished is left");
    }
    println!(
        "{name}: {done} kills of {draws} attempts of {length:.1?}, a whole file was there after {unharmed}"
    );
}

fn contents_of(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn mount(arguments: &[&str]) -> bool {
    Command::new("mount").args(arguments).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A small disk of its own, which goes with it.
struct Disk(tempfile::TempDir);

impl Disk {
    fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().ok()?;
        let options = format!("size={size}");
        mount(&["-t", "tmpfs", "-o", &options, "tmpfs", &folder.path().display().to_string()])
            .then_some(Self(folder))
    }

    fn remount(&self, options: &str) {
        assert!(mount(&["-o", &format!("remount,{options}"), &self.0.path().display().to_string()]));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

fn can_mount() -> bool {
    cfg!(target_os = "linux") && Disk::new("100k").is_some()
}

const SHORT: &str = "--epochs 60 --seeds 0..2 --checkpoint 0";

/// The run on a disk of its own, and the same beside it, to compare.
fn on_a_disk(size: &str) -> (Disk, tempfile::TempDir) {
    let (disk, beside) = (Disk::new(size).expect("a disk"), tempfile::tempdir().expect("a folder"));
    let whole = edgepace_in(beside.path(), format!("train {GRAPH} {SHORT} --out run").split(' '));
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    (disk, beside)
}

fn full_disk() {
    for size in ["8k", "60k", "150k", "300k", "500k"] {
        let (disk, beside) = on_a_disk(size);
        let folder = disk.0.path();
        let run = edgepace_in(folder, format!("train {GRAPH} {SHORT} --out run").split(' '));
        if run.code == Some(0) {
            continue;
        }
        assert_eq!(run.code, Some(2), "{size}");
        assert!(run.stderr.contains("No space left") && run.stderr.contains("run"), "{size}: {}", run.stderr);
        println!("{size}: {}", run.stderr.trim());
        disk.remount("size=50m");
        let begun = folder.join("run/config.toml").exists();
        let again =
            if begun { "train --resume run".to_owned() } else { format!("train {GRAPH} {SHORT} --out run") };
        let again = edgepace_in(folder, again.split(' '));
        assert_eq!(again.code, Some(0), "{size}: {}", again.stderr);
        assert_same(&beside.path().join("run"), &folder.join("run"));
    }
}

fn read_only() {
    let (disk, beside) = on_a_disk("50m");
    let folder = disk.0.path();
    disk.remount("ro");
    let refused = edgepace_in(folder, format!("train {GRAPH} {SHORT} --out run").split(' '));
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("Read-only"), "{}", refused.stderr);
    disk.remount("rw");
    assert!(contents(folder).is_empty(), "nothing half-written");
    let run = edgepace_in(folder, format!("train {GRAPH} {SHORT} --out run --time-limit 0.1").split(' '));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    disk.remount("ro");
    let refused = edgepace_in(folder, ["train", "--resume", "run"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    disk.remount("rw");
    let again = edgepace_in(folder, ["train", "--resume", "run"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_same(&beside.path().join("run"), &folder.join("run"));
}
