//! A thread budget, and the ways in which work is shared without sharing results.
//!
//! Whatever runs on several threads takes a [`Threads`] and runs through one of its helpers: there is no pool behind the
//! caller's back. Every helper gives each piece of the output to exactly one call of a closure, and pieces never depend on
//! how many threads there are. So results are the same bits on 1, 2 or 8 threads.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::meter::{KernelKind, Meter, Span};
use crate::{GraphError, Refusal};

/// How many threads may be used. Cheap to clone; clones share the threads.
///
/// A budget of one runs everything on the calling thread. A larger one starts its threads when they are first needed, and
/// ends them with its last clone. After a `fork` the child starts threads of its own, because those of its parent do not
/// exist in it. Where the system refuses to start them, work runs on the calling thread: slower, with the same results.
#[derive(Clone, Debug)]
pub struct Threads {
    count: NonZeroUsize,
    /// `None` for one thread, which needs no pool.
    pool: Option<Arc<PerProcess>>,
    meter: Option<Arc<Meter>>,
}

impl Threads {
    /// A budget of `count` threads. None of them is started yet.
    ///
    /// # Errors
    /// `count` is 0.
    pub fn new(count: usize) -> Result<Self, GraphError> {
        let count = NonZeroUsize::new(count).ok_or_else(|| Refusal::new("threads", count, "at least 1"))?;
        let pool = (count.get() > 1).then(Arc::default);
        Ok(Self { count, pool, meter: None })
    }

    /// A budget of one: the calling thread.
    pub fn one() -> Self {
        Self { count: NonZeroUsize::MIN, pool: None, meter: None }
    }

    /// The same threads, with every kernel that runs on them counted and timed.
    pub fn metered(&self) -> (Self, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        (Self { meter: Some(Arc::clone(&meter)), ..self.clone() }, meter)
    }

    /// Counts a kernel's work, and its time until the answer is dropped; `None` unless the budget is
    /// [metered](Threads::metered).
    pub fn span(&self, kernel: KernelKind, flops: usize, bytes: usize) -> Option<Span<'_>> {
        self.meter.as_deref().map(|meter| meter.span(kernel, flops, bytes))
    }

    /// The size of the budget.
    pub fn count(&self) -> usize {
        self.count.get()
    }

    /// The threads, started if need be; `None` where the calling thread is to do the work.
    fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_ref()?.get(self.count.get())
    }

    /// The same, for work that is worth it.
    fn pool_if(&self, worth_it: bool) -> Option<&ThreadPool> {
        if worth_it { self.pool() } else { None }
    }

    /// Runs `job` on one of the threads. The helpers do so by themselves; a loop over many small steps that runs here as
    /// a whole saves them the way from thread to thread.
    pub fn run<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        match self.pool() {
            None => job(),
            Some(pool) => pool.install(job),
        }
    }

    /// Calls `job` as often as there are threads, at the same time as far as they are free. It must not wait for another
    /// call of itself.
    pub fn on_each(&self, job: impl Fn() + Sync) {
        match self.pool() {
            None => job(),
            Some(pool) => pool.scope(|scope| (0..self.count()).for_each(|_| scope.spawn(|_| job()))),
        }
    }

    /// Cuts `out`, rows of `width` numbers, into blocks of `block` rows and calls `fill(first_row, rows)` on each.
    pub fn rows<T: Send>(
        &self,
        out: &mut [T],
        width: usize,
        block: usize,
        fill: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let size = width * block;
        if out.is_empty() {
            return;
        }
        match self.pool_if(out.len() > size) {
            None => out.chunks_mut(size).enumerate().for_each(|(i, rows)| fill(i * block, rows)),
            Some(pool) => pool.install(|| {
                out.par_chunks_mut(size).enumerate().for_each(|(i, rows)| fill(i * block, rows));
            }),
        }
    }

    /// The same for two outputs with rows of different widths: `fill(first_row, a_rows, b_rows)`.
    pub fn rows_of_two<A: Send, B: Send>(
        &self,
        (a, a_width): (&mut [A], usize),
        (b, b_width): (&mut [B], usize),
        block: usize,
        fill: impl Fn(usize, &mut [A], &mut [B]) + Sync,
    ) {
        let (a_block, b_block) = (a_width * block, b_width * block);
        if a.is_empty() || b.is_empty() {
            return;
        }
        match self.pool_if(a.len() > a_block) {
            None => {
                for (i, (a, b)) in a.chunks_mut(a_block).zip(b.chunks_mut(b_block)).enumerate() {
                    fill(i * block, a, b);
                }
            }
            Some(pool) => pool.install(|| {
                a.par_chunks_mut(a_block)
                    .zip(b.par_chunks_mut(b_block))
                    .enumerate()
                    .for_each(|(i, (a, b))| fill(i * block, a, b));
            }),
        }
    }

    /// Cuts columns into pieces of `block` entries and calls `fill(first_entry, piece)` on each.
    pub fn columns<C: Columns>(&self, columns: C, block: usize, fill: impl Fn(usize, C) + Sync) {
        if columns.entries() == 0 {
            return;
        }
        match self.pool_if(columns.entries() > block) {
            None => {
                let (mut first, mut rest) = (0, columns);
                while rest.entries() > block {
                    let (piece, others) = rest.cut(block);
                    fill(first, piece);
                    (first, rest) = (first + block, others);
                }
                fill(first, rest);
            }
            Some(pool) => pool.install(|| cut_up(0, columns, block, &fill)),
        }
    }

    /// Cuts `out` by nodes so that pieces have about equal work, and calls `fill(nodes, piece)` on each.
    ///
    /// `work` are CSR offsets: node `i` costs `work[i + 1] - work[i]`, plus one. `start(i)` is where the
    /// output of node `i` begins: `i * width` for rows, `offsets[i]` for one number per edge.
    pub fn nodes<T: Send>(
        &self,
        work: &[usize],
        start: impl Fn(usize) -> usize + Sync,
        out: &mut [T],
        fill: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) {
        let nodes = 0..work.len() - 1;
        if nodes.is_empty() {
            return;
        }
        match self.pool() {
            None => fill(nodes, out),
            Some(pool) => {
                let split = Split { work, start: &start, fill: &fill };
                pool.install(|| split.run(nodes, out));
            }
        }
    }

    /// Whether `holds` for every pair of neighbours in two lists of the same length.
    pub fn all<A: Sync, B: Sync>(&self, a: &[A], b: &[B], holds: impl Fn(&A, &B) -> bool + Sync) -> bool {
        self.all_pieces(a.len().min(b.len()), |piece| {
            a[piece.clone()].iter().zip(&b[piece]).all(|(a, b)| holds(a, b))
        })
    }

    /// Whether `holds` for every piece of the positions below `len`. After the first for which it does not, others may not
    /// be asked.
    pub fn all_pieces(&self, len: usize, holds: impl Fn(Range<usize>) -> bool + Sync) -> bool {
        const BLOCK: usize = 16384;
        let block = |i: usize| holds(i * BLOCK..len.min((i + 1) * BLOCK));
        let mut blocks = 0..len.div_ceil(BLOCK);
        match self.pool_if(len > BLOCK) {
            None => blocks.all(block),
            Some(pool) => pool.install(|| blocks.into_par_iter().all(block)),
        }
    }

    /// `value(0)`, `value(1)`, … of all positions below `len`.
    pub fn map<R: Send>(&self, len: usize, value: impl Fn(usize) -> R + Sync) -> Vec<R> {
        match self.pool_if(len > 1) {
            None => (0..len).map(value).collect(),
            Some(pool) => pool.install(|| (0..len).into_par_iter().map(&value).collect()),
        }
    }

    /// Cuts the positions below `len` into pieces of `block` and gives `value(piece)` of each, in order.
    pub fn map_pieces<R: Send>(
        &self,
        len: usize,
        block: usize,
        value: impl Fn(Range<usize>) -> R + Sync,
    ) -> Vec<R> {
        self.map(len.div_ceil(block), |i| value(i * block..len.min((i + 1) * block)))
    }

    /// Sorts; entries that compare equal must be equal, because their order is not kept.
    pub fn sort<T: Ord + Send>(&self, values: &mut [T]) {
        match self.pool_if(values.len() > 1) {
            None => values.sort_unstable(),
            Some(pool) => pool.install(|| values.par_sort_unstable()),
        }
    }
}

/// The pool of this process, made when it is first asked for.
///
/// A fork copies what its parent had, but not the threads. So each pool is kept with the process that started it, and a
/// process that finds the pool of another one puts its own behind it. Nothing is waited for: a fork may leave any lock
/// locked for ever.
#[derive(Debug, Default)]
struct PerProcess(OnceLock<Box<Started>>);

#[derive(Debug)]
struct Started {
    process: u32,
    /// `None` if the system refused to start the threads.
    pool: Option<ThreadPool>,
    /// Of a process that this one forked.
    next: PerProcess,
}

impl PerProcess {
    fn get(&self, count: usize) -> Option<&ThreadPool> {
        let process = std::process::id();
        let mut at = self;
        loop {
            let started = at.0.get().unwrap_or_else(|| {
                // Made before it is put in place, so that to put it there takes no time in which a fork could happen.
                // Of two threads that come here together one has made its pool in vain.
                let made = Box::new(Started::new(process, count));
                at.0.get_or_init(|| made)
            });
            if started.process == process {
                return started.pool.as_ref();
            }
            at = &started.next;
        }
    }
}

impl Started {
    fn new(process: u32, count: usize) -> Self {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(count);
        let pool = threads.thread_name(|i| format!("edgepace-{i}")).build().ok();
        Self { process, pool, next: PerProcess::default() }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // There is nobody to be told to end in the pool of another process, and the attempt might wait for a lock.
        if self.process != std::process::id() {
            std::mem::forget(self.pool.take());
        }
    }
}

/// Lists of the same length that are cut at the same places: one, or two of such.
pub trait Columns: Send + Sized {
    /// How many entries each list has.
    fn entries(&self) -> usize;
    /// The first `at` entries, and the others.
    fn cut(self, at: usize) -> (Self, Self);
}

impl<T: Send> Columns for &mut [T] {
    fn entries(&self) -> usize {
        self.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
}

impl<A: Columns, B: Columns> Columns for (A, B) {
    fn entries(&self) -> usize {
        self.0.entries()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        let ((a, a_rest), (b, b_rest)) = (self.0.cut(at), self.1.cut(at));
        ((a, b), (a_rest, b_rest))
    }
}

fn cut_up<C: Columns>(first: usize, columns: C, block: usize, fill: &(impl Fn(usize, C) + Sync)) {
    if columns.entries() <= block {
        return fill(first, columns);
    }
    let half = columns.entries().div_ceil(block) / 2 * block;
    let (left, right) = columns.cut(half);
    rayon::join(|| cut_up(first, left, block, fill), || cut_up(first + half, right, block, fill));
}

/// Work below which a piece of nodes is not cut further, in edges plus nodes.
const PIECE: usize = 2048;

struct Split<'a, S, F> {
    work: &'a [usize],
    start: &'a S,
    fill: &'a F,
}

impl<S: Fn(usize) -> usize + Sync, F> Split<'_, S, F> {
    fn run<T: Send>(&self, nodes: Range<usize>, out: &mut [T])
    where
        F: Fn(Range<usize>, &mut [T]) + Sync,
    {
        let cost = |i: usize| self.work[i] + i;
        let (low, high) = (cost(nodes.start), cost(nodes.end));
        if high - low <= PIECE || nodes.len() == 1 {
            (self.fill)(nodes, out);
            return;
        }
        let half = usize::midpoint(low, high);
        let (mut middle, mut end) = (nodes.start + 1, nodes.end - 1);
        while middle < end {
            let probe = usize::midpoint(middle, end);
            if cost(probe) < half { middle = probe + 1 } else { end = probe }
        }
        let (left, right) = out.split_at_mut((self.start)(middle) - (self.start)(nodes.start));
        rayon::join(|| self.run(nodes.start..middle, left), || self.run(middle..nodes.end, right));
    }
}
