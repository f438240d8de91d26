//! Places for the nodes of a graph, so that neighbours are near each other.
//!
//! Nodes repel each other, edges pull their ends together (Fruchterman and Reingold, 1991), and nodes of one group are pulled to
//! the middle of it, so that what joins groups can be seen. Far nodes repel as one (Barnes and Hut, 1986). The graph is first
//! made coarse by merging neighbours, placed, and refined level by level (Hu, 2005). All sums have one fixed order, so that the
//! places are the same bits on any number of threads.

use edgepace_graph::Threads;

mod coarse;
mod forces;

use coarse::{Level, levels};
use forces::Tree;

/// The length of an edge at rest.
const REST: f64 = 1.0;
/// Steps on the coarsest graph, and on the finest.
const STEPS: [usize; 2] = [160, 70];
/// How strongly nodes are pulled to the middle of their group, in edges.
const TO_GROUP: f64 = 0.35;
/// How strongly an edge between two groups pulls, in edges within one.
const ACROSS: f64 = 0.12;
/// How strongly nodes are pulled to the middle of the drawing.
const TO_MIDDLE: f64 = 0.04;
/// Nodes whose forces are computed at a time.
const BLOCK: usize = 512;

/// The place of each node, both coordinates between −1 and 1. `links` are undirected, each once or twice; ends that are no nodes
/// are left out. `groups` are numbers from 0, one for each node; others have none.
///
/// O((nodes · log nodes + links) · steps).
pub fn layout(threads: &Threads, nodes: usize, links: &[[u32; 2]], groups: Option<&[u32]>) -> Vec<[f32; 2]> {
    if nodes == 0 {
        return Vec::new();
    }
    let groups = groups.filter(|groups| groups.len() == nodes);
    let levels = levels(nodes, links, groups);
    let Some(coarsest) = levels.last() else { return vec![[0.0; 2]; nodes] };
    let mut places = first_places(coarsest);
    for (depth, level) in levels.iter().enumerate().rev() {
        if depth + 1 < levels.len() {
            places = spread(level, &places);
        }
        let share = if levels.len() > 1 { depth as f64 / (levels.len() - 1) as f64 } else { 0.5 };
        let steps = STEPS[1] as f64 + share * (STEPS[0] as f64 - STEPS[1] as f64);
        // What was placed before only has to be refined.
        let warm = if depth + 1 == levels.len() { 1.0 } else { 0.25 };
        settle(threads, level, &mut places, steps as usize, warm);
    }
    fitted(&places)
}

/// Groups around a circle, the nodes of each in a spiral.
fn first_places(level: &Level) -> Vec<[f64; 2]> {
    let groups = level.groups.iter().filter(|&&group| group != u32::MAX).max().map_or(1, |most| most + 1);
    let radius = REST * (level.nodes() as f64).sqrt();
    let mut seen = vec![0_u32; groups as usize + 1];
    let each = level.groups.iter().map(|&group| {
        let place = (group.min(groups)) as usize;
        seen[place] += 1;
        let (group_sine, group_cosine) =
            libm::sincos(std::f64::consts::TAU * f64::from(group.min(groups)) / f64::from(groups));
        let far = if groups > 1 && group < groups { radius } else { 0.0 };
        // The golden angle: no two are near each other.
        let (sine, cosine) = libm::sincos(2.399_963_229_728_653 * f64::from(seen[place]));
        let from_middle = 0.5 * REST * f64::from(seen[place]).sqrt();
        [far * group_cosine + from_middle * cosine, far * group_sine + from_middle * sine]
    });
    each.collect()
}

/// The places of a finer level: each node beside that which it was merged into.
fn spread(level: &Level, places: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let scale = (level.nodes() as f64 / places.len().max(1) as f64).sqrt();
    let each = level.parents.iter().enumerate().map(|(node, &parent)| {
        let [x, y] = places[parent as usize];
        let (sine, cosine) = libm::sincos(2.399_963_229_728_653 * node as f64);
        [scale * x + 0.3 * REST * cosine, scale * y + 0.3 * REST * sine]
    });
    each.collect()
}

/// Moves nodes along their forces, less far with each step.
fn settle(threads: &Threads, level: &Level, places: &mut [[f64; 2]], steps: usize, warm: f64) {
    let mut longest = warm * REST * (level.nodes() as f64).sqrt().max(2.0) * 0.3;
    let least = 0.02 * REST;
    let cooling = {
        // The factor that brings the longest step down to the least one in so many steps, without a power.
        let ratio = libm::log(least / longest) / steps.max(1) as f64;
        libm::exp(ratio)
    };
    let mut moves = vec![[0.0_f64; 2]; level.nodes()];
    for _ in 0..steps {
        let tree = Tree::new(places, &level.masses);
        let middles = level.middles(places);
        let now: &[[f64; 2]] = places;
        threads.rows(&mut moves, 1, BLOCK, |first, rows| {
            for (shift, force) in rows.iter_mut().enumerate() {
                let node = first + shift;
                *force = force_on(level, now, &tree, &middles, node);
            }
        });
        for (place, force) in places.iter_mut().zip(&moves) {
            let size = (force[0] * force[0] + force[1] * force[1]).sqrt();
            if size > 0.0 {
                let length = (0.5 * size).min(longest) / size;
                *place = [place[0] + length * force[0], place[1] + length * force[1]];
            }
        }
        longest = (longest * cooling).max(least);
    }
}

fn force_on(level: &Level, places: &[[f64; 2]], tree: &Tree, middles: &[[f64; 2]], node: usize) -> [f64; 2] {
    let place = places[node];
    let mass = level.masses[node];
    let [mut x, mut y] = tree.repulsion(place, node as u32);
    let mut pulled = 0.0;
    for (other, weight) in level.neighbours(node) {
        let weight = if level.groups[other] == level.groups[node] { weight } else { ACROSS * weight };
        let [dx, dy] = [places[other][0] - place[0], places[other][1] - place[1]];
        let distance = (dx * dx + dy * dy).sqrt();
        let pull = weight * distance / REST / mass;
        x += pull * dx;
        y += pull * dy;
        pulled += weight;
    }
    let group = level.groups[node] as usize;
    if let Some(middle) = middles.get(group) {
        let [dx, dy] = [middle[0] - place[0], middle[1] - place[1]];
        let pull = TO_GROUP * (1.0 + pulled / mass);
        x += pull * dx;
        y += pull * dy;
    }
    [x - TO_MIDDLE * place[0] * (1.0 + pulled.min(1.0)), y - TO_MIDDLE * place[1] * (1.0 + pulled.min(1.0))]
}

/// The places, the middle of the drawing at 0 and its furthest node at 1.
fn fitted(places: &[[f64; 2]]) -> Vec<[f32; 2]> {
    let ends = |axis: usize| {
        let low = places.iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
        let high = places.iter().map(|place| place[axis]).fold(f64::NEG_INFINITY, f64::max);
        ((low + high) / 2.0, (high - low) / 2.0)
    };
    let [(x, wide), (y, high)] = [ends(0), ends(1)];
    let scale = 1.0 / wide.max(high).max(1e-9);
    let fit = |place: &[f64; 2]| [(scale * (place[0] - x)) as f32, (scale * (place[1] - y)) as f32];
    places.iter().map(fit).collect()
}

#[cfg(test)]
mod tests;
