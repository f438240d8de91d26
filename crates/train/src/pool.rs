//! Several experts as one answer (Hinton, 2002; Genest and Zidek, 1986): log p(c) = Σ_k w_k log p_k(c) − log Z.
//!
//! Each expert's probabilities are calibrated on validation first ([`crate::calibration`]), by a temperature and by the share of nodes at which it is as
//! good as guessing: without the latter one that is certain and right for most, but certain and wrong for some, would count for
//! little. The weights w ≥ 0 minimise the log-loss, summed over the validation nodes, plus `PULL` · Σ (w_k − 1/K)², which is
//! convex; without validation nodes they are 1/K. Of many yes-or-no labels each is a choice between two. What the pool scores on
//! validation is cross-fitted: each node is answered with weights that were fitted to other nodes.

use edgepace_graph::Labels;
use edgepace_nn::{Logits, Metric, Threads};
use serde::{Deserialize, Serialize};

use crate::calibration::{Answers, Calibration, log_sum};
use crate::config::RunConfig;
use crate::material::Material;
use crate::scoring::comparable;
use crate::snapshot::Snapshot;

/// Counts the ways in which experts were pooled by versions of this program.
pub(crate) const POOLING: u32 = 3;
/// How strongly weights are pulled to being equal, beside one validation node: the fewer there are, the less they can tell
/// experts apart.
const PULL: f64 = 7.0;
/// Parts of the validation nodes that are answered with weights of the others.
const FOLDS: usize = 5;
/// Newton steps at most; a handful are enough.
const STEPS: usize = 100;
/// A step that lowers the loss by less is the last.
const PRECISION: f64 = 1e-12;

/// An expert in the record of a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expert {
    /// Its name.
    pub expert: String,
    /// How much its log-probabilities count.
    pub weight: f64,
    /// What it scores on the validation nodes by itself, in percent but for log-loss; none without such.
    pub validation: Option<f64>,
    /// The same of the test nodes.
    pub test: Option<f64>,
}

/// An expert of a pool as it answers for nodes that it was not trained on.
#[derive(Clone, Debug, PartialEq)]
pub struct PooledExpert {
    /// Its name.
    pub name: String,
    /// How much its log-probabilities count; 0 where it is there for another to begin with.
    pub weight: f64,
    /// What makes its probabilities say how often it is right.
    pub calibration: Calibration,
    /// The settings that it was trained with, complete.
    pub config: RunConfig,
    /// It at its best; without logits, since the pool answers for the nodes of the training.
    pub snapshot: Snapshot,
    /// The place among the experts of the one whose answers it begins with, where it is no network.
    pub begins_with: Option<usize>,
}

/// Experts as one.
pub(crate) struct Pool {
    pub(crate) weights: Vec<f64>,
    pub(crate) calibrations: Vec<Calibration>,
    /// The pooled logits of all nodes.
    pub(crate) logits: Vec<f32>,
    /// What it scores on validation, cross-fitted, as choices compare it.
    pub(crate) validation: Option<f64>,
}

impl Pool {
    /// Experts by their logits of all nodes, nodes × outputs.
    pub(crate) fn new(threads: &Threads, material: &Material, metric: Metric, experts: &[&[f32]]) -> Self {
        let labels = &**material.labels();
        let nodes = material.split().validation();
        let calibrated: Vec<(Calibration, Vec<f64>)> = threads.map(experts.len(), |expert| {
            let logits = experts[expert];
            let calibration = Calibration::fit(labels, nodes, logits);
            (calibration, calibration.log_probabilities(Answers::of(labels), logits))
        });
        let (calibrations, own): (Vec<Calibration>, Vec<Vec<f64>>) = calibrated.into_iter().unzip();
        let questions = Questions::new(labels, &own, nodes);
        // Those of each fold are fitted to the others, and those of one fold too many to all.
        let mut of_folds =
            threads.map(FOLDS + 1, |fold| questions.weights(|place| fold == FOLDS || place % FOLDS != fold));
        let weights = of_folds.pop().unwrap_or_default();
        let pooled = |weights: &[f64], at: usize| -> f64 {
            own.iter().zip(weights).map(|(own, weight)| weight * own[at]).sum()
        };
        let mut cross = vec![0.0_f32; experts.first().map_or(0, |logits| logits.len())];
        let width = labels.width();
        for (fold, weights) in of_folds.iter().enumerate() {
            for &node in nodes.iter().skip(fold).step_by(FOLDS) {
                for at in node as usize * width..(node as usize + 1) * width {
                    cross[at] = pooled(weights, at) as f32;
                }
            }
        }
        let score = metric.score(labels, nodes, Logits::new(&cross, width));
        let all = (0..cross.len()).map(|at| pooled(&weights, at) as f32).collect();
        let validation = score.map(|score| comparable(metric, score));
        Self { weights, calibrations, logits: all, validation }
    }
}

/// What validation asks the experts: for each question the place of its node among the validation nodes, the log-probabilities
/// of each answer by each expert, and the right one.
struct Questions {
    experts: usize,
    answers: usize,
    places: Vec<usize>,
    /// Questions × answers × experts.
    said: Vec<f64>,
    right: Vec<usize>,
}

impl Questions {
    fn new(labels: &Labels, experts: &[Vec<f64>], nodes: &[u32]) -> Self {
        let width = labels.width();
        let answers = match labels {
            Labels::Classes(_) => width,
            Labels::Many(_) => 2,
        };
        let mut questions =
            Self { experts: experts.len(), answers, places: Vec::new(), said: Vec::new(), right: Vec::new() };
        for (place, &node) in nodes.iter().enumerate() {
            let first = node as usize * width;
            match labels {
                Labels::Classes(classes) => {
                    let all = (first..first + width).flat_map(|at| experts.iter().map(move |own| own[at]));
                    questions.said.extend(all);
                    questions.right.push(classes.of()[node as usize] as usize);
                    questions.places.push(place);
                }
                Labels::Many(many) => {
                    for at in first..first + width {
                        questions.said.extend(experts.iter().map(|_| 0.0));
                        questions.said.extend(experts.iter().map(|own| own[at]));
                        questions.right.push(usize::from(many.values()[at]));
                        questions.places.push(place);
                    }
                }
            }
        }
        questions
    }

    /// The weights for the questions of some places.
    fn weights(&self, asks: impl Fn(usize) -> bool) -> Vec<f64> {
        let even = vec![1.0 / self.experts.max(1) as f64; self.experts];
        let asked: Vec<usize> = (0..self.right.len()).filter(|&one| asks(self.places[one])).collect();
        if asked.is_empty() {
            return even;
        }
        let mut weights = even;
        let mut now = self.loss(&asked, &weights);
        for _ in 0..STEPS {
            let step = now.step(&weights);
            let mut size = 1.0;
            let next = loop {
                let moved: Vec<f64> =
                    weights.iter().zip(&step).map(|(weight, step)| (weight - size * step).max(0.0)).collect();
                let then = self.loss(&asked, &moved);
                if then.value < now.value {
                    break Some((moved, then));
                }
                size *= 0.5;
                if size < 1e-9 {
                    break None;
                }
            };
            let Some((moved, then)) = next else { break };
            let gain = now.value - then.value;
            (weights, now) = (moved, then);
            if gain < PRECISION {
                break;
            }
        }
        weights
    }

    /// The loss with its first and second derivatives by the weights.
    fn loss(&self, asked: &[usize], weights: &[f64]) -> Loss {
        let k = self.experts;
        let mut loss = Loss { value: 0.0, slope: vec![0.0; k], curvature: vec![0.0; k * k] };
        let (mut pooled, mut mean) = (vec![0.0; self.answers], vec![0.0; k]);
        for &one in asked {
            let said = &self.said[one * self.answers * k..][..self.answers * k];
            for (pooled, said) in pooled.iter_mut().zip(said.chunks_exact(k)) {
                *pooled = said.iter().zip(weights).map(|(said, weight)| said * weight).sum();
            }
            let total = log_sum(&pooled);
            let right = self.right[one];
            loss.value += total - pooled[right];
            mean.fill(0.0);
            for (answer, said) in said.chunks_exact(k).enumerate() {
                let share = libm::exp(pooled[answer] - total);
                for a in 0..k {
                    mean[a] += share * said[a];
                    for b in 0..=a {
                        loss.curvature[a * k + b] += share * said[a] * said[b];
                    }
                }
            }
            for a in 0..k {
                loss.slope[a] += mean[a] - said[right * k + a];
                for b in 0..=a {
                    loss.curvature[a * k + b] -= mean[a] * mean[b];
                }
            }
        }
        let (count, even) = (asked.len() as f64, 1.0 / k as f64);
        let pull = PULL / count;
        loss.value /= count;
        for a in 0..k {
            loss.value += pull * (weights[a] - even) * (weights[a] - even);
            loss.slope[a] = loss.slope[a] / count + 2.0 * pull * (weights[a] - even);
            for b in 0..=a {
                let mut curvature = loss.curvature[a * k + b] / count;
                if a == b {
                    curvature += 2.0 * pull;
                }
                loss.curvature[a * k + b] = curvature;
                loss.curvature[b * k + a] = curvature;
            }
        }
        loss
    }
}

struct Loss {
    value: f64,
    slope: Vec<f64>,
    /// Experts × experts.
    curvature: Vec<f64>,
}

impl Loss {
    /// Newton's step among the weights that may move: those at 0 whose loss would fall below it stay (Bertsekas, 1982).
    fn step(&self, weights: &[f64]) -> Vec<f64> {
        let k = self.slope.len();
        let free: Vec<usize> = (0..k).filter(|&a| weights[a] > 0.0 || self.slope[a] < 0.0).collect();
        let mut step = vec![0.0; k];
        let matrix: Vec<Vec<f64>> =
            free.iter().map(|&a| free.iter().map(|&b| self.curvature[a * k + b]).collect()).collect();
        let slope: Vec<f64> = free.iter().map(|&a| self.slope[a]).collect();
        for (&a, solved) in free.iter().zip(solve(matrix, slope)) {
            step[a] = solved;
        }
        step
    }
}

/// Solves a positive definite system by Cholesky's factors; there are a handful of unknowns.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|m| matrix[i][m] * matrix[j][m]).sum();
            let rest = matrix[i][j] - dot;
            matrix[i][j] = if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / matrix[j][j] };
        }
        let dot: f64 = (0..i).map(|m| matrix[i][m] * right[m]).sum();
        right[i] = (right[i] - dot) / matrix[i][i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|m| matrix[m][i] * right[m]).sum();
        right[i] = (right[i] - dot) / matrix[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use edgepace_graph::{Classes, ManyLabels};

    use super::*;

    const AS_IT_IS: Calibration = Calibration { sharpness: 1.0, guesses: 0.0 };

    /// Questions of three classes and experts that know more or less.
    fn questions(nodes: usize) -> Questions {
        let of: Vec<u32> = (0..nodes as u32).map(|node| node * 7 % 3).collect();
        let said = |expert: usize| -> Vec<f64> {
            let mut logits = Vec::new();
            for (node, &class) in of.iter().enumerate() {
                for c in 0..3_u32 {
                    let noise = f64::from((node as u32 * 31 + c * 17 + expert as u32 * 5) % 13) / 4.0;
                    let knows = if c == class { [2.5, 1.0, 0.0][expert] } else { 0.0 };
                    logits.push((knows + noise) as f32);
                }
            }
            AS_IT_IS.log_probabilities(Answers::OneOf(3), &logits)
        };
        let labels = Labels::Classes(Classes::new(3, of.clone()).unwrap());
        let nodes: Vec<u32> = (0..nodes as u32).collect();
        Questions::new(&labels, &[said(0), said(1), said(2)], &nodes)
    }

    #[test]
    fn slope_and_curvature_are_central_differences() {
        let questions = questions(40);
        let asked: Vec<usize> = (0..40).collect();
        let at = [0.4, 0.7, 0.1];
        let loss = questions.loss(&asked, &at);
        for a in 0..3 {
            let moved = |by: f64| {
                let mut weights = at;
                weights[a] += by;
                questions.loss(&asked, &weights)
            };
            let (more, less) = (moved(1e-5), moved(-1e-5));
            assert!((loss.slope[a] - (more.value - less.value) / 2e-5).abs() < 1e-8);
            for b in 0..3 {
                let numeric = (more.slope[b] - less.slope[b]) / 2e-5;
                assert!((loss.curvature[a * 3 + b] - numeric).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn no_other_weights_are_better() {
        let questions = questions(60);
        let asked: Vec<usize> = (0..60).collect();
        let weights = questions.weights(|_| true);
        let best = questions.loss(&asked, &weights).value;
        for a in 0..3 {
            for by in [-1e-3, 1e-3] {
                let mut moved = weights.clone();
                moved[a] = (moved[a] + by).max(0.0);
                assert!(questions.loss(&asked, &moved).value >= best, "{weights:?}, {moved:?}");
            }
        }
        assert!(weights[0] > weights[1], "{weights:?}");
        assert!(weights.iter().all(|&weight| weight >= 0.0));
    }

    #[test]
    fn an_expert_that_is_mostly_wrong_gets_no_weight() {
        let of = [0, 1].repeat(50);
        let labels = Labels::Classes(Classes::new(2, of.clone()).unwrap());
        let right: Vec<f32> = of.iter().flat_map(|&c| if c == 0 { [2.0, 0.0] } else { [0.0, 2.0] }).collect();
        let wrong: Vec<f32> = right.iter().map(|logit| 2.0 - logit).collect();
        let own = [right, wrong].map(|logits| AS_IT_IS.log_probabilities(Answers::of(&labels), &logits));
        let nodes: Vec<u32> = (0..100).collect();
        let weights = Questions::new(&labels, &own, &nodes).weights(|_| true);
        assert!(weights[0] > 0.5 && weights[1] == 0.0, "{weights:?}");
    }

    #[test]
    fn few_nodes_change_little() {
        let logits: Vec<f32> = [9.0, 0.0, 9.0, 0.0].to_vec();
        let labels = Labels::Classes(Classes::new(2, vec![0, 1]).unwrap());
        assert!(Calibration::fit(&labels, &[0, 1], &logits).sharpness >= 0.5, "wrong at one of two");
        let [few, many] = [6, 600].map(|nodes| {
            let weights = questions(nodes).weights(|_| true);
            weights[0] - weights[2]
        });
        assert!(0.0 < few && few < many / 2.0, "{few} {many}");
    }

    #[test]
    fn without_validation_nodes_experts_count_alike() {
        let labels = Labels::Classes(Classes::new(2, vec![0, 1]).unwrap());
        let own = [vec![-1.0, -0.5, -0.3, -2.0], vec![-0.1, -3.0, -0.7, -0.7]];
        assert_eq!(Questions::new(&labels, &own, &[]).weights(|_| true), [0.5, 0.5]);
    }

    #[test]
    fn two_classes_and_one_label_ask_the_same() {
        let truth = [1_u8, 0, 1, 1, 0];
        let many = Labels::Many(ManyLabels::new(5, 1, truth.to_vec()).unwrap());
        let classes =
            Labels::Classes(Classes::new(2, truth.iter().map(|&y| u32::from(y)).collect()).unwrap());
        let logits = [[1.5_f32, -0.3, 0.2, 2.0, 0.4], [0.1, -1.0, -0.2, 0.3, -0.5]];
        let as_many = logits.map(|logits| AS_IT_IS.log_probabilities(Answers::of(&many), &logits));
        let as_classes = logits.map(|logits| {
            let rows: Vec<f32> = logits.iter().flat_map(|&logit| [0.0, logit]).collect();
            AS_IT_IS.log_probabilities(Answers::of(&classes), &rows)
        });
        let nodes = [0, 1, 2, 3, 4];
        let [a, b] = [
            Questions::new(&many, &as_many, &nodes).weights(|_| true),
            Questions::new(&classes, &as_classes, &nodes).weights(|_| true),
        ];
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-6, "{a} and {b}");
        }
    }
}
