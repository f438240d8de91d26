//! Statistics against those of SciPy and statsmodels, which `tests/fixtures/statistics.py` writes.

use edgepace_lab::statistics::{Summary, friedman, holm, paired_bootstrap, paired_t, wilcoxon};
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    tests: Vec<Pairs>,
    holm: Vec<Adjusted>,
    friedman: Vec<Ranked>,
}

#[derive(Deserialize)]
struct Pairs {
    name: String,
    /// Paired differences.
    d: Vec<f64>,
    /// The first side.
    a: Vec<f64>,
    mean: f64,
    sd: f64,
    half_interval: f64,
    t: [f64; 2],
    wilcoxon: [f64; 2],
    bootstrap: Option<[f64; 2]>,
}

#[derive(Deserialize)]
struct Adjusted {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

#[derive(Deserialize)]
struct Ranked {
    scores: Vec<Vec<f64>>,
    ranks: Vec<f64>,
    statistic: f64,
    p_value: f64,
    critical_difference: f64,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/statistics.json")).unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64, what: &str) {
    let off = (found - expected).abs();
    assert!(off <= 1e-9 * expected.abs().max(1e-3), "{what}: {found}, expected {expected}");
}

#[test]
fn summaries_and_paired_tests_are_those_of_scipy() {
    let cases = fixture().tests;
    assert!(cases.len() >= 10);
    for case in cases {
        let zeros = vec![0.0; case.d.len()];
        let summary = Summary::of(&case.a).unwrap();
        close(summary.mean, case.mean, &case.name);
        close(summary.sd.unwrap(), case.sd, &case.name);
        close(summary.half_interval.unwrap(), case.half_interval, &case.name);
        let t = paired_t(&case.d, &zeros).unwrap();
        close(t.statistic, case.t[0], &case.name);
        close(t.p_value, case.t[1], &case.name);
        let signed = wilcoxon(&case.d, &zeros).unwrap();
        close(signed.statistic, case.wilcoxon[0], &case.name);
        close(signed.p_value, case.wilcoxon[1], &case.name);
    }
}

/// Both draw at random: the ends of the interval agree to a fiftieth of its width.
#[test]
fn the_bootstrap_interval_is_that_of_scipy_within_chance() {
    for case in fixture().tests {
        let Some(expected) = case.bootstrap else { continue };
        let found = paired_bootstrap(&case.d, &vec![0.0; case.d.len()], 50_000, 1).unwrap();
        let width = expected[1] - expected[0];
        for (found, expected) in found.interval.into_iter().zip(expected) {
            assert!((found - expected).abs() < 0.02 * width, "{}: {found} {expected}", case.name);
        }
        let outside = found.interval[0] > 0.0 || found.interval[1] < 0.0;
        assert!(!outside || found.p_value < 0.2, "{}: {}", case.name, found.p_value);
    }
}

#[test]
fn p_values_of_many_tests_are_adjusted_as_statsmodels_does() {
    for case in fixture().holm {
        let found = holm(&case.p);
        found.iter().zip(&case.adjusted).for_each(|(&found, &expected)| close(found, expected, "Holm"));
    }
}

#[test]
fn ranks_friedman_and_nemenyi_are_those_of_scipy() {
    for case in fixture().friedman {
        let found = friedman(&case.scores).unwrap();
        found.ranks.iter().zip(&case.ranks).for_each(|(&found, &expected)| close(found, expected, "rank"));
        close(found.statistic, case.statistic, "statistic");
        close(found.p_value, case.p_value, "p-value");
        let (ours, theirs) = (found.critical_difference, case.critical_difference);
        assert!((ours - theirs).abs() < 1e-5 * theirs, "critical difference {ours}, {theirs}");
    }
}
