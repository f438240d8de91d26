use edgepace_graph::random::Purpose;

use super::*;

fn path() -> Arc<Graph> {
    Arc::new(Graph::undirected(5, &[0, 1, 2], &[1, 2, 3]).unwrap())
}

fn stream(epoch: u32) -> Stream {
    Stream::new(3, Purpose::EdgeSamples, epoch)
}

fn sigmoid_of(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// P(z ≤ x) for 0 ≤ x < 1.
fn below(x: f64, a: f64, temperature: f64) -> f64 {
    let [low, high] = STRETCH;
    let s = (x - low) / (high - low);
    sigmoid_of(temperature * (s / (1.0 - s)).ln() - a)
}

#[test]
fn gates_are_closed_open_and_between_as_often_as_their_distribution_says() {
    const DRAWS: u32 = 40_000;
    let (graph, threads) = (path(), Threads::new(1).unwrap());
    let n = f64::from(DRAWS);
    for (a, temperature) in [(0.0, 1.0), (1.5, 0.5), (-1.0, 2.0)] {
        let mut gates = Gates::<f64>::new(Arc::clone(&graph));
        gates.set_scores(&threads, &vec![a; graph.edges()]);
        let (mut z, mut open) = (vec![0.0; graph.edges()], vec![0.0; graph.edges()]);
        let (mut closed, mut full, mut sum, mut squares) = (0.0, 0.0, 0.0, 0.0);
        for epoch in 0..DRAWS {
            gates.sample(&threads, stream(epoch), temperature, &mut z);
            closed += f64::from(u8::from(z[0] == 0.0));
            full += f64::from(u8::from(z[0] == 1.0));
            sum += z[0];
            squares += z[0] * z[0];
        }
        gates.open(&threads, &mut open);
        let share = |p: f64| 5.0 * (p * (1.0 - p) / n).sqrt();
        let p_closed = below(0.0, a, temperature);
        let p_full = 1.0 - below(1.0, a, temperature);
        assert!((closed / n - p_closed).abs() < share(p_closed), "P(0): {} for {p_closed}", closed / n);
        assert!((full / n - p_full).abs() < share(p_full), "P(1): {} for {p_full}", full / n);
        assert!((open[0] - (1.0 - p_closed)).abs() < 1e-12, "the closed form is that of the distribution");
        // E z = ∫ P(z > x) dx over [0, 1].
        let steps = 20_000;
        let mean = (0..steps)
            .map(|i| 1.0 - below((f64::from(i) + 0.5) / f64::from(steps), a, temperature))
            .sum::<f64>()
            / f64::from(steps);
        let deviation = ((squares / n - (sum / n).powi(2)) / n).sqrt();
        assert!((sum / n - mean).abs() < 5.0 * deviation, "mean {} for {mean}", sum / n);
    }
}

#[test]
fn both_directions_of_an_edge_have_one_gate() {
    let (graph, threads) = (path(), Threads::new(1).unwrap());
    let scores: Vec<f64> = (0..graph.edges()).map(|e| e as f64 - 2.5).collect();
    let mut gates = Gates::new(Arc::clone(&graph));
    let mut z = vec![0.0; graph.edges()];
    gates.set_scores(&threads, &scores);
    gates.sample(&threads, stream(0), 1.0, &mut z);
    let twins = graph.twins().unwrap();
    for e in 0..graph.edges() {
        assert_eq!(z[e], z[twins[e] as usize]);
    }
    assert!(z.iter().any(|&gate| gate != z[0]), "different edges have different gates");
}

#[test]
fn gradients_through_gates_with_fixed_noise_are_central_differences() {
    let threads = Threads::new(1).unwrap();
    let directed = Arc::new(Graph::from_edges(4, &[0, 1, 2, 0], &[1, 2, 3, 3]).unwrap());
    for graph in [path(), directed] {
        let scores: Vec<f64> = (0..graph.edges()).map(|e| (e as f64 * 1.3).sin()).collect();
        let by_gate: Vec<f64> = (0..graph.edges()).map(|e| (e as f64 * 0.7).cos()).collect();
        let (temperature, share) = (0.8, 0.3);
        let mut gates = Gates::new(Arc::clone(&graph));
        let mut z = vec![0.0; graph.edges()];
        let mut open = vec![0.0; graph.edges()];
        let mut loss = |scores: &[f64]| {
            gates.set_scores(&threads, scores);
            gates.sample(&threads, stream(1), temperature, &mut z);
            gates.open(&threads, &mut open);
            z.iter().zip(&by_gate).map(|(z, g)| z * g).sum::<f64>() + share * open.iter().sum::<f64>()
        };
        let numeric: Vec<f64> = (0..scores.len())
            .map(|e| {
                let mut at = |step: f64| {
                    let mut moved = scores.clone();
                    moved[e] += step;
                    loss(&moved)
                };
                (at(1e-5) - at(-1e-5)) / 2e-5
            })
            .collect();
        loss(&scores);
        assert!(z.iter().any(|&z| z > 0.0 && z < 1.0), "some gate has a slope");
        let mut found = vec![0.0; graph.edges()];
        gates.gradient(&threads, &by_gate, share, &mut found);
        for (found, numeric) in found.iter().zip(&numeric) {
            assert!((found - numeric).abs() < 1e-8, "{found} for {numeric}");
        }
    }
}
