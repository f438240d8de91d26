//! `auto` answers for nodes that it was not trained on: each expert as it would alone, pooled as validation asked for.

use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, Labels, ManyLabels, Split, UNLABELLED,
};
use edgepace_nn::{Threads, argmax, softmax};
use edgepace_train::{Calibration, Finished, PooledExpert, SavedModel};

use crate::sets::{circle, config, trained, weighted};

fn set() -> (Dataset, Split) {
    circle("homophily=0.7,nodes=200,edges=1000,classes=3,sigma=300", 1)
}

/// Another graph of the same kind.
fn other() -> Dataset {
    circle("homophily=0.7,nodes=300,edges=1500,classes=3,sigma=300", 2).0
}

fn auto(set: &(Dataset, Split)) -> Finished {
    trained(set, &config(&[("method", "auto")]), 1)
}

/// The model as it is read from its file.
fn read_again(finished: &Finished, dataset: &Dataset) -> SavedModel {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    finished.write_model(&path, dataset, None).unwrap();
    SavedModel::open(&path).unwrap()
}

fn of_new(model: &SavedModel, new: &Dataset) -> Vec<f32> {
    model.logits_of_new(new, &Threads::one()).unwrap()
}

/// What one expert of a pool says of other nodes, as logarithms of probabilities, calibrated or not: the pool in which it alone
/// counts.
fn alone_in_the_pool(
    pool: &Finished,
    dataset: &Dataset,
    name: &str,
    calibration: Option<Calibration>,
    new: &Dataset,
) -> Vec<f32> {
    let single = |expert: &PooledExpert| PooledExpert {
        weight: f64::from(u8::from(expert.name == name)),
        calibration: calibration.unwrap_or(Calibration { sharpness: 1.0, guesses: 0.0 }),
        ..expert.clone()
    };
    let experts: Vec<PooledExpert> = pool.experts.iter().map(single).collect();
    let Finished { record, config, snapshot, .. } = pool;
    let (record, config, snapshot) = (record.clone(), config.clone(), snapshot.clone());
    of_new(&read_again(&Finished { record, config, snapshot, experts, edges: None }, dataset), new)
}

fn log_probabilities(logits: &[f32], temperature: f64) -> Vec<f32> {
    let scaled: Vec<f64> = logits.iter().map(|&logit| f64::from(logit) / temperature).collect();
    scaled.chunks(3).flat_map(|row| softmax(row).map(|p| libm::log(p) as f32).collect::<Vec<_>>()).collect()
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-4 * (1.0 + b.abs()), "{what}: {a} and {b} at {place}");
    }
}

fn accuracy(logits: &[f32], dataset: &Dataset, nodes: impl Iterator<Item = usize>) -> f64 {
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("classes") };
    let width = classes.width();
    let right: Vec<bool> =
        nodes.map(|node| argmax(&logits[node * width..][..width]) == classes.of()[node] as usize).collect();
    right.iter().filter(|&&right| right).count() as f64 / right.len() as f64
}

#[test]
fn every_network_of_a_pool_answers_for_new_nodes_as_it_would_alone() {
    for set in [set(), weighted(set())] {
        let pool = auto(&set);
        let networks = || pool.experts.iter().filter(|expert| expert.begins_with.is_none());
        assert!(networks().count() >= 3, "{:?}", pool.record.result.pool);
        for expert in networks() {
            let alone = trained(&set, &expert.config, 1);
            let name = &expert.name;
            let answers = alone_in_the_pool(&pool, &set.0, name, None, &other());
            let expected = of_new(&alone.model(&set.0, None).unwrap(), &other());
            assert_close(&answers, &log_probabilities(&expected, 1.0), name);
            // Edges have the weights of the training where it has learned none.
            if expert.snapshot.structure.weights.is_none() {
                let answers = alone_in_the_pool(&pool, &set.0, name, None, &set.0);
                assert_close(&answers, &log_probabilities(&alone.snapshot.logits, 1.0), name);
            }
        }
        let with_weights = networks().filter(|expert| expert.snapshot.structure.weights.is_some());
        assert_eq!(with_weights.map(|expert| &expert.name[..]).collect::<Vec<_>>(), ["rcl"]);
    }
}

#[test]
fn a_pool_of_many_labels_is_what_its_experts_say_and_is_kept_to_the_bit() {
    // Neither belief nor label propagation takes part.
    let (plain, split) = set();
    let nodes = plain.graph().nodes();
    let Labels::Classes(classes) = &**plain.labels() else { panic!("classes") };
    let of = |class: u32| [class == 0, class > 0, class == 2].map(u8::from);
    let values = classes.of().iter().flat_map(|&class| of(class)).collect();
    let many = Labels::from(ManyLabels::new(nodes, 3, values).unwrap());
    let set = (plain.with_labels(many).unwrap(), split);
    let pool = auto(&set);
    let names: Vec<&str> = pool.record.result.pool.iter().map(|expert| &expert.expert[..]).collect();
    assert_eq!(names, ["mlp", "gcn", "sage", "rcl"]);
    let unchanged = Calibration { sharpness: 1.0, guesses: 0.0 };
    assert!(pool.experts.iter().any(|expert| expert.calibration != unchanged));
    let found = of_new(&read_again(&pool, &set.0), &set.0);
    assert!(found == of_new(&pool.model(&set.0, None).unwrap(), &set.0), "weights and calibrations");
    let mut expected = vec![0.0; found.len()];
    for expert in &pool.experts {
        let answers = alone_in_the_pool(&pool, &set.0, &expert.name, Some(expert.calibration), &set.0);
        expected.iter_mut().zip(answers).for_each(|(sum, one)| *sum += expert.weight as f32 * one);
    }
    assert_close(&found, &expected, "the pool");
}

#[test]
fn belief_propagation_begins_with_what_the_edge_free_expert_says_of_new_nodes() {
    let set = set();
    let pool = auto(&set);
    let mlp = pool.experts.iter().find(|expert| expert.name == "mlp").expect("what others begin with");
    let alone = trained(&set, &mlp.config, 1);
    let believing: Vec<&PooledExpert> = pool.experts.iter().filter(|one| one.begins_with.is_some()).collect();
    assert!(!believing.is_empty(), "{:?}", pool.record.result.pool);
    let new = other();
    let of_mlp = of_new(&alone.model(&set.0, None).unwrap(), &new);
    for expert in believing {
        let beliefs = expert.snapshot.beliefs.as_ref().expect("what it has learned");
        assert!((0..3).all(|class| beliefs.compatibility[4 * class] > 1.0), "{beliefs:?}");
        // Without edges it says what the edge-free model does, of nodes of the training too: their labels are not told.
        let (features, labels) = (set.0.features().clone(), set.0.labels().clone());
        let no_edges = Graph::from_edges(200, &[], &[]).unwrap();
        let bare = Dataset::new("bare", no_edges, features, labels, vec![]).unwrap();
        let answers = alone_in_the_pool(&pool, &set.0, &expert.name, None, &bare);
        let expected = log_probabilities(&alone.snapshot.logits, beliefs.temperature);
        assert_close(&answers, &expected, &expert.name);
        // With them it knows more.
        let answers = alone_in_the_pool(&pool, &set.0, &expert.name, None, &new);
        let [with, without] = [&answers, &of_mlp].map(|logits| accuracy(logits, &new, 0..300));
        assert!(with > without + 0.05, "{}: {with} and {without}", expert.name);
    }
}

#[test]
fn new_nodes_beside_old_ones_are_answered_as_well_as_by_the_best_expert() {
    let (whole, _) = circle("homophily=0.7,nodes=600,edges=3000,classes=3,sigma=300", 4);
    // The last third joins later.
    let known = 400;
    let ends = whole.graph().sources().iter().copied().zip(whole.graph().targets());
    let (sources, targets): (Vec<u32>, Vec<u32>) =
        ends.filter(|&(source, target)| source.max(target) < known as u32).unzip();
    let graph = Graph::from_edges(known, &sources, &targets).unwrap();
    let Features::Dense(dense) = &**whole.features() else { panic!("dense") };
    let values = dense.values()[..known * dense.cols()].to_vec();
    let features = Features::from(DenseFeatures::new(known, dense.cols(), values).unwrap());
    let Labels::Classes(classes) = &**whole.labels() else { panic!("classes") };
    let labels = Labels::from(Classes::new(3, classes.of()[..known].to_vec()).unwrap());
    let part = |rest| (0..known as u32).filter(|node| node % 3 == rest).collect();
    let split = Split::new("thirds", known, part(0), part(1), part(2)).unwrap();
    let before = Dataset::new("before", graph, features, labels, vec![]).unwrap();

    let pool = auto(&(before.clone(), split));
    let answers = of_new(&read_again(&pool, &before), &whole);
    let on_new = |logits: &[f32]| accuracy(logits, &whole, known..600);
    let largest = pool.experts.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)).expect("experts");
    let best = on_new(&alone_in_the_pool(&pool, &before, &largest.name, None, &whole));
    let pooled = on_new(&answers);
    assert!(pooled > 0.6 && pooled > best - 0.05, "{pooled} beside {best} of {}", largest.name);
    // What the data says of the new nodes makes no difference.
    let unknown = Labels::from(Classes::new(0, vec![UNLABELLED; 600]).unwrap());
    let (graph, features) = (whole.graph().clone(), whole.features().clone());
    let unlabelled = Dataset::new("unlabelled", graph, features, unknown, vec![]).unwrap();
    assert!(of_new(&read_again(&pool, &before), &unlabelled) == answers);
}

#[test]
fn a_pool_that_was_written_and_read_says_the_same_of_new_nodes_to_the_bit() {
    let set = set();
    let pool = auto(&set);
    let never_written = pool.model(&set.0, None).unwrap();
    let read = read_again(&pool, &set.0);
    assert_eq!(read.header(), never_written.header());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    read.write(&path, None).unwrap();
    let written_again = SavedModel::open(&path).unwrap();
    let answers = of_new(&never_written, &other());
    assert!(of_new(&read, &other()) == answers && of_new(&written_again, &other()) == answers);
    let threads = Threads::new(3).unwrap();
    assert!(read.logits_of_new(&other(), &threads).unwrap() == answers);
    for model in [never_written, read, written_again] {
        assert!(model.logits(&set.0).unwrap() == pool.snapshot.logits, "of its own nodes what the run said");
        assert!(model.embeddings(&set.0, &threads).unwrap().is_none(), "no single network has any");
    }
}

#[test]
fn a_pool_keeps_the_experts_that_count_and_what_they_begin_with() {
    // What the features say, belief propagation knows too.
    let set = circle("homophily=0.6,nodes=1500,edges=6000,classes=3,sigma=300", 1);
    let pool = trained(&set, &config(&[("method", "auto"), ("labels", "false")]), 1);
    let counts: Vec<&str> = pool
        .record
        .result
        .pool
        .iter()
        .filter(|expert| expert.weight > 0.0)
        .map(|expert| &expert.expert[..])
        .collect();
    assert!(counts.len() < 5 && !counts.contains(&"mlp"), "{counts:?}");
    assert!(counts.contains(&"belief 1"), "{counts:?}");
    let kept: Vec<&str> = pool.experts.iter().map(|expert| &expert.name[..]).collect();
    assert_eq!(kept, [&["mlp"], &counts[..]].concat());
    let logits = of_new(&read_again(&pool, &set.0), &other());
    assert!(logits.iter().all(|logit| logit.is_finite()));
}

#[test]
fn a_pool_answers_for_new_nodes_without_label_propagation_and_with_the_weights_of_the_others() {
    let set = set();
    let pool = auto(&set);
    let weight = |name: &str| pool.record.result.pool.iter().find(|one| one.expert == name).unwrap().weight;
    assert!(weight("labels") > 0.0, "it counts for the nodes of the training: {:?}", pool.record.result.pool);
    let model = read_again(&pool, &set.0);
    let kept: Vec<(&str, f64)> =
        model.header().experts.iter().map(|expert| (&expert.name[..], expert.weight)).collect();
    assert!(kept.len() >= 4 && kept.iter().all(|(name, _)| *name != "labels"), "{kept:?}");
    assert!(kept.iter().all(|&(name, kept)| kept == weight(name)), "{kept:?}");
    let right = accuracy(&of_new(&model, &other()), &other(), 0..300);
    assert!(right > 0.6, "{right}");
    assert!(model.logits(&set.0).unwrap() == pool.snapshot.logits, "of its own nodes what the run said");
}

#[test]
fn a_pool_file_with_answers_alone_is_read_and_refused_for_new_nodes() {
    let set = set();
    let mut pool = auto(&set);
    pool.experts.clear();
    let model = read_again(&pool, &set.0);
    assert!(model.logits(&set.0).unwrap() == pool.snapshot.logits);
    for refused in [
        model.check_new(&other()).unwrap_err().to_string(),
        model.logits_of_new(&other(), &Threads::one()).unwrap_err().to_string(),
    ] {
        assert!(refused.contains("earlier version, train again"), "{refused}");
    }
}

#[test]
fn an_expert_that_is_picked_answers_as_the_one_model_that_it_is() {
    let set = set();
    let picked = trained(&set, &config(&[("method", "auto"), ("pick", "true")]), 1);
    assert!(picked.experts.is_empty());
    assert!(read_again(&picked, &set.0).header().experts.is_empty());
}
