//! `edgepace sweep` and `edgepace runs`: grids of runs, and the store that they fill.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::tempdir;

use crate::program::{Run, edgepace_in};
use crate::stores::contents;

/// A small grid: 2 graphs × 2 noises × 3 methods × 2 seeds.
const PLAN: &str = r#"
about = "A small grid"
seeds = "0..2"
noise = ["", "fake=0.5"]
[run]
epochs = 8
[[graphs]]
name = "even"
dataset = "synthetic:homophily=0.9,nodes=120,edges=480,classes=3"
[[graphs]]
name = "odd"
dataset = "synthetic:homophily=0.2,nodes=120,edges=480,classes=3"
[[methods]]
name = "plain"
method = "vanilla"
[[methods]]
name = "RCL"
method = "rcl"
settings = { keep = "method", period = 2 }
[[methods]]
method = "prune-overlap"
[[limits]]
graph = "odd"
method = "prune-overlap"
skip = "one graph is enough"
"#;
const RUNS: usize = 20;

fn run(folder: &Path, line: &str) -> Run {
    edgepace_in(folder, line.split(' '))
}

fn json(folder: &Path, line: &str) -> Value {
    let run = run(folder, &format!("{line} --json"));
    assert!(run.code == Some(0), "{line}: {}", run.stderr);
    serde_json::from_str(&run.stdout).expect("JSON")
}

fn with_plan(plan: &str) -> tempfile::TempDir {
    let folder = tempdir().expect("a folder");
    std::fs::write(folder.path().join("plan.toml"), plan).expect("written");
    folder
}

#[test]
fn a_sweep_does_each_run_once_and_its_store_is_the_same_with_any_number_of_jobs() {
    let folder = with_plan(PLAN);
    let at = |name: &str| folder.path().join(name);
    let first = json(folder.path(), "sweep plan.toml --store one.sqlite --jobs 2");
    assert_eq!(
        (first["runs"].as_u64(), first["done"].as_u64()),
        (Some(RUNS as u64), Some(RUNS as u64)),
        "{first}"
    );
    let again = json(folder.path(), "sweep plan.toml --store one.sqlite");
    assert_eq!((again["done"].as_u64(), again["before"].as_u64()), (Some(0), Some(RUNS as u64)), "{again}");
    json(folder.path(), "sweep plan.toml --store two.sqlite --jobs 1 --threads 2");
    assert_eq!(contents(&at("one.sqlite")), contents(&at("two.sqlite")));
    assert!(
        std::fs::read_dir(at("one.sqlite.d")).is_ok_and(|mut files| files.next().is_none()),
        "no file is left"
    );
    // One of the runs alone is the same as in the sweep.
    let graph = "synthetic:homophily=0.9,nodes=120,edges=480,classes=3";
    let line =
        format!("train {graph} --noise fake=0.5 --epochs 8 --seeds 1 --set keep=method --set period=2");
    let alone = json(folder.path(), &line);
    let id = alone["runs"][0]["id"].as_str().expect("an id");
    let kept = json(folder.path(), &format!("runs show {id} --store one.sqlite"));
    assert_eq!(kept["record"]["result"]["metrics"], alone["runs"][0]["metrics"]);
}

#[test]
fn a_changed_setting_runs_again_what_it_changes_and_nothing_else() {
    let folder = with_plan(PLAN);
    json(folder.path(), "sweep plan.toml");
    std::fs::write(folder.path().join("plan.toml"), PLAN.replace("period = 2", "period = 4"))
        .expect("written");
    let forecast = json(folder.path(), "sweep plan.toml --dry-run");
    assert_eq!((forecast["runs"].as_u64(), forecast["done"].as_u64()), (Some(20), Some(12)), "{forecast}");
    assert!(forecast["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    let changed = json(folder.path(), "sweep plan.toml");
    assert_eq!((changed["done"].as_u64(), changed["before"].as_u64()), (Some(8), Some(12)), "{changed}");
    let seeds = json(folder.path(), "sweep plan.toml --seeds 1..4");
    assert_eq!((seeds["done"].as_u64(), seeds["before"].as_u64()), (Some(20), Some(10)), "{seeds}");
}

#[test]
fn a_run_that_fails_is_kept_with_its_error_and_the_rest_goes_on() {
    let plan = r#"
[run]
epochs = 5
[[graphs]]
dataset = "synthetic:nodes=60,edges=200"
[[graphs]]
dataset = "nowhere/missing.graph"
[[methods]]
name = "wild"
method = "vanilla"
settings = { lr = 1e30 }
[[methods]]
name = "calm"
method = "vanilla"
"#;
    let folder = with_plan(plan);
    let ran = run(folder.path(), "sweep plan.toml --json");
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let counts = ["done", "failed", "no_data"].map(|name| told[name].as_u64());
    assert_eq!(counts, [Some(1), Some(1), Some(2)], "{told}");
    let failed = json(folder.path(), "runs list --where status=failed");
    assert!(failed[0]["error"].as_str().is_some_and(|error| error.contains("not finite")), "{failed}");
    let again = run(folder.path(), "sweep plan.toml --json");
    let told: Value = serde_json::from_str(&again.stdout).expect("JSON");
    assert_eq!(
        (told["failed"].as_u64(), told["before"].as_u64()),
        (Some(1), Some(1)),
        "not tried again: {told}"
    );
}

#[test]
fn runs_are_listed_filtered_compared_moved_and_removed() {
    let folder = with_plan(PLAN);
    json(folder.path(), "sweep plan.toml");
    let list = |conditions: &str| {
        let words = ["runs", "list", "--json", "--where", conditions, "--sort", "dataset,-seed"];
        let run = edgepace_in(folder.path(), words);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        serde_json::from_str::<Vec<Value>>(&run.stdout).expect("JSON")
    };
    assert_eq!(list("").len(), RUNS);
    let some = list("method=rcl seed<1 noise=fake=0.5");
    assert_eq!(some.len(), 2);
    assert!(some.iter().all(|row| row["seed"] == 0 && row["preset"] == "trust"), "{some:?}");
    assert_eq!(list("experiment=plan method!=rcl").len(), 12);
    assert_eq!(list("test>=101").len() + list("experiment=other").len(), 0);
    let order: Vec<u64> =
        list("method=vanilla noise= ").iter().filter_map(|row| row["seed"].as_u64()).collect();
    assert_eq!(order, [1, 0, 1, 0]);
    let compared = json(folder.path(), "runs compare --where method!=prune-overlap");
    assert_eq!(compared.as_array().map(Vec::len), Some(8), "2 graphs, 2 noises, 2 methods: {compared}");

    for file in ["all.jsonl", "all.parquet", "all.csv"] {
        assert_eq!(run(folder.path(), &format!("runs export {file}")).code, Some(0));
    }
    let imported = json(folder.path(), "runs import all.jsonl --store other.sqlite");
    assert_eq!(imported["added"].as_u64(), Some(RUNS as u64));
    assert_eq!(
        contents(&folder.path().join("edgepace.sqlite")),
        contents(&folder.path().join("other.sqlite"))
    );
    let goes_on = json(folder.path(), "sweep plan.toml --store other.sqlite");
    assert_eq!(goes_on["before"].as_u64(), Some(RUNS as u64), "what was imported is not run again");

    let removed = json(folder.path(), "runs remove --where method=rcl");
    assert_eq!(removed["removed"].as_u64(), Some(8));
    assert_eq!(list("").len(), RUNS - 8);
    assert_eq!(json(folder.path(), "sweep plan.toml")["done"].as_u64(), Some(8));
    assert_eq!(
        contents(&folder.path().join("edgepace.sqlite")),
        contents(&folder.path().join("other.sqlite"))
    );
}

#[test]
fn a_sweep_in_parts_comes_together_as_the_whole() {
    let folder = with_plan(PLAN);
    json(folder.path(), "sweep plan.toml --store whole.sqlite");
    // 2 graphs × 2 noises × 2 seeds: no run of the same data is in another part.
    let script = run(folder.path(), "sweep plan.toml --store all.sqlite --emit shell --parts 3");
    assert_eq!(script.code, Some(0), "{}", script.stderr);
    std::fs::write(folder.path().join("plan.sh"), &script.stdout).expect("written");
    let slurm = run(folder.path(), "sweep plan.toml --store all.sqlite --emit slurm --parts 3 --threads 2");
    std::fs::write(folder.path().join("plan.slurm"), &slurm.stdout).expect("written");
    for line in ["#SBATCH --array=1-3", "#SBATCH --cpus-per-task=2", "#SBATCH --job-name=plan"] {
        assert!(slurm.stdout.lines().any(|found| found == line), "{line} in {}", slurm.stdout);
    }
    let shell = |file: &str, part: &str| {
        let mut command = Command::new("sh");
        command.args([file, part]).env("EDGEPACE", env!("CARGO_BIN_EXE_edgepace")).current_dir(folder.path());
        let done = command.env("SLURM_ARRAY_TASK_ID", part).output().expect("sh");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    shell("plan.sh", "1");
    shell("plan.slurm", "2");
    shell("plan.sh", "3");
    let parts: Vec<String> = (1..=3).map(|part| format!("all.sqlite.parts/{part}.jsonl")).collect();
    let imported = json(folder.path(), &format!("runs import --store all.sqlite {}", parts.join(" ")));
    assert_eq!(imported["added"], RUNS);
    assert_eq!(contents(&folder.path().join("all.sqlite")), contents(&folder.path().join("whole.sqlite")));
    // More parts than there are groups of runs would be empty ones.
    let most = run(folder.path(), "sweep plan.toml --emit slurm --parts 100");
    assert!(most.stdout.contains("#SBATCH --array=1-8\n"), "{}", most.stdout);
    for (line, said) in [
        ("sweep plan.toml --part 9/9", "has 8 parts at most"),
        ("sweep plan.toml --part 0/3", "as `3/8`"),
        ("sweep plan.toml --part 4/3", "as `3/8`"),
        ("sweep plan.toml --address auto", "--engine ray"),
        ("sweep plan.toml --engine ray", "needs the Python package"),
    ] {
        let refused = run(folder.path(), line);
        assert_eq!(refused.code, Some(2), "{line}");
        assert!(refused.stderr.contains(said), "{line}: {}", refused.stderr);
    }
}

#[test]
fn files_are_kept_where_asked_for() {
    let folder = with_plan(PLAN);
    json(folder.path(), "sweep plan.toml --seeds 0 --keep edges,models,history");
    let rcl = json(folder.path(), "runs list --where method=rcl");
    let files = folder.path().join("edgepace.sqlite.d").join(rcl[0]["id"].as_str().expect("an id"));
    for name in ["edges.csv", "model.safetensors", "history.jsonl"] {
        assert!(files.join(name).is_file(), "{name}");
    }
    assert!(!files.join("checkpoint.safetensors").exists() && !files.join(".lock").exists());
}

#[test]
fn two_sweeps_share_a_store_and_a_reader_sees_it_meanwhile() {
    let plan = PLAN.replace("epochs = 8", "epochs = 60").replace("seeds = \"0..2\"", "seeds = \"0..4\"");
    let folder = with_plan(&plan);
    json(folder.path(), "sweep plan.toml --store whole.sqlite");
    let start = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_edgepace"));
        command.args("sweep plan.toml --store both.sqlite --json".split(' ')).current_dir(folder.path());
        command.stdout(Stdio::piped()).spawn().expect("the program starts")
    };
    let both = [start(), start()];
    let mut seen = 0;
    while seen < 2 {
        let list = run(folder.path(), "runs list --store both.sqlite --json");
        // It is made in the first moments.
        if list.code == Some(0) {
            seen = serde_json::from_str::<Vec<Value>>(&list.stdout).expect("JSON").len();
        }
    }
    let mut done = 0;
    for sweep in both {
        let output = sweep.wait_with_output().expect("it ends");
        assert!(output.status.success());
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(told["runs"].as_u64(), Some(2 * RUNS as u64));
        done += told["done"].as_u64().expect("a number");
    }
    assert_eq!(done, 2 * RUNS as u64, "each run is done by one of them");
    assert_eq!(contents(&folder.path().join("whole.sqlite")), contents(&folder.path().join("both.sqlite")));
}

#[test]
fn what_is_no_store_or_damaged_or_newer_is_refused_by_name_and_left_as_it_is() {
    let folder = with_plan(PLAN);
    let path = folder.path().join("s.sqlite");
    json(folder.path(), "sweep plan.toml --store s.sqlite --seeds 0");
    let refused = |what: &str| {
        let before = std::fs::read(&path).expect("a file");
        for line in ["sweep plan.toml --store s.sqlite", "runs list --store s.sqlite"] {
            let run = run(folder.path(), line);
            assert_eq!(run.code, Some(2), "{line}: {}", run.stdout);
            assert!(run.stderr.contains("s.sqlite") && run.stderr.contains(what), "{line}: {}", run.stderr);
        }
        assert!(std::fs::read(&path).expect("a file") == before, "{what}: it was changed");
    };
    let whole = std::fs::read(&path).expect("a file");
    let mut damaged = whole.clone();
    damaged[4096..16_384].fill(0xA5);
    std::fs::write(&path, &damaged).expect("written");
    refused("damaged");
    std::fs::write(&path, "some text that is no database, and long enough to be looked at".repeat(20))
        .expect("written");
    refused("no store");
    // The form of the store is at byte 60 of an SQLite file.
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&path, &newer).expect("written");
    refused("form 99");
    std::fs::write(&path, &whole).expect("written");
    assert_eq!(json(folder.path(), "runs list --store s.sqlite").as_array().map(Vec::len), Some(10));
}

#[test]
fn mistakes_in_a_plan_are_named_with_file_line_and_field() {
    let good = "[[graphs]]\ndataset = \"cora\"\n[[methods]]\nmethod = \"rcl\"\n";
    let mut all = String::new();
    for plan in [
        "seeds = \"0..0\"\n".to_owned() + good,
        "backbones = [\"gcn\", \"gni\"]\n".to_owned() + good,
        "noise = [\n  \"\",\n  \"fak=1\",\n]\n".to_owned() + good,
        "epochs = 5\n".to_owned() + good,
        "[run]\nepoch = 5\n".to_owned() + good,
        "[run]\nlr = 0\n".to_owned() + good,
        "[run]\nmethod = \"rcl\"\n".to_owned() + good,
        good.replace("cora", "coar"),
        good.replace("rcl", "rlc"),
        good.replace("\"rcl\"", "\"rcl\"\npreset = \"papre\""),
        good.replace("\"rcl\"", "\"rcl\"\nsettings = { perod = 3 }"),
        good.replace("\"rcl\"", "\"rcl\"\nsettings = { hidden = \"many\" }"),
        format!("backbones = [\"pna\"]\n{}", good.replace("rcl", "pro-gnn")),
        format!("{good}[[methods]]\nmethod = \"rcl\"\n"),
        format!("{good}[[limits]]\nmethod = \"RCl\"\nseeds = \"0\"\n"),
        format!("{good}[[limits]]\nmethod = \"rcl\"\n"),
        format!("{good}[[limits]]\nmetod = \"rcl\"\nskip = \"x\"\n"),
        "[[graphs]]\ndataset = \"cora\"\n".to_owned(),
        "graphs = []\n[[methods]]\nmethod = \"rcl\"\n".to_owned(),
        "[[graphs]\n".to_owned(),
    ] {
        let folder = with_plan(&plan);
        let refused = run(folder.path(), "sweep plan.toml --dry-run --offline");
        assert_eq!(refused.code, Some(2), "{plan}: {}", refused.stdout);
        assert!(!folder.path().join("edgepace.sqlite").exists(), "nothing is made for it");
        writeln!(all, "{}\n  {}", plan.trim(), refused.stderr.trim().replace('\n', "\n  ")).expect("text");
        all.push('\n');
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_page_of_options_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sweep-options.md");
    let page = run(tempdir().expect("a folder").path(), "sweep --options").stdout;
    if std::env::var_os("EDGEPACE_WRITE_OPTIONS").is_some() {
        std::fs::write(&path, &page).expect("written");
    }
    let kept = std::fs::read_to_string(&path).expect("a page");
    assert!(
        kept == page,
        "EDGEPACE_WRITE_OPTIONS=1 cargo test -p edgepace-cli --test cli options writes it anew"
    );
}

#[test]
fn the_schema_takes_the_plans_that_the_program_takes() {
    let schema: Value =
        serde_json::from_str(&run(tempdir().expect("a folder").path(), "sweep --schema").stdout)
            .expect("JSON");
    for key in ["graphs", "methods", "run", "limits", "seeds", "noise"] {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
    assert_eq!(schema["required"], serde_json::json!(["graphs", "methods"]));
    assert_eq!(schema["additionalProperties"], false);
}
