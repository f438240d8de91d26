//! The backbones' convolutions. Each ends in an affine map, which the model hands in: for the last layer it is the
//! layer's own map with the decoder multiplied into it.

mod gcn;
mod gin;
mod pna;
mod propagated;
mod sage;
#[cfg(test)]
mod tests;

pub(crate) use gcn::Gcn;
pub(crate) use gin::Gin;
pub(crate) use pna::Pna;
pub(crate) use sage::Sage;

use crate::dropout::Dropout;
use crate::inputs::Input;
use crate::kernels::finish::Finish;
use crate::parameters::ParameterSpec;
use crate::real::Real;
use crate::structure::{Structure, ValueGradient};
use crate::threads::Threads;

/// What every layer of a model shares during a pass.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a, T> {
    pub(crate) threads: &'a Threads,
    pub(crate) structure: &'a Structure<T>,
    /// The version of the parameters: products with constant inputs are kept while it stays.
    pub(crate) version: u64,
    /// The nodes whose output is wanted, all if `None`. What a layer says of the others has no meaning, and no backward pass
    /// follows.
    pub(crate) only: Option<&'a [bool]>,
}

impl<'a, T> Context<'a, T> {
    /// With the output of all nodes wanted.
    pub(crate) fn new(threads: &'a Threads, structure: &'a Structure<T>, version: u64) -> Self {
        Self { threads, structure, version, only: None }
    }
}

/// The affine map that ends a layer: y = h · weight + bias, `weight` (inputs × width).
#[derive(Clone, Copy)]
pub(crate) struct Affine<'a, T> {
    pub(crate) weight: &'a [T],
    pub(crate) bias: &'a [T],
}

impl<T> Affine<'_, T> {
    pub(crate) fn width(&self) -> usize {
        self.bias.len()
    }
}

/// Where the gradient by an [`Affine`] goes.
pub(crate) struct AffineGradient<'a, T> {
    pub(crate) weight: &'a mut [T],
    pub(crate) bias: &'a mut [T],
}

/// What follows a layer's affine map.
#[derive(Clone, Copy)]
pub(crate) enum Activation {
    Linear,
    Relu(Option<Dropout>),
}

impl Activation {
    pub(crate) fn finish<T>(self, bias: &[T]) -> Finish<'_, T> {
        match self {
            Self::Linear => Finish::Bias(bias),
            Self::Relu(None) => Finish::Relu(bias),
            Self::Relu(Some(dropout)) => Finish::ReluDropout(bias, dropout),
        }
    }
}

/// The gradient by a layer's input, when wanted.
pub(crate) struct InputGradient<'a, T> {
    /// Nodes × inputs.
    pub(crate) out: &'a mut [T],
    /// The gate of the activation that made the input.
    pub(crate) finish: Finish<'a, T>,
}

/// A graph convolution H' = f(H, structure; inner parameters, last affine map), with exact gradients.
///
/// `forward` keeps what `backward` needs; `backward` belongs to the latest `forward`.
pub(crate) trait Convolution<T: Real>: Send + Sync {
    /// The parameters before the last map, in the order in which `inner` holds them.
    fn inner(&self) -> Vec<ParameterSpec>;

    /// The parameters of the last map: weight and bias.
    fn last(&self) -> [ParameterSpec; 2];

    /// out = activation(convolution(input)).
    fn forward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        parameters: (&[T], Affine<'_, T>),
        activation: Activation,
        out: &mut [T],
    );

    /// Sets the gradients by parameters (inner, last) and by the input, and adds those by edge values, given the gradient
    /// by the layer's output before its activation.
    fn backward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        parameters: (&[T], Affine<'_, T>),
        d_out: &[T],
        gradients: (&mut [T], AffineGradient<'_, T>),
        wanted: Wanted<'_, T>,
    );

    /// Gives back what it keeps for the structure of that number.
    fn release_memory(&mut self, _structure: usize) {}

    /// Whether a backward pass leaves what the forward pass kept for it, so that another one may follow.
    fn keeps_forward(&self) -> bool {
        true
    }
}

/// The gradients that are computed on demand.
pub(crate) struct Wanted<'a, T> {
    pub(crate) input: Option<InputGradient<'a, T>>,
    pub(crate) edges: Option<&'a mut ValueGradient<T>>,
}
