//! The gradient of β Σ S R by central differences.

use std::sync::Arc;

use edgepace_curriculum::{
    Curriculum, CurriculumConfig, CurriculumError, EmbeddingSource, Feedback, Kernel, ResidualTerm,
};
use edgepace_graph::Threads;

use crate::cases::{CLASSES, Said, WIDTH, directed, undirected};

const NODES: usize = 24;

/// β Σ S R over directed edges, R of the given rows: the residuals of a fresh curriculum without average.
fn value(mask: &[f32], kernel: Kernel, graph: &Arc<edgepace_graph::Graph>, rows: &[f32]) -> f64 {
    // Outside of the crate only residuals of single precision are to be had, so the formulas stand here once more.
    let pairs = edgepace_curriculum::Pairs::new(graph);
    let width = rows.len() / NODES;
    let row = |node: u32| -> Vec<f64> {
        rows[node as usize * width..][..width].iter().map(|&x| f64::from(x)).collect()
    };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut sum = 0.0;
    for (&[i, j], &s) in pairs.ends().iter().zip(mask) {
        let (a, b) = (row(i), row(j));
        let kappa = match kernel {
            Kernel::Inner => 1.0 / (1.0 + (-dot(&a, &b)).exp()),
            Kernel::Cosine => 0.5 + 0.5 * dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt(),
            _ => {
                let (a, b): (Vec<f64>, Vec<f64>) = a.iter().zip(&b).map(|(a, b)| (a.exp(), b.exp())).unzip();
                dot(&a, &b) / (a.iter().sum::<f64>() * b.iter().sum::<f64>())
            }
        };
        sum += f64::from(s) * (1.0 - kappa).powi(2) * pairs.edges_per_pair() as f64;
    }
    1.7 * sum
}

#[test]
fn gradients_are_those_of_central_differences() {
    for graph in [undirected(NODES, 60, 3), directed(NODES, 60, 3)] {
        for kernel in [Kernel::Inner, Kernel::Cosine, Kernel::Posterior] {
            for term in [ResidualTerm::Sum, ResidualTerm::Mean] {
                let config =
                    CurriculumConfig { kernel, residual_term: term, beta: 1.7, ..CurriculumConfig::paper() };
                let said = Said::new(NODES, 5);
                let mut curriculum =
                    Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &config, 100, 0).unwrap();
                curriculum.update(60, &said.feedback()).unwrap();
                curriculum.update(80, &said.feedback()).unwrap();
                assert!(curriculum.mask().iter().any(|&s| s > 0.0));
                let rows = if kernel == Kernel::Posterior { &said.logits } else { &said.embeddings };
                let mut gradient = vec![f32::NAN; rows.len()];
                curriculum.residual_gradient(&said.feedback(), &mut gradient).unwrap();
                let share = if term == ResidualTerm::Mean { graph.edges() as f64 } else { 1.0 };
                for at in 0..rows.len() {
                    let moved = |by: f32| {
                        let mut rows = rows.clone();
                        rows[at] += by;
                        (f64::from(rows[at]), value(curriculum.mask(), kernel, &graph, &rows))
                    };
                    let ((high, above), (low, below)) = (moved(1.0 / 1024.0), moved(-1.0 / 1024.0));
                    let expected = (above - below) / (high - low) / share;
                    let found = f64::from(gradient[at]);
                    assert!(
                        (found - expected).abs() < 2e-6 * (1.0 + expected.abs()),
                        "{kernel:?} {term:?} {at}: {found} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_zero_embedding_has_no_cosine_gradient_and_never_nan() {
    let graph = undirected(NODES, 60, 3);
    let config = CurriculumConfig { kernel: Kernel::Cosine, ..CurriculumConfig::paper() };
    let mut curriculum = Curriculum::new(&Threads::one(), graph, None, &config, 100, 0).unwrap();
    let zeros = vec![0.0; NODES * WIDTH];
    let feedback = Feedback::new().embeddings(&zeros, WIDTH);
    curriculum.update(80, &feedback).unwrap();
    let mut gradient = vec![f32::NAN; zeros.len()];
    curriculum.residual_gradient(&feedback, &mut gradient).unwrap();
    assert!(gradient.iter().all(|&g| g == 0.0));
}

#[test]
fn where_there_is_no_gradient_it_is_refused() {
    let graph = undirected(NODES, 60, 3);
    let said = Said::new(NODES, 5);
    let mut curriculum =
        Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &CurriculumConfig::posterior(), 100, 0)
            .unwrap();
    let mut out = vec![0.0; NODES * CLASSES];
    let error = curriculum.residual_gradient(&said.feedback(), &mut out).unwrap_err();
    assert!(
        matches!(&error, CurriculumError::Refused(refusal) if refusal.field == "residual_term"),
        "{error}"
    );
    let config = CurriculumConfig {
        kernel: Kernel::Evidence,
        source: EmbeddingSource::Current,
        residual_term: ResidualTerm::Mean,
        ..CurriculumConfig::edgepace()
    };
    let error = Curriculum::new(&Threads::one(), Arc::clone(&graph), None, &config, 100, 0).unwrap_err();
    assert!(
        matches!(&error, CurriculumError::Refused(refusal) if refusal.field == "residual_term"),
        "{error}"
    );
    let mut curriculum =
        Curriculum::new(&Threads::one(), graph, None, &CurriculumConfig::paper(), 100, 0).unwrap();
    let error = curriculum.residual_gradient(&said.feedback(), &mut out).unwrap_err();
    assert!(matches!(&error, CurriculumError::Refused(refusal) if refusal.field == "gradient"), "{error}");
}
