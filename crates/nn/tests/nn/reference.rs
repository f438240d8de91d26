//! A naive model that is right at a glance (dense matrices, plain loops, a message per edge), and the claim that the
//! engine computes the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use edgepace_graph::Labels;
use edgepace_nn::{Backbone, Extra, Model};

use crate::shared::{Shape, assert_close, central_differences};
use crate::support::{Kind, OUTPUTS, Problem, logits, one_thread, owned, randomise, small_config};

type Matrix = Vec<Vec<f64>>;

/// Everything that the model's result depends on.
struct Naive<'a> {
    problem: &'a Problem,
    backbone: Backbone,
    hidden: usize,
    epsilon: f64,
    weights: Vec<f64>,
    parameters: BTreeMap<String, Vec<f64>>,
}

struct Forward {
    embeddings: Matrix,
    logits: Matrix,
    node_losses: Vec<f64>,
    loss: f64,
}

impl Naive<'_> {
    fn nodes(&self) -> usize {
        self.problem.graph.nodes()
    }

    /// adjacency[i][j] is the weight of j → i; `None` where there is no edge.
    fn adjacency(&self) -> Vec<Vec<Option<f64>>> {
        let mut adjacency = vec![vec![None; self.nodes()]; self.nodes()];
        let (sources, targets) = (self.problem.graph.sources(), self.problem.graph.targets());
        for ((&source, &target), &weight) in sources.iter().zip(&targets).zip(&self.weights) {
            adjacency[target as usize][source as usize] = Some(weight);
        }
        adjacency
    }

    /// The parameter `name` with `columns` columns.
    fn matrix(&self, name: &str, columns: usize) -> Matrix {
        self.parameters[name].chunks(columns).map(<[f64]>::to_vec).collect()
    }

    /// rows · weight + bias.
    fn linear(&self, rows: &Matrix, name: &str, columns: usize) -> Matrix {
        let product = multiply(rows, &self.matrix(&format!("{name}weight"), columns));
        match self.parameters.get(&format!("{name}bias")) {
            None => product,
            Some(bias) => product.iter().map(|row| add(row, bias)).collect(),
        }
    }

    fn convolution(&self, layer: &str, h: &Matrix) -> Matrix {
        let (nodes, out) = (self.nodes(), self.hidden);
        let adjacency = self.adjacency();
        let weight = |i: usize, j: usize| adjacency[i][j].unwrap_or(0.0);
        match self.backbone {
            Backbone::Mlp => self.linear(h, &format!("{layer}."), out),
            Backbone::Gcn => {
                let looped = |i: usize, j: usize| weight(i, j) + if i == j { 1.0 } else { 0.0 };
                let degree = |i: usize| (0..nodes).map(|j| looped(i, j)).sum::<f64>();
                let normalised: Matrix = (0..nodes)
                    .map(|i| (0..nodes).map(|j| looped(i, j) / (degree(i) * degree(j)).sqrt()).collect())
                    .collect();
                self.linear(&multiply(&normalised, h), &format!("{layer}."), out)
            }
            Backbone::Gin => {
                let summed: Matrix = (0..nodes)
                    .map(|i| {
                        let own: Vec<f64> = h[i].iter().map(|x| (1.0 + self.epsilon) * x).collect();
                        (0..nodes).fold(own, |sum, j| add(&sum, &scaled(&h[j], weight(i, j))))
                    })
                    .collect();
                let units = relu(self.linear(&summed, &format!("{layer}.mlp0."), out));
                self.linear(&units, &format!("{layer}.mlp1."), out)
            }
            Backbone::Sage => {
                let beside: Matrix = (0..nodes)
                    .map(|i| {
                        let total: f64 = (0..nodes).map(|j| weight(i, j)).sum();
                        let mut mean = vec![0.0; h[i].len()];
                        if total > 0.0 {
                            for j in 0..nodes {
                                mean = add(&mean, &scaled(&h[j], weight(i, j) / total));
                            }
                        }
                        [mean, h[i].clone()].concat()
                    })
                    .collect();
                self.linear(&beside, &format!("{layer}."), out)
            }
            Backbone::Pna => {
                let read: Matrix = (0..nodes).map(|i| self.pna_row(layer, h, i, &adjacency[i])).collect();
                let post = self.linear(&read, &format!("{layer}.post."), out);
                self.linear(&post, &format!("{layer}.lin."), out)
            }
        }
    }

    /// What the post map of PNA reads of node i: itself, and its statistics under three scalers.
    fn pna_row(&self, layer: &str, h: &Matrix, i: usize, row: &[Option<f64>]) -> Vec<f64> {
        let width = h[i].len();
        let edges: Vec<(f64, Vec<f64>)> = (0..self.nodes())
            .filter_map(|j| row[j].filter(|&weight| weight > 0.0).map(|weight| (j, weight)))
            .map(|(j, weight)| {
                let ends = vec![[h[i].clone(), h[j].clone()].concat()];
                (weight, self.linear(&ends, &format!("{layer}.pre."), width).remove(0))
            })
            .collect();
        let degree: f64 = edges.iter().map(|(weight, _)| weight).sum();
        let mut statistics = vec![0.0; 4 * width];
        for c in (0..width).filter(|_| !edges.is_empty()) {
            let column = || edges.iter().map(move |(weight, message)| (*weight, message[c]));
            let mean = column().map(|(weight, m)| weight * m).sum::<f64>() / degree;
            let variance = column().map(|(weight, m)| weight * (m - mean).powi(2)).sum::<f64>() / degree;
            statistics[c] = mean;
            statistics[width + c] = column().map(|(_, m)| m).fold(f64::INFINITY, f64::min);
            statistics[2 * width + c] = column().map(|(_, m)| m).fold(f64::NEG_INFINITY, f64::max);
            // As in PyG: a variance of at most 10⁻⁵ counts as none.
            statistics[3 * width + c] = if variance > 1e-5 { variance.sqrt() } else { 0.0 };
        }
        let delta = self.mean_log_degree();
        let amplified = scaled(&statistics, (degree + 1.0).ln() / delta);
        let attenuated = scaled(&statistics, delta / (degree.max(1.0) + 1.0).ln());
        [h[i].clone(), statistics, amplified, attenuated].concat()
    }

    fn mean_log_degree(&self) -> f64 {
        let graph = &self.problem.graph;
        let logs = (0..self.nodes()).map(|i| (graph.in_edges(i).len() as f64 + 1.0).ln());
        logs.sum::<f64>() / self.nodes() as f64
    }

    fn forward(&self) -> Forward {
        let x: Matrix = self
            .problem
            .features
            .chunks(self.problem.columns)
            .map(|row| row.iter().map(|&value| f64::from(value)).collect())
            .collect();
        let embeddings = self.convolution("conv2", &relu(self.convolution("conv1", &x)));
        let logits = self.linear(&embeddings, "decoder.", OUTPUTS);
        let omega = &self.problem.node_weights;
        let node_losses: Vec<f64> = (0..self.nodes())
            .map(|i| if omega[i] > 0.0 { node_loss(&self.problem.labels, i, &logits[i]) } else { 0.0 })
            .collect();
        let weighted: f64 = omega.iter().zip(&node_losses).map(|(w, loss)| w * loss).sum();
        Forward { embeddings, logits, node_losses, loss: weighted / omega.iter().sum::<f64>() }
    }
}

fn node_loss(labels: &Labels, node: usize, logits: &[f64]) -> f64 {
    match labels {
        Labels::Classes(classes) => {
            let total: f64 = logits.iter().map(|l| l.exp()).sum();
            -(logits[classes.of()[node] as usize].exp() / total).ln()
        }
        Labels::Many(many) => {
            let truth = &many.values()[node * OUTPUTS..][..OUTPUTS];
            // −ln σ(l) where the label holds, −ln σ(−l) where it does not.
            let each = logits.iter().zip(truth).map(|(l, &y)| (if y == 1 { -l } else { *l }).exp().ln_1p());
            each.sum::<f64>() / OUTPUTS as f64
        }
    }
}

fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
    let entry = |row: &[f64], c: usize| (0..b.len()).map(|k| row[k] * b[k][c]).sum();
    a.iter().map(|row| (0..b[0].len()).map(|c| entry(row, c)).collect()).collect()
}

fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn scaled(row: &[f64], by: f64) -> Vec<f64> {
    row.iter().map(|x| x * by).collect()
}

fn relu(rows: Matrix) -> Matrix {
    rows.into_iter().map(|row| row.into_iter().map(|x| x.max(0.0)).collect()).collect()
}

/// Outputs within 10⁻¹²; gradients within 10⁻⁶ of the naive model's central differences.
fn assert_engine_is_the_naive_model(
    problem: &Problem,
    backbone: Backbone,
    claim: &str,
    worst: &mut [f64; 2],
) {
    let config = small_config(backbone);
    let task = problem.task();
    let mut model: Model<f64> = problem.model(&problem.dense(), &config, &one_thread());
    randomise(&mut model, 5);
    let loss = model.gradients(&task, None, Extra { edges: true, inputs: false }).unwrap();
    let gradients = owned(model.parameter_gradients());
    let mut naive = Naive {
        problem,
        backbone,
        hidden: config.hidden,
        epsilon: config.gin_epsilon,
        weights: problem.weights.clone(),
        parameters: owned(model.parameters()).into_iter().collect(),
    };

    let expected = naive.forward();
    let [outputs, slopes] = worst;
    let mut same = |what, found: &[f64], expected: &[f64]| {
        assert_close(&format!("{claim}: {what}"), found, expected, 1e-12, outputs);
    };
    same("loss", &[loss], &[expected.loss]);
    same("node losses", model.node_losses(), &expected.node_losses);
    same("embeddings", model.embeddings(None), &expected.embeddings.concat());
    same("logits", &logits(&mut model), &expected.logits.concat());

    for (name, gradient) in &gradients {
        let values = naive.parameters[name].clone();
        let numeric = central_differences(&values, 1e-5, |moved| {
            naive.parameters.insert(name.clone(), moved.to_vec());
            naive.forward().loss
        });
        naive.parameters.insert(name.clone(), values);
        assert_close(&format!("{claim}: {name}"), gradient, &numeric, 1e-6, slopes);
    }
    let numeric = central_differences(&problem.weights, 1e-5, |moved| {
        naive.weights = moved.to_vec();
        naive.forward().loss
    });
    assert_close(&format!("{claim}: edge weights"), model.edge_gradients(), &numeric, 1e-6, slopes);
}

#[test]
fn outputs_losses_and_gradients_are_those_of_the_naive_model() {
    for backbone in Backbone::ALL {
        let mut worst = [0.0; 2];
        for (seed, (shape, kind)) in (21..).zip([
            (Shape::TwinsAlike, Kind::Classes),
            (Shape::TwinsApart, Kind::Many),
            (Shape::Directed, Kind::Classes),
        ]) {
            let problem = Problem::small(seed, shape, kind);
            assert_engine_is_the_naive_model(
                &problem,
                backbone,
                &format!("{backbone:?}, {shape:?}"),
                &mut worst,
            );
        }
        println!("{backbone:?}: worst relative error of outputs {:e}, of gradients {:e}", worst[0], worst[1]);
    }
}

/// Weights of exactly 1 are where the attenuation of PNA has its kink, so these are compared forward only.
#[test]
fn without_weights_every_edge_has_weight_one() {
    for backbone in Backbone::ALL {
        let mut problem = Problem::small(31, Shape::Directed, Kind::Classes);
        let config = small_config(backbone);
        let graph = Arc::clone(&problem.graph);
        let mut model: Model<f64> =
            Model::new(graph, Arc::new(problem.dense()), OUTPUTS, config.clone(), 7, &one_thread()).unwrap();
        randomise(&mut model, 5);
        problem.weights.fill(1.0);
        let naive = Naive {
            problem: &problem,
            backbone,
            hidden: config.hidden,
            epsilon: config.gin_epsilon,
            weights: problem.weights.clone(),
            parameters: owned(model.parameters()).into_iter().collect(),
        };
        let expected = naive.forward().logits.concat();
        assert_close(backbone.name(), &logits(&mut model), &expected, 1e-12, &mut 0.0);
    }
}
