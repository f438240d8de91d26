//! All parameters of a model in one flat vector, with names: one optimiser pass, one file, one checksum.

use std::ops::Range;

use crate::real::Real;
use edgepace_graph::random::{Purpose, Stream};

/// How a parameter starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Initial {
    /// 0.
    Zero,
    /// Uniform within ±√(6 / (fan in + fan out)) (Glorot and Bengio, 2010).
    Glorot,
    /// Uniform within ±1 / √(fan in): Kaiming's rule (He et al., 2015) with the slope √5 that PyTorch's linear layers
    /// use, for weights and for biases.
    Kaiming {
        /// How many inputs a unit sums.
        fan_in: usize,
    },
}

/// Name, shape and start of one parameter.
#[derive(Clone, Debug)]
pub(crate) struct ParameterSpec {
    pub(crate) name: String,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) initial: Initial,
}

impl ParameterSpec {
    pub(crate) fn new(name: &str, rows: usize, columns: usize, initial: Initial) -> Self {
        Self { name: name.into(), rows, columns, initial }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows * self.columns
    }
}

/// One named matrix of a model, row-major; a bias is a matrix of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter<'a, T> {
    /// For example `conv1.weight`.
    pub name: &'a str,
    /// Rows: the inputs of a weight matrix, 1 for a bias.
    pub rows: usize,
    /// Columns: the outputs.
    pub columns: usize,
    /// `rows · columns` numbers.
    pub values: &'a [T],
}

/// The parameters of a model, flat and named.
#[derive(Clone, Debug)]
pub(crate) struct Parameters<T> {
    specs: Vec<ParameterSpec>,
    pub(crate) values: Vec<T>,
    /// Grows whenever `values` change; what was computed from them carries it.
    pub(crate) version: u64,
}

impl<T: Real> Parameters<T> {
    /// Draws every parameter from its own stream under `seed`.
    pub(crate) fn new(specs: Vec<ParameterSpec>, seed: u64) -> Self {
        let mut values = Vec::with_capacity(specs.iter().map(ParameterSpec::len).sum());
        for (index, spec) in specs.iter().enumerate() {
            let bound = match spec.initial {
                Initial::Zero => 0.0,
                Initial::Glorot => (6.0 / (spec.rows + spec.columns) as f64).sqrt(),
                Initial::Kaiming { fan_in } => 1.0 / (fan_in.max(1) as f64).sqrt(),
            };
            let stream = Stream::new(seed, Purpose::Parameters, index as u32);
            values.extend((0..spec.len()).map(|i| T::of(bound * (2.0 * stream.uniform(i as u64) - 1.0))));
        }
        Self { specs, values, version: 0 }
    }

    /// Every parameter with its part of `flat`, which is laid out like `values`.
    pub(crate) fn named<'a>(&'a self, flat: &'a [T]) -> impl Iterator<Item = Parameter<'a, T>> {
        let mut start = 0;
        self.specs.iter().map(move |spec| {
            let range = start..start + spec.len();
            start = range.end;
            Parameter { name: &spec.name, rows: spec.rows, columns: spec.columns, values: &flat[range] }
        })
    }

    /// Where a parameter lies in `values`.
    pub(crate) fn range(&self, name: &str) -> Option<Range<usize>> {
        let mut start = 0;
        for spec in &self.specs {
            let end = start + spec.len();
            if spec.name == name {
                return Some(start..end);
            }
            start = end;
        }
        None
    }
}
