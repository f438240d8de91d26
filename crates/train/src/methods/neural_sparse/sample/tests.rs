use edgepace_graph::random::Purpose;

use super::*;

/// A star: `leaves` edges into node 0 and out of it, and an isolated node last.
fn star(leaves: u32) -> Arc<Graph> {
    let a = vec![0; leaves as usize];
    let b: Vec<u32> = (1..=leaves).collect();
    Arc::new(Graph::undirected(leaves as usize + 2, &a, &b).unwrap())
}

fn one_thread() -> Threads {
    Threads::new(1).unwrap()
}

fn noise(epoch: u32) -> Noise {
    (Stream::new(5, Purpose::EdgeSamples, epoch), 0)
}

/// P(edge in the sample) when `k` are drawn one after the other from softmax(scores) without replacement.
fn inclusion(scores: &[f64], k: usize) -> Vec<f64> {
    fn draw(weights: &[f64], left: f64, k: usize, taken: &mut Vec<usize>, p: f64, sums: &mut [f64]) {
        if taken.len() == k {
            for &i in taken.iter() {
                sums[i] += p;
            }
            return;
        }
        for i in 0..weights.len() {
            if !taken.contains(&i) {
                taken.push(i);
                draw(weights, left - weights[i], k, taken, p * weights[i] / left, sums);
                taken.pop();
            }
        }
    }
    let weights: Vec<f64> = scores.iter().map(|z| z.exp()).collect();
    let mut sums = vec![0.0; scores.len()];
    draw(&weights, weights.iter().sum(), k, &mut Vec::new(), 1.0, &mut sums);
    sums
}

#[test]
fn samples_have_the_frequencies_of_drawing_one_after_the_other_without_replacement() {
    const DRAWS: u32 = 40_000;
    let (graph, threads) = (star(6), one_thread());
    let scores: Vec<f64> = [1.0, 0.0, -1.0, 0.5, 2.0, -0.3].into_iter().chain([0.0; 6]).collect();
    for k in [1, 2, 4] {
        let mut sampler = Sampler::<f64>::new(Arc::clone(&graph), k);
        let mut weights = vec![0.0; graph.edges()];
        let mut counts = [0.0; 6];
        for epoch in 0..DRAWS {
            sampler.perturb(&threads, &scores, Some(noise(epoch)));
            sampler.hard(&threads, &mut weights);
            assert_eq!(weights[..6].iter().sum::<f64>(), k as f64);
            assert_eq!(weights[6..], [1.0; 6], "a leaf has one neighbour, which it keeps");
            counts.iter_mut().zip(&weights).for_each(|(count, w)| *count += w);
        }
        for (count, p) in counts.iter().zip(inclusion(&scores[..6], k)) {
            // Five standard deviations.
            let tolerance = 5.0 * (p * (1.0 - p) / f64::from(DRAWS)).sqrt();
            let found = count / f64::from(DRAWS);
            assert!((found - p).abs() < tolerance, "k {k}: {found} for {p}");
        }
    }
}

#[test]
fn the_relaxation_is_gumbel_softmax_for_one_neighbour_sums_to_k_and_ends_as_the_sample() {
    let (graph, threads) = (star(7), one_thread());
    let scores: Vec<f64> = (0..graph.edges()).map(|e| (e as f64 * 1.7).sin()).collect();
    let weights = |k, temperature: f64| {
        let mut sampler = Sampler::<f64>::new(Arc::clone(&graph), k);
        sampler.perturb(&threads, &scores, Some(noise(3)));
        sampler.relax(&threads, temperature);
        let (mut relaxed, mut hard) = (vec![0.0; graph.edges()], vec![0.0; graph.edges()]);
        sampler.relaxed(&threads, &mut relaxed);
        sampler.hard(&threads, &mut hard);
        (relaxed, hard, sampler.perturbed)
    };
    let (one, _, perturbed) = weights(1, 0.7);
    let total: f64 = perturbed[..7].iter().map(|s| (s / 0.7).exp()).sum();
    for (weight, s) in one[..7].iter().zip(&perturbed) {
        assert!((weight - (s / 0.7).exp() / total).abs() < 1e-12);
    }
    let (relaxed, hard, _) = weights(3, 0.005);
    assert!((relaxed[..7].iter().sum::<f64>() - 3.0).abs() < 1e-9);
    for (relaxed, hard) in relaxed.iter().zip(&hard) {
        assert!((relaxed - hard).abs() < 1e-3, "{relaxed} for {hard}");
    }
}

#[test]
fn the_gradient_through_the_relaxation_with_fixed_noise_is_its_central_differences() {
    let (graph, threads) = (star(6), one_thread());
    let scores: Vec<f64> = (0..graph.edges()).map(|e| (e as f64 * 2.3).cos()).collect();
    let by_weight: Vec<f64> = (0..graph.edges()).map(|e| (e as f64 * 0.9).sin() + 0.2).collect();
    for (k, temperature) in [(1, 1.0), (2, 0.5), (3, 0.3), (5, 2.0), (6, 1.0)] {
        let mut sampler = Sampler::<f64>::new(Arc::clone(&graph), k);
        let mut weights = vec![0.0; graph.edges()];
        let mut loss = |scores: &[f64]| {
            sampler.perturb(&threads, scores, Some(noise(1)));
            sampler.relax(&threads, temperature);
            sampler.relaxed(&threads, &mut weights);
            weights.iter().zip(&by_weight).map(|(w, g)| w * g).sum::<f64>()
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
        let mut found = vec![1.0; graph.edges()];
        sampler.gradient(&threads, &by_weight, &mut found);
        for (found, numeric) in found.iter().zip(&numeric) {
            assert!((found - numeric).abs() < 1e-7, "k {k}, τ {temperature}: {found} for {numeric}");
        }
        assert_eq!(found[6..], [0.0; 6], "who keeps all has nothing to learn");
    }
}

/// Scores of a star with 7 leaves: groups that lie 30 apart.
const APART: [f64; 7] = [0.5, -30.0, -60.0, 0.0, -29.2, 1.2, -31.0];

fn apart() -> Vec<f64> {
    APART.into_iter().chain([0.0; 7]).collect()
}

/// The weights of the relaxation without noise at a temperature, and its gradient when that by weight e is sin(e + 1).
fn relaxed<T: Real>(scores: &[f64], k: usize, temperature: f64) -> [Vec<f64>; 2] {
    let (graph, threads) = (star(7), one_thread());
    let of = |values: Vec<f64>| values.into_iter().map(T::of).collect::<Vec<T>>();
    let mut sampler = Sampler::<T>::new(Arc::clone(&graph), k);
    sampler.perturb(&threads, &of(scores.to_vec()), None);
    sampler.relax(&threads, temperature);
    let (mut weights, mut gradient) = (vec![T::ZERO; graph.edges()], vec![T::ZERO; graph.edges()]);
    sampler.relaxed(&threads, &mut weights);
    sampler.gradient(
        &threads,
        &of((0..graph.edges()).map(|e| (e as f64 + 1.0).sin()).collect()),
        &mut gradient,
    );
    [weights, gradient].map(|values| values.into_iter().map(Into::into).collect())
}

#[test]
fn the_relaxation_ends_as_the_sample_when_scores_are_30_apart() {
    let order = [5, 0, 3, 4, 1, 6];
    for k in 1..=6 {
        for [weights, _] in [relaxed::<f32>(&apart(), k, 0.005), relaxed::<f64>(&apart(), k, 0.005)] {
            for e in 0..7 {
                let sampled = if order[..k].contains(&e) { 1.0 } else { 0.0 };
                assert!((weights[e] - sampled).abs() < 1e-6, "k {k}, edge {e}: {}", weights[e]);
            }
        }
    }
}

#[test]
fn an_edge_30_ahead_is_half_drawn_again_at_temperature_1() {
    let scores: Vec<f64> = [30.0].into_iter().chain([0.0; 13]).collect();
    for [weights, _] in [relaxed::<f32>(&scores, 2, 1.0), relaxed::<f64>(&scores, 2, 1.0)] {
        assert!((weights[0] - 1.5).abs() < 1e-6, "{}", weights[0]);
    }
}

#[test]
fn the_gradient_is_that_of_central_differences_when_scores_are_30_apart() {
    let loss = |scores: &[f64], k, temperature| {
        let [weights, _] = relaxed::<f64>(scores, k, temperature);
        weights.iter().enumerate().map(|(e, w)| w * (e as f64 + 1.0).sin()).sum::<f64>()
    };
    for (k, temperature) in [(1, 1.0), (2, 1.0), (3, 1.0), (3, 0.5), (5, 2.0), (6, 5.0)] {
        let [_, exact] = relaxed::<f64>(&apart(), k, temperature);
        let [_, single] = relaxed::<f32>(&apart(), k, temperature);
        for e in 0..7 {
            let at = |step: f64| {
                let mut moved = apart();
                moved[e] += step;
                loss(&moved, k, temperature)
            };
            let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((exact[e] - numeric).abs() < 1e-7, "k {k}, τ {temperature}: {} for {numeric}", exact[e]);
            assert!((single[e] - exact[e]).abs() < 1e-5, "k {k}, τ {temperature}: {} in f32", single[e]);
        }
    }
}

#[test]
fn huge_scores_leave_the_relaxation_and_its_gradient_finite() {
    for scale in [1.0, 1e2, 1e6, 1e30] {
        let scores: Vec<f64> = apart().iter().map(|z| scale * z).collect();
        for temperature in [0.01, 1.0, 10.0] {
            for k in 1..=6 {
                let numbers = relaxed::<f32>(&scores, k, temperature).concat();
                assert!(numbers.iter().all(|x| x.is_finite()), "{scale} {temperature} {k}: {numbers:?}");
            }
        }
    }
}

#[test]
fn a_graph_without_edges_has_an_empty_sample() {
    let graph = Arc::new(Graph::from_edges(3, &[], &[]).unwrap());
    let mut sampler = Sampler::<f32>::new(graph, 2);
    sampler.perturb(&one_thread(), &[], Some(noise(0)));
    sampler.relax(&one_thread(), 1.0);
    sampler.relaxed(&one_thread(), &mut []);
    sampler.hard(&one_thread(), &mut []);
    sampler.gradient(&one_thread(), &[], &mut []);
    assert_eq!(sampler.sampled(), 0);
}
