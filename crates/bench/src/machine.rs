//! What the machine can do at best: how fast it reads memory and multiplies matrices.

use std::time::Instant;

use edgepace_nn::Threads;
use rayon::prelude::*;
use serde::Serialize;

/// Measured peaks, with the thread budget of the benchmark.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Machine {
    /// Bytes read per second in one long stream.
    pub(crate) bandwidth: f64,
    /// Floating-point operations per second in a large matrix product (the `gemm` crate's).
    pub(crate) gemm: f64,
}

/// Numbers in the stream: 256 MB, far more than any cache.
const STREAM: usize = 64 << 20;
/// Numbers that one thread reads at a time.
const CHUNK: usize = 1 << 16;
/// Rows and columns of the matrix product.
const MATRIX: usize = 1024;
/// The best of so many tries counts: noise only ever slows down.
const TRIES: usize = 7;

impl Machine {
    pub(crate) fn measure(threads: &Threads) -> Self {
        let stream = vec![1.0_f32; STREAM];
        let bandwidth = best(|| {
            let sum: f32 = match threads.count() {
                1 => stream.chunks(CHUNK).map(lanes).sum(),
                _ => threads.run(|| stream.par_chunks(CHUNK).map(lanes).sum()),
            };
            assert!(sum > 0.0, "the stream was read");
        });
        drop(stream);
        let (a, b) = (vec![0.5_f32; MATRIX * MATRIX], vec![0.25_f32; MATRIX * MATRIX]);
        let mut c = vec![0.0_f32; MATRIX * MATRIX];
        let product = best(|| threads.run(|| multiply(&a, &b, &mut c, threads.count())));
        Self {
            bandwidth: (STREAM * size_of::<f32>()) as f64 / bandwidth,
            gemm: 2.0 * (MATRIX * MATRIX * MATRIX) as f64 / product,
        }
    }

    /// The time that work would take if the machine did nothing but its slower half at full speed, in milliseconds.
    pub(crate) fn limit_ms(&self, flops: f64, bytes: f64) -> f64 {
        1e3 * (flops / self.gemm).max(bytes / self.bandwidth)
    }
}

fn lanes(chunk: &[f32]) -> f32 {
    let mut sums = [0.0; 64];
    for tile in chunk.as_chunks::<64>().0 {
        for (sum, x) in sums.iter_mut().zip(tile) {
            *sum += x;
        }
    }
    sums.iter().sum()
}

fn best(mut job: impl FnMut()) -> f64 {
    (0..TRIES)
        .map(|_| {
            let start = Instant::now();
            job();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

#[allow(unsafe_code, reason = "the library takes pointers")]
fn multiply(a: &[f32], b: &[f32], c: &mut [f32], threads: usize) {
    let side = MATRIX.cast_signed();
    let parallelism = if threads > 1 { gemm::Parallelism::Rayon(threads) } else { gemm::Parallelism::None };
    assert!([a.len(), b.len(), c.len()] == [MATRIX * MATRIX; 3], "square matrices");
    // SAFETY: the three matrices have MATRIX² elements, checked above, which strides 1 and MATRIX stay inside of.
    unsafe {
        gemm::gemm(
            MATRIX,
            MATRIX,
            MATRIX,
            c.as_mut_ptr(),
            1,
            side,
            false,
            a.as_ptr(),
            1,
            side,
            b.as_ptr(),
            1,
            side,
            0.0,
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}
