//! Beliefs: what an edge-free model says, told along edges.

use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, ManyLabels, Split};
use edgepace_nn::Threads;
use edgepace_train::{Event, Material, Run, SavedModel, Shelf, train};

use crate::sets::{circle, config, small, trained};

#[test]
fn beliefs_are_better_than_the_model_that_they_start_from() {
    let set = circle("homophily=0.5,nodes=1000,edges=6000,classes=5,sigma=200", 1);
    let test = |method| trained(&set, &config(&[("method", method)]), 1).record.result.test.unwrap();
    let (edge_free, belief) = (test("mlp"), test("belief"));
    assert!(belief > edge_free + 10.0, "{belief} with edges, {edge_free} without");
}

/// Classes link to the next one and never to their own: what is common is learned, whatever it is.
#[test]
fn edges_between_classes_help_as_well() {
    let (nodes, classes) = (600_u32, 3_u32);
    let class = |node: u32| node % classes;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        for step in [1, 4, 16, 64] {
            a.push(node);
            b.push((node + step) % nodes);
        }
    }
    let graph = Graph::undirected(nodes as usize, &a, &b).unwrap();
    let noise = |at: u32| f64::from(at.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24) - 0.5;
    let values = (0..nodes * classes).map(|at| {
        let right = f64::from(u8::from(class(at / classes) == at % classes));
        (0.5 * right + 2.0 * noise(at)) as f32
    });
    let features = Features::from(DenseFeatures::new(nodes as usize, 3, values.collect()).unwrap());
    let labels = Labels::from(Classes::new(3, (0..nodes).map(class).collect()).unwrap());
    let part = |rest| (0..nodes).filter(move |node| node / 3 % 4 == rest || rest == 2 && node / 3 % 4 == 3);
    let split =
        Split::new("parts", nodes as usize, part(0).collect(), part(1).collect(), part(2).collect()).unwrap();
    let dataset = Dataset::new("ring", graph, features, labels, vec![split.clone()]).unwrap();
    let test = |method| {
        trained(&(dataset.clone(), split.clone()), &config(&[("method", method)]), 1).record.result.test
    };
    let (edge_free, belief) = (test("mlp").unwrap(), test("belief").unwrap());
    assert!(edge_free < 80.0 && belief > 95.0, "{belief} with edges, {edge_free} without");
}

#[test]
fn a_set_strength_is_one_training_and_an_unset_one_is_chosen_by_log_loss() {
    let set = small();
    let one = trained(&set, &config(&[("method", "belief"), ("strength", "1")]), 1);
    assert!(one.record.trials.is_empty() && one.record.result.chosen.is_none());
    assert_eq!((one.record.result.epochs, one.record.result.best_epoch), (15, 14));
    let chosen = trained(&set, &config(&[("method", "belief")]), 1);
    let trials = &chosen.record.trials;
    assert_eq!(trials.len(), 2);
    let best = trials.iter().max_by(|a, b| a.score.unwrap().total_cmp(&b.score.unwrap())).unwrap();
    assert_eq!(chosen.record.result.chosen.as_ref(), Some(&best.label));
    let log_loss = chosen.record.result.metrics["log-loss"].validation.unwrap();
    assert!((log_loss + best.score.unwrap()).abs() < 1e-9, "{log_loss} {best:?}");
    let again = config(&[("method", "belief"), ("strength", best.label.split_once(' ').unwrap().1)]);
    assert_eq!(trained(&set, &again, 1).snapshot.logits, chosen.snapshot.logits);
}

#[test]
fn the_last_sweep_counts_and_their_number_is_a_setting() {
    let set = small();
    for sweeps in ["1", "7"] {
        let settings = [("method", "belief"), ("strength", "0.5"), ("sweeps", sweeps), ("patience", "1")];
        let result = trained(&set, &config(&settings), 1).record.result;
        assert_eq!(result.epochs.to_string(), sweeps);
        assert_eq!(result.best_epoch, result.epochs - 1);
    }
}

#[test]
fn without_strength_what_is_believed_is_what_the_edge_free_model_says() {
    let set = small();
    let edge_free = trained(&set, &config(&[("method", "mlp"), ("ground", "strong")]), 1).record.result;
    let silent = trained(&set, &config(&[("method", "belief"), ("strength", "0")]), 1).record.result;
    assert_eq!(silent.validation, edge_free.validation);
    assert_eq!(silent.test, edge_free.test);
}

#[test]
fn an_edge_free_run_on_the_shelf_is_the_warm_start() {
    let (dataset, split) = small();
    let (material, judge) = Material::new(&dataset, &split).unwrap();
    let (shelf, threads) = (Shelf::new(), Threads::one());
    let result = |method: &str, shelf: &_| {
        let settings = [("method", method), ("ground", "strong"), ("strength", "1")];
        let spec = config(&settings[..if method == "mlp" { 2 } else { 3 }])
            .check()
            .unwrap()
            .spec(&material, 1)
            .unwrap();
        let mut run = Run::start(spec, &material, shelf, &threads).unwrap();
        let mut epochs = 0;
        while run.advance().unwrap().is_some() {
            epochs += 1;
        }
        assert_eq!(run.progress(), (epochs, 0));
        (epochs, run.finish(&judge, None).unwrap().snapshot.logits)
    };
    assert_eq!(result("mlp", &shelf).0, 30);
    let (alone, after) = (result("belief", &Shelf::new()), result("belief", &shelf));
    assert_eq!((alone.0, after.0), (45, 15), "the edge-free model is trained once");
    assert_eq!(alone.1, after.1);
}

#[test]
fn progress_knows_the_sweeps_from_the_beginning() {
    let (dataset, split) = small();
    let (material, _) = Material::new(&dataset, &split).unwrap();
    let spec = config(&[("method", "belief"), ("sweeps", "4")]).check().unwrap().spec(&material, 1).unwrap();
    let mut run = Run::start(spec, &material, &Shelf::new(), &Threads::one()).unwrap();
    let all = 30 + 2 * 4;
    assert_eq!(run.progress(), (0, all));
    let mut done = 0;
    while run.advance().unwrap().is_some() {
        done += 1;
        assert_eq!(run.progress(), (done, all - done));
    }
    assert_eq!(done, all);
}

#[test]
fn edges_between_classes_that_seldom_link_are_the_hard_ones() {
    let (dataset, split) = circle("homophily=0.8,nodes=600,edges=3000,classes=4,sigma=60", 1);
    let report = trained(&(dataset.clone(), split), &config(&[("method", "belief")]), 1).edges.unwrap();
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("classes") };
    let graph = dataset.graph();
    let ends = graph.sources().iter().zip(graph.targets());
    let (mut within, mut between) = (Vec::new(), Vec::new());
    for ((&a, b), difficulty) in ends.zip(&report.difficulty) {
        let same = classes.of()[a as usize] == classes.of()[b as usize];
        if same { &mut within } else { &mut between }.push(*difficulty);
    }
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    assert!(mean(&within) < 0.35 && mean(&between) > 0.6, "{} {}", mean(&within), mean(&between));
    for (edge, &twin) in graph.twins().unwrap().iter().enumerate() {
        assert_eq!(report.difficulty[edge], report.difficulty[twin as usize]);
    }
}

#[test]
fn messages_go_both_ways_along_a_directed_edge_and_once_along_two() {
    let (plain, split) = small();
    let graph = plain.graph();
    let one_way =
        (0..graph.edges()).filter(|&edge| edge < graph.twins().unwrap()[edge] as usize || edge % 3 == 0);
    let targets = graph.targets();
    let (a, b): (Vec<u32>, Vec<u32>) = one_way.map(|edge| (graph.sources()[edge], targets[edge])).unzip();
    let directed = plain.clone().with_graph(Graph::from_edges(graph.nodes(), &a, &b).unwrap()).unwrap();
    assert!(directed.graph().twins().is_none());
    let config = config(&[("method", "belief"), ("strength", "1")]);
    let (both, some) =
        (trained(&(plain, split.clone()), &config, 1), trained(&(directed, split), &config, 1));
    assert_eq!(both.snapshot.logits, some.snapshot.logits);
    assert_eq!(some.edges.unwrap().difficulty.len(), a.len());
}

#[test]
fn what_is_above_a_weight_of_one_counts_as_one() {
    let (plain, split) = small();
    let edges = plain.graph().edges();
    let with = |weight: f32| {
        let mut weights = vec![weight; edges];
        let twin = plain.graph().twins().unwrap()[0] as usize;
        (weights[0], weights[twin]) = (1.0, 1.0);
        (plain.clone().with_edge_column(Dataset::WEIGHT, weights).unwrap(), split.clone())
    };
    let config = config(&[("method", "belief"), ("strength", "1")]);
    let logits = |set: &_| trained(set, &config, 1).snapshot.logits;
    let whole = logits(&(plain.clone(), split.clone()));
    assert_eq!(logits(&with(7.0)), whole);
    assert_ne!(logits(&with(0.5)), whole);
}

#[test]
fn a_hundred_classes_are_defined() {
    let (dataset, split) = circle("homophily=0.6,nodes=1000,edges=6000,classes=100", 1);
    let mut last = f64::INFINITY;
    let mut listener = |event: &Event| {
        if let Event::Epoch { loss, .. } = event {
            last = *loss;
        }
        true
    };
    let config = config(&[("method", "belief"), ("strength", "1")]);
    let finished = train(&dataset, &split, &config, 0, &Threads::one(), &mut listener).unwrap();
    assert!(finished.snapshot.logits.iter().all(|logit| logit.is_finite() && *logit <= 0.0));
    assert!(last < 0.01, "the messages hardly move any more: {last}");
}

#[test]
fn settings_out_of_range_and_many_labels_are_refused_by_name() {
    for (key, value, range) in
        [("strength", "1.5", "[0, 1]"), ("strength", "-1", "[0, 1]"), ("sweeps", "0", "at least 1")]
    {
        let refusal = config(&[("method", "belief"), (key, value)]).check().unwrap_err().to_string();
        assert!(refusal.contains(key) && refusal.contains(range), "{refusal}");
    }
    let (plain, split) = small();
    let values = vec![1; 2 * plain.graph().nodes()];
    let many = ManyLabels::new(plain.graph().nodes(), 2, values).unwrap();
    let dataset = plain.with_labels(Labels::from(many)).unwrap();
    let (material, _) = Material::new(&dataset, &split).unwrap();
    let refusal =
        config(&[("method", "belief")]).check().unwrap().spec(&material, 1).unwrap_err().to_string();
    assert!(refusal.contains("labels") && refusal.contains("belief"), "{refusal}");
}

#[test]
fn methods_without_a_network_keep_their_answers_in_the_model_file() {
    let set = small();
    for method in ["belief", "label-propagation"] {
        let finished = trained(&set, &config(&[("method", method)]), 1);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        finished.write_model(&path, &set.0, None).unwrap();
        let saved = SavedModel::open(&path).unwrap();
        assert!(saved.logits(&set.0).unwrap() == finished.snapshot.logits);
        let refused = saved.logits_of_new(&set.0, &Threads::one()).unwrap_err().to_string();
        assert!(refused.contains(&format!("{method}, which keeps its answers")), "{refused}");
    }
}
