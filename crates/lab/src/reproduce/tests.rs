use super::*;

#[test]
fn every_plan_can_be_run_whole_and_quick_and_has_the_cells_of_the_paper() {
    for reproduction in REPRODUCTIONS {
        let name = reproduction.name;
        let whole = reproduction.experiment(false, None).unwrap();
        assert_eq!(whole.name, name);
        assert!(whole.runs() > 0, "{name}");
        let quick = reproduction.experiment(true, None).unwrap();
        assert!(quick.runs() > 0 && quick.runs() < whole.runs(), "{name}: {}", quick.runs());
        // Every figure of the paper has its cell, run or skipped with a reason.
        let table =
            reproduction.table(&Results::of_runs(&whole, &[], &store(), reproduction.measure).unwrap());
        let known = table.cells.iter().filter(|cell| cell.paper.is_some()).count();
        assert_eq!(known, paper::count(name), "{name}");
    }
}

fn store() -> crate::store::Store {
    let folder = tempfile::tempdir().unwrap();
    crate::store::Store::open(&folder.path().join("empty.sqlite")).unwrap()
}

/// Tables of scores have the rows that say what a gain is worth.
#[test]
fn tables_have_the_rows_that_honesty_asks_for() {
    for name in ["table1", "table2", "robustness", "ablation", "heterophily", "pna", "pna-robustness"] {
        for quick in [false, true] {
            let experiment = find_reproduction(name).unwrap().experiment(quick, None).unwrap();
            for method in ["mlp", "random", "drop-edge", "prune-features", "prune-overlap", "auto"] {
                let has = experiment.cells.iter().any(|cell| {
                    let asked = cell.run.asked();
                    asked.method == method || asked.preset.as_deref() == Some(method)
                });
                assert!(has, "{name} {method}");
            }
        }
    }
}

#[test]
fn given_seeds_are_counted_from_the_first_of_the_plan_and_limits_stay() {
    let three: Seeds = "0..3".parse().unwrap();
    let time = find_reproduction("time").unwrap().experiment(false, Some(&three)).unwrap();
    assert!(time.cells.iter().any(|cell| cell.seeds == [100, 101, 102]));
    let table = find_reproduction("table1").unwrap().experiment(false, Some(&three)).unwrap();
    let dense = table.cells.iter().find(|cell| cell.method == "ProGNN").unwrap();
    assert_eq!(dense.seeds, [0]);
}
