//! Suspicion finds edges that noise added.

use edgepace_data::Noise;
use edgepace_graph::{Dataset, Threads};
use edgepace_train::{Audit, EdgeReport, Reasons};

use crate::sets::{circle, config, trained};

fn noisy() -> (Dataset, edgepace_graph::Split) {
    let (dataset, split) = circle("homophily=0.9,nodes=600,edges=3000,classes=6", 2);
    let dataset = dataset.with_splits(vec![split.clone()]).unwrap();
    let noise: Noise = "fake=0.5".parse().unwrap();
    (noise.apply(&Threads::one(), dataset, None, 2).unwrap(), split)
}

#[test]
fn fakes_are_more_suspicious_than_true_edges_and_both_directions_agree() {
    let set = noisy();
    let trained = trained(&set, &config(&[("epochs", "100")]), 1);
    let audit = Audit::new(&Threads::one(), &set.0, &trained.edges.unwrap()).unwrap();
    assert!(audit.suspicion.iter().all(|suspicion| (0.0..=1.0).contains(suspicion)));
    for (edge, &twin) in set.0.graph().twins().unwrap().iter().enumerate() {
        assert_eq!(audit.suspicion[edge], audit.suspicion[twin as usize]);
    }
    let found = audit.against(set.0.edge_column(Dataset::FAKE).unwrap()).unwrap();
    println!("{found:?}");
    assert_eq!(found.fakes, 1500);
    assert!(found.auc > 0.8 && found.auc > found.auc_jaccard, "{found:?}");
    assert!(found.precision_at_fakes > 0.5, "by chance it would be a third: {found:?}");
}

#[test]
fn marks_that_do_not_fit_or_do_not_differ_have_no_detection() {
    let set = noisy();
    let edges = set.0.graph().edges();
    let report =
        EdgeReport { difficulty: vec![0.5; edges], first_epoch: vec![0; edges], weight: vec![1.0; edges] };
    let audit = Audit::new(&Threads::one(), &set.0, &report).unwrap();
    assert_eq!(audit.against(&vec![0.0; edges]), None);
    assert_eq!(audit.against(&[1.0]), None);
    let short = EdgeReport { difficulty: vec![], first_epoch: vec![], weight: vec![] };
    assert!(
        Audit::new(&Threads::one(), &set.0, &short).unwrap_err().to_string().contains("edges of the graph")
    );
}

#[test]
fn suspicion_is_the_rank_of_the_mean_of_its_reasons() {
    let reasons = Reasons::of(&[0.9, 0.1, 0.5], &[0.0, 1.0, 0.5], &[0.0, 0.0, 0.3]);
    let parts = |reasons: &Reasons| [reasons.disagreement, reasons.features, reasons.neighbourhood];
    assert_eq!(parts(&reasons[0]), [1.0, 1.0, 0.75]);
    assert_eq!(parts(&reasons[1]), [0.0, 0.0, 0.75]);
    assert_eq!(parts(&reasons[2]), [0.5, 0.5, 0.0]);

    let set = noisy();
    let trained = trained(&set, &config(&[("epochs", "20")]), 1);
    let audit = Audit::new(&Threads::one(), &set.0, &trained.edges.unwrap()).unwrap();
    let mean = |edge: usize| parts(&audit.reasons[edge]).iter().sum::<f32>();
    let mut edges: Vec<usize> = (0..audit.suspicion.len()).collect();
    edges.sort_by(|&a, &b| audit.suspicion[a].total_cmp(&audit.suspicion[b]));
    for pair in edges.windows(2) {
        assert!(mean(pair[0]) <= mean(pair[1]) + 1e-6, "{pair:?}");
    }
}
