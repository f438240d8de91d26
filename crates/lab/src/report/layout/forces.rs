//! The repulsion of many nodes: near ones one by one, far ones as one (Barnes and Hut, 1986).

use super::REST;

/// What is seen under a smaller angle counts as one.
const ANGLE: f64 = 1.0;
/// So few nodes are not parted further.
const LEAF: usize = 8;
/// Nor is what is nearer than a grid of 2¹⁶ lines shows.
const BITS: u32 = 16;
/// How strongly nodes repel each other.
const STRENGTH: f64 = 0.6;

/// A square with what is in it. Squares are in the order in which they are visited; `next` is the first one that is not in it.
struct Square {
    middle: [f64; 2],
    mass: f64,
    /// The square of its side, over that of the angle.
    reach: f64,
    next: u32,
    /// Its nodes, if it is not parted.
    nodes: [u32; 2],
}

/// All nodes, in squares within squares.
pub(super) struct Tree {
    squares: Vec<Square>,
    /// In the order of the squares.
    nodes: Vec<(u32, [f64; 2], f64)>,
}

impl Tree {
    pub(super) fn new(places: &[[f64; 2]], masses: &[f64]) -> Self {
        let low = |axis: usize| places.iter().map(|place| place[axis]).fold(f64::INFINITY, f64::min);
        let high = |axis: usize| places.iter().map(|place| place[axis]).fold(f64::NEG_INFINITY, f64::max);
        let corner = [low(0), low(1)];
        let side = (high(0) - corner[0]).max(high(1) - corner[1]).max(1e-9) * 1.000_001;
        let cell = |place: &[f64; 2], axis: usize| {
            ((place[axis] - corner[axis]) / side * f64::from(1 << BITS)) as u32
        };
        let mut order: Vec<(u32, u32)> = (0..)
            .zip(places)
            .map(|(node, place)| (spaced(cell(place, 0)) | spaced(cell(place, 1)) << 1, node))
            .collect();
        order.sort_unstable();
        let nodes =
            order.iter().map(|&(_, node)| (node, places[node as usize], masses[node as usize])).collect();
        let mut tree = Self { squares: Vec::with_capacity(places.len()), nodes };
        tree.add(&order, 0, side, BITS);
        tree
    }

    /// Adds the square of these nodes and all in it; `bits` of the key are left to part them by.
    fn add(&mut self, keys: &[(u32, u32)], first: usize, side: f64, bits: u32) {
        let (mut sum, mut mass) = ([0.0; 2], 0.0);
        for (_, place, own) in &self.nodes[first..first + keys.len()] {
            sum = [sum[0] + own * place[0], sum[1] + own * place[1]];
            mass += own;
        }
        let is_leaf = keys.len() <= LEAF || bits == 0;
        let nodes = if is_leaf { [first as u32, (first + keys.len()) as u32] } else { [0, 0] };
        let (middle, reach) = ([sum[0] / mass, sum[1] / mass], (side / ANGLE) * (side / ANGLE));
        let own = self.squares.len();
        self.squares.push(Square { middle, mass, reach, next: 0, nodes });
        if !is_leaf {
            let shift = 2 * (bits - 1);
            let mut begin = 0;
            for part in keys.chunk_by(|a, b| a.0 >> shift == b.0 >> shift) {
                self.add(part, first + begin, side / 2.0, bits - 1);
                begin += part.len();
            }
        }
        self.squares[own].next = self.squares.len() as u32;
    }

    /// Σ m (x − y) / |x − y|² over all others, in a fixed order.
    pub(super) fn repulsion(&self, [x, y]: [f64; 2], node: u32) -> [f64; 2] {
        let mut force = [0.0, 0.0];
        let mut push = |place: [f64; 2], mass: f64| {
            let [dx, dy] = [x - place[0], y - place[1]];
            let squared = (dx * dx + dy * dy).max(1e-4);
            let size = mass / squared;
            force = [force[0] + size * dx, force[1] + size * dy];
        };
        let mut at = 0;
        while let Some(square) = self.squares.get(at) {
            let [dx, dy] = [x - square.middle[0], y - square.middle[1]];
            if dx * dx + dy * dy > square.reach {
                push(square.middle, square.mass);
                at = square.next as usize;
                continue;
            }
            let [first, end] = square.nodes;
            for (other, place, mass) in &self.nodes[first as usize..end as usize] {
                if *other != node {
                    push(*place, *mass);
                }
            }
            at += 1;
        }
        let size = STRENGTH * REST * REST;
        [size * force[0], size * force[1]]
    }
}

/// The bits of a number of 16 bits, a zero after each.
fn spaced(value: u32) -> u32 {
    let value = value & 0xffff;
    let value = (value | value << 8) & 0x00ff_00ff;
    let value = (value | value << 4) & 0x0f0f_0f0f;
    let value = (value | value << 2) & 0x3333_3333;
    (value | value << 1) & 0x5555_5555
}
