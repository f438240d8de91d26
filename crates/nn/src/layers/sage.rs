//! GraphSAGE with the mean (Hamilton et al., 2017): h'_i = W_l · (Σ w_ij h_j / Σ w_ij) + W_r · h_i + b; the mean is 0
//! where there is no weight.

use crate::inputs::Input;
use crate::layers::propagated::{MapGradients, Maps, Propagated};
use crate::layers::{Activation, Affine, AffineGradient, Context, Convolution, Wanted};
use crate::parameters::{Initial, ParameterSpec};
use crate::real::Real;

/// One GraphSAGE layer. Its last map's `weight` (2 · inputs × outputs) is W_l above W_r.
pub(crate) struct Sage<T> {
    inputs: usize,
    outputs: usize,
    propagated: Propagated<T>,
}

impl<T: Real> Sage<T> {
    pub(crate) fn new(inputs: usize, outputs: usize) -> Self {
        Self { inputs, outputs, propagated: Propagated::default() }
    }

    fn maps<'a>(&self, last: Affine<'a, T>) -> Maps<'a, T> {
        let (edges, root) = last.weight.split_at(self.inputs * last.width());
        Maps { edges, root: Some(root), bias: last.bias }
    }
}

impl<T: Real> Convolution<T> for Sage<T> {
    fn inner(&self) -> Vec<ParameterSpec> {
        Vec::new()
    }

    fn last(&self) -> [ParameterSpec; 2] {
        let initial = Initial::Kaiming { fan_in: self.inputs };
        [
            ParameterSpec::new("weight", 2 * self.inputs, self.outputs, initial),
            ParameterSpec::new("bias", 1, self.outputs, initial),
        ]
    }

    fn forward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        (_, last): (&[T], Affine<'_, T>),
        activation: Activation,
        out: &mut [T],
    ) {
        let maps = self.maps(last);
        self.propagated.forward(context, input, maps, activation, out);
    }

    fn backward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        (_, last): (&[T], Affine<'_, T>),
        d_out: &[T],
        (_, gradient): (&mut [T], AffineGradient<'_, T>),
        wanted: Wanted<'_, T>,
    ) {
        let maps = self.maps(last);
        let (edges, root) = gradient.weight.split_at_mut(self.inputs * last.width());
        let gradients = MapGradients { edges, root: Some(root), bias: gradient.bias };
        self.propagated.backward(context, input, maps, d_out, gradients, wanted);
    }

    fn release_memory(&mut self, structure: usize) {
        self.propagated.release_memory(structure);
    }
}
