//! Noise does exactly what it says, and marks it.

use std::collections::BTreeSet;

use edgepace_data::{DataError, Noise};
use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, Labels, SparseFeatures, Split, Threads, UNLABELLED,
};
use proptest::prelude::*;

use crate::generate::{classes, made};

fn synthetic() -> Dataset {
    made("synthetic:nodes=500,edges=2000,homophily=0.5,seed=1")
}

fn noisy(dataset: &Dataset, noise: &str, seed: u64) -> Result<Dataset, DataError> {
    noise.parse::<Noise>()?.apply(&Threads::one(), dataset.clone(), Some("thirds"), seed)
}

fn refusal(dataset: &Dataset, noise: &str) -> String {
    noisy(dataset, noise, 0).unwrap_err().to_string()
}

/// All edges as (source, target).
fn edges(dataset: &Dataset) -> BTreeSet<(u32, u32)> {
    let graph = dataset.graph();
    graph.sources().iter().copied().zip(graph.targets()).collect()
}

/// The edges that are marked as fake.
fn fakes(dataset: &Dataset) -> BTreeSet<(u32, u32)> {
    let marks = dataset.edge_column(Dataset::FAKE).expect("marks");
    assert!(marks.iter().all(|&mark| mark == 0.0 || mark == 1.0));
    let graph = dataset.graph();
    let all = graph.sources().iter().copied().zip(graph.targets()).zip(marks);
    all.filter(|(_, mark)| **mark == 1.0).map(|(edge, _)| edge).collect()
}

fn is_symmetric(edges: &BTreeSet<(u32, u32)>) -> bool {
    edges.iter().all(|&(a, b)| edges.contains(&(b, a)))
}

#[test]
fn fake_edges_are_new_exact_in_number_and_marked_both_ways() {
    let clean = synthetic();
    let dirty = noisy(&clean, "fake=0.75", 3).unwrap();
    let (old, new, fake) = (edges(&clean), edges(&dirty), fakes(&dirty));
    assert_eq!((new.len(), fake.len()), (4000 + 3000, 3000));
    assert!(fake.is_disjoint(&old) && is_symmetric(&fake));
    assert_eq!(new, old.union(&fake).copied().collect());
    assert!(new.iter().all(|(a, b)| a != b));
    assert_eq!(dirty.name(), format!("{}+fake=0.75,seed=3", clean.name()));
    assert_eq!(dirty.graph().twins().map(<[u32]>::len), Some(7000));

    // The other column follows the old edges and is 0 for the new ones.
    let column = |dataset: &Dataset, (source, target)| {
        let edge = dataset.graph().edge_id(source, target).unwrap();
        dataset.edge_column(Dataset::PROBABILITY).unwrap()[edge as usize]
    };
    assert!(old.iter().all(|&edge| column(&dirty, edge) == column(&clean, edge)));
    assert!(fake.iter().all(|&edge| column(&dirty, edge) == 0.0));
    assert_eq!((clean.features(), clean.labels()), (dirty.features(), dirty.labels()));
}

#[test]
fn fake_edges_are_uniform_over_the_pairs_without_one() {
    // A path of 5 nodes has 6 other pairs.
    let graph = Graph::undirected(5, &[0, 1, 2, 3], &[1, 2, 3, 4]).unwrap();
    let features = Features::from(DenseFeatures::new(5, 0, vec![]).unwrap());
    let labels = Labels::from(Classes::new(2, vec![0; 5]).unwrap());
    let path = Dataset::new("path", graph, features, labels, vec![]).unwrap();
    for (noise, each) in [("fake=0.5", 2.0), ("fake=1", 4.0)] {
        let mut times = std::collections::BTreeMap::new();
        for seed in 0..3000 {
            for edge in fakes(&noisy(&path, noise, seed).unwrap()) {
                *times.entry(edge).or_insert(0.0) += 1.0;
            }
        }
        assert_eq!(times.len(), 12);
        let expected = 3000.0 * each / 6.0;
        assert!(times.values().all(|&n: &f64| (n - expected).abs() < 130.0), "{times:?}");
    }
    assert_eq!(noisy(&path, "fake=1.5", 0).unwrap().graph().edges(), 20);
    assert_eq!(
        refusal(&path, "fake=2"),
        "`noise: fake` is `8 edges to add`, expected at most 6, as many as there are pairs without one"
    );
}

#[test]
fn deletion_removes_its_share_of_pairs() {
    let clean = synthetic();
    let dirty = noisy(&clean, "delete=0.3", 0).unwrap();
    let (old, new) = (edges(&clean), edges(&dirty));
    assert_eq!(new.len(), 2800);
    assert!(new.is_subset(&old) && is_symmetric(&new));
    assert_eq!(dirty.edge_column(Dataset::FAKE), None);
    assert_eq!(noisy(&clean, "delete=1", 0).unwrap().graph().edges(), 0);
}

#[test]
fn dice_deletes_within_and_connects_across_classes() {
    let clean = synthetic();
    let dirty = noisy(&clean, "dice=0.25", 0).unwrap();
    let of = classes(&clean).of();
    let (old, new, fake) = (edges(&clean), edges(&dirty), fakes(&dirty));
    let gone: Vec<_> = old.difference(&new).collect();
    assert_eq!((gone.len(), fake.len(), new.len()), (500, 500, 4000));
    assert!(gone.iter().all(|(a, b)| of[*a as usize] == of[*b as usize]));
    assert!(fake.iter().all(|(a, b)| of[*a as usize] != of[*b as usize]));
    assert!(fake.is_disjoint(&old));
    // Only 1000 edges are within a class.
    let message = refusal(&clean, "dice=1.5");
    assert!(message.contains("1500 edges to remove") && message.contains("at most 1000"), "{message}");
}

#[test]
fn fakes_never_bring_back_what_was_deleted() {
    let clean = made("synthetic:nodes=40,edges=300,homophily=0.2,classes=4");
    let dirty = noisy(&clean, "delete=0.5,dice=0.2,fake=1", 5).unwrap();
    let (old, fake) = (edges(&clean), fakes(&dirty));
    assert_eq!(fake.len(), 2 * (30 + 300));
    assert!(fake.is_disjoint(&old));
    assert_eq!(dirty.graph().edges(), 2 * (300 - 150 - 30 + 330));
}

#[test]
fn flips_touch_training_labels_only_and_always_change_them() {
    let clean = synthetic();
    let split = clean.split("thirds").unwrap();
    let dirty = noisy(&clean, "flip=0.4", 2).unwrap();
    let (old, new) = (classes(&clean).of(), classes(&dirty).of());
    let changed: Vec<u32> = (0..500).filter(|&node| old[node as usize] != new[node as usize]).collect();
    assert_eq!(changed.len(), (0.4 * split.train().len() as f64).round() as usize);
    assert!(changed.iter().all(|node| split.train().binary_search(node).is_ok()));
    let targets: BTreeSet<u32> =
        changed.iter().map(|&node| (new[node as usize] + 10 - old[node as usize]) % 10).collect();
    assert_eq!(targets, (1..10).collect());

    let noise: Noise = "flip=0.4".parse().unwrap();
    let message = noise.apply(&Threads::one(), clean.clone(), None, 0).unwrap_err().to_string();
    assert!(message.contains("a split beside it"), "{message}");
    let message = noise.apply(&Threads::one(), clean, Some("halves"), 0).unwrap_err().to_string();
    assert!(message.contains("which has thirds"), "{message}");
}

#[test]
fn dense_features_get_noise_in_units_of_their_columns() {
    let clean = synthetic();
    let dirty = noisy(&clean, "perturb=0.5", 2).unwrap();
    let (Features::Dense(old), Features::Dense(new)) = (&**clean.features(), &**dirty.features()) else {
        panic!("dense features")
    };
    for column in 0..2 {
        let deviation = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / 500.0;
            (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 500.0).sqrt()
        };
        let old: Vec<f64> = old.values().iter().skip(column).step_by(2).map(|&x| x.into()).collect();
        let new: Vec<f64> = new.values().iter().skip(column).step_by(2).map(|&x| x.into()).collect();
        let noise: Vec<f64> = new.iter().zip(&old).map(|(new, old)| new - old).collect();
        let ratio = deviation(&noise) / deviation(&old);
        assert!((ratio - 0.5).abs() < 0.07, "{ratio}");
    }
}

#[test]
fn sparse_features_move_to_columns_that_were_empty() {
    let (rows, cols) = (50, 40);
    let mut offsets = vec![0];
    let mut columns = Vec::new();
    for row in 0..rows {
        // From empty to full rows.
        columns.extend((0..cols as u32).filter(|column| (column * 7 + row) % 49 < row));
        offsets.push(columns.len());
    }
    let values: Vec<f32> = (0..columns.len()).map(|position| 1.0 + position as f32).collect();
    let old = SparseFeatures::new(rows as usize, cols, offsets, columns, values).unwrap();
    let graph = Graph::undirected(50, &[], &[]).unwrap();
    let labels = Labels::from(Classes::new(1, vec![0; 50]).unwrap());
    let clean = Dataset::new("words", graph, Features::from(old.clone()), labels, vec![]).unwrap();
    let dirty = noisy(&clean, "perturb=0.3", 9).unwrap();
    let Features::Sparse(new) = &**dirty.features() else { panic!("sparse features") };
    assert_eq!(new.offsets(), old.offsets());
    for row in 0..50 {
        let range = old.offsets()[row]..old.offsets()[row + 1];
        let (before, after) = (&old.columns()[range.clone()], &new.columns()[range.clone()]);
        let moved = after.iter().filter(|column| !before.contains(column)).count();
        let share = (0.3 * before.len() as f64).round() as usize;
        assert_eq!(moved, share.min(cols - before.len()), "row {row}");
        let sum = |features: &SparseFeatures| features.values()[range.clone()].iter().sum::<f32>();
        assert_eq!(sum(new), sum(&old));
    }
    assert!(refusal(&clean, "perturb=1.5").contains("a share from 0 to 1"));
}

#[test]
fn noise_is_the_same_everywhere_and_differs_by_seed() {
    let clean = synthetic();
    let noise = "fake=1,delete=0.1,dice=0.2,flip=0.05,perturb=0.1";
    for threads in [1, 2, 8] {
        let (threads, noise) = (Threads::new(threads).unwrap(), noise.parse::<Noise>().unwrap());
        let checksum = noise.apply(&threads, clean.clone(), Some("thirds"), 7).unwrap().checksum();
        assert_eq!(
            checksum,
            "e2ef5d9e5620be559bd78e3894d5796f5e82b0e8695fa3b44aaeb69e4d0d2eba",
            "{} threads",
            threads.count()
        );
    }
    let own_seed = noisy(&clean, &format!("{noise},seed=7"), 1).unwrap();
    assert_eq!(own_seed, noisy(&clean, noise, 7).unwrap());
    assert_ne!(own_seed.checksum(), noisy(&clean, noise, 8).unwrap().checksum());
}

#[test]
fn noise_is_written_in_one_way() {
    let noise: Noise = "perturb=0.10, fake=1.0,seed=7".parse().unwrap();
    assert_eq!(noise.to_string(), "fake=1,perturb=0.1,seed=7");
    assert_eq!(noise.record(3), "fake=1,perturb=0.1,seed=7");
    assert_eq!("dice=0.2".parse::<Noise>().unwrap().record(3), "dice=0.2,seed=3");
    assert_eq!("fake=0".parse::<Noise>().unwrap().record(3), "");
    let message = "fakes=1".parse::<Noise>().unwrap_err().to_string();
    assert_eq!(message, "`noise` is `fakes`, expected one of its keys: did you mean `fake`?");
    assert!("delete=1.5".parse::<Noise>().unwrap_err().to_string().contains("from 0 to 1"));
    // Nothing to do leaves everything as it is.
    let clean = synthetic();
    assert_eq!(noisy(&clean, "", 4).unwrap(), clean);
}

/// A small graph of any kind, with a value per edge that tells its ends.
fn any_dataset() -> impl Strategy<Value = Dataset> {
    let lists = (3_u32..12).prop_flat_map(|nodes| {
        let ends = proptest::collection::vec((0..nodes, 0..nodes), 0..40);
        let class = prop_oneof![9 => 0_u32..3, 1 => Just(UNLABELLED)];
        (Just(nodes as usize), ends, proptest::collection::vec(class, nodes as usize), any::<bool>())
    });
    lists.prop_map(|(nodes, ends, of, directed)| {
        let (a, b): (Vec<u32>, Vec<u32>) = ends.into_iter().unzip();
        let make = if directed { Graph::from_edges } else { Graph::undirected };
        let graph = make(nodes, &a, &b).unwrap();
        let column: Vec<f32> =
            graph.sources().iter().zip(graph.targets()).map(|(&s, t)| (100 * s + t + 1) as f32).collect();
        let labelled = of.iter().position(|&class| class != UNLABELLED);
        let train =
            labelled.map(|node| Split::new("thirds", nodes, vec![node as u32], vec![], vec![]).unwrap());
        let features = Features::from(DenseFeatures::new(nodes, 1, vec![0.5; nodes]).unwrap());
        let labels = Labels::from(Classes::new(3, of).unwrap());
        let dataset = Dataset::new("any", graph, features, labels, train.into_iter().collect()).unwrap();
        dataset.with_edge_column(Dataset::WEIGHT, column).unwrap()
    })
}

proptest! {
    #[test]
    fn counts_marks_and_columns_hold_on_any_graph(
        clean in any_dataset(),
        delete in 0.0_f64..=1.0,
        dice in 0.0_f64..0.6,
        fake in 0.01_f64..1.5,
        seed: u64,
    ) {
        let noise = Noise { delete, dice, fake, ..Noise::default() };
        if let Ok(dirty) = noise.apply(&Threads::one(), clean.clone(), None, seed) {
            let (old, new, fakes) = (edges(&clean), edges(&dirty), fakes(&dirty));
            let symmetric = clean.graph().twins().is_some();
            let ways = if symmetric { 2 } else { 1 };
            let edges = old.len() / ways;
            let amount = |share: f64| (share * edges as f64).round() as usize;
            let (budget, inside) = (amount(dice), amount(dice) / 2);
            prop_assert_eq!(fakes.len(), ways * (amount(fake) + budget - inside));
            prop_assert_eq!(new.len(), ways * (edges - amount(delete) - inside) + fakes.len());
            prop_assert!(fakes.is_disjoint(&old));
            prop_assert!(!symmetric || (is_symmetric(&new) && is_symmetric(&fakes)));
            let graph = dirty.graph();
            let rebuilt = Graph::from_edges(graph.nodes(), graph.sources(), &graph.targets()).unwrap();
            prop_assert_eq!(&rebuilt, &**graph);
            let weights = dirty.edge_column(Dataset::WEIGHT).unwrap();
            for (edge, (&source, target)) in graph.sources().iter().zip(graph.targets()).enumerate() {
                let weight = |(source, target): (u32, u32)| (100 * source + target + 1) as f32;
                if !fakes.contains(&(source, target)) {
                    prop_assert_eq!(weights[edge], weight((source, target)));
                    continue;
                }
                // A fake edge weighs as much as some edge of the graph before, and so does its twin as that one's.
                let drawn = old.iter().find(|&&ends| weight(ends) == weights[edge]);
                prop_assert!(drawn.is_some());
                if let (true, Some(twins), Some(&(a, b))) = (symmetric, graph.twins(), drawn) {
                    prop_assert_eq!(weights[twins[edge] as usize], weight((b, a)));
                }
            }
            let again = noise.apply(&Threads::one(), clean.clone(), None, seed).unwrap();
            prop_assert_eq!(again.edge_column(Dataset::WEIGHT), dirty.edge_column(Dataset::WEIGHT));
        }
    }
}
