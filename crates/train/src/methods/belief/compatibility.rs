//! How likely two classes are linked, from edges whose ends are known in part.
//!
//! M_cd are the expected edges between the classes c and d, M_c the edge ends in class c, and π_c their share. To M come as
//! many edges as there are pairs of classes, spread as chance alone would: M′ = M + K²·ππᵀ, so that what was seen once is not
//! taken for a law, and a class without edges is linked to all others alike. Then Ψ_cd = M′_cd / (M′_c M′_d) · ΣM′: 1 where
//! edges do not care. Counting what is believed under the latest Ψ, and estimating Ψ from that, is expectation maximisation.

/// Edge ends that each class has in advance, so that its share is never 0.
const ENDS: f64 = 1.0;

/// Edges in advance for each pair of classes.
const EDGES: f64 = 1.0;

/// Edges that do not care for classes.
pub(super) fn indifferent(classes: usize) -> Vec<f32> {
    vec![1.0; classes * classes]
}

/// Ψ of the expected edges, classes × classes and symmetric.
pub(super) fn compatibility(counts: &[f64], classes: usize) -> Vec<f32> {
    let ends: Vec<f64> = counts.chunks_exact(classes).map(|row| ENDS + row.iter().sum::<f64>()).collect();
    let all: f64 = ends.iter().sum();
    let in_advance = EDGES * (classes * classes) as f64;
    let chance = |at: usize| ends[at / classes] / all * (ends[at % classes] / all);
    let smooth: Vec<f64> =
        counts.iter().enumerate().map(|(at, count)| count + in_advance * chance(at)).collect();
    let rows: Vec<f64> = smooth.chunks_exact(classes).map(|row| row.iter().sum()).collect();
    let total: f64 = rows.iter().sum();
    let ratio = |(at, count): (usize, &f64)| count * total / (rows[at / classes] * rows[at % classes]);
    smooth.iter().enumerate().map(|entry| ratio(entry) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_that_do_not_care_have_a_compatibility_of_one() {
        // Shares ¼ and ¾ of the ends, linked at random.
        let psi = compatibility(&[100.0, 300.0, 300.0, 900.0], 2);
        assert!(psi.iter().all(|value| (value - 1.0).abs() < 2e-3), "{psi:?}");
        assert!(compatibility(&[0.0; 9], 3).iter().all(|value| (value - 1.0).abs() < 1e-6));
        assert_eq!(compatibility(&[7.0], 1), [1.0]);
    }

    #[test]
    fn links_within_a_class_count_for_more_the_more_there_are() {
        let psi = compatibility(&[900.0, 100.0, 100.0, 900.0], 2);
        assert!((psi[0] - 1.8).abs() < 1e-2 && (psi[1] - 0.2).abs() < 1e-2, "{psi:?}");
        let few = compatibility(&[9.0, 1.0, 1.0, 9.0], 2);
        assert!(few[0] < psi[0] && few[1] > psi[1], "a few edges say less: {few:?}");
        assert!(few[1] == few[2] && few[0] > 1.0);
    }

    #[test]
    fn a_class_without_edges_is_linked_to_all_alike() {
        let psi = compatibility(&[50.0, 10.0, 0.0, 10.0, 50.0, 0.0, 0.0, 0.0, 0.0], 3);
        assert!((psi[2] - psi[5]).abs() < 1e-6 && (0.8..1.25).contains(&psi[2]), "{psi:?}");
        assert!(psi.iter().all(|&value| value > 0.0));
    }
}
