//! Difficulty, mask, weights and history against the formulas, worked out edge by edge.

use std::sync::Arc;

use edgepace_curriculum::{Curriculum, CurriculumConfig, Feedback, Kernel, NEVER, Pace, ResidualTerm};
use edgepace_graph::{Graph, Threads};

use crate::cases::{CLASSES, Said, WIDTH, advance, configs, directed, run, undirected};

fn row(values: &[f32], width: usize, node: u32) -> Vec<f64> {
    values[node as usize * width..][..width].iter().map(|&x| f64::from(x)).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let sum: f64 = logits.iter().map(|l| l.exp()).sum();
    logits.iter().map(|l| l.exp() / sum).collect()
}

fn kappa(kernel: Kernel, said: &Said, i: u32, j: u32) -> f64 {
    let (zi, zj) = (row(&said.embeddings, WIDTH, i), row(&said.embeddings, WIDTH, j));
    match kernel {
        Kernel::Inner => 1.0 / (1.0 + (-product(&zi, &zj)).exp()),
        Kernel::Cosine => 0.5 + 0.5 * product(&zi, &zj) / (product(&zi, &zi) * product(&zj, &zj)).sqrt(),
        _ => product(&softmax(&row(&said.logits, CLASSES, i)), &softmax(&row(&said.logits, CLASSES, j))),
    }
}

fn with_kernel(kernel: Kernel) -> CurriculumConfig {
    CurriculumConfig { kernel, average: 0.0, ..CurriculumConfig::edgepace() }
}

#[test]
fn residuals_are_those_of_the_kernels() {
    for graph in [undirected(60, 200, 1), directed(60, 200, 1)] {
        let said = Said::new(60, 2);
        for kernel in [Kernel::Inner, Kernel::Cosine, Kernel::Posterior] {
            let mut curriculum =
                Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &with_kernel(kernel), 100, 0)
                    .unwrap();
            curriculum.update(0, &said.feedback()).unwrap();
            for (&[i, j], &residual) in curriculum.pairs().ends().iter().zip(curriculum.residuals()) {
                let expected = (1.0 - kappa(kernel, &said, i, j)).powi(2);
                assert!(
                    (f64::from(residual) - expected).abs() < 1e-6,
                    "{kernel:?} {i} {j}: {residual} {expected}"
                );
            }
        }
    }
}

#[test]
fn probabilities_say_the_same_as_their_logits() {
    let graph = undirected(60, 200, 1);
    let said = Said::new(60, 2);
    let probabilities: Vec<f32> =
        (0..60).flat_map(|node| softmax(&row(&said.logits, CLASSES, node))).map(|p| p as f32).collect();
    let config = with_kernel(Kernel::Posterior);
    let mut by_logits = Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &config, 100, 0).unwrap();
    let mut by_probabilities = Curriculum::new(&Threads::one(), graph, None, &config, 100, 0).unwrap();
    by_logits.update(0, &said.feedback()).unwrap();
    by_probabilities.update(0, &Feedback::new().probabilities(&probabilities, CLASSES)).unwrap();
    for (a, b) in by_logits.residuals().iter().zip(by_probabilities.residuals()) {
        assert!((a - b).abs() < 1e-6);
    }
}

#[test]
fn many_labels_agree_by_their_mean() {
    let graph = Arc::new(Graph::undirected(2, &[0], &[1]).unwrap());
    let mut curriculum =
        Curriculum::new(&Threads::one(), graph, None, &with_kernel(Kernel::Posterior), 10, 0).unwrap();
    // p = ¾, ½ and ¼, ½: the labels agree with chance 3/16 + 3/16 and ½.
    let ln3 = 3.0_f32.ln();
    curriculum.update(0, &Feedback::new().label_logits(&[ln3, 0.0, -ln3, 0.0], 2)).unwrap();
    let expected = (1.0 - f32::midpoint(0.375, 0.5)).powi(2);
    assert!((curriculum.residuals()[0] - expected).abs() < 1e-6);
}

#[test]
fn the_moving_average_halves_the_way_to_the_new_kernel_value() {
    let graph = undirected(60, 200, 1);
    let config = CurriculumConfig::posterior();
    let mut curriculum = Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &config, 100, 0).unwrap();
    advance(&mut curriculum, 60, 0..21);
    let (first, second) = (Said::new(60, 100), Said::new(60, 120));
    for (&[i, j], &residual) in curriculum.pairs().ends().iter().zip(curriculum.residuals()) {
        let mean = 0.5 * (kappa(Kernel::Posterior, &first, i, j) + kappa(Kernel::Posterior, &second, i, j));
        assert!((f64::from(residual) - (1.0 - mean).powi(2)).abs() < 1e-6);
    }
}

#[test]
fn zero_embeddings_give_one_half_and_never_nan() {
    let graph = undirected(30, 80, 4);
    let zeros = vec![0.0; 30 * WIDTH];
    for kernel in [Kernel::Inner, Kernel::Cosine] {
        let mut curriculum =
            Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &with_kernel(kernel), 100, 0).unwrap();
        curriculum.update(50, &Feedback::new().embeddings(&zeros, WIDTH)).unwrap();
        assert!(curriculum.residuals().iter().all(|&residual| residual == 0.25), "{kernel:?}");
        assert_eq!(curriculum.selected(), graph.edges(), "equal edges come in together");
    }
}

#[test]
fn twins_always_agree() {
    let graph = undirected(90, 300, 5);
    let twins = graph.twins().unwrap();
    for config in configs() {
        let curriculum = run(&graph, &config, 100);
        for (edge, &twin) in twins.iter().enumerate() {
            let twin = twin as usize;
            assert_eq!(curriculum.weights()[edge], curriculum.weights()[twin]);
            assert_eq!(curriculum.evaluation_weights()[edge], curriculum.evaluation_weights()[twin]);
            assert_eq!(curriculum.pairs().pair_of()[edge], curriculum.pairs().pair_of()[twin]);
        }
        assert_eq!(2 * curriculum.pairs().len(), graph.edges());
    }
}

#[test]
fn weights_follow_from_times_in_and_losses_in_an_example_worked_by_hand() {
    // A path 0 - 1 - 2 - 3. The classes agree on 0 - 1, half on 1 - 2, not on 2 - 3.
    let graph = Arc::new(Graph::undirected(4, &[0, 1, 2], &[1, 2, 3]).unwrap());
    let probabilities = [1., 0., 1., 0., 0.5, 0.5, 0., 1.];
    let config =
        CurriculumConfig { pace: Pace::Linear, period: 1, average: 0.0, ..CurriculumConfig::posterior() };
    let mut curriculum = Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &config, 3, 0).unwrap();
    // 0 - 1 has R = 0, the other two have R = ¼ and come in together.
    let losses = [1.0, 2.0].map(|times| times * std::f32::consts::LN_2);
    let feedback = Feedback::new().probabilities(&probabilities, 2).losses(&[0, 2], &losses);
    let mut selected = Vec::new();
    for epoch in [0, 1, 2, 3] {
        curriculum.update(epoch, &feedback).unwrap();
        selected.push(curriculum.selected());
    }
    assert_eq!(selected, [0, 2, 6, 6]);
    let history = curriculum.history();
    assert_eq!(history.times_in, [3, 2, 2]);
    assert_eq!(history.first_epoch, [1, 2, 2]);
    assert_eq!(history.residuals, [0.0, 0.25, 0.25]);
    // ρ is 1 at node 0, ½ at node 2, 1 elsewhere; ψ is ¾, ½, ½.
    assert_eq!(curriculum.confidence(), [1.0, 1.0, 0.5, 1.0]);
    assert_eq!(history.weights, [0.75, 0.25, 0.25]);
    for (source, target, weight) in [(0, 1, 0.75), (1, 0, 0.75), (2, 1, 0.25), (2, 3, 0.25)] {
        assert_eq!(curriculum.weights()[graph.edge_id(source, target).unwrap() as usize], weight);
    }
}

#[test]
fn an_edge_that_is_out_again_trains_with_0_and_evaluates_with_its_share() {
    let graph = Arc::new(Graph::undirected(4, &[0, 2], &[1, 3]).unwrap());
    let config = CurriculumConfig {
        pace: Pace::Quantile,
        start_share: 0.5,
        average: 0.0,
        ..CurriculumConfig::posterior()
    };
    let mut curriculum = Curriculum::new(&Threads::one(), graph, None, &config, 1000, 0).unwrap();
    curriculum.update(0, &Feedback::new().probabilities(&[1., 0., 1., 0., 1., 0., 0., 1.], 2)).unwrap();
    curriculum.update(0, &Feedback::new().probabilities(&[1., 0., 0., 1., 1., 0., 1., 0.], 2)).unwrap();
    assert_eq!(curriculum.weights(), [0.0, 0.0, 0.5, 0.5]);
    assert_eq!(curriculum.evaluation_weights(), [0.5; 4]);
}

#[test]
fn history_counts_what_the_updates_selected() {
    let graph = undirected(90, 300, 5);
    for config in configs() {
        let mut curriculum = run(&graph, &config, 1);
        let count = curriculum.pairs().len();
        let (mut times, mut first) = (vec![0; count], vec![NEVER; count]);
        for epoch in (20..120).step_by(20) {
            if epoch == 20 {
                for pair in 0..count {
                    if curriculum.selected_pairs()[pair] {
                        (times[pair], first[pair]) = (1, 0);
                    }
                }
            }
            advance(&mut curriculum, 90, epoch..epoch + 1);
            for pair in 0..count {
                if curriculum.selected_pairs()[pair] {
                    times[pair] += 1;
                    first[pair] = first[pair].min(epoch as u32);
                }
            }
        }
        let history = curriculum.history();
        assert_eq!((history.times_in, history.first_epoch), (&times[..], &first[..]));
        assert_eq!(history.updates.len(), 6);
        let selected = curriculum.selected_pairs().iter().filter(|&&selected| selected).count();
        assert_eq!(curriculum.selected(), 2 * selected);
    }
}

#[test]
fn no_s_step_raises_the_objective() {
    let graph = undirected(90, 300, 5);
    for config in configs().into_iter().filter(|config| config.mask != edgepace_curriculum::MaskForm::Adam) {
        let curriculum = run(&graph, &config, 150);
        for update in curriculum.history().updates {
            let rounding = 1e-5 * update.before.total().abs().max(1.0);
            assert!(update.after.total() <= update.before.total() + rounding, "{config:?} {update:?}");
        }
    }
}

#[test]
fn the_objective_is_the_sum_over_directed_edges() {
    let graph = undirected(60, 200, 1);
    let config = CurriculumConfig {
        beta: 1.5,
        gamma: 0.3,
        residual_term: ResidualTerm::Off,
        ..CurriculumConfig::paper()
    };
    let mut curriculum = Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &config, 150, 0).unwrap();
    advance(&mut curriculum, 60, 0..41);
    let before = curriculum.mask().to_vec();
    advance(&mut curriculum, 60, 60..61);
    let lambda = curriculum.history().updates[3].lambda;
    let (mut residual, mut structure, mut proximal) = (0.0, 0.0, 0.0);
    for &pair in curriculum.pairs().pair_of() {
        let pair = pair as usize;
        let (s, r) = (f64::from(curriculum.mask()[pair]), f64::from(curriculum.residuals()[pair]));
        residual += 1.5 * s * r;
        structure += lambda * (s - 1.0).powi(2);
        proximal += 0.15 * (s - f64::from(before[pair])).powi(2);
    }
    let found = curriculum.objective().unwrap();
    for (found, expected) in
        [(found.residual, residual), (found.structure, structure), (found.proximal, proximal)]
    {
        assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found} {expected}");
    }
}
