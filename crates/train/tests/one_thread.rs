//! A budget of one thread is kept by everything: no thread is started behind its back, neither by a pool of rayon's own
//! nor by a library. The only test of this binary, because the threads of the whole process are counted.

use std::fmt::Write;

use edgepace_data::import::{Import, import};
use edgepace_data::native::{Native, save};
use edgepace_data::{Noise, SplitRule, generate, splits};
use edgepace_graph::{Dataset, Graph, Threads};
use edgepace_train::{Audit, METHODS, RunConfig, Silent, train};

/// Edges from which on several threads would share the making of a graph, and some more.
const MANY: u32 = (1 << 20) + 1000;

/// Threads of this process.
fn running() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let count = status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap();
    count.trim().parse().unwrap()
}

/// A large file of edges, read, damaged, stored and opened again.
fn large(threads: &Threads) -> Dataset {
    let mut text = String::from("source,target\n");
    for edge in 0..MANY {
        writeln!(text, "{},{}", edge % 50_021, edge.wrapping_mul(2_654_435_761) % 50_021).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let (table, file) = (folder.path().join("edges.csv"), folder.path().join("edges.graph"));
    std::fs::write(&table, text).unwrap();
    let dataset = import(threads, &Import::file(&table), &|_, _| {}).unwrap().dataset;
    let dataset = "delete=0.01,fake=0.01".parse::<Noise>().unwrap().apply(threads, dataset, None, 1).unwrap();
    save(threads, &dataset, &file).unwrap();
    let native = Native::open(&file).unwrap();
    native.verify(threads).unwrap();
    native.dataset().unwrap()
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "threads are counted in /proc, which only Linux has")]
fn one_thread_stays_one() {
    let (threads, before) = (Threads::new(1).unwrap(), running());
    let check = |what: &str| assert_eq!(running(), before, "{what}");

    let many = large(&threads);
    check("import, noise and a graph file");
    let graph = many.graph();
    Graph::from_edges(graph.nodes(), graph.sources(), &graph.targets()).unwrap().select(|edge| edge % 9 > 0);
    check("a large graph");

    let clean = generate(&threads, "synthetic:nodes=300,edges=1500,classes=5").unwrap().unwrap();
    for name in ["blocks:nodes=3000,edges=20000", "scale-free:nodes=3000,edges=20000"] {
        generate(&threads, name).unwrap();
    }
    let split = splits::make(&threads, &SplitRule::standard(&clean, 1), &clean, 1).unwrap();
    let clean = clean.with_splits(vec![split.clone()]).unwrap();
    let noise: Noise = "fake=0.5,dice=0.1,flip=0.1,perturb=0.1".parse().unwrap();
    let dataset = noise.apply(&threads, clean, Some(split.name()), 1).unwrap();
    check("generators, a split and noise");

    for method in METHODS {
        let config =
            RunConfig { method: method.name.into(), epochs: 3, hidden: Some(16), ..RunConfig::default() };
        let trained = train(&dataset, &split, &config, 1, &threads, &mut Silent).unwrap();
        if let Some(report) = &trained.edges {
            Audit::new(&threads, &dataset, report).unwrap();
        }
        check(method.name);
    }

    // The count sees threads where there are any.
    let two = Threads::new(2).unwrap();
    two.run(|| ());
    assert_eq!(running(), before + 2);
}
