//! Beliefs are the exact posteriors on trees, and what a plain rendering of the formulas gives on other graphs.

use std::sync::Arc;

use edgepace_graph::{Graph, WeightedGraph};
use edgepace_nn::{Beliefs, Real, Threads};
use proptest::prelude::*;

/// Numbers in (0, 1) that look random.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as f64 + 0.5) / f64::from(1_u32 << 31)
    }
}

/// A model: a graph with trust, unaries and a symmetric compatibility.
struct Case {
    graph: WeightedGraph,
    classes: usize,
    unaries: Vec<f64>,
    compatibility: Vec<f64>,
}

impl Case {
    fn new(nodes: usize, edges: &[(u32, u32)], classes: usize, trusted: bool, seed: u64) -> Self {
        let mut draw = Draw(seed);
        let (a, b): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
        let graph = Arc::new(Graph::undirected(nodes, &a, &b).unwrap());
        let mut trust = vec![1.0_f32; graph.edges()];
        if !trusted {
            for edge in 0..trust.len() {
                let twin = graph.twins().unwrap()[edge] as usize;
                let value = [0.0, 0.25, 0.5, 1.0][(4.0 * draw.next()) as usize];
                (trust[edge], trust[twin]) = (value, value);
            }
        }
        let unaries = (0..nodes * classes).map(|_| 3.0 * draw.next().ln()).collect();
        let mut compatibility = vec![0.0; classes * classes];
        for c in 0..classes {
            for d in c..classes {
                let value = 0.05 + 3.0 * draw.next();
                (compatibility[c * classes + d], compatibility[d * classes + c]) = (value, value);
            }
        }
        Self { graph: WeightedGraph::new(graph, trust).unwrap(), classes, unaries, compatibility }
    }

    fn trust(&self, edge: usize) -> f64 {
        self.graph.weights().map_or(1.0, |weights| f64::from(weights[edge]))
    }

    fn beliefs(&self) -> Beliefs<f64> {
        Beliefs::new(&self.graph, self.classes, self.unaries.clone()).unwrap()
    }

    /// The posterior of each node by adding up all assignments, and the expected edges by the classes of their ends.
    fn exact(&self) -> (Vec<f64>, Vec<f64>) {
        let (graph, classes) = (self.graph.graph(), self.classes);
        let (nodes, targets) = (graph.nodes(), graph.targets());
        let twins = graph.twins().unwrap();
        let mut posterior = vec![0.0; nodes * classes];
        let mut counts = vec![0.0; classes * classes];
        let mut total = 0.0;
        for number in 0..classes.pow(nodes as u32) {
            let class = |node: usize| number / classes.pow(node as u32) % classes;
            let mut weight: f64 =
                (0..nodes).map(|node| self.unaries[node * classes + class(node)]).sum::<f64>().exp();
            let mut real = Vec::new();
            for edge in (0..graph.edges()).filter(|&edge| edge < twins[edge] as usize) {
                let (c, d) = (class(graph.sources()[edge] as usize), class(targets[edge] as usize));
                let (psi, trust) = (self.compatibility[c * classes + d], self.trust(edge));
                let factor = trust * psi + 1.0 - trust;
                weight *= factor;
                real.push((c, d, trust * psi / factor));
            }
            total += weight;
            (0..nodes).for_each(|node| posterior[node * classes + class(node)] += weight);
            for (c, d, share) in real {
                counts[c * classes + d] += 0.5 * share * weight;
                counts[d * classes + c] += 0.5 * share * weight;
            }
        }
        let normalised = |values: Vec<f64>| values.into_iter().map(|value| value / total).collect();
        (normalised(posterior), normalised(counts))
    }

    /// The same sweeps, edge by edge, as the formulas are written.
    fn plainly(&self, sweeps: usize, strength: f64, fresh: f64) -> Vec<f64> {
        let (graph, classes) = (self.graph.graph(), self.classes);
        let mut messages = vec![vec![0.0; classes]; graph.edges()];
        let sums = |messages: &[Vec<f64>], node: usize, without: Option<usize>| -> Vec<f64> {
            let edges = || graph.in_edges(node).filter(|&edge| Some(edge) != without);
            let sum = |c: usize| edges().map(|edge| messages[edge][c]).sum::<f64>();
            (0..classes).map(|c| self.unaries[node * classes + c] + sum(c)).collect()
        };
        for _ in 0..sweeps {
            let old = messages.clone();
            for target in 0..graph.nodes() {
                for edge in graph.in_edges(target) {
                    let source = graph.sources()[edge];
                    let twin = graph.edge_id(target as u32, source).unwrap() as usize;
                    let q = normalised(&sums(&old, source as usize, Some(twin)));
                    for c in 0..classes {
                        let ratio: f64 =
                            (0..classes).map(|d| q[d] * self.compatibility[d * classes + c]).sum();
                        let trust = self.trust(edge);
                        let new = strength * (trust * ratio + 1.0 - trust).ln();
                        messages[edge][c] = (1.0 - fresh) * old[edge][c] + fresh * new;
                    }
                }
            }
        }
        (0..graph.nodes()).flat_map(|node| normalised(&sums(&messages, node, None))).collect()
    }
}

fn normalised(logits: &[f64]) -> Vec<f64> {
    let peak = logits.iter().copied().fold(f64::MIN, f64::max);
    let total: f64 = logits.iter().map(|logit| (logit - peak).exp()).sum();
    logits.iter().map(|logit| (logit - peak).exp() / total).collect()
}

fn probabilities<T: Real>(beliefs: &Beliefs<T>, classes: usize) -> Vec<f64> {
    let rows = beliefs.logits().chunks_exact(classes);
    rows.flat_map(|row| normalised(&row.iter().map(|&x| x.into()).collect::<Vec<f64>>())).collect()
}

fn farthest(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A chain, a star, and a tree that is neither.
const TREES: [&[(u32, u32)]; 3] = [
    &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)],
    &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6)],
    &[(3, 1), (1, 0), (1, 2), (3, 5), (5, 4), (5, 6)],
];

#[test]
fn on_trees_beliefs_and_expected_edges_are_exact() {
    for (tree, seed) in TREES.into_iter().zip(1..) {
        for (classes, trusted) in [(1, true), (2, true), (3, true), (3, false)] {
            let case = Case::new(7, tree, classes, trusted, seed);
            let (posterior, counts) = case.exact();
            let mut beliefs = case.beliefs();
            for _ in 0..7 {
                beliefs.sweep(&Threads::one(), &case.compatibility, 1.0, 1.0);
            }
            let found = probabilities(&beliefs, classes);
            assert!(farthest(&found, &posterior) < 1e-6, "{classes} classes on tree {seed}");
            let found = beliefs.expected_edges(&Threads::one(), &case.compatibility);
            assert!(farthest(&found, &counts) < 1e-6, "{classes} classes on tree {seed}");
            assert!(beliefs.moved(&Threads::one()) < 1e-6, "the messages have arrived");
        }
    }
}

#[test]
fn damping_leads_to_the_same_end() {
    let case = Case::new(7, TREES[2], 3, true, 9);
    let mut beliefs = case.beliefs();
    for _ in 0..80 {
        beliefs.sweep(&Threads::one(), &case.compatibility, 1.0, 0.5);
    }
    assert!(farthest(&probabilities(&beliefs, 3), &case.exact().0) < 1e-6);
}

fn loopy() -> impl Strategy<Value = (Vec<(u32, u32)>, usize, u64)> {
    let edge = (0..12_u32, 0..12_u32).prop_filter("no loop", |(a, b)| a != b);
    (prop::collection::vec(edge, 1..40), 1..20_usize, any::<u64>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn on_any_graph_sweeps_are_those_of_a_plain_rendering((edges, classes, seed) in loopy()) {
        let case = Case::new(12, &edges, classes, false, seed);
        let mut beliefs = case.beliefs();
        let single = case.unaries.iter().map(|&u| u as f32).collect();
        let mut rounded = Beliefs::<f32>::new(&case.graph, classes, single).unwrap();
        let compatibility: Vec<f32> = case.compatibility.iter().map(|&value| value as f32).collect();
        for _ in 0..4 {
            beliefs.sweep(&Threads::one(), &case.compatibility, 0.7, 0.5);
            rounded.sweep(&Threads::one(), &compatibility, 0.7, 0.5);
        }
        let plainly = case.plainly(4, 0.7, 0.5);
        prop_assert!(farthest(&probabilities(&beliefs, classes), &plainly) < 1e-9);
        prop_assert!(farthest(&probabilities(&rounded, classes), &plainly) < 1e-4);
    }

    /// Trust 0 is no edge, and a strength of 0 is no edges.
    #[test]
    fn an_edge_of_no_trust_is_not_there((edges, classes, seed) in loopy()) {
        let all = Case::new(12, &edges, classes, false, seed);
        let mut with = all.beliefs();
        let kept: Vec<(u32, u32)> = edges
            .iter()
            .copied()
            .filter(|&(a, b)| all.trust(all.graph.graph().edge_id(a, b).unwrap() as usize) > 0.0)
            .collect();
        let (a, b): (Vec<u32>, Vec<u32>) = kept.into_iter().unzip();
        let graph = Arc::new(Graph::undirected(12, &a, &b).unwrap());
        let trust_of = |(&a, b): (&u32, u32)| {
            all.trust(all.graph.graph().edge_id(a, b).unwrap() as usize) as f32
        };
        let trust: Vec<f32> = graph.sources().iter().zip(graph.targets()).map(trust_of).collect();
        let fewer = WeightedGraph::new(graph, trust).unwrap();
        let mut without = Beliefs::new(&fewer, classes, all.unaries.clone()).unwrap();
        let mut silent = all.beliefs();
        for _ in 0..3 {
            with.sweep(&Threads::one(), &all.compatibility, 1.0, 0.5);
            without.sweep(&Threads::one(), &all.compatibility, 1.0, 0.5);
            silent.sweep(&Threads::one(), &all.compatibility, 0.0, 0.5);
        }
        prop_assert_eq!(with.logits(), without.logits());
        prop_assert_eq!(silent.logits(), &all.unaries[..]);
    }
}

/// One number after the other, in the order and with the roundings that the kernels promise.
struct OneByOne<'a, T> {
    case: &'a Case,
    compatibility: Vec<T>,
    sums: Vec<T>,
    messages: Vec<T>,
}

impl<'a, T: Real> OneByOne<'a, T> {
    fn new(case: &'a Case) -> Self {
        let numbers = |values: &[f64]| values.iter().map(|&value| T::of(value)).collect();
        let messages = vec![T::ZERO; case.graph.graph().edges() * case.classes];
        Self { case, compatibility: numbers(&case.compatibility), sums: numbers(&case.unaries), messages }
    }

    /// What the source of an edge believes without its target.
    fn cavity(&self, edge: usize) -> Vec<T> {
        let (graph, classes) = (self.case.graph.graph(), self.case.classes);
        let (source, twin) = (graph.sources()[edge] as usize, graph.twins().unwrap()[edge] as usize);
        let rest = |c: usize| self.sums[source * classes + c] - self.messages[twin * classes + c];
        let peak = (0..classes).map(rest).fold(T::MIN, T::max);
        let powers: Vec<T> = (0..classes).map(|c| (rest(c) - peak).exp()).collect();
        let share = T::ONE / powers.iter().fold(T::ZERO, |total, &power| total + power);
        powers.into_iter().map(|power| power * share).collect()
    }

    /// qΨ.
    fn mixed(&self, q: &[T]) -> Vec<T> {
        let classes = self.case.classes;
        let of = |c: usize| {
            q.iter()
                .enumerate()
                .fold(T::ZERO, |sum, (d, q)| q.mul_add(self.compatibility[d * classes + c], sum))
        };
        (0..classes).map(of).collect()
    }

    fn sweep(&mut self, strength: f64, fresh: f64) {
        let (graph, classes) = (self.case.graph.graph(), self.case.classes);
        let (strength, fresh) = (T::of(strength), T::of(fresh));
        let mut next = self.messages.clone();
        for edge in 0..graph.edges() {
            let mixed = self.mixed(&self.cavity(edge));
            for (next, ratio) in next[edge * classes..].iter_mut().zip(mixed) {
                let ratio = self.case.graph.weights().map_or(ratio, |trust| {
                    let trust = T::of(f64::from(trust[edge]));
                    trust.mul_add(ratio, T::ONE - trust)
                });
                *next = fresh.mul_add(strength.mul_add(ratio.quick_ln(), -*next), *next);
            }
        }
        self.messages = next;
        for node in 0..graph.nodes() {
            for c in 0..classes {
                let unary = T::of(self.case.unaries[node * classes + c]);
                let into = graph.in_edges(node).map(|edge| self.messages[edge * classes + c]);
                self.sums[node * classes + c] = into.fold(unary, |sum, message| sum + message);
            }
        }
    }

    fn ratio(&self, source: &[T], target: &[T]) -> f64 {
        let pairs = self.mixed(source).into_iter().zip(target);
        pairs.fold(0.0, |ratio, (mixed, &q)| f64::mul_add(mixed.into(), q.into(), ratio))
    }

    /// Ratios of all edges, and the expected edges.
    fn looks(&self) -> (Vec<f32>, Vec<f64>) {
        let (graph, classes) = (self.case.graph.graph(), self.case.classes);
        let mut ratios = vec![0.0; graph.edges()];
        let mut counts = vec![0.0; classes * classes];
        for edge in 0..graph.edges() {
            let twin = graph.twins().unwrap()[edge] as usize;
            if twin < edge {
                continue;
            }
            let (source, target) = (self.cavity(edge), self.cavity(twin));
            let ratio = self.ratio(&source, &target);
            (ratios[edge], ratios[twin]) = (ratio as f32, ratio as f32);
            let trust = self.case.trust(edge);
            let share = trust / trust.mul_add(ratio, 1.0 - trust);
            for (at, count) in counts.iter_mut().enumerate() {
                let share = share * source[at / classes].into();
                *count = share.mul_add(target[at % classes].into(), *count);
            }
        }
        for (count, &value) in counts.iter_mut().zip(&self.compatibility) {
            *count *= value.into();
        }
        let mirror = |at: usize| at % classes * classes + at / classes;
        (ratios, (0..counts.len()).map(|at| 0.5 * (counts[at] + counts[mirror(at)])).collect())
    }

    fn agree(case: &'a Case) {
        fn bits<T: Real>(values: &[T]) -> Vec<u64> {
            values.iter().map(|&value| Into::<f64>::into(value).to_bits()).collect()
        }
        let mut plain = Self::new(case);
        let mut beliefs = Beliefs::<T>::new(&case.graph, case.classes, plain.sums.clone()).unwrap();
        let (threads, classes) = (Threads::one(), case.classes);
        for sweep in 0..3 {
            plain.sweep(0.7, 0.5);
            beliefs.sweep(&threads, &plain.compatibility, 0.7, 0.5);
            assert_eq!(bits(beliefs.messages()), bits(&plain.messages), "{classes} classes, sweep {sweep}");
            assert_eq!(bits(beliefs.logits()), bits(&plain.sums), "{classes} classes, sweep {sweep}");
        }
        let (ratios, counts) = plain.looks();
        assert_eq!(bits(&beliefs.likelihood_ratios(&threads, &plain.compatibility)), bits(&ratios));
        assert_eq!(bits(&beliefs.expected_edges(&threads, &plain.compatibility)), bits(&counts));
    }
}

#[test]
fn whatever_the_number_of_classes_the_bits_are_those_of_one_number_after_the_other() {
    let mut draw = Draw(11);
    for classes in 1..=40 {
        // From one pair, which is at the end of every slice, to several batches and a part of one.
        for (nodes, pairs) in [(2_u32, 1), (5, 6), (40, 150)] {
            let mut node = || (f64::from(nodes) * draw.next()) as u32;
            let mut edges: Vec<(u32, u32)> = (1..pairs).map(|_| (node(), node())).collect();
            edges.retain(|(a, b)| a != b);
            edges.push((nodes - 2, nodes - 1));
            for trusted in [true, false] {
                let mut case = Case::new(nodes as usize, &edges, classes, trusted, classes as u64);
                // A node whose class is known.
                case.unaries[1..classes].fill(Beliefs::<f32>::IMPOSSIBLE);
                if trusted {
                    case.graph = Arc::clone(case.graph.graph()).into();
                }
                OneByOne::<f32>::agree(&case);
                OneByOne::<f64>::agree(&case);
            }
        }
    }
}

#[test]
fn edges_between_classes_that_link_often_have_the_larger_ratio() {
    let never = Beliefs::<f64>::IMPOSSIBLE;
    let graph = Arc::new(Graph::undirected(4, &[0, 1], &[1, 2]).unwrap());
    let unaries = vec![0.0, never, 0.0, never, never, 0.0, 0.0, 0.0];
    let beliefs = Beliefs::new(&graph.into(), 2, unaries).unwrap();
    let ratios = beliefs.likelihood_ratios(&Threads::one(), &[1.5, 0.5, 0.5, 1.5]);
    // By edge id: 1 → 0, 0 → 1, 2 → 1, 1 → 2.
    assert_eq!(ratios, [1.5, 1.5, 0.5, 0.5]);
    let mut logs = Vec::new();
    beliefs.log_probabilities(&Threads::one(), -69.0, &mut logs);
    assert_eq!(logs[..2], [0.0, -69.0]);
    assert_eq!(logs[6..], [0.5_f32.ln(); 2]);
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut draw = Draw(5);
    let nodes = 5000;
    let mut node = || (f64::from(nodes) * draw.next()) as u32;
    let edges: Vec<(u32, u32)> = (0..20_000).map(|_| (node(), node())).filter(|(a, b)| a != b).collect();
    for classes in [3, 17, 40] {
        let case = Case::new(nodes as usize, &edges, classes, false, 3);
        let compatibility: Vec<f32> = case.compatibility.iter().map(|&value| value as f32).collect();
        let found = |threads: usize| {
            let threads = Threads::new(threads).unwrap();
            let unaries = case.unaries.iter().map(|&u| u as f32).collect();
            let mut beliefs = Beliefs::<f32>::new(&case.graph, classes, unaries).unwrap();
            for _ in 0..3 {
                beliefs.sweep(&threads, &compatibility, 1.0, 0.5);
            }
            let mut logs = Vec::new();
            beliefs.log_probabilities(&threads, -69.0, &mut logs);
            let ratios = beliefs.likelihood_ratios(&threads, &compatibility);
            let floats: Vec<u32> =
                beliefs.messages().iter().chain(&logs).chain(&ratios).map(|x| x.to_bits()).collect();
            let counts = beliefs.expected_edges(&threads, &compatibility);
            (
                floats,
                counts.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
                beliefs.moved(&threads).to_bits(),
            )
        };
        let one = found(1);
        for threads in [2, 5] {
            assert!(one == found(threads), "{classes} classes, {threads} threads");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let directed: WeightedGraph = Arc::new(Graph::from_edges(2, &[0], &[1]).unwrap()).into();
    let error = Beliefs::new(&directed, 2, vec![0.0_f32; 4]).unwrap_err().to_string();
    assert!(error.contains("graph") && error.contains("both directions"), "{error}");
    let both: WeightedGraph = Arc::new(Graph::undirected(2, &[0], &[1]).unwrap()).into();
    for (classes, numbers) in [(2, 3), (0, 0)] {
        let error = Beliefs::new(&both, classes, vec![0.0_f32; numbers]).unwrap_err().to_string();
        assert!(error.contains("unaries"), "{error}");
    }
    let mut beliefs = Beliefs::new(&both, 2, vec![0.0_f32; 4]).unwrap();
    let error = beliefs.set_messages(&Threads::one(), &[0.0; 3]).unwrap_err().to_string();
    assert!(error.contains("messages") && error.contains('4'), "{error}");
}
