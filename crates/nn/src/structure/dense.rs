//! A weight for every pair of nodes: a symmetric matrix S in place of a list of edges.
//!
//! The normalised matrix is never made. Every propagation here is P = diag(l) · S · diag(r) + diag(root), so rows are
//! scaled before and after one dense product with S, and new weights cost one pass over S for their sums.

use edgepace_graph::{GraphError, MAX_EDGE_WEIGHT, WeightedGraph};

use crate::kernels::dense::{Output, Panels, matmul};
use crate::kernels::finish::Finish;
use crate::memory::{ensure, zeros};
use crate::meter::KernelKind;
use crate::real::Real;
use crate::simd::with_simd;
use crate::structure::Normalisation;
use crate::threads::Threads;

/// Rows of S that one thread takes at a time.
const BLOCK_ROWS: usize = 32;

/// S with the scales that normalise it.
#[derive(Debug)]
pub(crate) struct Dense<T> {
    nodes: usize,
    /// nodes × nodes, symmetric, 0 on the diagonal.
    weights: Vec<T>,
    /// Σ_j S_ij.
    degrees: Vec<T>,
    left: Vec<T>,
    right: Vec<T>,
    root: Vec<T>,
    normalisation: Normalisation,
}

/// The gradient by P = left · rightᵀ of all layers, one column per unit: the matrix itself is made once, at the end.
#[derive(Debug, Default)]
pub(crate) struct Factors<T> {
    left: Vec<T>,
    right: Vec<T>,
    width: usize,
    panels: Panels<T>,
    /// Σ_j G_ij S_ij, and Σ_i G_ij S_ij by blocks of rows.
    rows: Vec<T>,
    columns: Vec<T>,
}

impl<T: Real> Factors<T> {
    pub(crate) fn reset(&mut self) {
        self.left.clear();
        self.right.clear();
        self.width = 0;
    }
}

impl<T: Real> Dense<T> {
    /// The adjacency of a graph; an edge in one direction counts for both, and of two that weigh differently the heavier.
    pub(crate) fn new(threads: &Threads, graph: &WeightedGraph<T>, normalisation: Normalisation) -> Self {
        let (graph, own) = (graph.graph(), graph.weights());
        let nodes = graph.nodes();
        let mut weights: Vec<T> = zeros(nodes * nodes);
        for target in 0..nodes {
            for edge in graph.in_edges(target) {
                let source = graph.sources()[edge] as usize;
                let weight = own.map_or(T::ONE, |own| own[edge]).max(weights[target * nodes + source]);
                weights[target * nodes + source] = weight;
                weights[source * nodes + target] = weight;
            }
        }
        let [degrees, left, right, root] = [(); 4].map(|()| zeros(nodes));
        let mut dense = Self { nodes, weights, degrees, left, right, root, normalisation };
        dense.normalise(threads);
        dense
    }

    pub(crate) fn weights(&self) -> &[T] {
        &self.weights
    }

    /// Changes S in place and re-normalises.
    pub(crate) fn update(
        &mut self,
        threads: &Threads,
        change: impl FnOnce(&mut [T]),
    ) -> Result<(), GraphError> {
        change(&mut self.weights);
        let sound = self.normalise(threads);
        if sound {
            return Ok(());
        }
        let limit = T::of(MAX_EDGE_WEIGHT);
        match self.weights.iter().position(|&w| !(w >= T::ZERO && w <= limit)) {
            None => Ok(()),
            Some(position) => Err(GraphError::BadWeight { position, value: self.weights[position].into() }),
        }
    }

    /// Whether the sums of rows show that every weight is one; otherwise one of them may not be.
    fn normalise(&mut self, threads: &Threads) -> bool {
        let (nodes, weights) = (self.nodes, &self.weights);
        let _span =
            threads.span(KernelKind::Normalise, 2 * weights.len(), std::mem::size_of_val(&weights[..]));
        threads.rows(&mut self.degrees, 1, BLOCK_ROWS, |first, degrees| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, degree) in degrees.iter_mut().enumerate() {
                        *degree = checked_sum(&weights[(first + i) * nodes..][..nodes]);
                    }
                },
            );
        });
        for (i, &degree) in self.degrees.iter().enumerate() {
            let inverse = |x: T| if x > T::ZERO { T::ONE / x } else { T::ZERO };
            let (left, right, root) = match self.normalisation {
                Normalisation::Symmetric => {
                    let scale = T::ONE / (T::ONE + degree).sqrt();
                    (scale, scale, scale * scale)
                }
                Normalisation::Sum { epsilon } => (T::ONE, T::ONE, T::of(1.0 + epsilon)),
                Normalisation::Mean => (inverse(degree), T::ONE, T::ZERO),
                Normalisation::Plain => (T::ONE, T::ONE, T::ZERO),
            };
            (self.left[i], self.right[i], self.root[i]) = (left, right, root);
        }
        // None of the weights of a row is larger than their sum.
        let limit = T::of(MAX_EDGE_WEIGHT);
        self.degrees.iter().all(|&degree| degree >= T::ZERO && degree <= limit)
    }

    /// out = finish(P · rows).
    pub(crate) fn propagate(
        &self,
        threads: &Threads,
        panels: &mut Panels<T>,
        (rows, width): (&[T], usize),
        out: &mut [T],
        finish: Finish<'_, T>,
    ) {
        self.product(threads, panels, (rows, width), [&self.left, &self.right], out, finish);
    }

    /// out = finish(Pᵀ · rows): S is symmetric, so only the scales change places.
    pub(crate) fn propagate_back(
        &self,
        threads: &Threads,
        panels: &mut Panels<T>,
        (rows, width): (&[T], usize),
        out: &mut [T],
        finish: Finish<'_, T>,
    ) {
        self.product(threads, panels, (rows, width), [&self.right, &self.left], out, finish);
    }

    fn product(
        &self,
        threads: &Threads,
        panels: &mut Panels<T>,
        (rows, width): (&[T], usize),
        [left, right]: [&[T]; 2],
        out: &mut [T],
        finish: Finish<'_, T>,
    ) {
        panels.pack_scaled(rows, right, width);
        if width > 0 {
            for ((out, x), &root) in out.chunks_exact_mut(width).zip(rows.chunks_exact(width)).zip(&self.root)
            {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = root * x;
                }
            }
        }
        matmul(threads, &self.weights, panels, out, Output::AddScaled(left), finish);
    }

    /// Adds the gradient by the values of y = P x, given x and the gradient by y.
    pub(crate) fn add_value_gradient(&self, (x, d_y, width): (&[T], &[T], usize), factors: &mut Factors<T>) {
        let old = factors.width;
        factors.width += width;
        append(&mut factors.left, old, (d_y, width), &self.left);
        append(&mut factors.right, old, (x, width), &self.right);
    }

    /// gradient_ij = ∂loss/∂S_ij, each entry on its own: G = left · rightᵀ, which has the scales in it, and what comes by
    /// way of the sums of rows.
    ///
    /// - Symmetric: G_ij − (½ Σ_k (G_ik S_ik + G_ki S_ki) + G_ii) / d_i, d_i = 1 + Σ_j S_ij.
    /// - Mean: G_ij − Σ_k G_ik S_ik / d_i.
    /// - Sum: G_ij.
    pub(crate) fn weight_gradient(&self, threads: &Threads, factors: &mut Factors<T>, gradient: &mut Vec<T>) {
        let (nodes, depth) = (self.nodes, factors.width);
        ensure(gradient, nodes * nodes);
        gradient.truncate(nodes * nodes);
        factors.panels.pack_transposed(&factors.right, depth, nodes);
        matmul(threads, &factors.left, &factors.panels, gradient, Output::Set, Finish::Keep);
        let per_row = ensure(&mut factors.rows, nodes);
        match self.normalisation {
            Normalisation::Sum { .. } | Normalisation::Plain => return,
            Normalisation::Mean => {
                self.row_sums(threads, gradient, per_row);
                for (sum, &left) in per_row.iter_mut().zip(&self.left) {
                    *sum = -*sum * left;
                }
            }
            Normalisation::Symmetric => {
                self.row_sums(threads, gradient, per_row);
                let columns = ensure(&mut factors.columns, nodes.div_ceil(COLUMN_ROWS) * nodes);
                self.column_sums(threads, gradient, columns);
                let half = T::of(0.5);
                for (i, sum) in per_row.iter_mut().enumerate() {
                    let column: T = columns.iter().skip(i).step_by(nodes).copied().sum();
                    *sum = -half.mul_add(*sum + column, gradient[i * nodes + i]) * self.root[i];
                }
            }
        }
        let per_row = &*per_row;
        threads.rows(gradient, nodes, BLOCK_ROWS, |first, rows| {
            for (i, row) in rows.chunks_exact_mut(nodes).enumerate() {
                let add = per_row[first + i];
                for g in row {
                    *g += add;
                }
            }
        });
    }

    /// out_i = Σ_j G_ij S_ij.
    fn row_sums(&self, threads: &Threads, gradient: &[T], out: &mut [T]) {
        let nodes = self.nodes;
        threads.rows(out, 1, BLOCK_ROWS, |first, out| {
            with_simd(
                #[inline(always)]
                || {
                    for (i, out) in out.iter_mut().enumerate() {
                        let at = (first + i) * nodes;
                        *out = crate::kernels::sddmm::dot(
                            &gradient[at..][..nodes],
                            &self.weights[at..][..nodes],
                        );
                    }
                },
            );
        });
    }

    /// Row b of `out` is Σ_i G_ij S_ij over the b-th block of rows i.
    fn column_sums(&self, threads: &Threads, gradient: &[T], out: &mut [T]) {
        let nodes = self.nodes;
        threads.rows(out, nodes.max(1), 1, |block, out| {
            let rows = block * COLUMN_ROWS..nodes.min((block + 1) * COLUMN_ROWS);
            out.fill(T::ZERO);
            with_simd(
                #[inline(always)]
                || {
                    for row in rows {
                        let (g, s) =
                            (&gradient[row * nodes..][..nodes], &self.weights[row * nodes..][..nodes]);
                        for ((out, &g), &s) in out.iter_mut().zip(g).zip(s) {
                            *out = g.mul_add(s, *out);
                        }
                    }
                },
            );
        });
    }
}

/// Rows that are summed into one partial sum per column.
const COLUMN_ROWS: usize = 256;

/// Widens the rows of `factor` from `old` columns by those of `rows`, each row scaled.
fn append<T: Real>(factor: &mut Vec<T>, old: usize, (rows, width): (&[T], usize), scale: &[T]) {
    let new = old + width;
    factor.resize(scale.len() * new, T::ZERO);
    // From the last row to the first: no row is overwritten before it has moved.
    for (i, &scale) in scale.iter().enumerate().rev() {
        factor.copy_within(i * old..(i + 1) * old, i * new);
        let added = &mut factor[i * new + old..(i + 1) * new];
        for (out, &x) in added.iter_mut().zip(&rows[i * width..][..width]) {
            *out = scale * x;
        }
    }
}

/// The sum of numbers in 16 interleaved partial sums; not a number when one of them is negative or not finite.
#[inline(always)]
fn checked_sum<T: Real>(row: &[T]) -> T {
    let (mut sums, mut least) = ([T::ZERO; 16], [T::ZERO; 16]);
    let (tiles, rest) = row.as_chunks::<16>();
    for tile in tiles {
        for l in 0..16 {
            sums[l] += tile[l];
            least[l] = least[l].min(tile[l]);
        }
    }
    for (l, &x) in rest.iter().enumerate() {
        sums[l] += x;
        least[l] = least[l].min(x);
    }
    let sum: T = sums.into_iter().sum();
    // A sum of numbers below 0 says so whatever the others are.
    if least.into_iter().all(|x| x >= T::ZERO) { sum } else { -T::ONE }
}
