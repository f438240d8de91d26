//! Slips that people make, and what the program answers: which flag, what was found, what is legal or was meant. Exit code 2,
//! and nothing is written.

use std::fmt::Write as _;

use tempfile::tempdir;

use crate::program::edgepace_in;

const GRAPH: &str = "synthetic:nodes=200,edges=600";

#[test]
fn slips_are_answered_with_what_was_meant_and_leave_nothing_behind() {
    let mut all = String::new();
    for line in [
        // A name that is not there.
        "train coar --out run",
        "train sinthetic:homophily=0.3 --out run",
        "train --out run",
        "train GRAPH --method rlc --out run",
        "train GRAPH --method magic --out run",
        "train GRAPH --preset papper --out run",
        "train GRAPH --method vanilla --preset paper --out run",
        "train GRAPH --backbone gnc --out run",
        "train GRAPH --backbone mlp --out run",
        "train GRAPH --metric acuracy --out run",
        "train GRAPH --set hiden=64 --out run",
        "train GRAPH --set perod=5 --out run",
        "train GRAPH --set magic=5 --method vanilla --out run",
        "train synthetic:homophilly=0.3 --out run",
        "train GRAPH --noise fakes=1 --out run",
        "train GRAPH --split third --out run",
        "train GRAPH --split kfolds:5:0 --out run",
        "methods rlc",
        "methods vanila --json",
        "data info pubmde",
        "data export cors --out here",
        "data save blokcs:nodes=50 -o x.graph",
        // A flag that is not there, or a command.
        "train GRAPH --epoch 5 --out run",
        "train GRAPH --seeds 0..3 --job 2 --out run",
        "trian GRAPH --out run",
        "data inport --edges e.csv",
        // A value that it cannot have.
        "train GRAPH --epochs -5 --out run",
        "train GRAPH --epochs 1e3 --out run",
        "train GRAPH --lr -0.1 --out run",
        "train GRAPH --lr fast --out run",
        "train GRAPH --jobs -1 --out run",
        "train GRAPH --threads 0 --out run",
        "train GRAPH --seeds -1 --out run",
        "train GRAPH --seeds 3..1 --out run",
        "train GRAPH --memory-limit -4GB --out run",
        "train GRAPH --memory-limit 4gigs --out run",
        "train GRAPH --time-limit -3 --out run",
        "train GRAPH --checkpoint soon --out run",
        "train GRAPH --noise fake=-1 --out run",
        "train GRAPH --noise fake --out run",
        "train GRAPH --split fraction:0.9:0.5 --out run",
        "train GRAPH --split kfold:5:5 --out run",
        "train GRAPH --set hidden=many --out run",
        "train GRAPH --set hidden=0 --out run",
        "train GRAPH --set dropout=1 --out run",
        "train GRAPH --set features=fast --out run",
        "train GRAPH --set kernel=magic --out run",
        "train GRAPH --set hidden 64 --out run",
        "train synthetic:homophily=2 --out run",
        "data save GRAPH --seeds 0..2 -o x.graph",
        // What does not go together, or is missing.
        "train GRAPH --edges e.csv --out run",
        "train GRAPH --overwrite",
        "train GRAPH --resume run",
        "train GRAPH --quiet -v --out run",
        "train --config none.toml --out run",
        "train --resume nothing",
        "data save GRAPH",
        "data save GRAPH -o x.csv",
        "data save GRAPH -o no/folder/x.graph",
        "data export GRAPH",
        "man --out man1 --overwrit",
    ] {
        let folder = tempdir().expect("a folder");
        let words = line.replace("GRAPH", GRAPH);
        let run = edgepace_in(folder.path(), words.split(' '));
        assert_eq!((run.code, &run.stdout[..]), (Some(2), ""), "{line}: {}", run.stderr);
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0, "{line} left something behind");
        writeln!(all, "$ edgepace {line}\n{}", run.stderr).expect("text");
    }
    insta::assert_snapshot!(all);
}

#[test]
fn an_earlier_run_survives_a_slip_even_with_overwrite() {
    let folder = tempdir().expect("a folder");
    let run = |line: &str| edgepace_in(folder.path(), line.split(' '));
    assert_eq!(run(&format!("train {GRAPH} --method mlp --epochs 2 --out run")).code, Some(0));
    let files = || crate::folders::contents(&folder.path().join("run"));
    let before = files();
    for slip in ["coar", &format!("{GRAPH} --split half"), &format!("{GRAPH} --method rlc"), "no.graph"] {
        assert_eq!(run(&format!("train {slip} --out run --overwrite")).code, Some(2), "{slip}");
        assert_eq!(files(), before, "{slip}");
    }
}
