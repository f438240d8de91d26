//! Where the time of an epoch goes, kernel by kernel, beside the work that each one does.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A group of kernels that are limited by the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum KernelKind {
    /// Edge weights to propagation values.
    Normalise,
    /// Propagation along edges.
    Propagate,
    /// Sparse features times weights, and the transposed product.
    Features,
    /// Tall times small dense products.
    Dense,
    /// Transposed dense products: gradients by weights.
    DenseTransposed,
    /// Mean, minimum, maximum and deviation along edges, and their gradients.
    Segment,
    /// Gradients by edge values.
    EdgeGradient,
    /// Losses, and sums over nodes.
    Loss,
    /// Optimiser.
    Adam,
}

impl KernelKind {
    /// Every group.
    pub const ALL: [Self; 9] = [
        Self::Normalise,
        Self::Propagate,
        Self::Features,
        Self::Dense,
        Self::DenseTransposed,
        Self::Segment,
        Self::EdgeGradient,
        Self::Loss,
        Self::Adam,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normalise => "normalise",
            Self::Propagate => "propagate",
            Self::Features => "features",
            Self::Dense => "dense",
            Self::DenseTransposed => "dense transposed",
            Self::Segment => "segment",
            Self::EdgeGradient => "edge gradient",
            Self::Loss => "loss and sums",
            Self::Adam => "adam",
        }
    }
}

/// What one group of kernels did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Calls.
    pub calls: u64,
    /// Floating-point operations; a multiply-add counts two.
    pub flops: u64,
    /// Bytes that are read and written; a row that is gathered counts each time, a matrix of parameters never.
    pub bytes: u64,
    /// Wall time.
    pub nanoseconds: u64,
}

/// Counts the work of every kernel that runs under a metered thread budget.
#[derive(Debug, Default)]
pub struct Meter {
    counts: [[AtomicU64; 4]; KernelKind::ALL.len()],
}

impl Meter {
    /// What a group of kernels did since the start or the latest `reset`.
    pub fn work(&self, kernel: KernelKind) -> Work {
        let [calls, flops, bytes, nanoseconds] =
            self.counts[kernel as usize].each_ref().map(|count| count.load(Ordering::Relaxed));
        Work { calls, flops, bytes, nanoseconds }
    }

    /// Sets every count to 0.
    pub fn reset(&self) {
        for count in self.counts.iter().flatten() {
            count.store(0, Ordering::Relaxed);
        }
    }

    pub(crate) fn span(&self, kernel: KernelKind, flops: usize, bytes: usize) -> Span<'_> {
        let counts = &self.counts[kernel as usize];
        for (count, add) in counts.iter().zip([1, flops as u64, bytes as u64]) {
            count.fetch_add(add, Ordering::Relaxed);
        }
        Span { nanoseconds: &counts[3], start: Instant::now() }
    }
}

/// The time of one kernel, which is counted when this is dropped.
#[derive(Debug)]
pub struct Span<'a> {
    nanoseconds: &'a AtomicU64,
    start: Instant,
}

impl Drop for Span<'_> {
    fn drop(&mut self) {
        self.nanoseconds.fetch_add(self.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}
