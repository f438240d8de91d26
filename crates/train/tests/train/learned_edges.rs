//! Methods that learn which edges to keep: NeuralSparse and PTDNet.

use edgepace_nn::Threads;
use edgepace_train::{Silent, TrainError, find_method, train};

use crate::sets::{circle, config, small, trained};

#[test]
fn neural_sparse_is_evaluated_on_k_neighbours_of_each_node() {
    let set = small();
    let graph = set.0.graph();
    for (straight_through, evaluation) in [("false", "top"), ("true", "top"), ("true", "average")] {
        let settings = [
            ("method", "neural-sparse"),
            ("k", "3"),
            ("straight_through", straight_through),
            ("evaluation", evaluation),
        ];
        let trained = trained(&set, &config(&settings), 2);
        let weights = trained.snapshot.structure.weights.unwrap();
        for node in 0..graph.nodes() {
            let edges = graph.in_edges(node);
            let kept: f32 = weights[edges.clone()].iter().sum();
            assert!((kept - edges.len().min(3) as f32).abs() < 1e-4, "{kept} of {}", edges.len());
        }
        let whole = weights.iter().all(|&w| w == 0.0 || w == 1.0);
        assert_eq!(whole, evaluation == "top", "an average of samples is no sample");
    }
}

#[test]
fn ptdnet_has_other_gates_in_each_layer_and_closes_them_under_pressure() {
    let set = small();
    let open = |sparsity: &str| {
        let settings = [("method", "ptdnet"), ("low_rank", "0"), ("sparsity", sparsity), ("epochs", "100")];
        let trained = trained(&set, &config(&settings), 2);
        let (first, second) =
            (trained.snapshot.structure.weights.unwrap(), trained.snapshot.structure.second_weights.unwrap());
        assert_ne!(first, second);
        let twins = set.0.graph().twins().unwrap();
        for gates in [&first, &second] {
            assert!((0..gates.len()).all(|e| gates[e] == gates[twins[e] as usize]), "twins alike");
        }
        trained.edges.unwrap().weight.iter().sum::<f32>() / first.len() as f32
    };
    let (free, pressed) = (open("0"), open("20"));
    assert!(pressed < 0.01 && free > 0.1, "open without pressure {free}, with {pressed}");
}

#[test]
fn training_that_diverges_ends_with_what_diverged_when_and_what_to_lower() {
    let (small, dense) = (small(), circle("homophily=0.5,nodes=120,edges=3500,classes=3", 1));
    let steep =
        [("k", "50"), ("network_lr", "100"), ("temperature_rate", "1000"), ("temperature_floor", "0.01")];
    for (method, set, settings, expected) in [
        ("neural-sparse", &small, &[("lr", "1e30")][..], "the predictions are not finite in epoch 0"),
        ("neural-sparse", &dense, &steep, "the scores of edges are not finite in epoch 1"),
        ("ptdnet", &small, &[("lr", "1e30")], "the predictions are not finite in epoch 0"),
        ("ptdnet", &small, &[("lr", "3e38")], "the scores of edges are not finite in epoch 0"),
    ] {
        let config = config(&[&[("method", method)], settings].concat());
        let threads = Threads::new(1).unwrap();
        let error = train(&set.0, &set.1, &config, 3, &threads, &mut Silent).map(|_| ()).unwrap_err();
        assert!(matches!(error, TrainError::Diverged { .. }), "{method}: {error}");
        let advice = "training diverges, try a smaller `lr` or `network_lr`";
        assert_eq!(error.to_string(), format!("{expected}: {advice}"), "{method}");
    }
}

#[test]
fn settings_out_of_range_are_refused_before_the_first_epoch() {
    for (method, field, value) in [
        ("neural-sparse", "k", "0"),
        ("neural-sparse", "temperature_floor", "0"),
        ("neural-sparse", "network_hidden", "20"),
        ("neural-sparse", "samples", "0"),
        ("ptdnet", "sparsity", "-1"),
        ("ptdnet", "rank", "0"),
        ("ptdnet", "final_temperature", "0"),
        ("ptdnet", "network_lr", "0"),
    ] {
        let error = config(&[("method", method), (field, value)]).check().unwrap_err();
        assert!(matches!(&error, TrainError::Refused(refusal) if refusal.field == field), "{error}");
    }
}

/// The bounds in «… 1 to 10 …».
fn bounds(meaning: &str) -> Option<[f64; 2]> {
    let number = |word: &str| word.trim_end_matches(',').replace('−', "-").parse().ok();
    let words: Vec<&str> = meaning.split_whitespace().collect();
    words.windows(3).find_map(|words| match words {
        [low, "to", high] => Some([number(low)?, number(high)?]),
        _ => None,
    })
}

#[test]
fn the_meaning_of_a_setting_says_what_is_legal() {
    for method in ["neural-sparse", "ptdnet"] {
        for setting in find_method(method).unwrap().settings {
            let what = format!("{method}: {}: {}", setting.name, setting.meaning);
            let illegal = config(&[("method", method), (setting.name, "1000000000")]);
            match (setting.name, illegal.check().unwrap_err()) {
                ("straight_through", _) => assert!(["true", "false"].iter().all(|word| what.contains(word))),
                ("evaluation", _) => assert!(["`top`", "`average`"].iter().all(|word| what.contains(word))),
                (_, TrainError::Refused(refusal)) => match refusal.expected.strip_prefix("between ") {
                    Some(range) => {
                        let (low, high) = range.split_once(" and ").unwrap();
                        let legal = [low, high].map(|bound| bound.parse::<f64>().unwrap());
                        assert_eq!(bounds(setting.meaning), Some(legal), "{what}");
                    }
                    None => assert!(setting.meaning.contains(&*refusal.expected), "{what}"),
                },
                (_, error) => panic!("{what}: {error}"),
            }
        }
    }
}
