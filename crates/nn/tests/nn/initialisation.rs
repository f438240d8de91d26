//! How parameters start: uniform within the bounds of Glorot and of Kaiming.

use std::sync::Arc;

use edgepace_graph::{DenseFeatures, Graph};
use edgepace_nn::{Backbone, Model, ModelConfig, Parameter};

use crate::support::one_thread;

const INPUTS: usize = 100;
const HIDDEN: usize = 64;
const OUTPUTS: usize = 40;

fn model(backbone: Backbone, seed: u64) -> Model<f64> {
    let graph = Arc::new(Graph::undirected(2, &[0], &[1]).unwrap());
    let features = DenseFeatures::new(2, INPUTS, vec![0.0; 2 * INPUTS]).unwrap().into();
    Model::new(graph, Arc::new(features), OUTPUTS, ModelConfig::new(backbone), seed, &one_thread()).unwrap()
}

/// The half-width of the interval that a parameter is drawn from.
fn bound(backbone: Backbone, parameter: &Parameter<'_, f64>) -> f64 {
    let (layer, name) = parameter.name.split_once('.').unwrap();
    let inputs = if layer == "conv1" { INPUTS } else { HIDDEN } as f64;
    let hidden = HIDDEN as f64;
    let kaiming = |fan_in: f64| 1.0 / fan_in.sqrt();
    match (backbone, layer, name) {
        (_, "decoder", _) => kaiming(hidden),
        (Backbone::Gcn | Backbone::Mlp, _, "weight") => (6.0 / (inputs + hidden)).sqrt(),
        (Backbone::Gcn | Backbone::Mlp, _, _) => 0.0,
        (Backbone::Sage, ..) | (Backbone::Gin, _, "mlp0.weight" | "mlp0.bias") => kaiming(inputs),
        (Backbone::Pna, _, "pre.weight" | "pre.bias") => kaiming(2.0 * inputs),
        (Backbone::Pna, _, "post.weight" | "post.bias") => kaiming(13.0 * inputs),
        _ => kaiming(hidden),
    }
}

#[test]
fn parameters_are_uniform_within_their_bounds() {
    for backbone in Backbone::ALL {
        for parameter in model(backbone, 1).parameters() {
            let bound = bound(backbone, &parameter);
            let name = format!("{backbone:?} {}", parameter.name);
            let count = parameter.values.len() as f64;
            assert_eq!(parameter.values.len(), parameter.rows * parameter.columns, "{name}");
            let largest = parameter.values.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            assert!(largest <= bound, "{name}: {largest} beyond {bound}");
            if bound == 0.0 {
                continue;
            }
            // The largest of n uniform numbers misses the bound by more than 8 / n once in e⁸ draws.
            assert!(largest >= bound * (1.0 - 8.0 / count), "{name}: {largest} falls short of {bound}");
            // Mean and mean square of the uniform distribution, within five standard errors.
            let unit = parameter.values.iter().map(|x| x / bound);
            let mean = unit.clone().sum::<f64>() / count;
            let square = unit.map(|x| x * x).sum::<f64>() / count;
            assert!(mean.abs() < 5.0 * (1.0 / 3.0 / count).sqrt(), "{name}: mean {mean}");
            assert!(
                (square - 1.0 / 3.0).abs() < 5.0 * (4.0 / 45.0 / count).sqrt(),
                "{name}: square {square}"
            );
        }
    }
}

#[test]
fn no_two_parameters_and_no_two_seeds_start_alike() {
    for backbone in Backbone::ALL {
        let starts = |seed| -> Vec<f64> {
            let model = model(backbone, seed);
            model.parameters().map(|p| p.values[0]).filter(|&x| x != 0.0).collect()
        };
        let mut all = [starts(1), starts(2)].concat();
        let count = all.len();
        all.sort_by(f64::total_cmp);
        all.dedup();
        assert_eq!(all.len(), count, "{backbone:?}");
    }
}

/// f32 parameters are the f64 ones, rounded: a proof in f64 is about the same model.
#[test]
fn parameters_in_f32_are_those_in_f64_rounded() {
    let graph = Arc::new(Graph::undirected(2, &[0], &[1]).unwrap());
    let features = DenseFeatures::new(2, INPUTS, vec![0.0; 2 * INPUTS]).unwrap().into();
    let config = ModelConfig::new(Backbone::Gcn);
    let narrow: Model<f32> =
        Model::new(graph, Arc::new(features), OUTPUTS, config, 1, &one_thread()).unwrap();
    for (narrow, wide) in narrow.parameters().zip(model(Backbone::Gcn, 1).parameters()) {
        assert_eq!(narrow.name, wide.name);
        assert!(narrow.values.iter().zip(wide.values).all(|(&a, &b)| a == b as f32), "{}", wide.name);
    }
}
