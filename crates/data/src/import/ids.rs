//! What a file calls its nodes, and the numbers that they get.

use std::collections::HashMap;
use std::hash::{self, BuildHasher, RandomState};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use edgepace_graph::{Names, Threads};

/// The largest number of nodes: a graph's own limit.
pub(crate) const NODE_LIMIT: usize = u32::MAX as usize - 1;
/// Ends of edges that a thread looks at in one go.
const PIECE: usize = 1 << 16;

/// Maps a file's node ids to numbers 0.. and back.
#[derive(Debug)]
pub(crate) enum Ids {
    /// The ids are the numbers themselves, all of them below `nodes`.
    Numbers {
        /// How many nodes there are.
        nodes: usize,
    },
    /// The ids are names; the first one is node 0.
    Named(Named),
}

impl Ids {
    /// Ids of a table with one row per node: row `i` is node `i`. The ids 0, 1, 2, … in this very order are numbers.
    ///
    /// # Errors
    /// The row that repeats an earlier id, or that is one more than a graph can have.
    #[cfg(test)]
    pub(crate) fn of_rows<S: AsRef<str>>(ids: impl IntoIterator<Item = S>) -> Result<Ids, usize> {
        let mut named = Named::default();
        let mut counted = true;
        for (row, id) in ids.into_iter().enumerate() {
            let id = id.as_ref().as_bytes();
            counted &= parse_number(id) == u32::try_from(row).ok();
            if named.intern(id) != Some(row as u32) {
                return Err(row);
            }
        }
        Ok(if counted { Ids::Numbers { nodes: named.len() } } else { Ids::Named(named) })
    }

    /// Number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        match self {
            Ids::Numbers { nodes } => *nodes,
            Ids::Named(named) => named.len(),
        }
    }

    /// Whether the ids are names.
    pub(crate) fn is_named(&self) -> bool {
        matches!(self, Ids::Named(_))
    }

    /// The number of the node with that id.
    pub(crate) fn number(&self, id: &[u8]) -> Option<u32> {
        match self {
            Ids::Numbers { nodes } => parse_number(id).filter(|&number| (number as usize) < *nodes),
            Ids::Named(named) => named.find(id, named.hash(id)),
        }
    }

    /// The names, unless the ids are the numbers themselves.
    pub(crate) fn into_names(self) -> Option<Names> {
        match self {
            Ids::Numbers { .. } => None,
            Ids::Named(named) => Some(Names::trusted(named.offsets, named.bytes)),
        }
    }
}

/// A number as we would write it: digits alone, no leading zero (`007` is a name), below the limit of nodes.
pub(crate) fn parse_number(id: &[u8]) -> Option<u32> {
    if id.is_empty() || id.len() > 10 || (id[0] == b'0' && id.len() > 1) {
        return None;
    }
    let mut number = 0_u64;
    for &byte in id {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + u64::from(byte - b'0');
    }
    u32::try_from(number).ok().filter(|&number| (number as usize) < NODE_LIMIT)
}

/// Distinct names in the order of their first appearance, with a way back from name to number.
///
/// A hash table of 8 bytes per slot beside the names themselves. The hash is keyed at random, so that no file can be made
/// to collide; the numbers do not depend on it.
#[derive(Clone)]
pub(crate) struct Named {
    bytes: Vec<u8>,
    /// Name `i` is `bytes[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u64>,
    /// The hash above, the name's number below; or [`EMPTY`].
    slots: Vec<u64>,
    key: u64,
}

const EMPTY: u64 = u64::MAX;
const FIRST_SLOTS: usize = 16;

impl Default for Named {
    fn default() -> Named {
        let key = RandomState::new().hash_one(0_u64);
        Named { bytes: Vec::new(), offsets: vec![0], slots: vec![EMPTY; FIRST_SLOTS], key }
    }
}

impl std::fmt::Debug for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Named").field("names", &self.len()).finish_non_exhaustive()
    }
}

impl Named {
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    fn get(&self, number: usize) -> &[u8] {
        &self.bytes[self.offsets[number] as usize..self.offsets[number + 1] as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> + Clone {
        (0..self.len()).map(|number| self.get(number))
    }

    /// The function that [`find`](Named::find) and [`intern_hashed`](Named::intern_hashed) want the hash of.
    pub(crate) fn hasher(&self) -> Hasher {
        Hasher { key: self.key }
    }

    pub(crate) fn hash(&self, name: &[u8]) -> u32 {
        self.hasher().hash(name)
    }

    /// The number of a name that is there.
    pub(crate) fn find(&self, name: &[u8], hash: u32) -> Option<u32> {
        self.look(name, hash).ok()
    }

    /// The number of a name, the next free one if it is new; `None` when there are as many as there can be.
    pub(crate) fn intern(&mut self, name: &[u8]) -> Option<u32> {
        self.intern_hashed(name, self.hash(name))
    }

    /// As [`intern`](Named::intern), for a name whose hash is known.
    pub(crate) fn intern_hashed(&mut self, name: &[u8], hash: u32) -> Option<u32> {
        let slot = match self.look(name, hash) {
            Ok(number) => return Some(number),
            Err(slot) => slot,
        };
        let number = self.len();
        if number >= NODE_LIMIT {
            return None;
        }
        self.bytes.extend_from_slice(name);
        self.offsets.push(self.bytes.len() as u64);
        self.slots[slot] = u64::from(hash) << 32 | number as u64;
        if self.len() * 2 > self.slots.len() {
            self.grow();
        }
        Some(number as u32)
    }

    /// The number of the name, or the free slot where it belongs.
    fn look(&self, name: &[u8], hash: u32) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let found = self.slots[slot];
            if found == EMPTY {
                return Err(slot);
            }
            let number = found as u32;
            if (found >> 32) as u32 == hash && self.get(number as usize) == name {
                return Ok(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let entries = std::mem::replace(&mut self.slots, vec![EMPTY; size]);
        entries.into_iter().filter(|&entry| entry != EMPTY).for_each(|entry| self.put(entry));
    }

    /// Makes the table anew for names that are known to be distinct.
    fn index(&mut self) {
        self.slots = vec![EMPTY; (self.len() * 2).next_power_of_two().max(FIRST_SLOTS)];
        for number in 0..self.len() {
            self.put(u64::from(self.hash(self.get(number))) << 32 | number as u64);
        }
    }

    fn put(&mut self, entry: u64) {
        let mask = self.slots.len() - 1;
        let mut slot = (entry >> 32) as usize & mask;
        while self.slots[slot] != EMPTY {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = entry;
    }
}

/// A keyed hash: each word of eight bytes is mixed in by a product of 128 bits whose halves are folded together.
#[derive(Clone, Copy)]
pub(crate) struct Hasher {
    key: u64,
}

/// Odd, with bits set all over: the fractional part of the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Hasher {
    #[inline]
    pub(crate) fn hash(self, name: &[u8]) -> u32 {
        let mut state = self.key ^ name.len() as u64;
        let (words, rest) = name.as_chunks::<8>();
        for word in words {
            state = fold(state ^ u64::from_le_bytes(*word), self.key | 1) ^ SPREAD;
        }
        let last = rest.iter().fold(0, |last, &byte| last << 8 | u64::from(byte));
        (fold(fold(state ^ last, self.key | 1), SPREAD) >> 32) as u32
    }
}

/// The same for a map of numbers.
impl BuildHasher for Hasher {
    type Hasher = NumberHasher;

    fn build_hasher(&self) -> NumberHasher {
        NumberHasher(self.key)
    }
}

pub(crate) struct NumberHasher(u64);

impl hash::Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= u64::from(Hasher { key: self.0 }.hash(bytes));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = fold(fold(self.0 ^ u64::from(number), self.0 | 1), SPREAD);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Gives edges between numbers the ids that the numbers deserve.
///
/// A number is its node's number when at least half of the numbers from 0 to the largest one appear: so are ids that
/// count from 0 or 1, also with gaps. Sparser numbers are names, which count in the order of their first appearance
/// (source before target).
pub(crate) fn number_or_name(threads: &Threads, sources: &mut [u32], targets: &mut [u32]) -> Ids {
    match dense(threads, sources, targets) {
        Some(nodes) => Ids::Numbers { nodes },
        None => Ids::Named(rename(sources, targets)),
    }
}

/// One more than the largest number, if at least half of the numbers below that appear.
fn dense(threads: &Threads, sources: &[u32], targets: &[u32]) -> Option<usize> {
    let largest_of = |ends: &[u32]| {
        let of_pieces = threads.map_pieces(ends.len(), PIECE, |piece| ends[piece].iter().copied().max());
        of_pieces.into_iter().flatten().max()
    };
    let Some(largest) = largest_of(sources).max(largest_of(targets)) else { return Some(0) };
    let nodes = largest as usize + 1;
    // No more numbers than ends of edges can appear: what fails here needs no table, however large its numbers are.
    if nodes > 2 * (sources.len() + targets.len()) {
        return None;
    }
    let seen: Vec<AtomicU64> = (0..nodes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    let mark = |number: u32| {
        let (word, bit) = (&seen[number as usize / 64], 1 << (number % 64));
        // Most numbers were seen before, and to look is cheaper than to write.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    };
    for ends in [sources, targets] {
        threads.map_pieces(ends.len(), PIECE, |piece| ends[piece].iter().copied().for_each(mark));
    }
    let distinct: usize = seen.into_iter().map(|word| word.into_inner().count_ones() as usize).sum();
    (distinct * 2 >= nodes).then_some(nodes)
}

/// Replaces numbers that are names by numbers in the order of their first appearance.
fn rename(sources: &mut [u32], targets: &mut [u32]) -> Named {
    let mut named = Named::default();
    let mut numbers = HashMap::with_hasher(named.hasher());
    for (source, target) in sources.iter_mut().zip(targets) {
        for end in [source, target] {
            let next = numbers.len() as u32;
            let number = *numbers.entry(*end).or_insert(next);
            if number == next {
                let _ = write!(named.bytes, "{end}");
                named.offsets.push(named.bytes.len() as u64);
            }
            *end = number;
        }
    }
    drop(numbers);
    named.index();
    named
}

/// Names that are all numbers, in edges that were numbered by name, as [`number_or_name`] would have it.
pub(crate) fn names_or_numbers(named: Named, sources: &mut [u32], targets: &mut [u32]) -> Ids {
    let numbers: Option<Vec<u32>> = named.iter().map(parse_number).collect();
    let Some(numbers) = numbers else { return Ids::Named(named) };
    let Some(nodes) = dense(&Threads::one(), &numbers, &[]) else { return Ids::Named(named) };
    for end in sources.iter_mut().chain(targets) {
        *end = numbers[*end as usize];
    }
    Ids::Numbers { nodes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(ids: Ids) -> Option<Vec<String>> {
        ids.into_names().map(|names| names.iter().map(str::to_owned).collect())
    }

    #[test]
    fn numbers_stay_when_at_least_half_of_them_appear() {
        for (edges, nodes) in [(vec![], 0), (vec![(0, 1)], 2), (vec![(1, 3)], 4), (vec![(2, 1), (5, 3)], 6)] {
            let (mut sources, mut targets): (Vec<u32>, Vec<u32>) = edges.iter().copied().unzip();
            let ids = number_or_name(&Threads::one(), &mut sources, &mut targets);
            assert!(matches!(ids, Ids::Numbers { nodes: found } if found == nodes), "{edges:?}: {ids:?}");
            assert_eq!(sources.into_iter().zip(targets).collect::<Vec<_>>(), edges);
        }
    }

    #[test]
    fn sparser_numbers_are_names_in_the_order_of_their_first_appearance() {
        let (mut sources, mut targets) = (vec![70, 5, 70], vec![5, 4_000_000_000, 70]);
        let ids = number_or_name(&Threads::one(), &mut sources, &mut targets);
        assert_eq!((sources, targets), (vec![0, 1, 0], vec![1, 2, 0]));
        assert_eq!(
            (ids.number(b"70"), ids.number(b"4000000000"), ids.number(b"6")),
            (Some(0), Some(2), None)
        );
        assert_eq!(text(ids).unwrap(), ["70", "5", "4000000000"]);
    }

    #[test]
    fn only_a_number_as_we_write_it_is_a_number() {
        for (id, number) in [
            ("0", Some(0)),
            ("4294967293", Some(u32::MAX - 2)),
            ("4294967294", None),
            ("99999999999", None),
            ("007", None),
            ("+1", None),
            ("-1", None),
            ("1.0", None),
            ("", None),
        ] {
            assert_eq!(parse_number(id.as_bytes()), number, "{id}");
        }
    }

    #[test]
    fn names_keep_the_number_of_their_first_appearance_through_every_growth() {
        let mut named = Named::default();
        let name = |number: u32| format!("{}{number}", "long ".repeat(number as usize % 4));
        for round in 0..2 {
            for number in 0..5000 {
                assert_eq!(named.intern(name(number).as_bytes()), Some(number), "round {round}");
            }
        }
        let ids = Ids::Named(named);
        assert_eq!((ids.nodes(), ids.number(b"4999?")), (5000, None));
        assert_eq!(ids.number(name(4999).as_bytes()), Some(4999));
    }

    #[test]
    fn rows_that_count_from_zero_are_numbers_and_others_are_names() {
        assert!(matches!(Ids::of_rows(["0", "1", "2"]), Ok(Ids::Numbers { nodes: 3 })));
        assert_eq!(text(Ids::of_rows(["1", "0"]).unwrap()).unwrap(), ["1", "0"]);
        assert_eq!(Ids::of_rows(["a", "b", "a"]).err(), Some(2));
    }
}
