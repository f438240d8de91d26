//! When edges come in.

use edgepace_curriculum::{CurriculumConfig, Order, Pace};

use crate::cases::{configs, directed, run, undirected};

#[test]
fn paces_by_share_hit_their_shares() {
    for graph in [undirected(150, 600, 8), directed(150, 600, 8)] {
        let cases = [
            (Pace::Quantile, Order::Learned, 2.0 / 3.0),
            (Pace::Linear, Order::Learned, 1.0),
            (Pace::Root, Order::Learned, 1.0),
            (Pace::Linear, Order::Random, 1.0),
            (Pace::Root, Order::Random, 1.0),
        ];
        for (pace, order, full_at) in cases {
            let config = CurriculumConfig { pace, order, period: 10, ..CurriculumConfig::posterior() };
            let curriculum = run(&graph, &config, 150);
            for update in curriculum.history().updates {
                let t = f64::from(update.epoch) / 150.0;
                let share = (if pace == Pace::Root { t.sqrt() } else { t / full_at }).min(1.0);
                let pairs = curriculum.pairs().len();
                let expected = (share * pairs as f64 - 1e-9).ceil().max(0.0) as usize * graph.edges() / pairs;
                // An edge and its reverse in a graph without twins are equally hard, and come in together.
                let together = usize::from(graph.twins().is_none());
                let found = update.selected;
                assert!(
                    found >= expected && found <= expected + together,
                    "{pace:?} {order:?} epoch {}",
                    update.epoch
                );
            }
        }
    }
}

#[test]
fn the_paper_reaches_the_full_graph_in_time_and_stays() {
    let graph = undirected(150, 600, 8);
    for knob in [1.0, 2.0, 3.0, 4.0, 5.0] {
        let full_at = CurriculumConfig::full_at_of_knob(knob).unwrap();
        // λ reaches every edge at the first update not before full_at · T; at knob 1 that is the end itself.
        let config = CurriculumConfig { full_at, ..CurriculumConfig::paper() };
        let curriculum = run(&graph, &config, 200);
        let updates = curriculum.history().updates;
        let full = updates.iter().position(|update| update.selected == graph.edges());
        assert!(updates[0].selected < graph.edges() / 2);
        if knob > 1.0 {
            let full = full.unwrap_or_else(|| panic!("knob {knob} reaches the full graph"));
            assert!(updates[full..].iter().all(|update| update.selected == graph.edges()), "knob {knob}");
            assert!(f64::from(updates[full].epoch) < full_at * 200.0 + 20.0, "knob {knob}: update {full}");
        }
        assert!(updates.windows(2).all(|pair| pair[0].lambda <= pair[1].lambda));
    }
}

#[test]
fn every_pace_ends_with_all_edges() {
    let graph = undirected(90, 300, 5);
    for config in configs() {
        let curriculum = run(&graph, &config, 101);
        let by_epoch = matches!(config.pace, Pace::Linear | Pace::Root);
        if !by_epoch {
            assert_eq!(curriculum.selected(), graph.edges(), "{config:?}");
        }
    }
}

#[test]
fn a_random_order_does_not_follow_the_model_but_its_seed() {
    let graph = undirected(90, 300, 5);
    let config = CurriculumConfig { order: Order::Random, ..CurriculumConfig::edgepace() };
    let curriculum = run(&graph, &config, 100);
    let again = run(&graph, &config, 100);
    assert_eq!(curriculum.history().first_epoch, again.history().first_epoch);
    let ordered = run(&graph, &CurriculumConfig::edgepace(), 100);
    assert_ne!(curriculum.history().first_epoch, ordered.history().first_epoch);
}
