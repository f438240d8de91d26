//! A thread budget, and the ways in which kernels share work without sharing results.
//!
//! Every helper here gives each piece of the output to exactly one closure call, and pieces never depend on
//! how many threads there are. So results are the same bits on 1, 2 or 8 threads.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::error::NnError;
use crate::meter::{Kernel, Meter, Span};

/// How many threads a model may use: an owned pool, cheap to clone.
#[derive(Clone, Debug)]
pub struct Threads {
    /// `None` for one thread: everything runs on the caller's.
    pool: Option<Arc<rayon::ThreadPool>>,
    meter: Option<Arc<Meter>>,
}

impl Threads {
    /// A budget of `count` threads.
    ///
    /// # Errors
    /// `count` is 0, or the system refuses to start the threads.
    pub fn new(count: usize) -> Result<Self, NnError> {
        match count {
            0 => Err(NnError::Config { field: "threads", found: "0".into(), expected: "at least 1" }),
            1 => Ok(Self { pool: None, meter: None }),
            _ => {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(count)
                    .thread_name(|i| format!("edgepace-{i}"))
                    .build()
                    .map_err(|error| NnError::Threads { count, cause: error.to_string() })?;
                Ok(Self { pool: Some(Arc::new(pool)), meter: None })
            }
        }
    }

    /// The same threads, with every kernel that runs on them counted and timed.
    pub fn metered(&self) -> (Self, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        (Self { pool: self.pool.clone(), meter: Some(Arc::clone(&meter)) }, meter)
    }

    /// Counts a kernel's work, and its time until the answer is dropped.
    pub(crate) fn span(&self, kernel: Kernel, flops: usize, bytes: usize) -> Option<Span<'_>> {
        self.meter.as_deref().map(|meter| meter.span(kernel, flops, bytes))
    }

    /// The size of the budget.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `job` inside the pool. Kernels enter it by themselves; a loop over many small steps that runs
    /// inside it once saves them the way in.
    pub fn run<R: Send>(&self, job: impl FnOnce() -> R + Send) -> R {
        match &self.pool {
            None => job(),
            Some(pool) => pool.install(job),
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
        if out.is_empty() {
            return;
        }
        if self.pool.is_none() || out.len() <= width * block {
            for (i, rows) in out.chunks_mut(width * block).enumerate() {
                fill(i * block, rows);
            }
            return;
        }
        self.run(|| {
            out.par_chunks_mut(width * block).enumerate().for_each(|(i, rows)| fill(i * block, rows));
        });
    }

    /// The same for two outputs with rows of different widths: `fill(first_row, a_rows, b_rows)`.
    pub(crate) fn rows_of_two<A: Send, B: Send>(
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
        if self.pool.is_none() || a.len() <= a_block {
            for (i, (a, b)) in a.chunks_mut(a_block).zip(b.chunks_mut(b_block)).enumerate() {
                fill(i * block, a, b);
            }
            return;
        }
        self.run(|| {
            a.par_chunks_mut(a_block)
                .zip(b.par_chunks_mut(b_block))
                .enumerate()
                .for_each(|(i, (a, b))| fill(i * block, a, b));
        });
    }

    /// Whether `holds` for every pair of neighbours in two lists of the same length.
    pub(crate) fn all<A: Sync, B: Sync>(
        &self,
        a: &[A],
        b: &[B],
        holds: impl Fn(&A, &B) -> bool + Sync,
    ) -> bool {
        const BLOCK: usize = 16384;
        let block = |(a, b): (&[A], &[B])| a.iter().zip(b).all(|(a, b)| holds(a, b));
        if self.pool.is_none() || a.len() <= BLOCK {
            return block((a, b));
        }
        self.run(|| a.par_chunks(BLOCK).zip(b.par_chunks(BLOCK)).all(block))
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
        if self.pool.is_none() {
            fill(nodes, out);
            return;
        }
        let split = Split { work, start: &start, fill: &fill };
        self.run(|| split.run(nodes, out));
    }
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
