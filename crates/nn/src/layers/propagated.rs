//! out = activation(P(X) · W [+ X · R] + b): propagation and a linear map, in the cheaper order.
//!
//! P(X · W) = P(X) · W. Which order is cheaper depends on the widths; what stays the same from call to call is kept:
//! - map first: X · W of constant features is kept while the parameters stay. Evaluation leaves it behind for the next
//!   training step, so one product an epoch is enough. So is P(X · W) on a dense structure, where it costs most.
//! - propagate first: P(X) of constant features is kept while the edge weights stay, and needs no backward pass.

use crate::inputs::{Input, Matrix, Scratch};
use crate::kernels::columns::column_sums;
use crate::kernels::dense::{Output, matmul};
use crate::kernels::finish::Finish;
use crate::kernels::spmm::{Csr, Start, spmm};
use crate::layers::{Activation, Context, Wanted};
use crate::memory::ensure;
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::structure::Structure;
use crate::threads::Threads;

/// The linear maps of the layer: W on what comes along edges, R (if any) on the node itself.
#[derive(Clone, Copy)]
pub(crate) struct Maps<'a, T> {
    /// Inputs × width.
    pub(crate) edges: &'a [T],
    /// Inputs × width.
    pub(crate) root: Option<&'a [T]>,
    pub(crate) bias: &'a [T],
}

/// Where the gradients of [`Maps`] go.
pub(crate) struct MapGradients<'a, T> {
    pub(crate) edges: &'a mut [T],
    pub(crate) root: Option<&'a mut [T]>,
    pub(crate) bias: &'a mut [T],
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Order {
    MapFirst,
    PropagateFirst,
}

/// The layer's memory.
#[derive(Default)]
pub(crate) struct Propagated<T> {
    /// X · W (map first) and the parameter version and width it belongs to.
    product: Vec<T>,
    /// X · R, kept with it.
    root_product: Vec<T>,
    product_of: Option<(u64, usize)>,
    /// P(X · W) on a dense structure, kept while neither parameters nor structure change.
    spread: Vec<T>,
    spread_of: Option<(u64, usize, usize, u64)>,
    /// P(X) (propagate first), by the number of the structure, so that structures can take turns.
    mixed: Vec<Mixed<T>>,
    /// The gradient by `product` or `mixed`.
    gradient: Vec<T>,
    scratch: Scratch<T>,
}

/// P(X) and the version of the structure it belongs to.
#[derive(Default)]
struct Mixed<T> {
    rows: Vec<T>,
    version: Option<u64>,
}

impl<T: Real> Propagated<T> {
    /// Propagation costs its width per edge. Constant dense inputs are propagated once per structure; otherwise each of
    /// training, its backward pass and evaluation propagates once, before or after the map.
    fn order(input: &Input<'_, T>, width: usize) -> Order {
        let narrow_enough = if input.constant { 2 * width } else { width };
        match input.matrix {
            Matrix::Dense(_) if input.columns <= narrow_enough => Order::PropagateFirst,
            _ => Order::MapFirst,
        }
    }

    pub(crate) fn forward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        maps: Maps<'_, T>,
        activation: Activation,
        out: &mut [T],
    ) {
        let Context { threads, structure, version, only } = context;
        let width = maps.bias.len();
        let finish = activation.finish(maps.bias);
        match Self::order(&input, width) {
            Order::MapFirst => {
                let product = ensure(&mut self.product, input.rows * width);
                let kept = input.constant && self.product_of == Some((version, width));
                let scratch = &mut self.scratch;
                if !kept {
                    // What a node sends along edges is wanted elsewhere.
                    let sends = structure.matrix().is_some() || structure.graph().edges() > 0;
                    let input = if sends { input } else { input.with_only(only) };
                    input.times(threads, scratch, (maps.edges, width), product, Finish::Keep);
                }
                if let (Some(root), false) = (maps.root, kept) {
                    let root_product = ensure(&mut self.root_product, input.rows * width);
                    let input = input.with_only(only);
                    input.times(threads, scratch, (root, width), root_product, Finish::Keep);
                }
                // What is kept is whole.
                let keeps = input.constant && (kept || only.is_none());
                let root_product = maps.root.map(|_| &self.root_product[..input.rows * width]);
                if structure.matrix().is_some() {
                    let spread = ensure(&mut self.spread, input.rows * width);
                    let of = Some((version, width, structure.number(), structure.version()));
                    if !(kept && self.spread_of == of) {
                        let panels = &mut self.scratch.panels;
                        structure.propagate(threads, panels, (product, width), spread, Finish::Keep, None);
                        self.spread_of = of.filter(|_| keeps);
                    }
                    finish_sum(threads, (spread, width), root_product, out, finish);
                } else if let Some(root_product) = root_product {
                    out.copy_from_slice(root_product);
                    spmm(
                        threads,
                        KernelKind::Propagate,
                        Csr { only, ..structure.in_edges() },
                        (product, width),
                        Start::Output,
                        out,
                        finish,
                    );
                } else {
                    let panels = &mut self.scratch.panels;
                    structure.propagate(threads, panels, (product, width), out, finish, only);
                }
                self.product_of = Some((version, width)).filter(|_| keeps);
            }
            Order::PropagateFirst => {
                let Matrix::Dense(rows) = input.matrix else {
                    unreachable!("sparse inputs are mapped first")
                };
                let place = mixed_place(&input, structure);
                if self.mixed.len() <= place {
                    self.mixed.resize_with(place + 1, Mixed::default);
                }
                let only = only.filter(|_| !input.constant);
                let Mixed { rows: mixed, version } = &mut self.mixed[place];
                let mixed = ensure(mixed, input.rows * input.columns);
                if !(input.constant && *version == Some(structure.version())) {
                    let panels = &mut self.scratch.panels;
                    structure.propagate(threads, panels, (rows, input.columns), mixed, Finish::Keep, only);
                    *version = Some(structure.version()).filter(|_| input.constant);
                }
                let last = if maps.root.is_some() { Finish::Keep } else { finish };
                self.scratch.panels.pack(maps.edges, input.columns, width);
                matmul(threads, mixed, &self.scratch.panels, out, Output::Set, last);
                if let Some(root) = maps.root {
                    self.scratch.panels.pack(root, input.columns, width);
                    matmul(threads, rows, &self.scratch.panels, out, Output::Add, finish);
                }
            }
        }
    }

    /// Gives back what it keeps for the structure of that number.
    pub(crate) fn release_memory(&mut self, structure: usize) {
        if let Some(mixed) = self.mixed.get_mut(structure) {
            *mixed = Mixed::default();
        }
    }

    /// `d_out` is the gradient by the output before its activation.
    pub(crate) fn backward(
        &mut self,
        context: Context<'_, T>,
        input: Input<'_, T>,
        maps: Maps<'_, T>,
        d_out: &[T],
        gradients: MapGradients<'_, T>,
        wanted: Wanted<'_, T>,
    ) {
        let Context { threads, structure, .. } = context;
        let width = maps.bias.len();
        let scratch = &mut self.scratch;
        column_sums(threads, d_out, width, &mut scratch.partial, gradients.bias);
        if let Some(root) = gradients.root {
            input.transposed_times(threads, scratch, (d_out, width), root);
        }
        // The gradient by the input is finished by whichever product is added last.
        let last = |finish| if maps.root.is_some() { Finish::Keep } else { finish };
        let mut d_input = wanted.input;
        match Self::order(&input, width) {
            Order::MapFirst => {
                if let Some(edges) = wanted.edges {
                    let product = &self.product[..input.rows * width];
                    structure.add_value_gradient(threads, (product, d_out, width), edges);
                }
                // A product that is not kept has done its service, and its memory is warm.
                let place = if input.constant { &mut self.gradient } else { &mut self.product };
                let d_product = ensure(place, input.rows * width);
                structure.propagate_back(
                    threads,
                    &mut scratch.panels,
                    (d_out, width),
                    d_product,
                    Finish::Keep,
                );
                input.transposed_times(threads, scratch, (d_product, width), gradients.edges);
                if let Some(d_input) = &mut d_input {
                    scratch.panels.pack_transposed(maps.edges, width, input.columns);
                    matmul(
                        threads,
                        d_product,
                        &scratch.panels,
                        d_input.out,
                        Output::Set,
                        last(d_input.finish),
                    );
                }
            }
            Order::PropagateFirst => {
                let place = mixed_place(&input, structure);
                let mixed = Input::hidden(&self.mixed[place].rows, input.rows, input.columns);
                mixed.transposed_times(threads, scratch, (d_out, width), gradients.edges);
                if d_input.is_none() && wanted.edges.is_none() {
                    return;
                }
                let d_mixed = ensure(&mut self.gradient, input.rows * input.columns);
                scratch.panels.pack_transposed(maps.edges, width, input.columns);
                matmul(threads, d_out, &scratch.panels, d_mixed, Output::Set, Finish::Keep);
                if let (Some(edges), Matrix::Dense(rows)) = (wanted.edges, input.matrix) {
                    structure.add_value_gradient(threads, (rows, d_mixed, input.columns), edges);
                }
                if let Some(d_input) = &mut d_input {
                    let gradient = (&*d_mixed, input.columns);
                    let (panels, finish) = (&mut scratch.panels, last(d_input.finish));
                    structure.propagate_back(threads, panels, gradient, d_input.out, finish);
                }
            }
        }
        if let (Some(root), Some(d_input)) = (maps.root, d_input) {
            scratch.panels.pack_transposed(root, width, input.columns);
            matmul(threads, d_out, &scratch.panels, d_input.out, Output::Add, d_input.finish);
        }
    }
}

/// Only what is propagated from constant features outlives the pass, and so needs a place per structure.
fn mixed_place<T: Real>(input: &Input<'_, T>, structure: &Structure<T>) -> usize {
    if input.constant { structure.number() } else { 0 }
}

/// out = finish(rows [+ more]).
fn finish_sum<T: Real>(
    threads: &Threads,
    (rows, width): (&[T], usize),
    more: Option<&[T]>,
    out: &mut [T],
    finish: Finish<'_, T>,
) {
    threads.rows(out, width, 256, |first, out| {
        let at = first * width;
        out.copy_from_slice(&rows[at..][..out.len()]);
        with_simd(
            #[inline(always)]
            || {
                for (i, row) in out.chunks_exact_mut(width).enumerate() {
                    if let Some(more) = more {
                        for (y, &more) in row.iter_mut().zip(&more[at + i * width..]) {
                            *y += more;
                        }
                    }
                    finish.apply(first + i, row);
                }
            },
        );
    });
}
