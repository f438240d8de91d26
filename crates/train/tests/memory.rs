//! What a run says that it needs is what it takes.

#[path = "../../graph/tests/shared/counting.rs"]
mod counting;

use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, SparseFeatures, Split};
use edgepace_nn::{Backbone, Threads};
use edgepace_train::{METHODS, Material, Run, RunConfig, Shelf};

/// How far an estimate may be from what is allocated.
const TOLERANCE: f64 = 0.15;

/// Numbers that look random.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

/// A graph with that many nodes, four edges per node, and five classes.
fn dataset(name: &str, nodes: usize, features: Features) -> (Dataset, Split) {
    let mut draw = Draw(1);
    let mut ends = || (0..4 * nodes).map(|_| draw.below(nodes) as u32).collect::<Vec<u32>>();
    let make = if name == "directed" { Graph::from_edges } else { Graph::undirected };
    let graph = make(nodes, &ends(), &ends()).unwrap();
    let labels = Labels::from(Classes::new(5, (0..nodes).map(|node| (node % 5) as u32).collect()).unwrap());
    let part = |rest| (0..nodes as u32).filter(|node| node % 3 == rest).collect();
    let split = Split::new("thirds", nodes, part(0), part(1), part(2)).unwrap();
    (Dataset::new(name, graph, features, labels, vec![split.clone()]).unwrap(), split)
}

/// Bags of words: `words` of `columns` in each row.
fn sparse(rows: usize, columns: usize, words: usize) -> Features {
    let step = columns / words;
    let mut draw = Draw(2);
    let places = (0..rows * words).map(|at| ((at % words) * step + draw.below(step)) as u32).collect();
    let offsets = (0..=rows).map(|row| row * words).collect();
    SparseFeatures::new(rows, columns, offsets, places, vec![1.0; rows * words]).unwrap().into()
}

fn dense(rows: usize, columns: usize) -> Features {
    let mut draw = Draw(3);
    let values = (0..rows * columns).map(|_| draw.below(1000) as f32 / 500.0 - 1.0).collect();
    DenseFeatures::new(rows, columns, values).unwrap().into()
}

fn config(settings: &str) -> RunConfig {
    let mut config = RunConfig { epochs: 2, hidden: Some(16), ..RunConfig::default() };
    for setting in settings.split(' ') {
        let (key, value) = setting.split_once('=').unwrap();
        config.set(key, value).unwrap();
    }
    config
}

/// Estimate and what is allocated at most, beside dataset and material.
fn compared((dataset, split): &(Dataset, Split), settings: &str) -> (f64, f64) {
    let (material, judge) = Material::new(dataset, split).unwrap();
    let spec = config(settings).check().unwrap().spec(&material, 1).unwrap();
    let estimate = spec.needed_bytes(&material) as f64;
    let threads = Threads::new(1).unwrap();
    let train = || {
        let mut run = Run::start(spec, &material, &Shelf::new(), &threads).unwrap();
        while run.advance().unwrap().is_some() {}
        run.finish(&judge, None).unwrap()
    };
    let (_, taken) = counting::peak_bytes(train);
    (estimate, taken as f64)
}

/// Every method with every backbone that it works with, and every preset of the curriculum: with updates every second epoch
/// all of its edges are in at the last of five.
fn every_method() -> Vec<String> {
    let mut all = Vec::new();
    for method in METHODS {
        let name = method.name;
        for backbone in Backbone::ALL.map(Backbone::name) {
            if !method.backbones.contains(&backbone) || (name == "mlp" && backbone != "mlp") {
                continue;
            }
            let plain = format!("method={name} backbone={backbone}");
            match name {
                "rcl" => {
                    let single = method.presets.iter().filter(|preset| **preset != "auto");
                    let with = |preset: &&str| format!("{plain} preset={preset} period=2 epochs=5");
                    all.extend(single.map(with));
                }
                "auto" => all.push(format!("{plain} epochs=5")),
                _ if !method.presets.is_empty() => all.push(format!("{plain} period=2 epochs=5")),
                "pro-gnn" | "pro-gnn-sparse" => {
                    all.push(format!("{plain} inner=1 nuclear_every=1 rank=8"));
                }
                // Chosen among ten, which for one backbone is enough.
                "prune-features" | "prune-overlap" if backbone != "gcn" => {
                    all.push(format!("{plain} drop=0.3"));
                }
                "drop-edge" if backbone != "gcn" => all.push(format!("{plain} rate=0.3")),
                "gnn-svd" => all.push(format!("{plain} rank=20")),
                "ptdnet" => all.push(format!("{plain} rank_period=1 epochs=5")),
                _ => all.push(plain),
            }
        }
    }
    all
}

#[test]
fn estimates_are_close_to_what_is_allocated() {
    let mut off = Vec::new();
    let mut check = |data: &(Dataset, Split), settings: &str| {
        let (estimate, taken) = compared(data, settings);
        let ratio = estimate / taken;
        let line = format!("{ratio:.3} of {taken:e} bytes: {} {settings}", data.0.name());
        println!("{line}");
        if (ratio - 1.0).abs() > TOLERANCE {
            off.push(line);
        }
    };
    let words = dataset("words", 800, sparse(800, 240, 20));
    let numbers = dataset("numbers", 1200, dense(1200, 24));
    // PNA takes 13 · columns · hidden products per node, and Pro-GNN nodes².
    let few_words = dataset("few words", 400, sparse(400, 40, 10));
    let few_numbers = dataset("few numbers", 400, dense(400, 20));
    // The library that finds eigenvectors takes 4 MB for itself the first time, which are no run's.
    compared(&few_numbers, "method=gnn-svd");
    for settings in every_method() {
        let few = settings.contains("backbone=pna") || settings.contains("method=pro-gnn ");
        check(if few { &few_words } else { &words }, &settings);
        check(if few { &few_numbers } else { &numbers }, &settings);
    }
    // Graphs without twins, dense features that are mapped first, more hidden units than outputs and columns.
    let directed = dataset("directed", 1000, dense(1000, 60));
    for settings in [
        "method=vanilla backbone=gcn",
        "method=vanilla backbone=gin",
        "method=vanilla backbone=sage",
        "method=vanilla ground=strong epochs=25",
        "method=vanilla ground=strong input_dropout=0.5 epochs=25",
        "method=vanilla backbone=sage ground=strong epochs=25",
        "method=rcl ground=strong period=2 epochs=25",
        "method=rcl preset=paper period=2 epochs=5",
        "method=neural-sparse",
        "method=ptdnet",
        "method=prune-overlap drop=0.3",
        "method=drop-edge rate=0.3",
        "method=gnn-svd rank=20",
    ] {
        check(&directed, settings);
    }
    // Edges that weigh something, another in each direction.
    let (plain, split) = dataset("weighted", 1000, dense(1000, 24));
    let weights: Vec<f32> = (0..plain.graph().edges()).map(|edge| (1 + edge % 9) as f32 / 9.0).collect();
    let weighted = (plain.with_edge_column(Dataset::WEIGHT, weights).unwrap(), split);
    for settings in [
        "method=vanilla backbone=gcn",
        "method=vanilla backbone=gin",
        "method=vanilla pseudo_labels=0.5",
        "method=rcl period=2 epochs=5",
        "method=neural-sparse",
        "method=ptdnet rank_period=1 epochs=5",
        "method=prune-overlap drop=0.3",
        "method=drop-edge rate=0.3",
        "method=gnn-svd rank=20",
        "method=clnode",
        "method=pro-gnn-sparse inner=1 nuclear_every=1 rank=8",
    ] {
        check(&weighted, settings);
    }
    check(&words, "method=vanilla ground=strong layer_norm=true hidden=64 epochs=25");
    // Columns for the number of words: few of them, and numbers that are none.
    check(&dataset("short rows", 800, sparse(800, 240, 8)), "method=auto features=counts epochs=5");
    check(&numbers, "method=vanilla features=counts");
    check(&numbers, "method=vanilla backbone=gcn hidden=256");
    check(&words, "method=rcl preset=edgepace backbone=gcn hidden=128 period=2 epochs=5");
    // Features that the run makes, and such that are stored otherwise than they came.
    let none = dataset("none", 3000, DenseFeatures::new(3000, 0, Vec::new()).unwrap().into());
    for settings in [
        "method=vanilla",
        "method=rcl period=2 epochs=5 pseudo_labels=0",
        "method=vanilla pseudo_labels=0.5",
        "method=vanilla features_from=spectral",
        "method=vanilla features_from=spectral hidden=256",
        "method=vanilla features_from=degree",
    ] {
        check(&none, settings);
    }
    let mut half = vec![0.0; 2000 * 16];
    half[..1000 * 16].iter_mut().enumerate().for_each(|(at, x)| *x = (at % 7) as f32 - 2.0);
    check(&dataset("half", 2000, DenseFeatures::new(2000, 16, half).unwrap().into()), "method=vanilla");
    // The parts that can grow beyond what there is.
    let small = dataset("small", 1200, dense(1200, 16));
    for settings in [
        "method=pro-gnn nuclear_every=1 rank=8",
        "method=pro-gnn nuclear_every=1 rank=8 exact=true",
        "method=pro-gnn nuclear_every=1 rank=8 search=true",
        "method=pro-gnn-sparse neighbours=100 inner=1 nuclear_every=1",
        "method=pro-gnn-sparse neighbours=0 rank=300 inner=1 nuclear_every=1",
        "method=gnn-svd density=1 rank=300",
        "method=gnn-svd density=60 rank=10",
    ] {
        check(&small, &format!("{settings} hidden=16 epochs=2"));
    }
    assert!(off.is_empty(), "{off:#?}");
}
