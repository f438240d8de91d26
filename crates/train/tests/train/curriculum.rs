//! What the curriculum does to training.

use edgepace_graph::Labels;
use edgepace_nn::Threads;
use edgepace_train::{Event, Finished, RunConfig, train};

use crate::sets::{circle, config, small};

/// A run with the updates that it told of: epoch, edges, objective.
fn with_updates(
    set: &(edgepace_graph::Dataset, edgepace_graph::Split),
    config: &RunConfig,
    until: usize,
) -> (Finished, Vec<(u32, usize, [f64; 2])>) {
    let mut updates = Vec::new();
    let mut listener = |event: &Event| {
        if let Event::Update { epoch, edges, objective } = event {
            updates.push((*epoch, *edges, objective.unwrap()));
            return *edges < until;
        }
        true
    };
    let trained = train(&set.0, &set.1, config, 0, &Threads::new(1).unwrap(), &mut listener).unwrap();
    (trained, updates)
}

#[test]
fn the_papers_training_structure_grows_to_the_whole_graph_and_stays() {
    let set = small();
    let config = config(&[("preset", "paper"), ("epochs", "120"), ("period", "5")]);
    let (trained, updates) = with_updates(&set, &config, usize::MAX);
    let all = set.0.graph().edges();
    let full = updates.iter().position(|&(_, edges, _)| edges == all).unwrap();
    assert!(updates[0].1 < all, "it starts with fewer edges");
    assert!(updates[full].0 <= 80, "at two thirds of the epochs, not at {}", updates[full].0);
    assert!(updates[full..].iter().all(|&(_, edges, _)| edges == all));
    assert_eq!(trained.record.result.edges_history.last().unwrap().1, all);
}

#[test]
fn a_step_on_the_mask_never_raises_the_objective() {
    let set = small();
    for preset in ["paper", "edgepace", "posterior", "cosine"] {
        let config = config(&[("preset", preset), ("epochs", "60"), ("period", "5")]);
        for (epoch, _, [before, after]) in with_updates(&set, &config, usize::MAX).1 {
            assert!(after <= before + 1e-6 * before.abs(), "{preset}, epoch {epoch}: {before} to {after}");
        }
    }
}

#[test]
fn easy_edges_come_before_hard_ones() {
    for (homophily, easy_at_least, hard_at_most) in [("0.3", 0.90, 0.20), ("0.6", 0.85, 0.10)] {
        let set = circle(&format!("homophily={homophily}"), 0);
        let (graph, config) =
            (set.0.graph(), RunConfig { preset: Some("edgepace".into()), ..RunConfig::default() });
        let (trained, updates) = with_updates(&set, &config, graph.edges() * 6 / 10);
        let selected = updates.last().unwrap().1;
        assert_eq!(selected, (graph.edges() * 6).div_ceil(10));

        // The edges that are in are the easiest ones.
        let difficulty = trained.edges.unwrap().difficulty;
        let mut order: Vec<usize> = (0..graph.edges()).collect();
        order.sort_by(|&a, &b| difficulty[a].total_cmp(&difficulty[b]));
        let mut is_in = vec![false; graph.edges()];
        order[..selected].iter().for_each(|&edge| is_in[edge] = true);
        let Labels::Classes(classes) = &**set.0.labels() else { panic!("one class per node") };
        let share = |of: &dyn Fn(u32) -> bool| {
            let distance = |edge: usize, target: u32| {
                let (a, b) = (classes.of()[target as usize], classes.of()[graph.sources()[edge] as usize]);
                a.abs_diff(b).min(classes.width() as u32 - a.abs_diff(b))
            };
            let (mut all, mut inside) = (0.0, 0.0);
            for (edge, &target) in graph.targets().iter().enumerate() {
                if of(distance(edge, target)) {
                    all += 1.0;
                    inside += f64::from(u8::from(is_in[edge]));
                }
            }
            inside / all
        };
        let (easy, medium, hard) = (share(&|d| d == 0), share(&|d| d == 1), share(&|d| d > 1));
        println!(
            "homophily {homophily}: with 60 % of the edges in, easy {easy:.3}, medium {medium:.3}, hard {hard:.3}"
        );
        assert!(easy >= easy_at_least && hard <= hard_at_most, "{homophily}: easy {easy}, hard {hard}");
    }
}
