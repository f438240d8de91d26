//! Generated graphs are what their descriptions say, to the last bit.

use edgepace_data::generate::{Blocks, Law, ScaleFree, Synthetic};
use edgepace_data::{Generator, generate};
use edgepace_graph::{Classes, Dataset, Graph, Labels, Threads, edge_homophily};
use proptest::prelude::*;

pub(crate) fn made(name: &str) -> Dataset {
    generate(&Threads::one(), name).unwrap().expect("the name of a generator")
}

pub(crate) fn classes(dataset: &Dataset) -> &Classes {
    match &**dataset.labels() {
        Labels::Classes(classes) => classes,
        Labels::Many(_) => panic!("one class per node was expected"),
    }
}

fn refusal(name: &str) -> String {
    match Generator::parse(name) {
        Err(error) => error.to_string(),
        Ok(generator) => {
            generator.expect("the name of a generator").dataset(&Threads::one()).unwrap_err().to_string()
        }
    }
}

/// The graph built again from its edges by the graph's own, checking, constructor.
fn rebuilt(graph: &Graph) -> Graph {
    Graph::from_edges(graph.nodes(), graph.sources(), &graph.targets()).unwrap()
}

fn same_edges(a: &Graph, b: &Graph) -> bool {
    (a.offsets(), a.sources(), a.twins()) == (b.offsets(), b.sources(), b.twins())
}

#[test]
fn edges_of_every_distance_have_their_expected_share() {
    println!("law      h     same   adjacent  far    (expected)");
    for law in [Law::Inverse, Law::Exp] {
        for tenths in 1..=9 {
            let homophily = f64::from(tenths) / 10.0;
            let synthetic = Synthetic { homophily, law, seed: tenths as u64, ..Synthetic::default() };
            let dataset = synthetic.dataset(&Threads::one()).unwrap();
            let (graph, classes) = (dataset.graph(), classes(&dataset));
            let measured = edge_homophily(graph, classes).unwrap();
            assert!((measured - homophily).abs() <= 0.01 * homophily, "{synthetic}: {measured}");

            let targets = graph.targets();
            let mut counts = [0_usize; 6];
            for (&a, &b) in graph.sources().iter().zip(&targets) {
                let [a, b] = [a, b].map(|node| classes.of()[node as usize].cast_signed());
                counts[(a - b).unsigned_abs().min(10 - (a - b).unsigned_abs()) as usize] += 1;
            }
            // The expectation, from the definition and not from the generator.
            let weight = |d: f64| if law == Law::Exp { (-d).exp() } else { 1.0 / d };
            let total: f64 = (1..10).map(|step: i32| weight(f64::from(step.min(10 - step)))).sum();
            let between = |d: usize| {
                let classes = if d == 5 { 1.0 } else { 2.0 };
                (1.0 - homophily) * classes * weight(d as f64) / total
            };
            let share = |d: usize| counts[d] as f64 / 60_000.0;
            for d in 1..=5 {
                assert!((share(d) - between(d)).abs() < 1.0 / 30_000.0, "{synthetic}: distance {d}");
            }
            let far = |of: &dyn Fn(usize) -> f64| (2..=5).map(of).sum::<f64>();
            println!(
                "{law:8?} {homophily}   {:.4} {:.4}    {:.4} ({homophily:.4} {:.4} {:.4})",
                share(0),
                share(1),
                far(&share),
                between(1),
                far(&between)
            );
        }
    }
}

#[test]
fn the_paper_graph_has_the_paper_sizes_marks_and_thirds() {
    let dataset = made("synthetic:homophily=0.3");
    let (graph, classes) = (dataset.graph(), classes(&dataset));
    assert_eq!((graph.nodes(), graph.edges(), dataset.features().cols()), (5000, 60_000, 2));
    for class in 0..10 {
        assert_eq!(classes.of().iter().filter(|&&of| of == class).count(), 500);
    }
    // Ids tell nothing of classes: neighbours in the order share a class as often as chance has it.
    let alike = classes.of().windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!((400..600).contains(&alike), "{alike}");

    let split = dataset.split(Synthetic::SPLIT).unwrap();
    assert_eq!(split.sets().map(|(_, ids)| ids.len()), [1667, 1667, 1666]);

    let column = dataset.edge_column(Dataset::PROBABILITY).unwrap();
    let total = 2.0 * (1.0 + 1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0) + 1.0 / 5.0;
    let targets = graph.targets();
    for edge in 0..graph.edges() {
        let [a, b] = [graph.sources()[edge], targets[edge]].map(|node| classes.of()[node as usize]);
        let apart = a.abs_diff(b).min(10 - a.abs_diff(b));
        let expected = if apart == 0 { 0.3 } else { 0.7 / f64::from(apart) / total };
        assert!((f64::from(column[edge]) - expected).abs() < 1e-7);
    }
}

#[test]
fn features_lie_around_their_class_centres() {
    let dataset = made("synthetic:seed=3");
    let edgepace_graph::Features::Dense(dense) = &**dataset.features() else { panic!("dense features") };
    for class in 0..10_u32 {
        let angle = std::f64::consts::TAU * f64::from(class) / 10.0;
        for (column, centre) in [(0, 300.0 * angle.cos()), (1, 300.0 * angle.sin())] {
            let rows = (0..5000).filter(|&node| classes(&dataset).of()[node] == class);
            let off: Vec<f64> =
                rows.map(|node| f64::from(dense.values()[2 * node + column]) - centre).collect();
            let mean = off.iter().sum::<f64>() / 500.0;
            let deviation = (off.iter().map(|x| x * x).sum::<f64>() / 500.0).sqrt();
            // Four standard errors.
            assert!(mean.abs() < 18.0 && (deviation - 100.0).abs() < 13.0, "{class}: {mean} {deviation}");
        }
    }
}

#[test]
fn a_description_makes_the_same_bits_everywhere() {
    let names = [
        "synthetic:homophily=0.3,law=inverse,seed=0",
        "synthetic:homophily=0.5,law=exp,seed=7,nodes=203,edges=999,classes=7",
        "blocks:nodes=3000,edges=20000,seed=1",
        "scale-free:nodes=3000,edges=20000,seed=1",
    ];
    let committed = [
        "185b0db432a033f9d15c7542348841c7f73e454ee0e5de9980136712c682c36a",
        "424a5bbad4d5e98c3a3be3e4c42dd3f7737ea3b4f3f67b09f3b175f2e1c1cb04",
        "1101d0f29533dc5cb0865c572344283e4a1deb6c00517dc027c799aeb7a471eb",
        "b9ae4e59f87ac69a3b5f867063949cec30a6881c103d2555aa66b02136cb3859",
    ];
    for threads in [1, 2, 8] {
        let threads = Threads::new(threads).unwrap();
        let checksums = names.map(|name| generate(&threads, name).unwrap().unwrap().checksum());
        assert_eq!(checksums, committed, "{} threads", threads.count());
    }
    for (name, checksum) in names.iter().zip(committed) {
        assert_ne!(made(&name.replace("seed=", "seed=1")).checksum(), checksum);
    }
}

#[test]
fn names_are_complete_and_make_the_same_graph_again() {
    let full = "synthetic:homophily=0.25,law=exp,seed=2,nodes=300,edges=900,classes=6,radius=300,sigma=100";
    let short = "synthetic:edges=900,seed=2,law=exp,classes=6,nodes=300,homophily=0.250";
    assert_eq!(made(short).name(), full);
    assert_eq!(made(full), made(short));
    for name in ["synthetic", "blocks:seed=4", "scale-free:exponent=3"] {
        let generator = Generator::parse(name).unwrap().unwrap();
        assert_eq!(Generator::parse(&generator.to_string()).unwrap().unwrap(), generator);
    }
    assert_eq!(Generator::parse("cora").unwrap(), None);
}

#[test]
fn impossible_descriptions_are_refused_with_what_is_possible() {
    assert_eq!(
        refusal("synthetic:homophile=0.3"),
        "`synthetic` is `homophile`, expected one of its keys: did you mean `homophily`?"
    );
    assert_eq!(refusal("synthetic:law=cubic"), "`synthetic: law` is `cubic`, expected `inverse` or `exp`");
    assert_eq!(
        refusal("synthetic:homophily=1.2"),
        "`synthetic: homophily` is `1.2`, expected a number from 0 to 1"
    );
    let message = refusal("synthetic:nodes=100,edges=1000,homophily=0.9");
    assert!(message.contains("at most about 500") && message.contains("from 0.0000 to 0.4500"), "{message}");
    let message = refusal("blocks:nodes=20,edges=1000");
    assert!(message.contains("use more nodes"), "{message}");
    assert!(refusal("scale-free:nodes=20,edges=1000").contains("use more nodes"));
}

#[test]
fn a_full_graph_is_possible() {
    // Each of the ten classes has 10 nodes and 45 pairs: 450 edges fill them all.
    let dataset = made("synthetic:nodes=100,edges=450,homophily=1");
    assert_eq!(dataset.graph().edges(), 900);
    assert_eq!(edge_homophily(dataset.graph(), classes(&dataset)), Some(1.0));
}

#[test]
fn blocks_have_exact_edges_homophily_and_hubs() {
    let blocks = Blocks {
        nodes: 20_000,
        edges: 200_000,
        classes: 7,
        homophily: 0.65,
        exponent: 2.3,
        features: 3,
        seed: 5,
    };
    let dataset = blocks.dataset(&Threads::one()).unwrap();
    let graph = dataset.graph();
    assert_eq!((graph.edges(), dataset.features().cols()), (400_000, 3));
    assert_eq!(edge_homophily(graph, classes(&dataset)), Some(0.65));
    assert!(same_edges(graph, &rebuilt(graph)));
    let stats = graph.stats();
    assert!(stats.in_degree.max > 150 && stats.in_degree.median < 20.0, "{:?}", stats.in_degree);
    // What was drawn twice is told.
    assert!(graph.dropped().duplicates > 0 && graph.dropped().duplicates < 40_000, "{:?}", graph.dropped());
}

#[test]
fn scale_free_degrees_fall_by_their_power() {
    let scale_free =
        ScaleFree { nodes: 100_000, edges: 500_000, classes: 4, exponent: 2.5, features: 2, seed: 0 };
    let dataset = scale_free.dataset(&Threads::one()).unwrap();
    let graph = dataset.graph();
    assert_eq!(graph.edges(), 1_000_000);
    assert!(same_edges(graph, &rebuilt(graph)));
    let above = |x: usize| (0..graph.nodes()).filter(|&node| graph.in_edges(node).len() >= x).count() as f64;
    // P(degree >= x) falls as x^-1.5.
    let slope = (above(400) / above(50)).ln() / 8_f64.ln();
    assert!((-1.8..-1.3).contains(&slope), "{slope}");
}

/// `cargo test --release -p edgepace-data --test data speed -- --ignored --nocapture`
#[test]
#[ignore = "a measurement: 100 million edges"]
fn speed_of_large_graphs() {
    for (nodes, edges) in [(1_000_000, 10_000_000), (10_000_000, 100_000_000)] {
        for kind in ["blocks", "scale-free"] {
            let start = std::time::Instant::now();
            let dataset = made(&format!("{kind}:nodes={nodes},edges={edges},features=4"));
            let seconds = start.elapsed().as_secs_f64();
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
            println!(
                "{kind} {edges}: {seconds:.1} s, {:.1} M edges/s, redrawn {:?}, {peak}",
                edges as f64 / seconds / 1e6,
                dataset.graph().dropped()
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn small_graphs_are_exact_or_refused(
        nodes in 3_usize..40,
        edges in 0_usize..120,
        classes in 2_usize..12,
        homophily in 0.0_f64..=1.0,
        seed: u64,
        law in prop_oneof![Just(Law::Inverse), Just(Law::Exp)],
    ) {
        let classes_wanted = classes.min(nodes);
        let base = Synthetic { nodes, edges, homophily, seed, law, classes: classes_wanted, ..Synthetic::default() };
        if let Ok(dataset) = base.dataset(&Threads::one()) {
            let graph = dataset.graph();
            prop_assert_eq!(graph.edges(), 2 * edges);
            prop_assert!(same_edges(graph, &rebuilt(graph)));
            let within = (homophily * edges as f64).round() / edges as f64;
            let measured = edge_homophily(graph, self::classes(&dataset));
            prop_assert!(measured.is_none_or(|share| (share - within).abs() < 1e-12));
        }
    }
}
