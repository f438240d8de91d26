//! What edges weigh in the dataset is honoured by every method, in training and evaluation, or refused by name.

use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, Split, Threads};
use edgepace_train::{
    Audit, EdgeFile, EdgeTable, Finished, METHODS, Material, RunConfig, Silent, TableFormat, find_method,
    train,
};

use crate::sets::{circle, config, every_method, small, trained, weighted};

type Set = (Dataset, Split);

fn set() -> Set {
    circle("homophily=0.5,nodes=60,edges=300,classes=3", 1)
}

/// The same without validation nodes: the last epoch counts, when every edge is in.
fn without_validation() -> Set {
    let (dataset, split) = set();
    let train = [split.train(), split.validation()].concat();
    let all = Split::new("all", split.nodes(), train, vec![], split.test().to_vec()).unwrap();
    (dataset, all)
}

fn with_weights((dataset, split): &Set, weight: impl Fn(usize) -> f32) -> Set {
    let graph = dataset.graph();
    let of = |edge: usize| graph.twins().map_or(edge, |twins| edge.min(twins[edge] as usize));
    let weights: Vec<f32> = (0..graph.edges()).map(|edge| weight(of(edge))).collect();
    (dataset.clone().with_edge_column(Dataset::WEIGHT, weights).unwrap(), split.clone())
}

/// A config whose curriculum, if it has one, lets edges in before its last epoch.
fn with_edges(method: &str, backbone: &str) -> RunConfig {
    let mut config = config(&[("method", method), ("backbone", backbone), ("epochs", "10")]);
    let settings = find_method(method).unwrap().settings;
    if settings.iter().any(|setting| setting.name == "period") {
        config.set("period", "3").unwrap();
    }
    config
}

fn same(one: &Finished, other: &Finished) -> bool {
    one.snapshot.parameters == other.snapshot.parameters
        && one.snapshot.logits == other.snapshot.logits
        && one.record.result.id == other.record.result.id
}

#[test]
fn every_method_honours_weights_on_each_of_its_backbones() {
    let (plain, weighted) = (without_validation(), weighted(without_validation()));
    for method in METHODS {
        for backbone in method.backbones {
            let config = with_edges(method.name, backbone);
            let (without, with) = (trained(&plain, &config, 1), trained(&weighted, &config, 1));
            // These look at the neighbours of a node even where the model does not.
            let looks = ["clnode", "belief", "label-propagation"].contains(&method.name);
            let no_edges = method.name == "mlp" || (*backbone == "mlp" && !looks);
            let equal = without.snapshot.logits == with.snapshot.logits;
            assert_eq!(equal, no_edges, "{} {backbone}", method.name);
            // Other data, another run, whether or not it comes out the same.
            assert_ne!(without.record.result.id, with.record.result.id, "{} {backbone}", method.name);
        }
    }
}

#[test]
fn weights_of_one_change_neither_bits_nor_checksum_nor_id() {
    let plain = set();
    let ones = with_weights(&plain, |_| 1.0);
    assert_eq!(plain.0.checksum(), ones.0.checksum());
    assert!(ones.0.weights().is_none());
    for config in every_method() {
        assert!(same(&trained(&plain, &config, 1), &trained(&ones, &config, 1)), "{}", config.method);
    }
}

#[test]
fn an_edge_of_weight_zero_is_no_edge_to_the_bit() {
    let (dataset, split) = weighted(set());
    let gone = |edge: usize| edge % 5 == 2;
    let weights = dataset.edge_column(Dataset::WEIGHT).unwrap();
    let zeroed =
        with_weights(&(dataset.clone(), split.clone()), |edge| if gone(edge) { 0.0 } else { weights[edge] });
    let twins = dataset.graph().twins().unwrap();
    let kept = dataset.graph().select(|edge| !gone(edge.min(twins[edge] as usize)));
    let left: Vec<f32> = kept.edge_of.iter().map(|&edge| weights[edge as usize]).collect();
    assert!(left.len() < weights.len() && kept.graph.twins().is_some());
    let without = dataset.clone().with_graph(kept.graph).unwrap();
    let without = (without.with_edge_column(Dataset::WEIGHT, left).unwrap(), split);
    assert_eq!(zeroed.0.checksum(), without.0.checksum());
    for config in every_method() {
        let (one, other) = (trained(&zeroed, &config, 1), trained(&without, &config, 1));
        assert!(same(&one, &other), "{}", config.method);
        let of = |finished: &Finished| finished.edges.as_ref().map(|edges| edges.weight.clone());
        assert_eq!(of(&one), of(&other), "{}", config.method);
    }
}

/// A weighted mean does not know the scale of its weights, and neither does the evidence of the curriculum. 4 is a power of 2, so
/// that nothing is rounded.
#[test]
fn a_constant_factor_changes_nothing_for_sage_and_something_for_the_others() {
    let set = without_validation();
    let scaled = |scale: f32| with_weights(&set, move |edge| scale * (1 + edge % 7) as f32);
    for method in ["vanilla", "rcl", "neural-sparse", "ptdnet", "prune-overlap", "clnode"] {
        for backbone in ["gcn", "gin", "sage", "pna"] {
            let mut config = with_edges(method, backbone);
            if method == "clnode" {
                // What makes a node hard looks at u itself, of weight 1, beside its neighbours: easiest alone is not asked.
                config.set("start_share", "1").unwrap();
            }
            let [one, other] = [1.0, 4.0].map(|scale| trained(&scaled(scale), &config, 1).snapshot.logits);
            assert_eq!(one == other, backbone == "sage", "{method} {backbone}");
        }
    }
}

#[test]
fn weighted_graphs_give_the_same_bits_on_any_number_of_threads() {
    let set = weighted(circle("homophily=0.5,nodes=120,edges=4400,classes=3", 2));
    for mut config in every_method() {
        config.epochs = 6;
        let one = trained(&set, &config, 1);
        for threads in [2, 8] {
            assert!(same(&one, &trained(&set, &config, threads)), "{} on {threads}", config.method);
        }
    }
}

#[test]
fn the_two_directions_of_an_edge_may_weigh_differently() {
    let (dataset, split) = set();
    let weights: Vec<f32> = (0..dataset.graph().edges()).map(|edge| (1 + edge % 9) as f32 / 9.0).collect();
    let uneven = (dataset.with_edge_column(Dataset::WEIGHT, weights).unwrap(), split);
    assert!(uneven.0.weighted_graph().unwrap().is_uneven());
    for mut config in every_method() {
        config.epochs = 5;
        let (one, other) = (trained(&uneven, &config, 1), trained(&uneven, &config, 2));
        assert!(same(&one, &other), "{}", config.method);
        assert!(one.snapshot.logits.iter().all(|logit| logit.is_finite()), "{}", config.method);
    }
}

#[test]
fn a_method_whose_formula_has_no_place_for_weights_above_one_says_so_by_name() {
    let heavy = with_weights(&set(), |edge| if edge == 3 { 2.5 } else { 1.0 });
    let (material, _) = Material::new(&heavy.0, &heavy.1).unwrap();
    for method in METHODS {
        let spec = config(&[("method", method.name)]).check().unwrap().spec(&material, 1);
        match method.name {
            "pro-gnn" | "pro-gnn-sparse" => {
                let error = spec.unwrap_err().to_string();
                for part in ["2.5", method.name, "divide"] {
                    assert!(error.contains(part), "{error}");
                }
                let mut searching = config(&[("method", method.name)]);
                searching.search = true.into();
                assert!(searching.check().unwrap().spec(&material, 1).is_err());
            }
            _ => assert!(spec.is_ok(), "{}", method.name),
        }
    }
}

/// Two classes that features hardly tell apart; four edges per node within its class that weigh 1, and six to anywhere that
/// weigh 0.05.
fn misleading() -> Set {
    let (nodes, mut state) = (400_usize, 7_u64);
    let mut below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize) % end
    };
    let (mut a, mut b, mut strengths) = (Vec::new(), Vec::new(), Vec::new());
    for node in 0..nodes {
        for link in 0..5 {
            let inside = link < 2;
            let other = if inside { below(nodes / 2) * 2 + node % 2 } else { below(nodes) };
            if node != other {
                a.push(node as u32);
                b.push(other as u32);
                strengths.push(if inside { 1.0_f32 } else { 0.05 });
            }
        }
    }
    let traced = Graph::undirected_traced(nodes, &a, &b).unwrap();
    let weights = traced.carry(&strengths).unwrap();
    let values = (0..4 * nodes).map(|at| {
        let noise = below(2001) as f32 / 1000.0 - 1.0;
        let class = (at / 4 % 2) as f32 - 0.5;
        0.35 * class + noise
    });
    let features = Features::from(DenseFeatures::new(nodes, 4, values.collect()).unwrap());
    let labels = Labels::from(Classes::new(2, (0..nodes as u32).map(|node| node % 2).collect()).unwrap());
    let part =
        |of: std::ops::Range<u32>| (0..nodes as u32).filter(|node| of.contains(&(node / 2 % 10))).collect();
    let split = Split::new("parts", nodes, part(0..2), part(2..4), part(4..10)).unwrap();
    let dataset =
        Dataset::new("misleading", traced.into_graph(), features, labels, vec![split.clone()]).unwrap();
    (dataset.with_edge_column(Dataset::WEIGHT, weights).unwrap(), split)
}

#[test]
fn low_weights_on_misleading_edges_help() {
    let with = misleading();
    let without = with_weights(&with, |_| 1.0);
    for method in ["vanilla", "rcl"] {
        for backbone in ["gcn", "sage"] {
            // What the method makes, even where plain training validates better.
            let settings =
                [("method", method), ("backbone", backbone), ("epochs", "100"), ("keep", "method")];
            let config = config(&settings);
            let mean = |(dataset, split): &Set| {
                let of = |seed| {
                    let threads = Threads::one();
                    let finished = train(dataset, split, &config, seed, &threads, &mut Silent).unwrap();
                    finished.record.result.test.unwrap()
                };
                (0..3).map(of).sum::<f64>() / 3.0
            };
            let (helped, plain) = (mean(&with), mean(&without));
            println!("{method} {backbone}: {helped:.1} with weights, {plain:.1} without");
            assert!(
                helped > plain + 5.0,
                "{method} {backbone}: {helped:.1} with weights, {plain:.1} without"
            );
        }
    }
}

#[test]
fn an_audit_counts_neighbours_by_weight_and_its_table_shows_what_was_given() {
    let (plain, weighted) = (small(), weighted(small()));
    let finished = trained(&weighted, &config(&[("epochs", "20"), ("period", "4")]), 1);
    let report = finished.edges.as_ref().unwrap();
    let audit = |set: &Set| Audit::new(&Threads::one(), &set.0, report).unwrap();
    let (with, without) = (audit(&weighted), audit(&plain));
    assert_eq!(with.feature_similarity, without.feature_similarity);
    assert_ne!(with.jaccard, without.jaccard);
    let logits = &finished.snapshot.logits;
    let folder = tempfile::tempdir().unwrap();
    let read = |set: &Set, audit: &Audit, name: &str, format: TableFormat| {
        let path = folder.path().join(name);
        EdgeTable::new(&set.0, report, logits, audit).write(&path, format).unwrap();
        String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
    };
    let csv = read(&weighted, &with, "edges.csv", TableFormat::Csv);
    assert!(csv.lines().next().unwrap().contains(",weight,given_weight,"), "{csv:.200}");
    assert!(read(&weighted, &with, "edges.parquet", TableFormat::Parquet).contains("given_weight"));
    let (given, graph) = (weighted.0.edge_column(Dataset::WEIGHT).unwrap(), weighted.0.graph());
    for row in EdgeTable::new(&weighted.0, report, logits, &with).rows() {
        let edge = graph.edge_id(row.source, row.target).unwrap() as usize;
        // The weight of the method is its own, without the one that was given.
        assert_eq!((row.given_weight, row.weight), (Some(given[edge]), report.weight[edge]));
    }
    assert!((0..given.len()).any(|edge| report.weight[edge] > given[edge]));
    let (first, _) = EdgeFile::open(&folder.path().join("edges.csv")).unwrap().digest(3, None).unwrap();
    assert!(first.len() == 3 && first.iter().all(|row| row.given_weight.is_some()));
    assert!(!read(&plain, &without, "plain.csv", TableFormat::Csv).contains("given_weight"));
}
