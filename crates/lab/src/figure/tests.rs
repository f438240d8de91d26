use super::*;

fn samples() -> Vec<(&'static str, Box<dyn Figure>)> {
    let lines = |title: &str| {
        let mut chart = Chart::new(title).x(Axis::new("fake edges / %")).y(Axis::new("test accuracy / %"));
        for (place, name) in ["vanilla", "RCL", "GNN-SVD", "Pro-GNN"].into_iter().enumerate() {
            let of = |x: f64| 86.0 - x * (0.16 - 0.035 * place as f64);
            let points: Vec<(f64, f64)> = (0..=10).map(|x| (10.0 * x as f64, of(10.0 * x as f64))).collect();
            let band: Vec<(f64, f64)> = points.iter().map(|p| (p.1 - 0.9, p.1 + 0.9)).collect();
            chart = chart.with(Series::line(name, points).band(band));
        }
        chart
    };
    let groups = ["Cora", "Citeseer", "Pubmed"];
    let bars = |shift: f64| {
        groups.iter().enumerate().map(move |(i, _)| Bar {
            reference: Some(80.0),
            ..Bar::with_interval(70.0 + shift + i as f64, 68.0 + shift, 73.0 + shift + i as f64)
        })
    };
    let classes: Vec<String> =
        ["Theory", "Neural nets", "Reinforcement learning", "<script>"].map(String::from).to_vec();
    let counts =
        vec![90.0, 4.0, 3.0, 3.0, 10.0, 70.0, 20.0, 0.0, 0.0, 5.0, 1200.0, 1.0, 0.0, 0.0, 50.0, 50.0];
    let places: Vec<[f32; 2]> =
        (0..60).map(|i| [(i % 8) as f32, (i / 8) as f32 + 0.3 * (i % 3) as f32]).collect();
    let links = (0..59).map(|i| Link {
        ends: [i, (i * 7 + 3) % 60],
        colour: Colour::Difficulty(i as f64 / 59.0),
        opacity: 0.8,
    });
    let scored: Vec<(f64, bool)> =
        (0..1000).map(|i| (f64::from(i * 37 % 1000), i * 37 % 1000 > 400 + i % 300)).collect();
    let shares =
        |rate: f64| (0..=30).map(move |x| (5.0 * x as f64, 100.0 * (1.0 - 1.0 / (1.0 + rate * x as f64))));
    vec![
        ("lines", Box::new(lines("Accuracy and fake edges, Cora"))),
        (
            "panels",
            Box::new(
                Panels::new("Robustness", 2)
                    .with(lines("Cora, GCN").without_key().sized(340.0, 240.0))
                    .with(lines("Citeseer, GCN").without_key().sized(340.0, 240.0)),
            ),
        ),
        (
            "bars",
            Box::new(
                BarChart::new("Accuracy", groups)
                    .y(Axis::new("test accuracy / %").range(60.0, 90.0))
                    .with("vanilla", bars(0.0).map(Some))
                    .with("RCL", bars(4.0).map(Some))
                    .with("auto", [Some(Bar::new(88.0)), None, Some(Bar::new(75.0))]),
            ),
        ),
        (
            "intervals",
            Box::new(IntervalChart::new(
                "Test accuracy on Cora + 100 % fake edges",
                Axis::new("test accuracy / %, mean and 95 % interval"),
                vec![
                    Interval {
                        points: vec![70.0, 71.0, 73.0],
                        reference: Some(71.9),
                        ..Interval::new("vanilla", 71.3, Some([69.5, 72.8]))
                    },
                    Interval {
                        kind: 1,
                        ..Interval::new("RCL, a name that is rather long", 82.0, Some([81.0, 83.0]))
                    },
                    Interval { kind: 2, ..Interval::new("auto", 82.1, None) },
                ],
            )),
        ),
        ("confusion", Box::new(HeatMap::confusion("Test nodes", &classes, counts))),
        (
            "network",
            Box::new(
                Network::new(
                    "A graph",
                    places,
                    (0..60).map(|i| Colour::Kind(i % 5)).collect(),
                    links.collect(),
                )
                .key("easy", Colour::Difficulty(0.0), Mark::Line)
                .key("hard", Colour::Difficulty(1.0), Mark::Line),
            ),
        ),
        ("roc", Box::new(roc_chart("Fake edges", vec![("suspicion".into(), 0.91, roc_curve(&scored))]))),
        (
            "steps",
            Box::new(
                Chart::new("Edges in training")
                    .x(Axis::new("epoch"))
                    .y(Axis::new("edges"))
                    .with(Series::new(
                        "edges",
                        Mark::Step,
                        [(0.0, 0.0), (20.0, 12_000.0), (40.0, 30_000.0), (60.0, 60_000.0)],
                    ))
                    .upright(33.0, "kept"),
            ),
        ),
        (
            "areas",
            Box::new(
                Chart::new("Share of each kind of edges")
                    .x(Axis::new("epoch"))
                    .y(Axis::new("share / %").range(0.0, 100.0))
                    .with(Series::new("easy", Mark::Area, shares(1.0)))
                    .with(Series::new("medium", Mark::Area, shares(0.2)))
                    .with(Series::new("hard", Mark::Area, shares(0.05))),
            ),
        ),
        (
            "reliability",
            Box::new(reliability_diagram(
                "Reliability",
                vec![(
                    "calibrated".into(),
                    (0..500).map(|i| (f64::from(i) / 500.0, i * 7 % 500 < i)).collect(),
                )],
            )),
        ),
        (
            "scatter",
            Box::new(
                Chart::new("Time and edges")
                    .x(Axis::new("edges").logarithmic())
                    .y(Axis::new("seconds").logarithmic())
                    .with(Series::new(
                        "GCN",
                        Mark::Points,
                        [(1e3, 0.02), (1e4, 0.11), (1e5, 1.4), (1e6, 12.0)],
                    )),
            ),
        ),
    ]
}

#[test]
fn every_figure_is_a_well_formed_svg_and_a_picture() {
    let folder = std::env::var_os("EDGEPACE_FIGURES").map(std::path::PathBuf::from);
    for (name, figure) in samples() {
        for ink in [Ink::File, Ink::Page] {
            let text = svg(&*figure, ink);
            assert!(!text.contains("NaN") && !text.contains("\"inf"), "{name}");
            assert!(resvg::usvg::roxmltree::Document::parse(&text).is_ok(), "{name}");
        }
        let text = svg(&*figure, Ink::File);
        let picture = png(&text, 1.0).expect("a picture");
        assert!(picture.starts_with(b"\x89PNG"), "{name}");
        assert_eq!(picture, png(&text, 1.0).expect("the same picture"), "{name}");
        if let Some(folder) = &folder {
            write(&*figure, &folder.join(format!("{name}.png"))).expect("written");
        }
    }
}

#[test]
fn names_cannot_break_out_of_a_figure() {
    let evil = "</text><script>alert('x')</script>\u{202e}\u{0}\"&";
    let chart = Chart::new(evil)
        .x(Axis::new(evil))
        .with(Series::line(evil, [(0.0, 1.0)]))
        .with(Series::line(evil, []));
    let text = svg(&chart, Ink::Page);
    assert!(resvg::usvg::roxmltree::Document::parse(&text).is_ok(), "{text}");
    assert!(!text.contains("<script") && !text.contains('\u{202e}') && !text.contains('\u{0}'));
}

#[test]
fn figures_of_nothing_and_of_what_is_no_number_are_drawn_too() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1e300, -1e300, 1e-300];
    for a in odd {
        for b in odd {
            let chart = Chart::new("").with(Series::line("x", [(a, b), (b, a)]).band([(a, b), (b, b)]));
            let text = svg(&chart, Ink::File);
            assert!(!text.contains("NaN"), "{a} {b}: {text}");
            svg(&Chart::new("").x(Axis::new("").logarithmic()).with(Series::line("x", [(a, b)])), Ink::File);
            svg(&BarChart::new("", ["g"]).with("x", [Some(Bar::with_interval(a, b, a))]), Ink::File);
            svg(&IntervalChart::new("", Axis::new(""), vec![Interval::new("x", a, Some([a, b]))]), Ink::File);
            svg(&Network::new("", vec![[a as f32, b as f32]], vec![Colour::Text], Vec::new()), Ink::File);
        }
    }
    svg(&HeatMap::confusion("", &[], Vec::new()), Ink::File);
    svg(&Panels::new("", 0), Ink::File);
    assert_eq!(roc_curve(&[(0.5, true)]), []);
}

#[test]
fn numbers_at_an_axis_are_round_and_cover_the_data() {
    let labels = |from: f64, to: f64| {
        let axis = Axis::new("");
        let scale = axis.scale([from, to].into_iter(), [0.0, 100.0], true);
        axis.ticks(&scale).into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(labels(0.0, 100.0), "0 20 40 60 80 100");
    assert_eq!(labels(0.0, 30_000.0), "0 5000 10\u{a0}000 15\u{a0}000 20\u{a0}000 25\u{a0}000 30\u{a0}000");
    assert_eq!(labels(0.11, 0.47), "0.1 0.2 0.3 0.4 0.5");
    assert_eq!(labels(-3.0, 3.0), "−3 −2 −1 0 1 2 3");
    let axis = Axis::new("").logarithmic();
    let scale = axis.scale([0.01, 100.0].into_iter(), [0.0, 1.0], false);
    let powers: Vec<String> = axis.ticks(&scale).into_iter().map(|(_, label)| label).collect();
    assert_eq!(powers, ["0.01", "0.1", "1", "10", "100"]);
}

#[test]
fn a_perfect_score_has_a_corner_for_its_characteristic() {
    let curve = roc_curve(&[(0.9, true), (0.8, true), (0.2, false), (0.1, false)]);
    assert_eq!(curve, [(0.0, 0.0), (0.0, 0.5), (0.0, 1.0), (0.5, 1.0), (1.0, 1.0)]);
    assert_eq!(roc_curve(&[(0.5, true), (0.5, false)]), [(0.0, 0.0), (1.0, 1.0)]);
}
