//! The same bits: on any number of threads, and after a restart.

use std::sync::Arc;

use edgepace_curriculum::{Curriculum, CurriculumConfig, CurriculumError, State};
use edgepace_graph::Threads;

use crate::cases::{Said, advance, configs, directed, run, run_on, undirected};

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // More pairs than fit into one piece of work.
    for graph in [undirected(900, 9000, 2), directed(900, 9000, 2)] {
        for config in configs() {
            let alone = run(&graph, &config, 61);
            for threads in [2, 8] {
                let shared = run_on(&Threads::new(threads).unwrap(), &graph, &config, 61);
                assert_eq!(alone.save(), shared.save(), "{threads} threads, {config:?}");
                assert_eq!(alone.weights(), shared.weights());
                assert_eq!(alone.evaluation_weights(), shared.evaluation_weights());
                assert_eq!(alone.evidence(), shared.evidence());
            }
        }
    }
}

#[test]
fn gradients_have_the_same_bits_on_any_number_of_threads() {
    let graph = undirected(900, 9000, 2);
    let said = Said::new(900, 1);
    let gradient = |threads| {
        let threads = Threads::new(threads).unwrap();
        let mut curriculum = run_on(&threads, &graph, &CurriculumConfig::paper(), 61);
        let mut out = vec![0.0; said.embeddings.len()];
        curriculum.residual_gradient(&said.feedback(), &mut out).unwrap();
        out
    };
    let alone = gradient(1);
    for threads in [2, 8] {
        assert_eq!(alone, gradient(threads));
    }
}

#[test]
fn a_restored_curriculum_continues_to_the_same_bits() {
    let graph = undirected(90, 300, 5);
    for config in configs() {
        let through = run(&graph, &config, 150);
        for stop in [0, 1, 50] {
            let features = Said::new(90, 100).features;
            let fresh = || {
                Curriculum::new(&Threads::one(), Arc::clone(&graph), Some(&features), &config, 150, 9)
                    .unwrap()
            };
            let mut until = fresh();
            advance(&mut until, 90, 0..stop);
            let text = serde_json::to_string(&until.save()).unwrap();
            let state: State = serde_json::from_str(&text).unwrap();
            assert_eq!(state, until.save());
            // Into one that has gone elsewhere meanwhile.
            let mut restored = fresh();
            advance(&mut restored, 90, 0..30);
            restored.restore(&state).unwrap();
            assert_eq!(restored.weights(), until.weights());
            assert_eq!(restored.evaluation_weights(), until.evaluation_weights());
            advance(&mut restored, 90, stop..150);
            assert_eq!(restored.save(), through.save(), "stopped before epoch {stop}, {config:?}");
            assert_eq!(restored.weights(), through.weights());
        }
    }
}

type Damage = fn(&mut State);

#[test]
fn a_state_that_does_not_fit_is_refused_and_changes_nothing() {
    let graph = undirected(90, 300, 5);
    let mut curriculum = run(&graph, &CurriculumConfig::edgepace(), 150);
    let state = curriculum.save();
    let damages: [(&str, Damage); 10] = [
        ("config", |state| state.config.beta = 2.0),
        ("epochs or seed", |state| state.seed += 1),
        ("epochs or seed", |state| state.epochs += 1),
        ("mask", |state| state.mask.truncate(1)),
        ("confidence", |state| state.confidence.push(1.0)),
        ("gaps", |state| state.gaps[3] = f32::NAN),
        ("lambda", |state| state.lambda = -1.0),
        ("times_in", |state| state.times_in[0] = 1000),
        ("evidence", |state| state.evidence = None),
        ("evidence", |state| state.evidence.as_mut().unwrap().jaccard = f64::INFINITY),
    ];
    for (part, damage) in damages {
        let mut damaged = state.clone();
        damage(&mut damaged);
        let error = curriculum.restore(&damaged).unwrap_err();
        assert!(matches!(error, CurriculumError::State { field, .. } if field == part), "{part}: {error}");
        assert_eq!(curriculum.save(), state);
    }
}
