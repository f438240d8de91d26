//! The gradient of the smooth part of the objective against central differences, in `f64`, in both forms.

use std::sync::Arc;

use edgepace_graph::{Classes, DenseFeatures, Features, Graph, Labels, WeightedGraph};
use edgepace_nn::{Backbone, Extra, Model, ModelConfig, Task, Threads};

use super::dense;
use super::smoothness::{Scales, similarities, similarities_at};
use super::sparse::{self, Support};
use super::terms::Terms;

const NODES: usize = 9;
const EDGES: Extra = Extra { edges: true, inputs: false };
const STEP: f64 = 1e-5;
/// A step of size 1 along the gradient shows the gradient. No shrinking: the smooth part alone.
const TERMS: Terms<f64> = Terms { rate: 1.0, gnn: 0.7, distance: 0.3, l1: 0.0, smoothness: 0.4 };

fn noise(at: usize) -> f64 {
    ((at * at * 31 + at * 7) % 101) as f64 / 101.0
}

fn graph() -> Graph {
    Graph::undirected(NODES, &[0, 1, 2, 3, 4, 5, 6, 0], &[1, 2, 3, 4, 5, 6, 7, 4]).unwrap()
}

/// The graph, whose edges weigh differently.
fn weighted() -> WeightedGraph {
    let graph = Arc::new(graph());
    let twins = graph.twins().unwrap();
    let weights: Vec<f32> =
        (0..graph.edges()).map(|edge| noise(edge.min(twins[edge] as usize) + 5) as f32).collect();
    WeightedGraph::new(graph, weights).unwrap()
}

fn features() -> Features {
    let values = (0..NODES * 4).map(|i| noise(i + 3) as f32 - 0.4).collect();
    DenseFeatures::new(NODES, 4, values).unwrap().into()
}

fn task() -> Task<f64> {
    let labels: Labels = Classes::new(3, (0..NODES as u32).map(|i| i % 3).collect()).unwrap().into();
    Task::new(Arc::new(labels), &[0, 1, 2, 3, 4, 5, 8]).unwrap()
}

fn model(backbone: Backbone) -> Model<f64> {
    let config = ModelConfig { hidden: 5, ..ModelConfig::new(backbone) };
    let threads = Threads::new(1).unwrap();
    let mut model = Model::new(Arc::new(graph()), Arc::new(features()), 3, config, 1, &threads).unwrap();
    let values: Vec<f64> = (0..model.parameter_count()).map(|i| noise(i) - 0.5).collect();
    model.set_parameter_values(&values).unwrap();
    model
}

/// δ ‖S − A‖² + λ R(S), by their definitions.
fn plain_terms(s: &[f64], k: &[f64]) -> f64 {
    let weighted = weighted();
    let (graph, weights) = (weighted.graph(), weighted.weights().unwrap());
    let d: Vec<f64> = s.chunks_exact(NODES).map(|row| 1.0 + row.iter().sum::<f64>()).collect();
    let mut total = 0.0;
    for i in 0..NODES {
        for j in 0..NODES {
            let edge = graph.edge_id(j as u32, i as u32);
            let (at, a) = (i * NODES + j, edge.map_or(0.0, |edge| f64::from(weights[edge as usize])));
            // ‖x_i/√d_i − x_j/√d_j‖²
            let apart =
                k[i * NODES + i] / d[i] + k[j * NODES + j] / d[j] - 2.0 * k[at] / (d[i] * d[j]).sqrt();
            total += TERMS.distance * (s[at] - a).powi(2) + TERMS.smoothness * 0.5 * s[at] * apart;
        }
    }
    total
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}

fn close(a: f64, b: f64, claim: &str) {
    assert!((a - b).abs() < 1e-6 * (1.0 + a.abs()), "{claim}: {a}, by differences {b}");
}

#[test]
fn the_dense_step_follows_the_gradient_of_the_smooth_terms() {
    let threads = Threads::new(1).unwrap();
    let k = wide(&similarities(&threads, &features()));
    let s: Vec<f64> = (0..NODES * NODES)
        .map(|at| (at / NODES, at % NODES))
        .map(|(i, j)| if i == j { 0.0 } else { 0.1 + 0.8 * noise(i.min(j) * NODES + i.max(j)) })
        .collect();
    for backbone in [Backbone::Gcn, Backbone::Gin, Backbone::Sage] {
        let mut model = model(backbone);
        let structure = model.add_dense_structure(Arc::clone(model.graph())).unwrap();
        let model = model.on(structure);
        let mut objective = |s: &[f64]| {
            model.update_matrix(|matrix, _| matrix.copy_from_slice(s)).unwrap();
            let loss = model.gradients(&task(), Some(1), EDGES).unwrap();
            (TERMS.gnn * loss + plain_terms(s, &k), model.edge_gradients().to_vec())
        };
        let (_, gradient) = objective(&s);
        let own: Vec<f64> = k.iter().step_by(NODES + 1).copied().collect();
        let mut scales = Scales::default();
        dense::update_scales(&threads, &own, &k, &s, &mut scales);
        let mut moved = s.clone();
        dense::smooth_step(&threads, &TERMS, &weighted(), Some((&k, &scales)), &gradient, &mut moved);
        for i in 0..NODES {
            assert_eq!(moved[i * NODES + i], 0.0);
            for j in i + 1..NODES {
                let mut at = |change: f64| {
                    let mut s = s.clone();
                    s[i * NODES + j] += change;
                    s[j * NODES + i] += change;
                    objective(&s).0
                };
                let numeric = (at(STEP) - at(-STEP)) / (2.0 * STEP);
                let ours = s[i * NODES + j] - moved[i * NODES + j];
                // A pair has two entries.
                close(2.0 * ours, numeric, &format!("{backbone:?} {i} {j}"));
                assert_eq!(moved[i * NODES + j].to_bits(), moved[j * NODES + i].to_bits());
            }
        }
    }
}

#[test]
fn the_sparse_step_follows_the_gradient_of_the_smooth_terms() {
    let threads = Threads::new(1).unwrap();
    let neighbours: Vec<u32> = (0..NODES as u32).map(|i| (i + 3) % NODES as u32).collect();
    let support = Support::new(&threads, &weighted(), &neighbours, 1).unwrap();
    let edges = support.graph.edges();
    assert!(edges > graph().edges(), "neighbours join it");
    let k_all = wide(&similarities(&threads, &features()));
    let k = wide(&similarities_at(&threads, &features(), edges, |edge| support.ends(edge)));
    let own: Vec<f64> = k_all.iter().step_by(NODES + 1).copied().collect();
    let twins = support.graph.twins().unwrap().to_vec();
    let weights: Vec<f64> = (0..edges).map(|e| 0.1 + 0.8 * noise(e.min(twins[e] as usize))).collect();
    for backbone in [Backbone::Gcn, Backbone::Gin, Backbone::Sage, Backbone::Pna] {
        let mut model = model(backbone);
        let structure = model.add_structure(Arc::clone(&support.graph)).unwrap();
        let model = model.on(structure);
        let mut objective = |weights: &[f64]| {
            model.set_edge_weights(weights).unwrap();
            let loss = model.gradients(&task(), Some(1), EDGES).unwrap();
            let mut s = vec![0.0; NODES * NODES];
            for (edge, &weight) in weights.iter().enumerate() {
                let (i, j) = support.ends(edge);
                s[i * NODES + j] = weight;
            }
            (TERMS.gnn * loss + plain_terms(&s, &k_all), model.edge_gradients().to_vec())
        };
        let (_, gradient) = objective(&weights);
        let mut scales = Scales::default();
        scales.of_edges(&threads, &support.graph, &own, &k, &weights);
        let mut moved = weights.clone();
        sparse::smooth_step(&threads, &TERMS, &support, (&k, &scales), &gradient, &mut moved);
        for edge in 0..edges {
            let twin = twins[edge] as usize;
            let mut at = |change: f64| {
                let mut weights = weights.clone();
                weights[edge] += change;
                weights[twin] += change;
                objective(&weights).0
            };
            let numeric = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            close(2.0 * (weights[edge] - moved[edge]), numeric, &format!("{backbone:?} edge {edge}"));
            assert_eq!(moved[edge].to_bits(), moved[twin].to_bits());
        }
    }
}
