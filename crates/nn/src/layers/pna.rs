//! PNA (Corso et al., 2020), one tower: messages m_ij = W_pre [h_i ‖ h_j] + b, their mean, minimum, maximum and standard
//! deviation over edges with w > 0, each as it is, amplified and attenuated by the degree, then two affine maps:
//! h'_i = lin(post [h_i ‖ A ‖ a_i A ‖ t_i A]), a_i = ln(d_i + 1) / δ, t_i = δ / ln(max(d_i, 1) + 1), with the weighted
//! degree d_i and δ the mean of ln(degree + 1) over the graph that the model was made for, whatever its edges weigh.
//!
//! Messages are never made. W_pre [h_i ‖ h_j] + b = u_i + v_j, so over the in-edges of i mean, minimum and maximum are
//! u_i plus those of v, and the deviation is that of v: statistics of a node matrix, gathered along edges.

use std::ops::Range;

use crate::inputs::{Input, Scratch};
use crate::kernels::columns::column_sums;
use crate::kernels::dense::{Output, matmul, transposed_matmul};
use crate::kernels::finish::Finish;
use crate::kernels::sddmm::row_dots;
use crate::kernels::segment::{
    SPREAD, STATISTICS, gather_spread, segment_statistics, spread, weight_gradient,
};
use crate::kernels::spmm::Csr;
use crate::layers::{Activation, Affine, AffineGradient, Context, Convolution, Wanted};
use crate::memory::ensure;
use crate::meter::KernelKind;
use crate::parameters::{Initial, ParameterSpec};
use crate::real::Real;
use crate::simd::with_simd;
use crate::structure::{Structure, ValueGradient};
use crate::threads::Threads;

/// Identity, amplification, attenuation.
const SCALERS: usize = 3;
/// Width of what the post map reads, in inputs: the node itself and every scaled statistic.
const POST: usize = 1 + STATISTICS * SCALERS;

/// One PNA layer. Inner parameters: `pre.weight` (2 · inputs × inputs: target's part above source's), `pre.bias`,
/// `post.weight` (13 · inputs × outputs: node, then mean, min, max, std per scaler), `post.bias`; last map: `lin`.
pub(crate) struct Pna<T> {
    inputs: usize,
    outputs: usize,
    /// δ, the mean of ln(degree + 1).
    log_degree: f64,
    /// u = X · W_target + b and v = X · W_source, with the parameter version they belong to.
    target: Vec<T>,
    source: Vec<T>,
    products_of: Option<u64>,
    /// Statistics of v along in-edges, then with u added: nodes × (4 · inputs).
    statistics: Vec<T>,
    amplify: Vec<T>,
    attenuate: Vec<T>,
    /// Output of the post map.
    units: Vec<T>,
    backward: Backward<T>,
    scratch: Scratch<T>,
}

/// Buffers of the backward pass.
#[derive(Default)]
struct Backward<T> {
    units: Vec<T>,
    scaled: Vec<T>,
    statistics: Vec<T>,
    target: Vec<T>,
    source: Vec<T>,
    spread: Vec<T>,
    by_scaler: Vec<T>,
}

/// Where the inner parameters lie.
struct Layout {
    pre_target: Range<usize>,
    pre_source: Range<usize>,
    pre_bias: Range<usize>,
    post_root: Range<usize>,
    post_scaled: [Range<usize>; SCALERS],
    post_bias: Range<usize>,
}

impl Layout {
    fn new(inputs: usize, outputs: usize) -> Self {
        let mut end = 0;
        let mut next = |len: usize| {
            end += len;
            end - len..end
        };
        Self {
            pre_target: next(inputs * inputs),
            pre_source: next(inputs * inputs),
            pre_bias: next(inputs),
            post_root: next(inputs * outputs),
            post_scaled: std::array::from_fn(|_| next(STATISTICS * inputs * outputs)),
            post_bias: next(outputs),
        }
    }
}

impl<T: Real> Pna<T> {
    pub(crate) fn new(inputs: usize, outputs: usize, log_degree: f64) -> Self {
        Self {
            inputs,
            outputs,
            log_degree,
            target: Vec::new(),
            source: Vec::new(),
            products_of: None,
            statistics: Vec::new(),
            amplify: Vec::new(),
            attenuate: Vec::new(),
            units: Vec::new(),
            backward: Backward::default(),
            scratch: Scratch::default(),
        }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.inputs, self.outputs)
    }

    fn scale(&mut self, structure: &Structure<T>) {
        let degrees = structure.degrees();
        let delta = self.log_degree;
        ensure(&mut self.amplify, degrees.len());
        ensure(&mut self.attenuate, degrees.len());
        for ((amplify, attenuate), &degree) in self.amplify.iter_mut().zip(&mut self.attenuate).zip(degrees) {
            let degree: f64 = degree.into();
            *amplify = T::of(libm::log1p(degree) / delta);
            *attenuate = T::of(delta / libm::log1p(degree.max(1.0)));
        }
    }

    /// Adds u_i to mean, minimum and maximum of nodes that have an edge, or takes it away again.
    fn shift(
        threads: &Threads,
        structure: &Structure<T>,
        (target, width): (&[T], usize),
        statistics: &mut [T],
        away: bool,
    ) {
        let bytes = 2 * std::mem::size_of_val(statistics) + std::mem::size_of_val(target);
        let _span = threads.span(KernelKind::Segment, statistics.len(), bytes);
        threads.rows(statistics, STATISTICS * width, 64, |first, rows| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, row) in rows.chunks_exact_mut(STATISTICS * width).enumerate() {
                        if structure.degrees()[first + i] == T::ZERO {
                            continue;
                        }
                        let shift = &target[(first + i) * width..][..width];
                        for part in row.chunks_exact_mut(width).take(STATISTICS - 1) {
                            for (x, &u) in part.iter_mut().zip(shift) {
                                *x = if away { *x - u } else { *x + u };
                            }
                        }
                    }
                },
            );
        });
    }

    /// The gradient through the weighted degree: Σ over the scalers of (gradient by scaler) · ∂scaler/∂d.
    fn add_degree_gradient(
        &mut self,
        context: Context<'_, T>,
        inner: &[T],
        nodes: usize,
        edges: &mut ValueGradient<T>,
    ) {
        let Context { threads, structure, .. } = context;
        let layout = self.layout();
        let statistics = &self.statistics[..nodes * STATISTICS * self.inputs];
        let product = ensure(&mut self.backward.scaled, nodes * self.outputs);
        let by_scaler = ensure(&mut self.backward.by_scaler, nodes);
        for (scaler, range) in layout.post_scaled.iter().enumerate().skip(1) {
            self.scratch.panels.pack(&inner[range.clone()], STATISTICS * self.inputs, self.outputs);
            matmul(threads, statistics, &self.scratch.panels, product, Output::Set, Finish::Keep);
            by_scaler.fill(T::ZERO);
            row_dots(threads, (&self.backward.units, product, self.outputs), by_scaler);
            for (i, gradient) in by_scaler.iter().enumerate() {
                let degree: f64 = structure.degrees()[i].into();
                let log = libm::log1p(degree.max(1.0));
                let slope = match scaler {
                    1 => 1.0 / ((degree + 1.0) * self.log_degree),
                    _ if degree < 1.0 => 0.0,
                    _ => -self.log_degree / (log * log * (degree + 1.0)),
                };
                let change = *gradient * T::of(slope);
                let offsets = structure.in_edges().offsets;
                for g in &mut edges.values[offsets[i]..offsets[i + 1]] {
                    *g += change;
                }
            }
        }
    }
}

impl<T: Real> Convolution<T> for Pna<T> {
    /// Gradients take the place of the statistics that they come from.
    fn keeps_forward(&self) -> bool {
        false
    }

    fn inner(&self) -> Vec<ParameterSpec> {
        let (pre, post) = (2 * self.inputs, POST * self.inputs);
        vec![
            ParameterSpec::new("pre.weight", pre, self.inputs, Initial::Kaiming { fan_in: pre }),
            ParameterSpec::new("pre.bias", 1, self.inputs, Initial::Kaiming { fan_in: pre }),
            ParameterSpec::new("post.weight", post, self.outputs, Initial::Kaiming { fan_in: post }),
            ParameterSpec::new("post.bias", 1, self.outputs, Initial::Kaiming { fan_in: post }),
        ]
    }

    fn last(&self) -> [ParameterSpec; 2] {
        let initial = Initial::Kaiming { fan_in: self.outputs };
        [
            ParameterSpec::new("lin.weight", self.outputs, self.outputs, initial),
            ParameterSpec::new("lin.bias", 1, self.outputs, initial),
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
        let Context { threads, structure, version, only } = context;
        let (nodes, width, layout) = (input.rows, self.inputs, self.layout());
        self.scale(structure);
        let scratch = &mut self.scratch;
        let target = ensure(&mut self.target, nodes * width);
        let source = ensure(&mut self.source, nodes * width);
        if !(input.constant && self.products_of == Some(version)) {
            let bias = Finish::Bias(&inner[layout.pre_bias]);
            input.times(threads, scratch, (&inner[layout.pre_target], width), target, bias);
            input.times(threads, scratch, (&inner[layout.pre_source], width), source, Finish::Keep);
            self.products_of = Some(version).filter(|_| input.constant);
        }
        let statistics = ensure(&mut self.statistics, nodes * STATISTICS * width);
        let edges = (Csr { only, ..structure.in_edges() }, structure.degrees());
        segment_statistics(threads, edges, source, width, statistics);
        // Rows that were not made are shifted too, and never read.
        Self::shift(threads, structure, (target, width), statistics, false);

        let units = ensure(&mut self.units, nodes * self.outputs);
        let bias = Finish::Bias(&inner[layout.post_bias]);
        input.times(threads, scratch, (&inner[layout.post_root], self.outputs), units, bias);
        let scalers = [Output::Add, Output::AddScaled(&self.amplify), Output::AddScaled(&self.attenuate)];
        for (range, into) in layout.post_scaled.into_iter().zip(scalers) {
            scratch.panels.pack(&inner[range], STATISTICS * width, self.outputs);
            matmul(threads, statistics, &scratch.panels, units, into, Finish::Keep);
        }
        scratch.panels.pack(last.weight, self.outputs, last.width());
        matmul(threads, units, &scratch.panels, out, Output::Set, activation.finish(last.bias));
    }

    fn backward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        (inner, last): (&[T], Affine<'_, T>),
        d_out: &[T],
        (d_inner, d_last): (&mut [T], AffineGradient<'_, T>),
        mut wanted: Wanted<'_, T>,
    ) {
        let Context { threads, structure, .. } = context;
        let (nodes, width, outputs, layout) = (input.rows, self.inputs, self.outputs, self.layout());
        let Backward { units: d_units, scaled, statistics: d_statistics, target: d_target, .. } =
            &mut self.backward;
        let scratch = &mut self.scratch;
        let statistics = &mut self.statistics[..nodes * STATISTICS * width];

        // The last map.
        let units = Input::hidden(&self.units, nodes, outputs);
        column_sums(threads, d_out, last.width(), &mut scratch.partial, d_last.bias);
        units.transposed_times(threads, scratch, (d_out, last.width()), d_last.weight);
        let d_units = ensure(d_units, nodes * outputs);
        scratch.panels.pack_transposed(last.weight, last.width(), outputs);
        matmul(threads, d_out, &scratch.panels, d_units, Output::Set, Finish::Keep);

        // The post map: its part for each scaler sees the gradient scaled by it.
        column_sums(threads, d_units, outputs, &mut scratch.partial, &mut d_inner[layout.post_bias.clone()]);
        input.transposed_times(threads, scratch, (d_units, outputs), &mut d_inner[layout.post_root.clone()]);
        let d_statistics = ensure(d_statistics, nodes * STATISTICS * width);
        let scaled = ensure(scaled, nodes * outputs);
        let scalers = [None, Some(&self.amplify), Some(&self.attenuate)];
        for (range, scaler) in layout.post_scaled.iter().zip(scalers) {
            let d_scaled = match scaler {
                None => &*d_units,
                Some(scaler) => {
                    for ((scaled, d), &s) in
                        scaled.chunks_exact_mut(outputs).zip(d_units.chunks_exact(outputs)).zip(scaler)
                    {
                        for (scaled, &d) in scaled.iter_mut().zip(d) {
                            *scaled = s * d;
                        }
                    }
                    &*scaled
                }
            };
            let shape = (STATISTICS * width, outputs);
            let gradient = &mut d_inner[range.clone()];
            transposed_matmul(threads, statistics, d_scaled, shape, &mut scratch.partial, gradient);
            scratch.panels.pack_transposed(&inner[range.clone()], outputs, STATISTICS * width);
            let into = if scaler.is_none() { Output::Set } else { Output::Add };
            matmul(threads, d_scaled, &scratch.panels, d_statistics, into, Finish::Keep);
        }

        // The statistics: u gets the gradients of mean, minimum and maximum; v what its out-edges' targets hold for it.
        let d_target = ensure(d_target, nodes * width);
        threads.rows(d_target, width, 64, |first, rows| {
            for (i, d) in rows.chunks_exact_mut(width).enumerate() {
                let node = first + i;
                if structure.degrees()[node] == T::ZERO {
                    d.fill(T::ZERO);
                    continue;
                }
                let parts = &d_statistics[node * STATISTICS * width..][..(STATISTICS - 1) * width];
                for (c, d) in d.iter_mut().enumerate() {
                    *d = parts[c] + parts[width + c] + parts[2 * width + c];
                }
            }
        });
        let mut edges = wanted.edges.take();
        if let Some(edges) = &mut edges {
            self.add_degree_gradient(context, inner, nodes, edges);
        }
        let statistics = &mut self.statistics[..nodes * STATISTICS * width];
        Self::shift(threads, structure, (&self.target, width), statistics, true);
        if let Some(edges) = edges {
            let gradients = (&*statistics, &self.backward.statistics[..]);
            weight_gradient(threads, structure.in_edges(), &self.source, width, gradients, &mut edges.values);
        }
        let Backward {
            statistics: d_statistics,
            target: d_target,
            source: d_source,
            spread: table,
            units: d_units,
            ..
        } = &mut self.backward;
        let scratch = &mut self.scratch;
        let statistics = &self.statistics[..nodes * STATISTICS * width];
        let table = ensure(table, nodes * SPREAD * width);
        spread(threads, structure.in_edges(), &self.source, width, (statistics, d_statistics), table);
        let d_source = ensure(d_source, nodes * width);
        let edges = (structure.out_edges(), structure.degrees());
        gather_spread(threads, edges, &self.source, width, table, d_source);

        // The pre map.
        column_sums(threads, d_target, width, &mut scratch.partial, &mut d_inner[layout.pre_bias.clone()]);
        input.transposed_times(threads, scratch, (d_target, width), &mut d_inner[layout.pre_target.clone()]);
        input.transposed_times(threads, scratch, (d_source, width), &mut d_inner[layout.pre_source.clone()]);
        if let Some(wanted) = wanted.input {
            let parts: [(&[T], &[T], usize); 3] = [
                (d_units, &inner[layout.post_root], outputs),
                (d_target, &inner[layout.pre_target], width),
                (d_source, &inner[layout.pre_source], width),
            ];
            for (part, (gradient, weight, depth)) in parts.into_iter().enumerate() {
                scratch.panels.pack_transposed(weight, depth, width);
                let into = if part == 0 { Output::Set } else { Output::Add };
                let finish = if part == 2 { wanted.finish } else { Finish::Keep };
                matmul(threads, gradient, &scratch.panels, wanted.out, into, finish);
            }
        }
    }
}
