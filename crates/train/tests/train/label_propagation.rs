//! Label propagation: what the labels of training nodes say along edges.

use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, ManyLabels, Split};
use edgepace_train::Material;

use crate::resume::{bits, in_pieces};
use crate::sets::{circle, config, small, trained, weighted};

type Set = (Dataset, Split);

const METHOD: (&str, &str) = ("method", "label-propagation");

fn made(graph: Graph, of: Vec<u32>, classes: usize, split: [&[u32]; 3]) -> Set {
    let nodes = graph.nodes();
    let features = Features::from(DenseFeatures::new(nodes, 1, vec![1.0; nodes]).unwrap());
    let labels = Labels::from(Classes::new(classes, of).unwrap());
    let [train, validation, test] = split.map(<[u32]>::to_vec);
    let split = Split::new("made", nodes, train, validation, test).unwrap();
    (Dataset::new("made", graph, features, labels, vec![split.clone()]).unwrap(), split)
}

/// The same without validation nodes: the last round counts.
fn blind((dataset, split): Set) -> Set {
    let split = Split::new("blind", split.nodes(), split.train().to_vec(), vec![], split.test().to_vec());
    (dataset, split.unwrap())
}

fn of_class(dataset: &Dataset) -> &[u32] {
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("classes") };
    classes.of()
}

/// The probabilities after each round, nodes × classes, by the formulas with matrices of all pairs.
fn by_matrices((dataset, split): &Set, reach: f64, rounds: usize) -> Vec<Vec<f64>> {
    let (graph, classes) = (dataset.graph(), dataset.labels().width());
    let nodes = graph.nodes();
    let mut adjacency = vec![vec![0.0; nodes]; nodes];
    for (edge, (&source, target)) in graph.sources().iter().zip(graph.targets()).enumerate() {
        let weight = dataset.weights().map_or(1.0, |weights| f64::from(weights[edge]));
        for (a, b) in [(source, target), (target, source)] {
            let entry: &mut f64 = &mut adjacency[a as usize][b as usize];
            *entry = entry.max(weight);
        }
    }
    let degrees: Vec<f64> = adjacency.iter().map(|row| row.iter().sum()).collect();
    let mut y = vec![0.0; nodes * classes];
    let mut shares = vec![0.0; classes];
    for &node in split.train() {
        let class = of_class(dataset)[node as usize] as usize;
        y[node as usize * classes + class] = 1.0;
        shares[class] += 1.0 / split.train().len() as f64;
    }
    let mut f = y.clone();
    let mut of_rounds = Vec::new();
    for _ in 0..rounds {
        let mut next = y.clone();
        for i in 0..nodes {
            for j in (0..nodes).filter(|&j| adjacency[i][j] > 0.0) {
                let s = adjacency[i][j] / (degrees[i] * degrees[j]).sqrt();
                for c in 0..classes {
                    next[i * classes + c] += reach * s * f[j * classes + c];
                }
            }
        }
        f = next;
        let heard =
            |i: usize, c: usize| degrees[i].max(1.0).sqrt() * (f[i * classes + c] - y[i * classes + c]);
        let mut answers = Vec::new();
        for i in 0..nodes {
            let all: f64 = (0..classes).map(|c| heard(i, c)).sum();
            answers.extend((0..classes).map(|c| (heard(i, c) + 0.3 * shares[c]) / (all + 0.3)));
        }
        of_rounds.push(answers);
    }
    of_rounds
}

fn assert_close(logits: &[f32], expected: &[f64]) {
    assert_eq!(logits.len(), expected.len());
    for (&logit, &p) in logits.iter().zip(expected) {
        let found = libm::exp(logit.into());
        assert!((found - p).abs() < 1e-6, "{found} and {p}");
    }
}

/// Edges that go one way, some of them both ways, with weights below and above 1.
fn directed() -> Set {
    let sources = [0, 1, 2, 3, 4, 5, 6, 1, 2];
    let targets = [1, 2, 3, 4, 5, 6, 0, 0, 5];
    let graph = Graph::from_edges(8, &sources, &targets).unwrap();
    let weights: Vec<f32> = (0..graph.edges()).map(|edge| 0.25 + edge as f32 / 3.0).collect();
    let (dataset, split) = made(graph, vec![0, 1, 2, 0, 1, 2, 0, 1], 3, [&[0, 1, 5, 7], &[2, 3], &[4, 6]]);
    (dataset.with_edge_column(Dataset::WEIGHT, weights).unwrap(), split)
}

#[test]
fn answers_are_those_of_the_formulas() {
    let circle = circle("homophily=0.6,nodes=60,edges=200,classes=3", 1);
    for set in [circle.clone(), weighted(circle), directed()] {
        let set = blind(set);
        for (reach, rounds) in [("0.9", "15"), ("0.5", "1"), ("0", "3")] {
            let config = config(&[METHOD, ("reach", reach), ("rounds", rounds)]);
            let expected = by_matrices(&set, reach.parse().unwrap(), rounds.parse().unwrap());
            assert_close(&trained(&set, &config, 1).snapshot.logits, expected.last().unwrap());
        }
    }
}

#[test]
fn the_round_of_least_log_loss_on_validation_counts_whatever_the_patience() {
    let mut found = Vec::new();
    for seed in 0..4 {
        let set = circle("homophily=0.6,nodes=200,edges=500,classes=3", seed);
        let log_loss = |answers: &Vec<f64>| {
            let of = |&node: &u32| {
                libm::log(answers[node as usize * 3 + of_class(&set.0)[node as usize] as usize])
            };
            -set.1.validation().iter().map(of).sum::<f64>()
        };
        let losses: Vec<f64> = by_matrices(&set, 0.9, 15).iter().map(log_loss).collect();
        let best = (0..15).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap();
        let result = trained(&set, &config(&[METHOD, ("patience", "1")]), 1).record.result;
        assert_eq!((result.epochs, result.best_epoch as usize), (15, best), "{losses:?}");
        let said = result.metrics["log-loss"].validation.unwrap();
        assert!((said - losses[best] / set.1.validation().len() as f64).abs() < 1e-5);
        found.push(best);
    }
    assert!(found.iter().any(|&best| best < 14), "{found:?}: else the last one might count");
}

#[test]
fn without_validation_nodes_the_last_round_counts() {
    let set = blind(small());
    let result = trained(&set, &config(&[METHOD, ("rounds", "7")]), 1).record.result;
    assert_eq!((result.epochs, result.best_epoch, result.validation), (7, 6, None));
}

#[test]
fn labels_near_a_node_say_more_than_chance_where_neighbours_are_alike() {
    let set = circle("homophily=0.8,nodes=600,edges=3000,classes=4", 1);
    let validation = trained(&set, &config(&[METHOD]), 1).record.result.validation.unwrap();
    assert!(validation > 50.0, "{validation}");
}

#[test]
fn the_same_bits_on_any_number_of_threads_and_after_each_pause() {
    // More nodes than one thread takes at a time.
    let set = weighted(circle("homophily=0.5,nodes=2500,edges=6000,classes=3", 1));
    let config = config(&[METHOD]);
    let whole = trained(&set, &config, 1);
    for threads in [2, 5] {
        assert!(bits(&whole) == bits(&trained(&set, &config, threads)), "{threads} threads");
    }
    let small = small();
    assert!(bits(&trained(&small, &config, 1)) == bits(&in_pieces(&small, &config).0));
}

#[test]
fn whoever_has_no_neighbours_says_what_is_common() {
    let shares = [0.75_f64, 0.25];
    let alone = Graph::undirected(6, &[], &[]).unwrap();
    let of = vec![0, 0, 0, 1, 1, 0];
    let set = made(alone, of.clone(), 2, [&[0, 1, 2, 3], &[4], &[5]]);
    assert_close(&trained(&set, &config(&[METHOD]), 1).snapshot.logits, &shares.repeat(6));
    // Node 5 is the only one without an edge.
    let graph = Graph::undirected(6, &[0, 1, 2, 3], &[1, 2, 3, 4]).unwrap();
    let logits =
        trained(&made(graph, of, 2, [&[0, 1, 2, 3], &[4], &[5]]), &config(&[METHOD]), 1).snapshot.logits;
    assert_close(&logits[10..], &shares);
    assert!((libm::exp(logits[9].into()) - shares[1]).abs() > 0.1, "node 4 has heard of node 3");
}

#[test]
fn a_class_without_training_nodes_has_a_finite_logarithm_and_is_never_the_answer() {
    let graph = Graph::undirected(5, &[0, 1, 2, 3], &[1, 2, 3, 4]).unwrap();
    let set = made(graph, vec![0, 0, 1, 1, 2], 3, [&[0, 2], &[1, 4], &[3]]);
    let finished = trained(&set, &config(&[METHOD]), 1);
    for row in finished.snapshot.logits.chunks_exact(3) {
        assert_eq!(row[2], -69.0);
        assert!(row[0] > -10.0 && row[1] > -10.0, "{row:?}");
    }
    assert!(finished.record.result.metrics["log-loss"].validation.unwrap().is_finite());
}

#[test]
fn one_class_is_the_answer_for_all_nodes() {
    let graph = Graph::undirected(4, &[0, 1], &[1, 2]).unwrap();
    let set = made(graph, vec![0; 4], 1, [&[0], &[1], &[2, 3]]);
    assert_close(&trained(&set, &config(&[METHOD]), 1).snapshot.logits, &[1.0; 4]);
}

#[test]
fn neither_features_nor_backbone_make_a_difference() {
    let (dataset, split) = small();
    let nodes = dataset.graph().nodes();
    let logits =
        |set: &Set, backbone| trained(set, &config(&[METHOD, ("backbone", backbone)]), 1).snapshot.logits;
    let none = Features::from(DenseFeatures::new(nodes, 0, Vec::new()).unwrap());
    let bare = (dataset.clone().with_features(none).unwrap(), split.clone());
    let plain = logits(&(dataset, split), "gcn");
    assert!(plain == logits(&bare, "pna"));
}

#[test]
fn settings_out_of_range_and_many_labels_are_refused_by_name() {
    for (key, value, range) in
        [("reach", "1", "[0, 1)"), ("reach", "-0.1", "[0, 1)"), ("rounds", "0", "at least 1")]
    {
        let refusal = config(&[METHOD, (key, value)]).check().unwrap_err().to_string();
        assert!(refusal.contains(key) && refusal.contains(range), "{refusal}");
    }
    let (plain, split) = small();
    let many = ManyLabels::new(plain.graph().nodes(), 2, vec![1; 2 * plain.graph().nodes()]).unwrap();
    let dataset = plain.with_labels(Labels::from(many)).unwrap();
    let (material, _) = Material::new(&dataset, &split).unwrap();
    let refusal = config(&[METHOD]).check().unwrap().spec(&material, 1).unwrap_err().to_string();
    assert!(refusal.contains("labels") && refusal.contains("label-propagation"), "{refusal}");
}
