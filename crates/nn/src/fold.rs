//! The decoder, multiplied into the last convolution's final map.

use crate::kernels::dense::{small_matmul, transposed_matmul};
use crate::layers::{Affine, AffineGradient};
use crate::real::Real;
use crate::threads::Threads;

/// Outputs are filled up to a multiple of this many columns, so that rows are whole vector registers.
const LANES: usize = 8;

/// So many outputs, filled up.
pub(crate) fn padded(outputs: usize) -> usize {
    outputs.div_ceil(LANES).saturating_mul(LANES)
}

/// The map (W · D, b · D) for the final map (W, b) and the decoder D, and the gradient by it.
pub(crate) struct Folded<T> {
    /// Rows of D.
    units: usize,
    /// Columns of D.
    outputs: usize,
    weight: Vec<T>,
    bias: Vec<T>,
    /// D with columns of zeros at its end, and its transpose.
    padded: Vec<T>,
    transposed: Vec<T>,
    d_weight: Vec<T>,
    d_bias: Vec<T>,
    d_decoder: Vec<T>,
    partial: Vec<T>,
}

impl<T: Real> Folded<T> {
    /// For a decoder of `units` × `outputs`, and a final map that reads `depth` numbers.
    pub(crate) fn new(depth: usize, units: usize, outputs: usize) -> Self {
        let width = padded(outputs);
        let zeros = |len| vec![T::ZERO; len];
        Self {
            units,
            outputs,
            weight: zeros(depth * width),
            bias: zeros(width),
            padded: zeros(units * width),
            transposed: zeros(width * units),
            d_weight: zeros(depth * width),
            d_bias: zeros(width),
            d_decoder: zeros(units * width),
            partial: Vec::new(),
        }
    }

    /// Columns of the folded map: the outputs and the zeros that fill them up.
    pub(crate) fn width(&self) -> usize {
        self.bias.len()
    }

    /// (W · D, b · D).
    pub(crate) fn fold(&mut self, own: Affine<'_, T>, decoder: &[T]) -> Affine<'_, T> {
        let width = self.width();
        for (row, (padded, values)) in
            self.padded.chunks_exact_mut(width).zip(decoder.chunks_exact(self.outputs)).enumerate()
        {
            padded[..self.outputs].copy_from_slice(values);
            for (column, &value) in values.iter().enumerate() {
                self.transposed[column * self.units + row] = value;
            }
        }
        self.weight.fill(T::ZERO);
        self.bias.fill(T::ZERO);
        small_matmul(own.weight, &self.padded, (self.units, width), &mut self.weight);
        small_matmul(own.bias, &self.padded, (self.units, width), &mut self.bias);
        Affine { weight: &self.weight, bias: &self.bias }
    }

    /// The folded map, and where the gradient by it goes.
    pub(crate) fn with_gradient(&mut self) -> (Affine<'_, T>, AffineGradient<'_, T>) {
        (
            Affine { weight: &self.weight, bias: &self.bias },
            AffineGradient { weight: &mut self.d_weight, bias: &mut self.d_bias },
        )
    }

    /// Takes the gradient G, g by (W · D, b · D) apart: by W it is G Dᵀ, by b it is g Dᵀ, by D it is Wᵀ G + bᵀ g.
    pub(crate) fn unfold(
        &mut self,
        threads: &Threads,
        own: Affine<'_, T>,
        d_own: AffineGradient<'_, T>,
        d_decoder: &mut [T],
    ) {
        let width = self.width();
        d_own.weight.fill(T::ZERO);
        d_own.bias.fill(T::ZERO);
        small_matmul(&self.d_weight, &self.transposed, (width, self.units), d_own.weight);
        small_matmul(&self.d_bias, &self.transposed, (width, self.units), d_own.bias);
        let shape = (self.units, width);
        transposed_matmul(threads, own.weight, &self.d_weight, shape, &mut self.partial, &mut self.d_decoder);
        let rows = d_decoder.chunks_exact_mut(self.outputs).zip(self.d_decoder.chunks_exact(width));
        for ((out, d), &bias) in rows.zip(own.bias) {
            for ((out, &d), &d_bias) in out.iter_mut().zip(d).zip(&self.d_bias) {
                *out = bias.mul_add(d_bias, d);
            }
        }
    }
}
