//! Layer normalisation (Ba, Kiros and Hinton, 2016) of the hidden units, before ReLU and dropout: each node's have mean 0 and
//! variance 1, x̂ = (x − mean) / √(variance + ε). Without gain and bias: the map that follows can scale.

use crate::dropout::Dropout;
use crate::kernels::finish::Finish;
use crate::layers::Activation;
use crate::memory::ensure;
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::threads::Threads;

/// Added to the variance, so that units that are all alike stay finite.
const EPSILON: f64 = 1e-5;
/// Rows that one thread takes at a time.
const ROWS: usize = 256;
/// Sums are made of so many, each of every so-manieth unit: a fixed order that fills a vector register.
const LANES: usize = 8;

/// Normalises hidden units and keeps what the gradient needs.
pub(crate) struct LayerNorm<T> {
    units: usize,
    /// x before the pass of [`LayerNorm::activate`], x̂ after it: nodes × units.
    values: Vec<T>,
    /// 1 / √(variance + ε) of each node.
    scales: Vec<T>,
    no_bias: Vec<T>,
}

impl<T: Real> LayerNorm<T> {
    pub(crate) fn new(units: usize) -> Self {
        Self { units, values: Vec::new(), scales: Vec::new(), no_bias: vec![T::ZERO; units] }
    }

    /// Where a layer writes x.
    pub(crate) fn input(&mut self, nodes: usize) -> &mut [T] {
        ensure(&mut self.values, nodes * self.units)
    }

    /// out = dropout(relu(x̂)), of the nodes that are wanted, all if `None`.
    pub(crate) fn activate(
        &mut self,
        threads: &Threads,
        dropout: Option<Dropout>,
        only: Option<&[bool]>,
        out: &mut [T],
    ) {
        let (units, nodes) = (self.units, out.len() / self.units);
        let wanted = |node: usize| only.is_none_or(|only| only[node]);
        let values = &mut self.values[..nodes * units];
        let scales = ensure(&mut self.scales, nodes);
        let _span = threads.span(KernelKind::Loss, 8 * values.len(), 4 * std::mem::size_of_val(values));
        threads.rows_of_two((values, units), (scales, 1), ROWS, |first, rows, scales| {
            with_simd(
                #[inline(always)]
                || {
                    for (r, (row, scale)) in rows.chunks_exact_mut(units).zip(scales).enumerate() {
                        if wanted(first + r) {
                            *scale = normalise(row);
                        }
                    }
                },
            );
        });
        let values = &self.values[..nodes * units];
        let finish: Finish<'_, T> = Activation::Relu(dropout).finish(&self.no_bias);
        threads.rows(out, units, ROWS, |first, rows| {
            with_simd(
                #[inline(always)]
                || {
                    for (r, row) in rows.chunks_exact_mut(units).enumerate() {
                        if wanted(first + r) {
                            row.copy_from_slice(&values[(first + r) * units..][..units]);
                            finish.apply(first + r, row);
                        }
                    }
                },
            );
        });
    }

    /// Puts the gradient by x in the place of that by x̂: with d of a node, (d − mean(d) − x̂ · mean(d · x̂)) / √(variance + ε).
    pub(crate) fn backward(&self, threads: &Threads, gradient: &mut [T]) {
        let units = self.units;
        let share = T::of(1.0 / units as f64);
        let (flops, bytes) = (6 * gradient.len(), 3 * std::mem::size_of_val(gradient));
        let _span = threads.span(KernelKind::Loss, flops, bytes);
        threads.rows(gradient, units, ROWS, |first, rows| {
            with_simd(
                #[inline(always)]
                || {
                    for (r, d) in rows.chunks_exact_mut(units).enumerate() {
                        let x = &self.values[(first + r) * units..][..units];
                        let scale = self.scales[first + r];
                        let mean = sum(d, |_, d| d) * share;
                        let along = sum(d, |unit, d| d * x[unit]) * share;
                        for (d, &x) in d.iter_mut().zip(x) {
                            *d = (*d - mean - x * along) * scale;
                        }
                    }
                },
            );
        });
    }
}

/// Gives a row mean 0 and variance 1; returns what it was multiplied with.
#[inline(always)]
fn normalise<T: Real>(row: &mut [T]) -> T {
    let share = T::of(1.0 / row.len() as f64);
    let mean = sum(row, |_, x| x) * share;
    let variance = sum(row, |_, x| (x - mean) * (x - mean)) * share;
    let scale = T::ONE / (variance + T::of(EPSILON)).sqrt();
    for x in row {
        *x = (*x - mean) * scale;
    }
    scale
}

/// The sum over a row, in a fixed order.
#[inline(always)]
fn sum<T: Real>(row: &[T], term: impl Fn(usize, T) -> T) -> T {
    let mut lanes = [T::ZERO; LANES];
    for (chunk, values) in row.chunks(LANES).enumerate() {
        for (lane, (sum, &value)) in lanes.iter_mut().zip(values).enumerate() {
            *sum += term(chunk * LANES + lane, value);
        }
    }
    lanes.into_iter().fold(T::ZERO, |total, lane| total + lane)
}
