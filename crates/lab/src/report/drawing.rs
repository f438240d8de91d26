//! The graph as the page draws it: bytes that go to the graphics card as they are, and what is told of nodes and edges.
//!
//! One block, base64 in the page: the length of the head in four bytes, the head as JSON, then arrays, each at a multiple of four
//! bytes. Numbers are little-endian. The head says of each array its kind, its first byte and its length.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use edgepace_graph::{Labels, Threads, UNLABELLED};
use edgepace_nn::argmax;
use edgepace_train::{EdgeRow, Reasons, class_name};
use serde::Serialize;

use super::curriculum::kinds;
use super::layout::layout;
use super::page::visible;
use super::{GraphOfRun, ReportRun};

/// A graph of more nodes is not drawn whole.
pub const MOST_NODES: usize = 20_000;
/// Nor is one of more edges.
pub const MOST_EDGES: usize = 100_000;
/// Of a larger graph: so many of the most suspicious edges, each end with at most so many neighbours.
const SHOWN: usize = 400;
const NEIGHBOURS: usize = 12;
/// Probabilities that are told of a node.
const TOLD: usize = 5;
/// No class, no epoch.
const NONE: u16 = u16::MAX;
/// An edge that was never in.
const NEVER: u8 = u8::MAX;

/// A graph, packed.
pub(super) struct Drawing {
    /// Base64.
    pub(super) data: String,
    /// How many nodes and edges are drawn, and of how many.
    pub(super) nodes: [usize; 2],
    pub(super) edges: [usize; 2],
}

#[derive(Serialize)]
struct Head {
    /// Kind, first byte, length in numbers.
    arrays: BTreeMap<&'static str, (&'static str, usize, usize)>,
    classes: Vec<String>,
    /// Empty where nodes have no names.
    names: Vec<String>,
    /// The number in the dataset of each node, where not all are drawn.
    told: usize,
    /// The epochs at which edges come in.
    epochs: Vec<u32>,
    last_epoch: u32,
    kinds: Vec<&'static str>,
    has_fakes: bool,
}

/// The edges to draw: all, or the neighbourhoods of the most suspicious.
fn chosen(graph: &GraphOfRun) -> Vec<usize> {
    let (nodes, edges) = (graph.dataset.graph().nodes(), &graph.edges);
    if nodes <= MOST_NODES && edges.len() <= MOST_EDGES {
        return (0..edges.len()).collect();
    }
    let mut inside = vec![false; nodes];
    for edge in edges.iter().take(SHOWN) {
        inside[edge.source as usize] = true;
        inside[edge.target as usize] = true;
    }
    let cores = inside.clone();
    let mut neighbours = vec![0_usize; nodes];
    // From the best supported on: what an end is usually joined with.
    for edge in edges.iter().rev() {
        for [own, other] in [[edge.source, edge.target], [edge.target, edge.source]] {
            if cores[own as usize] && neighbours[own as usize] < NEIGHBOURS {
                neighbours[own as usize] += 1;
                inside[other as usize] = true;
            }
        }
    }
    let within = |edge: &EdgeRow| inside[edge.source as usize] && inside[edge.target as usize];
    let found = edges.iter().enumerate().filter(|(_, edge)| within(edge)).map(|(place, _)| place);
    found.take(MOST_EDGES).collect()
}

/// Arrays one after the other, each at a multiple of four bytes.
#[derive(Default)]
struct Arrays {
    bytes: Vec<u8>,
    index: BTreeMap<&'static str, (&'static str, usize, usize)>,
}

impl Arrays {
    fn put<const N: usize>(
        &mut self,
        name: &'static str,
        kind: &'static str,
        numbers: impl Iterator<Item = [u8; N]>,
    ) {
        let first = self.bytes.len();
        numbers.for_each(|number| self.bytes.extend(number));
        self.index.insert(name, (kind, first, (self.bytes.len() - first) / N));
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn bytes(&mut self, name: &'static str, numbers: impl Iterator<Item = u8>) {
        self.put(name, "u8", numbers.map(|number| [number]));
    }

    fn shorts(&mut self, name: &'static str, numbers: impl Iterator<Item = u16>) {
        self.put(name, "u16", numbers.map(u16::to_le_bytes));
    }

    fn longs(&mut self, name: &'static str, numbers: impl Iterator<Item = u32>) {
        self.put(name, "u32", numbers.map(u32::to_le_bytes));
    }

    fn floats(&mut self, name: &'static str, numbers: impl Iterator<Item = f32>) {
        self.put(name, "f32", numbers.map(f32::to_le_bytes));
    }
}

/// A share as a byte.
fn byte(share: f32) -> u8 {
    (share.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// A share as two.
fn short(share: f32) -> u16 {
    (share.clamp(0.0, 1.0) * 65535.0).round() as u16
}

impl Drawing {
    pub(super) fn new(threads: &Threads, graph: &GraphOfRun, run: &ReportRun) -> Self {
        let edges = chosen(graph);
        let all = graph.dataset.graph().nodes();
        let whole = edges.len() == graph.edges.len();
        let mut inside = vec![whole; all];
        for &edge in &edges {
            inside[graph.edges[edge].source as usize] = true;
            inside[graph.edges[edge].target as usize] = true;
        }
        let nodes: Vec<u32> = (0..all as u32).filter(|&node| inside[node as usize]).collect();
        let mut place_of = vec![u32::MAX; all];
        for (place, &node) in (0..).zip(&nodes) {
            place_of[node as usize] = place;
        }
        let rows: Vec<&EdgeRow> = edges.iter().map(|&edge| &graph.edges[edge]).collect();
        let links: Vec<[u32; 2]> =
            rows.iter().map(|row| [row.source, row.target].map(|node| place_of[node as usize])).collect();
        let classes = Classes::new(graph);
        let predicted: Vec<u32> = nodes.iter().map(|&node| u32::from(classes.predicted(node))).collect();
        let groups: Vec<u32> =
            predicted.iter().map(|&class| if class == u32::from(NONE) { u32::MAX } else { class }).collect();
        let places = layout(threads, nodes.len(), &links, Some(&groups));

        let mut arrays = Arrays::default();
        let grid = |value: f32| ((f64::from(value) + 1.0) / 2.0 * 65535.0).round().clamp(0.0, 65535.0) as u16;
        arrays.shorts("places", places.iter().flat_map(|place| place.map(grid)));
        arrays.longs("nodes", nodes.iter().copied());
        arrays.shorts("predicted", nodes.iter().map(|&node| classes.predicted(node)));
        arrays.shorts("labels", nodes.iter().map(|&node| classes.label(node)));
        arrays.bytes("sets", sets(graph, &nodes));
        let told = classes.width.min(TOLD);
        let tops: Vec<Vec<(usize, f32)>> = nodes.iter().map(|&node| classes.top(node, told)).collect();
        arrays.shorts("top_classes", tops.iter().flatten().map(|top| top.0 as u16));
        arrays.shorts("top_probabilities", tops.iter().flatten().map(|top| short(top.1)));
        arrays.longs("ends", links.iter().flatten().copied());
        let (epochs, last_epoch) = entries(&rows, run);
        arrays.bytes("entries", rows.iter().map(|row| entry(&epochs, row.first_epoch)));
        arrays.bytes("difficulty", rows.iter().map(|row| byte(row.difficulty)));
        arrays.shorts("suspicion", rows.iter().map(|row| short(row.suspicion)));
        arrays.floats("weights", rows.iter().map(|row| row.weight));
        arrays.floats("similarity", rows.iter().map(|row| row.feature_similarity));
        arrays.floats("jaccard", rows.iter().map(|row| row.jaccard));
        let reasons = reasons(graph);
        let of = |edge: usize| {
            let Reasons { disagreement, features, neighbourhood } = reasons[edge];
            [disagreement, features, neighbourhood].map(byte)
        };
        arrays.bytes("reasons", edges.iter().flat_map(|&edge| of(edge)));
        let has_fakes = rows.iter().any(|row| row.fake == Some(true));
        arrays.bytes("fake", rows.iter().map(|row| u8::from(row.fake == Some(true))));
        let kinds = kinds(graph);
        let kind =
            |edge: usize| kinds.as_ref().and_then(|kinds| kinds.of[edge]).map_or(NEVER, |kind| kind as u8);
        arrays.bytes("kinds", edges.iter().map(|&edge| kind(edge)));
        let name = |&node: &u32| graph.dataset.node_names().map(|names| visible(names.get(node as usize)));
        let head = Head {
            arrays: arrays.index,
            classes: (0..classes.width).map(|class| visible(&class_name(&graph.dataset, class))).collect(),
            names: nodes.iter().filter_map(name).collect(),
            told,
            epochs,
            last_epoch,
            kinds: kinds.map(|kinds| kinds.names).unwrap_or_default(),
            has_fakes,
        };
        // A head of texts and numbers can always be written.
        let mut head = serde_json::to_vec(&head).unwrap_or_default();
        head.resize(head.len().next_multiple_of(4), b' ');
        let mut data = (head.len() as u32).to_le_bytes().to_vec();
        data.extend(head);
        data.extend(arrays.bytes);
        Self {
            data: STANDARD.encode(data),
            nodes: [nodes.len(), all],
            edges: [edges.len(), graph.edges.len()],
        }
    }
}

/// Why each edge is suspicious: ranks among all edges, also those that are not drawn.
pub(super) fn reasons(graph: &GraphOfRun) -> Vec<Reasons> {
    let of = |value: fn(&EdgeRow) -> f32| graph.edges.iter().map(value).collect::<Vec<f32>>();
    Reasons::of(&of(|row| row.difficulty), &of(|row| row.feature_similarity), &of(|row| row.jaccard))
}

/// The epochs at which edges come in, at most 254 of them, and the last of the training.
fn entries(rows: &[&EdgeRow], run: &ReportRun) -> (Vec<u32>, u32) {
    let mut epochs: Vec<u32> = rows.iter().filter_map(|row| row.first_epoch).collect();
    epochs.sort_unstable();
    epochs.dedup();
    let most = usize::from(NEVER) - 1;
    if epochs.len() > most {
        epochs = (0..most).map(|place| epochs[place * (epochs.len() - 1) / (most - 1)]).collect();
    }
    let last = run.record.result.epochs.max(epochs.last().map_or(0, |epoch| epoch + 1));
    (epochs, last)
}

/// The first of these epochs that is not before the one at which an edge came in.
fn entry(epochs: &[u32], first: Option<u32>) -> u8 {
    first.map_or(NEVER, |first| epochs.partition_point(|&epoch| epoch < first) as u8)
}

/// Training, validation or test: 1, 2, 3; 0 for none.
fn sets(graph: &GraphOfRun, nodes: &[u32]) -> impl Iterator<Item = u8> {
    let mut sets = vec![0; graph.dataset.graph().nodes()];
    for (number, (_, own)) in (1..).zip(graph.split.iter().flat_map(|split| split.sets())) {
        own.iter().for_each(|&node| sets[node as usize] = number);
    }
    nodes.iter().map(move |&node| sets[node as usize])
}

/// What is said of nodes.
struct Classes<'a> {
    graph: &'a GraphOfRun,
    width: usize,
}

impl<'a> Classes<'a> {
    fn new(graph: &'a GraphOfRun) -> Self {
        Self { graph, width: graph.dataset.labels().width() }
    }

    fn probabilities(&self, node: u32) -> Option<&[f32]> {
        let first = node as usize * self.width;
        self.graph.probabilities.get(first..first + self.width).filter(|own| !own.is_empty())
    }

    fn predicted(&self, node: u32) -> u16 {
        match (&**self.graph.dataset.labels(), self.probabilities(node)) {
            (Labels::Classes(_), Some(own)) => argmax(own) as u16,
            (Labels::Classes(_), None) => self.label(node),
            (Labels::Many(_), _) => NONE,
        }
    }

    fn label(&self, node: u32) -> u16 {
        match &**self.graph.dataset.labels() {
            Labels::Classes(classes) => match classes.of()[node as usize] {
                UNLABELLED => NONE,
                class => class as u16,
            },
            Labels::Many(_) => NONE,
        }
    }

    /// The most probable classes or labels.
    fn top(&self, node: u32, count: usize) -> Vec<(usize, f32)> {
        let Some(own) = self.probabilities(node) else { return vec![(usize::from(NONE), 0.0); count] };
        let mut order: Vec<usize> = (0..own.len()).collect();
        order.sort_by(|&a, &b| own[b].total_cmp(&own[a]).then(a.cmp(&b)));
        order.into_iter().take(count).map(|class| (class, own[class])).collect()
    }
}
