//! GCN (Kipf and Welling, 2017): H' = Â H W + b with Â = D^-½ (A_w + I) D^-½.
//!
//! On a structure without edges Â = I, and the layer is a plain linear one: the edge-free control.

use crate::inputs::Input;
use crate::layers::propagated::{MapGradients, Maps, Propagated};
use crate::layers::{Activation, Affine, AffineGradient, Context, Convolution, Wanted};
use crate::parameters::{Initial, ParameterSpec};
use crate::real::Real;

/// One GCN layer. Parameters: `weight` (inputs × outputs), `bias`.
pub(crate) struct Gcn<T> {
    inputs: usize,
    outputs: usize,
    propagated: Propagated<T>,
}

impl<T: Real> Gcn<T> {
    pub(crate) fn new(inputs: usize, outputs: usize) -> Self {
        Self { inputs, outputs, propagated: Propagated::default() }
    }
}

fn maps<T>(last: Affine<'_, T>) -> Maps<'_, T> {
    Maps { edges: last.weight, root: None, bias: last.bias }
}

impl<T: Real> Convolution<T> for Gcn<T> {
    fn inner(&self) -> Vec<ParameterSpec> {
        Vec::new()
    }

    fn last(&self) -> [ParameterSpec; 2] {
        [
            ParameterSpec::new("weight", self.inputs, self.outputs, Initial::Glorot),
            ParameterSpec::new("bias", 1, self.outputs, Initial::Zero),
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
        self.propagated.forward(context, input, maps(last), activation, out);
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
        let gradients = MapGradients { edges: gradient.weight, root: None, bias: gradient.bias };
        self.propagated.backward(context, input, maps(last), d_out, gradients, wanted);
    }

    fn release_memory(&mut self, structure: usize) {
        self.propagated.release_memory(structure);
    }
}
