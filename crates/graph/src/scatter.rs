//! Sorting many edges by node without waiting for memory.
//!
//! To put each of 200 million edges where its node's row stands costs a cache miss per edge. So edges go first into
//! buckets of neighbouring nodes, which is a few hundred sequential writes at a time, and then each bucket is worked on by
//! one thread, within its cache. Everything that is written belongs to one thread by construction, and the order of edges
//! within a node is that of the input: the threads cannot change the result.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Threads;

/// How the work is cut.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    /// The nodes of a bucket are alike but for this many of their lowest bits.
    pub(crate) shift: u32,
    /// Inputs that one thread puts into buckets at a time.
    pub(crate) piece: usize,
    /// Pieces whose buckets are in memory together.
    pub(crate) pieces: usize,
}

/// Inputs below which the plain way is as fast.
pub(crate) const MANY: usize = 1 << 20;
/// At most buckets as there are places that a core can write to in turn without waiting.
const BUCKETS: usize = 512;

impl Cut {
    /// How to cut `inputs` edges of `nodes` nodes; `None` if they are too few to be worth it.
    pub(crate) fn of(inputs: usize, nodes: usize) -> Option<Cut> {
        (inputs >= MANY).then(|| Cut {
            shift: nodes.div_ceil(BUCKETS).next_power_of_two().ilog2(),
            // A quarter at a time: buckets take a fraction of the memory that the graph does.
            piece: inputs.div_ceil(4 * PIECES).max(MANY / PIECES),
            pieces: PIECES,
        })
    }

    /// Nodes per bucket.
    pub(crate) fn nodes(self) -> usize {
        1 << self.shift
    }
}

const PIECES: usize = 16;

/// Puts items into buckets by node and hands each bucket to `work`, as often as memory asks for.
///
/// `items(range)` gives the items of a range of inputs, each with its node. `states` has one state per bucket, which
/// `work(first_node, items, state)` may change; within a bucket items come in the order of the input. When one answers
/// false the rest does not matter, and so does the whole.
pub(crate) fn by_bucket<T, S, I>(
    threads: &Threads,
    cut: Cut,
    inputs: usize,
    items: impl Fn(Range<usize>) -> I + Sync,
    states: &mut [S],
    work: impl Fn(usize, &[(u32, T)], &mut S) -> bool + Sync,
) -> bool
where
    T: Copy + Default + Send + Sync,
    S: Send,
    I: Iterator<Item = (u32, T)>,
{
    let bucket_of = |node: u32| (node >> cut.shift) as usize;
    let buckets = states.len();
    let mut space: Vec<(u32, T)> = Vec::new();
    let mut start = 0;
    while start < inputs {
        let end = inputs.min(start.saturating_add(cut.piece.saturating_mul(cut.pieces)));
        let pieces: Vec<Range<usize>> =
            (start..end).step_by(cut.piece).map(|from| from..end.min(from + cut.piece)).collect();
        start = end;

        let counts: Vec<Vec<usize>> = threads.map(pieces.len(), |piece| {
            let mut counts = vec![0; buckets];
            items(pieces[piece].clone()).for_each(|(node, _)| counts[bucket_of(node)] += 1);
            counts
        });
        let sizes: Vec<usize> =
            (0..buckets).map(|bucket| counts.iter().map(|piece| piece[bucket]).sum()).collect();
        let total = sizes.iter().sum();
        if space.len() < total {
            space.resize(total, Default::default());
        }

        // Each piece owns its own part of every bucket.
        let mut parts: Vec<Vec<&mut [(u32, T)]>> =
            pieces.iter().map(|_| Vec::with_capacity(sizes.len())).collect();
        let mut rest = &mut space[..total];
        for bucket in 0..sizes.len() {
            for (part, counts) in parts.iter_mut().zip(&counts) {
                part.push(rest.split_off_mut(..counts[bucket]).unwrap_or_default());
            }
        }
        threads.rows(&mut parts, 1, 1, |piece, parts| {
            let parts = &mut parts[0];
            let mut filled = vec![0; parts.len()];
            items(pieces[piece].clone()).for_each(|(node, item)| {
                let bucket = bucket_of(node);
                let place = &mut filled[bucket];
                parts[bucket][*place] = (node, item);
                *place += 1;
            });
        });

        let parts = cut_at(&space[..total], &sizes);
        let go_on = AtomicBool::new(true);
        threads.rows(states, 1, 1, |bucket, state| {
            if go_on.load(Ordering::Relaxed) && !work(bucket << cut.shift, parts[bucket], &mut state[0]) {
                go_on.store(false, Ordering::Relaxed);
            }
        });
        if !go_on.into_inner() {
            return false;
        }
    }
    true
}

fn cut_at<'a, T>(mut values: &'a [T], sizes: &[usize]) -> Vec<&'a [T]> {
    sizes.iter().map(|&size| values.split_off(..size).unwrap_or_default()).collect()
}

/// Cuts a slice into parts of these sizes.
pub(crate) fn cut_at_mut<T>(mut values: &mut [T], sizes: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    sizes.map(|size| values.split_off_mut(..size).unwrap_or_default()).collect()
}
