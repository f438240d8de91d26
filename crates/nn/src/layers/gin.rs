//! GIN (Xu et al., 2019): h'_i = MLP((1 + ε) h_i + Σ w_ij h_j), the MLP linear–ReLU–linear.

use crate::inputs::{Input, Scratch};
use crate::kernels::columns::column_sums;
use crate::kernels::dense::{Output, matmul};
use crate::kernels::finish::Finish;
use crate::layers::propagated::{MapGradients, Maps, Propagated};
use crate::layers::{Activation, Affine, AffineGradient, Context, Convolution, Wanted};
use crate::memory::ensure;
use crate::parameters::{Initial, ParameterSpec};
use crate::real::Real;

/// One GIN layer. Inner parameters: `mlp0.weight` (inputs × outputs), `mlp0.bias`; last map: `mlp1`.
pub(crate) struct Gin<T> {
    inputs: usize,
    outputs: usize,
    first: Propagated<T>,
    /// Units between the MLP's two maps, after their ReLU, and their gradient.
    units: Vec<T>,
    d_units: Vec<T>,
    scratch: Scratch<T>,
}

impl<T: Real> Gin<T> {
    pub(crate) fn new(inputs: usize, outputs: usize) -> Self {
        let first = Propagated::default();
        Self { inputs, outputs, first, units: Vec::new(), d_units: Vec::new(), scratch: Scratch::default() }
    }

    fn maps<'a>(&self, inner: &'a [T]) -> Maps<'a, T> {
        let (edges, bias) = inner.split_at(self.inputs * self.outputs);
        Maps { edges, root: None, bias }
    }
}

impl<T: Real> Convolution<T> for Gin<T> {
    fn inner(&self) -> Vec<ParameterSpec> {
        let initial = Initial::Kaiming { fan_in: self.inputs };
        vec![
            ParameterSpec::new("mlp0.weight", self.inputs, self.outputs, initial),
            ParameterSpec::new("mlp0.bias", 1, self.outputs, initial),
        ]
    }

    fn last(&self) -> [ParameterSpec; 2] {
        let initial = Initial::Kaiming { fan_in: self.outputs };
        [
            ParameterSpec::new("mlp1.weight", self.outputs, self.outputs, initial),
            ParameterSpec::new("mlp1.bias", 1, self.outputs, initial),
        ]
    }

    fn forward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        (inner, last): (&[T], Affine<'_, T>),
        activation: Activation,
        out: &mut [T],
    ) {
        let maps = self.maps(inner);
        let units = ensure(&mut self.units, input.rows * self.outputs);
        self.first.forward(context, input, maps, Activation::Relu(None), units);
        self.scratch.panels.pack(last.weight, self.outputs, last.width());
        let finish = activation.finish(last.bias);
        matmul(context.threads, units, &self.scratch.panels, out, Output::Set, finish);
    }

    fn backward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        (inner, last): (&[T], Affine<'_, T>),
        d_out: &[T],
        (d_inner, d_last): (&mut [T], AffineGradient<'_, T>),
        wanted: Wanted<'_, T>,
    ) {
        let threads = context.threads;
        let maps = self.maps(inner);
        let len = input.rows * self.outputs;
        let (units, d_units) = (&self.units[..len], ensure(&mut self.d_units, len));
        column_sums(threads, d_out, last.width(), &mut self.scratch.partial, d_last.bias);
        let hidden = Input::hidden(units, input.rows, self.outputs);
        hidden.transposed_times(threads, &mut self.scratch, (d_out, last.width()), d_last.weight);
        self.scratch.panels.pack_transposed(last.weight, last.width(), self.outputs);
        let gate = Finish::Gate { hidden: units, scale: T::ONE };
        matmul(threads, d_out, &self.scratch.panels, d_units, Output::Set, gate);
        let (edges, bias) = d_inner.split_at_mut(self.inputs * self.outputs);
        self.first.backward(context, input, maps, d_units, MapGradients { edges, root: None, bias }, wanted);
    }

    fn release_memory(&mut self, structure: usize) {
        self.first.release_memory(structure);
    }
}
