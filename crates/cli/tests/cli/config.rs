//! `config.toml`: the whole recipe of a run, which alone repeats it.

use std::fmt::Write as _;
use std::path::Path;

use tempfile::{TempDir, tempdir};

use crate::folders::assert_same;
use crate::program::{Run, edgepace_in};
use crate::train::GRAPH;

fn run(folder: &Path, line: &str) -> Run {
    edgepace_in(folder, line.split(' '))
}

fn done(folder: &Path, line: &str) -> Run {
    let run = run(folder, line);
    assert_eq!(run.code, Some(0), "{line}: {}", run.stderr);
    run
}

/// A folder with a graph of two tables, whose columns have names of their own.
fn tables() -> TempDir {
    let folder = tempdir().expect("a folder");
    let (mut edges, mut nodes) = ("from,to,strength\n".to_owned(), "who,kind,x,y\n".to_owned());
    for node in 0..40 {
        let (kind, x) = (["red", "blue"][node % 2], node % 2 * 3 + node % 5);
        writeln!(nodes, "n{node},{kind},{x},{}", node % 7).expect("text");
        writeln!(edges, "n{node},n{},{}", (node + 2) % 40, 1 + node % 3).expect("text");
    }
    std::fs::write(folder.path().join("e.csv"), edges).expect("written");
    std::fs::write(folder.path().join("n.csv"), nodes).expect("written");
    folder
}

#[test]
fn the_config_alone_repeats_a_run_to_the_same_bits() {
    for arguments in [
        format!("{GRAPH} --epochs 12 --seeds 3,0..2"),
        format!(
            "{GRAPH} --noise fake=0.5,flip=0.1 --split kfold:5:1 --epochs 8 --backbone sage --set period=3"
        ),
        format!(
            "{GRAPH},seed=4 --preset cosine --epochs 8 --set hidden=9 --set features=rows --metric macro-f1"
        ),
        format!("{GRAPH} --method auto --epochs 5"),
        format!("{GRAPH} --method clnode --search --epochs 4"),
        format!("{GRAPH} --method prune-overlap --epochs 4"),
        format!("{GRAPH} --method mlp --epochs 4 --set patience=2"),
        format!("{GRAPH} --method rcl-no-confidence --epochs 4"),
        format!("{GRAPH} --method pro-gnn-sparse --epochs 3"),
    ] {
        let folder = tempdir().expect("a folder");
        done(folder.path(), &format!("train {arguments} --out one"));
        done(folder.path(), "train --config one/config.toml --out two");
        assert_same(&folder.path().join("one"), &folder.path().join("two"));
    }
}

#[test]
fn own_files_are_in_it_with_all_that_was_said_about_them_and_found_from_any_folder() {
    let folder = tables();
    let import = "--edges e.csv --nodes n.csv --source from --target to --id who --label kind --feature-columns x,y --directed --name mine";
    done(folder.path(), &format!("train {import} --epochs 4 --out one"));
    let elsewhere = tempdir().expect("a folder");
    let config = folder.path().join("one/config.toml");
    done(elsewhere.path(), &format!("train --config {} --out two", config.display()));
    assert_same(&folder.path().join("one"), &elsewhere.path().join("two"));
}

#[test]
fn flags_count_more_than_the_file_and_a_file_of_settings_alone_still_reads() {
    let folder = tempdir().expect("a folder");
    done(folder.path(), &format!("train {GRAPH} --noise fake=1 --epochs 6 --seeds 1,4 --out one"));
    done(folder.path(), "train --config one/config.toml --seeds 1 --epochs 3 --noise delete=0.1 --out two");
    let text = std::fs::read_to_string(folder.path().join("two/config.toml")).expect("a file");
    for part in ["seeds = \"1\"", "epochs = 3", "noise = \"delete=0.1\"", "dataset = \"synthetic:"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // As it was written before it held the dataset.
    let old = "backbone = 'gcn'\nmethod = 'rcl'\nepochs = 5\n\n[settings]\nperiod = 2\n";
    std::fs::write(folder.path().join("old.toml"), old).expect("written");
    done(folder.path(), &format!("train {GRAPH} --config old.toml --out three"));
    let text = std::fs::read_to_string(folder.path().join("three/config.toml")).expect("a file");
    assert!(text.contains("epochs = 5") && text.contains("period = 2"), "{text}");
    // Another dataset than the file's own.
    let other = "synthetic:nodes=100,edges=300";
    done(folder.path(), &format!("train {other} --config one/config.toml --seeds 0 --out four"));
    let text = std::fs::read_to_string(folder.path().join("four/config.toml")).expect("a file");
    assert!(text.contains(other), "{text}");
}

#[test]
fn what_is_wrong_in_it_is_named_with_file_line_and_field() {
    let folder = tempdir().expect("a folder");
    let mut all = String::new();
    for text in [
        "dataset = 'cora'\n[run]\nepochs = 'many'\n",
        "dataset = 'cora'\n\n[run]\nepoch = 3\n",
        "dataset = 'cora'\n[run]\nmethod = 'rlc'\n",
        "dataset = 'cora'\n[run]\nepochs = 0\n",
        "dataset = 'cora'\n[run.settings]\nperid = 3\n",
        "dataset = 'cora'\n[run.settings]\nkernel = 'magic'\n",
        "dataset = 'cora'\nnoise = 'fak=1'\n",
        "dataset = 'cora'\nseeds = '3..1'\n",
        "dataset = 'cora'\nseeds = [1, 1]\n",
        "dataset = 'cora'\nsplit = 'kfold:2:0'\n",
        "dataset = 'cora'\n[run]\nbackbone = 'cnn'\n",
        "datset = 'cora'\n[run]\n",
        "epochs = 3\nhidden = 'x'\n",
        "dataset = 'cora\n",
        "[run]\nepochs = 3\n",
        "dataset = 'cora'\n[files]\nedges = 'e.csv'\nlabels = 'x'\n",
    ] {
        std::fs::write(folder.path().join("c.toml"), text).expect("written");
        let refused = run(folder.path(), "train --config c.toml --out run");
        assert_eq!((refused.code, &refused.stdout[..]), (Some(2), ""), "{text}");
        assert!(!folder.path().join("run").exists(), "{text}");
        writeln!(all, "{text}  {}", refused.stderr).expect("text");
    }
    insta::assert_snapshot!(all);
}
