//! The leading singular values from scratch and to a tolerance: block Lanczos with thick restarts (Wu and Simon, 2000) on M
//! where it is symmetric, and on MᵀM otherwise.
//!
//! The basis V grows by blocks: W = M·V_last less what lies in V, then V_next = orth(W). T = VᵀMV is small, and its eigenpairs (θ, y)
//! give those of M, θ and V·y, with a residual that the last block alone tells: M·V·y − θ·V·y = V_next·R·y_last. When V is full, its
//! best vectors stay and it grows anew from V_next. Where eigenvalues lie close, subspace iteration needs hundreds of rounds to tell
//! them apart; this takes a handful of restarts.

use std::cmp::Ordering;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_nn::{Packed, Threads, add_product, gram};
use faer::{Mat, Side};

use crate::error::TrainError;
use crate::linalg::orthonormal::Orthonormaliser;
use crate::linalg::{Operator, Svd};

/// Columns of a block.
const BLOCK: usize = 16;
/// The basis is kept in panels of so many columns, so that a product takes no more of it than is made.
const PANEL: usize = 6 * BLOCK;
/// What is found after so many restarts counts, converged or not.
const RESTARTS: usize = 100;
/// A column shorter than this share of what it was before V was taken out of it holds little but rounding.
const NOTHING: f64 = 1e-4;
/// Eigenvalues below this share of the largest are rounding, and count as 0.
const ZERO: f64 = 1e-6;

/// How many singular values, and how precisely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LanczosConfig {
    /// Singular values that are wanted; never more than the operator has rows.
    pub(crate) rank: usize,
    /// The largest residual of a pair, as a share of the largest eigenvalue (of MᵀM where M is not symmetric). Below 1e-4 it is met
    /// but for what `NOTHING` leaves out.
    pub(crate) tolerance: f64,
    /// Of the random block at the start.
    pub(crate) seed: u64,
}

impl LanczosConfig {
    /// Columns of a full basis.
    pub(crate) fn dimension(&self, rows: usize) -> usize {
        (2 * self.rank + 4 * BLOCK).min(rows).next_multiple_of(BLOCK)
    }
}

/// The leading singular values of `operator` and their vectors. `symmetric` says that it is; its left and right vectors then differ
/// in signs alone. The same bits for any number of threads.
///
/// Memory: [`LanczosConfig::dimension`] and three times the rank columns of as many numbers as there are rows.
///
/// # Errors
/// The operator holds numbers that are not finite.
pub(crate) fn lanczos_svd(
    threads: &Threads,
    operator: &dyn Operator,
    symmetric: bool,
    config: LanczosConfig,
) -> Result<Svd, TrainError> {
    let rank = config.rank.min(operator.rows());
    if rank == 0 {
        return Ok(Svd { values: Vec::new(), left: Vec::new(), right: Vec::new() });
    }
    let normal = Normal(operator);
    let lanczos = Lanczos::new(threads, if symmetric { operator } else { &normal }, config);
    let (eigenvalues, right) = lanczos.eigenpairs()?;
    let singular = |&value: &f64| if symmetric { value.abs() } else { value.max(0.0).sqrt() };
    let values: Vec<f32> = eigenvalues.iter().map(|value| singular(value) as f32).collect();
    let mut left = right.clone();
    if !symmetric {
        operator.apply(threads, &right, rank, &mut left);
    }
    let factors: Vec<f32> = eigenvalues
        .iter()
        .zip(&values)
        .map(|(eigenvalue, &value)| match (symmetric, value > 0.0) {
            (true, _) => eigenvalue.signum() as f32,
            (false, true) => value.recip(),
            (false, false) => 0.0,
        })
        .collect();
    for row in left.chunks_exact_mut(rank) {
        row.iter_mut().zip(&factors).for_each(|(x, factor)| *x *= factor);
    }
    Ok(Svd { values, left, right })
}

/// MᵀM.
struct Normal<'a>(&'a dyn Operator);

impl Operator for Normal<'_> {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn apply(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]) {
        let mut between = vec![0.0; out.len()];
        self.0.apply(threads, x, width, &mut between);
        self.0.apply_transposed(threads, &between, width, out);
    }

    fn apply_transposed(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]) {
        self.apply(threads, x, width, out);
    }
}

/// A block of the basis with R, BLOCK × BLOCK: W = V·R was left of the product with the block before.
struct Grown {
    block: Vec<f32>,
    r: Vec<f64>,
}

/// Eigenpairs of T.
struct Ritz {
    /// The largest by size first.
    values: Vec<f64>,
    /// By column, in the same order.
    vectors: Mat<f64>,
}

struct Lanczos<'a> {
    threads: &'a Threads,
    operator: &'a dyn Operator,
    config: LanczosConfig,
    rows: usize,
    /// Columns of the basis when it is full.
    dimension: usize,
    /// V, cut into panels of rows × PANEL; columns that are not made are 0.
    panels: Vec<Vec<f32>>,
    /// How many columns of V are made, in whole blocks. Where V spans everything, the last ones are 0.
    made: usize,
    /// T, dimension × dimension: for each block of columns the rows down to its own.
    projected: Vec<f64>,
    orthonormal: Orthonormaliser,
    packed: Packed<f32>,
    stream: Stream,
    /// Rows of random numbers drawn so far.
    drawn: u64,
}

impl<'a> Lanczos<'a> {
    fn new(threads: &'a Threads, operator: &'a dyn Operator, config: LanczosConfig) -> Self {
        let rows = operator.rows();
        let dimension = config.dimension(rows);
        Self {
            threads,
            operator,
            config,
            rows,
            dimension,
            panels: Vec::new(),
            made: 0,
            projected: vec![0.0; dimension * dimension],
            orthonormal: Orthonormaliser::default(),
            packed: Packed::default(),
            stream: Stream::new(config.seed, Purpose::Spectrum, 0),
            drawn: 0,
        }
    }

    /// Eigenvalues, the largest by size first, and their vectors, rows × rank. A vector whose eigenvalue is 0 is 0.
    fn eigenpairs(mut self) -> Result<(Vec<f64>, Vec<f32>), TrainError> {
        let rank = self.config.rank.min(self.rows);
        let kept = (rank + 2 * BLOCK).next_multiple_of(BLOCK);
        let mut block = vec![0.0; self.rows * BLOCK];
        self.fill(&mut block);
        let mut restarts = 0;
        loop {
            let next = self.grow(block)?;
            let mut ritz = self.ritz(kept)?;
            let largest = ritz.values[0].abs();
            let residual = |pair: usize| {
                let last = ritz.vectors.col(pair).subrows(self.made - BLOCK, BLOCK);
                let row = |r: &[f64]| r.iter().zip(last.iter()).map(|(r, y)| r * y).sum::<f64>();
                next.r.chunks_exact(BLOCK).map(|r| row(r).powi(2)).sum::<f64>().sqrt()
            };
            let found = (0..rank).all(|pair| residual(pair) <= self.config.tolerance * largest);
            // A basis that spans everything leaves no residual but rounding.
            if found || self.made >= self.rows || restarts == RESTARTS {
                ritz.values.truncate(rank);
                for (pair, value) in ritz.values.iter_mut().enumerate() {
                    if value.abs() <= ZERO * largest {
                        *value = 0.0;
                        ritz.vectors.col_mut(pair).fill(0.0);
                    }
                }
                let vectors = self.combined(&ritz);
                return Ok((ritz.values, vectors));
            }
            self.restart(&ritz);
            block = next.block;
            restarts += 1;
        }
    }

    /// Adds `block` and those that follow from it until the basis is full. Returns the first that found no place.
    fn grow(&mut self, mut block: Vec<f32>) -> Result<Grown, TrainError> {
        let mut before: Option<Grown> = None;
        let mut small = vec![0.0; BLOCK * BLOCK];
        loop {
            let first = self.made;
            self.place(&block, BLOCK);
            let mut w = vec![0.0; self.rows * BLOCK];
            self.operator.apply(self.threads, &block, BLOCK, &mut w);
            let scale = lengths(&w).into_iter().fold(0.0, f64::max);
            if !scale.is_finite() {
                return Err(TrainError::NotFinite { what: "singular values" });
            }
            // The two blocks that M leads back to, then all: what rounding left, and after a restart the vectors that stayed.
            if let Some(before) = &before {
                let r = &before.r;
                let back: Vec<f64> =
                    (0..BLOCK * BLOCK).map(|at| r[at % BLOCK * BLOCK + at / BLOCK]).collect();
                self.note(first - BLOCK, first, &back);
                self.subtract(&before.block, &back, &mut w);
            }
            gram(self.threads, &block, &w, (BLOCK, BLOCK), &mut small);
            self.note(first, first, &small);
            self.subtract(&block, &small, &mut w);
            self.take_out(&mut w, Some(first));
            if before.is_none() {
                self.take_out(&mut w, Some(first));
            }
            let next = self.next(w, scale);
            if self.made + BLOCK > self.dimension {
                return Ok(next);
            }
            before = Some(Grown { block: std::mem::replace(&mut block, next.block), r: next.r });
        }
    }

    /// orth(W), with the columns that W does not fill taken from elsewhere. `scale` is the length of W's columns before V was taken out.
    fn next(&mut self, mut w: Vec<f32>, scale: f64) -> Grown {
        clear_columns(&mut w, NOTHING * scale);
        let mut r = self.orthonormal.factorise(self.threads, &mut w, BLOCK);
        // A column that became much shorter lost digits to rounding.
        if (0..BLOCK).any(|c| (0.0..0.1 * scale).contains(&r[c * BLOCK + c])) {
            self.take_out(&mut w, None);
            let again = self.orthonormal.factorise(self.threads, &mut w, BLOCK);
            r = small_product(&again, &r);
        }
        self.fill(&mut w);
        Grown { block: w, r }
    }

    /// Puts random directions outside of V and of the block's own columns in place of its empty columns, as far as there are any.
    fn fill(&mut self, block: &mut [f32]) {
        let full = lengths(block).map(|length| length > 0.0);
        if full == [true; BLOCK] {
            return;
        }
        let mut fresh = vec![0.0; block.len()];
        let scale = (3.0 / self.rows as f64).sqrt() / f64::from(1_u32 << 31);
        for row in fresh.chunks_exact_mut(BLOCK) {
            for (four, full) in row.chunks_exact_mut(4).zip(full.chunks_exact(4)) {
                for ((x, word), full) in four.iter_mut().zip(self.stream.block(self.drawn)).zip(full) {
                    *x = if *full { 0.0 } else { (f64::from(word.cast_signed()) * scale) as f32 };
                }
                self.drawn += 1;
            }
        }
        let mut inside = vec![0.0; BLOCK * BLOCK];
        for _ in 0..2 {
            self.take_out(&mut fresh, None);
            gram(self.threads, block, &fresh, (BLOCK, BLOCK), &mut inside);
            self.subtract(block, &inside, &mut fresh);
            clear_columns(&mut fresh, NOTHING);
            self.orthonormal.factorise(self.threads, &mut fresh, BLOCK);
        }
        block.iter_mut().zip(&fresh).for_each(|(x, fresh)| *x += fresh);
    }

    /// Adds columns to V.
    fn place(&mut self, columns: &[f32], width: usize) {
        for from in (0..width).step_by(BLOCK) {
            if self.made.is_multiple_of(PANEL) {
                self.panels.push(vec![0.0; self.rows * PANEL]);
            }
            let at = self.made % PANEL;
            let panel = self.panels.last_mut().into_iter().flat_map(|panel| panel.chunks_exact_mut(PANEL));
            for (row, columns) in panel.zip(columns.chunks_exact(width)) {
                row[at..at + BLOCK].copy_from_slice(&columns[from..from + BLOCK]);
            }
            self.made += BLOCK;
        }
    }

    /// w − V·Vᵀw; what was in it belongs to T's columns at `noted`.
    fn take_out(&mut self, w: &mut [f32], noted: Option<usize>) {
        let mut inside = vec![0.0; PANEL * BLOCK];
        for number in 0..self.panels.len() {
            gram(self.threads, &self.panels[number], w, (PANEL, BLOCK), &mut inside);
            if let Some(column) = noted {
                self.note(number * PANEL, column, &inside);
            }
            let panel = std::mem::take(&mut self.panels[number]);
            self.subtract(&panel, &inside, w);
            self.panels[number] = panel;
        }
    }

    /// w − v·c.
    fn subtract(&mut self, v: &[f32], c: &[f64], w: &mut [f32]) {
        let minus: Vec<f32> = c.iter().map(|&x| -x as f32).collect();
        add_product(self.threads, v, self.packed.pack(&minus, c.len() / BLOCK, BLOCK), w);
    }

    /// Adds to T what a block of its columns has in the rows from `row` on.
    fn note(&mut self, row: usize, column: usize, part: &[f64]) {
        for (i, part) in part.chunks_exact(BLOCK).enumerate().take(self.dimension - row) {
            let out = &mut self.projected[(row + i) * self.dimension + column..][..BLOCK];
            out.iter_mut().zip(part).for_each(|(out, x)| *out += x);
        }
    }

    fn ritz(&self, count: usize) -> Result<Ritz, TrainError> {
        let at = |i: usize, j: usize| self.projected[i * self.dimension + j];
        let projected = Mat::from_fn(self.made, self.made, |i, j| match (i / BLOCK).cmp(&(j / BLOCK)) {
            Ordering::Less => at(i, j),
            Ordering::Equal => f64::midpoint(at(i, j), at(j, i)),
            Ordering::Greater => at(j, i),
        });
        let failed = TrainError::NotFinite { what: "singular values" };
        let Ok(pairs) = projected.self_adjoint_eigen(Side::Lower) else { return Err(failed) };
        let mut order: Vec<usize> = (0..self.made).collect();
        order.sort_by(|&a, &b| pairs.S()[b].abs().total_cmp(&pairs.S()[a].abs()));
        order.truncate(count);
        Ok(Ritz {
            values: order.iter().map(|&pair| pairs.S()[pair]).collect(),
            vectors: Mat::from_fn(self.made, order.len(), |i, pair| pairs.U()[(i, order[pair])]),
        })
    }

    /// V·y for each pair, rows × pairs.
    fn combined(&mut self, ritz: &Ritz) -> Vec<f32> {
        let pairs = ritz.values.len();
        let mut out = vec![0.0; self.rows * pairs];
        for (number, panel) in self.panels.iter().enumerate() {
            let y: Vec<f32> = (0..PANEL * pairs)
                .map(|at| (number * PANEL + at / pairs, at % pairs))
                .map(|(i, pair)| if i < self.made { ritz.vectors[(i, pair)] as f32 } else { 0.0 })
                .collect();
            add_product(self.threads, panel, self.packed.pack(&y, PANEL, pairs), &mut out);
        }
        out
    }

    /// Begins a new basis with the vectors of these pairs.
    fn restart(&mut self, ritz: &Ritz) {
        let vectors = self.combined(ritz);
        self.panels.clear();
        self.projected.fill(0.0);
        self.made = 0;
        self.place(&vectors, ritz.values.len());
        for (pair, &value) in ritz.values.iter().enumerate() {
            self.projected[pair * self.dimension + pair] = value;
        }
    }
}

/// The length of each column of a block.
fn lengths(block: &[f32]) -> [f64; BLOCK] {
    let mut squares = [0.0; BLOCK];
    for row in block.chunks_exact(BLOCK) {
        squares.iter_mut().zip(row).for_each(|(square, &x)| *square += f64::from(x) * f64::from(x));
    }
    squares.map(f64::sqrt)
}

/// Empties the columns of a block that are no longer than this.
fn clear_columns(block: &mut [f32], length: f64) {
    let short = lengths(block).map(|one| one <= length);
    for row in block.chunks_exact_mut(BLOCK) {
        row.iter_mut().zip(short).filter(|&(_, short)| short).for_each(|(x, _)| *x = 0.0);
    }
}

/// a · b, BLOCK × BLOCK.
fn small_product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let at = |i: usize, j: usize| (0..BLOCK).map(|p| a[i * BLOCK + p] * b[p * BLOCK + j]).sum();
    (0..BLOCK * BLOCK).map(|place| at(place / BLOCK, place % BLOCK)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use edgepace_graph::Graph;
    use edgepace_nn::EdgeMatrix;

    use super::*;

    /// The adjacency matrix of a random graph, whose eigenvalues lie close, and the same as a dense one.
    fn random(nodes: u32, pairs: u64, symmetric: bool) -> (EdgeMatrix<f32>, Mat<f64>) {
        let stream = Stream::new(4, Purpose::Benchmark, 0);
        let end = |at: u64| (stream.uniform(at) * f64::from(nodes)) as u32;
        let (a, b): (Vec<u32>, Vec<u32>) = (0..pairs).map(|i| (end(2 * i), end(2 * i + 1))).unzip();
        let make = if symmetric { Graph::undirected } else { Graph::from_edges };
        both(make(nodes as usize, &a, &b).unwrap())
    }

    fn both(graph: Graph) -> (EdgeMatrix<f32>, Mat<f64>) {
        let mut dense = Mat::zeros(graph.nodes(), graph.nodes());
        for (&source, target) in graph.sources().iter().zip(graph.targets()) {
            dense[(target as usize, source as usize)] = 1.0;
        }
        let ones = vec![1.0; graph.edges()];
        (EdgeMatrix::new(&Threads::new(1).unwrap(), Arc::new(graph), &ones).unwrap(), dense)
    }

    fn config(rank: usize, tolerance: f64) -> LanczosConfig {
        LanczosConfig { rank, tolerance, seed: 7 }
    }

    /// The rank-k matrix, dense.
    fn product(svd: &Svd) -> Mat<f64> {
        let (rank, rows) = (svd.rank(), svd.left.len() / svd.rank());
        Mat::from_fn(rows, rows, |i, j| {
            let terms = svd.left[i * rank..][..rank].iter().zip(&svd.right[j * rank..][..rank]);
            terms.zip(&svd.values).map(|((u, v), s)| f64::from(*u) * f64::from(*s) * f64::from(*v)).sum()
        })
    }

    #[test]
    fn close_singular_values_and_their_matrix_are_those_of_a_dense_decomposition() {
        let threads = Threads::new(2).unwrap();
        for symmetric in [true, false] {
            // More rows than the basis has columns, so that it restarts.
            let (matrix, dense) = random(700, 4200, symmetric);
            let svd = lanczos_svd(&threads, &matrix, symmetric, config(50, 1e-5)).unwrap();
            assert!(config(50, 1e-5).dimension(700) < 300);
            let exact = dense.svd().unwrap();
            for (rank, &value) in svd.values.iter().enumerate() {
                assert!((f64::from(value) - exact.S()[rank]).abs() < 1e-3, "{rank}: {value}");
            }
            let low = Mat::from_fn(700, 700, |i, j| {
                (0..50).map(|r| exact.U()[(i, r)] * exact.S()[r] * exact.V()[(j, r)]).sum::<f64>()
            });
            let error = (product(&svd) - &low).norm_l2() / low.norm_l2();
            assert!(error < 1e-2, "symmetric {symmetric}: {error}");
        }
    }

    #[test]
    fn left_and_right_vectors_are_orthonormal() {
        let threads = Threads::new(1).unwrap();
        for symmetric in [true, false] {
            let svd =
                lanczos_svd(&threads, &random(700, 4200, symmetric).0, symmetric, config(40, 1e-3)).unwrap();
            for vectors in [&svd.left, &svd.right] {
                let mut products = vec![0.0; 40 * 40];
                gram(&threads, vectors, vectors, (40, 40), &mut products);
                for (at, &x) in products.iter().enumerate() {
                    let expected = if at / 40 == at % 40 { 1.0 } else { 0.0 };
                    assert!((x - expected).abs() < 1e-3, "symmetric {symmetric}, {at}: {x}");
                }
            }
        }
    }

    #[test]
    fn an_eigenvalue_of_more_vectors_than_a_block_has_columns_is_found_as_often_as_it_is_wanted() {
        // 200 pairs: eigenvalues 1 and −1, 200 times each.
        let (a, b): (Vec<u32>, Vec<u32>) = (0..200).map(|i| (2 * i, 2 * i + 1)).unzip();
        let (matrix, _) = both(Graph::undirected(400, &a, &b).unwrap());
        let svd = lanczos_svd(&Threads::new(1).unwrap(), &matrix, true, config(70, 1e-3)).unwrap();
        assert!(svd.values.iter().all(|value| (value - 1.0).abs() < 1e-4), "{:?}", svd.values);
    }

    #[test]
    fn small_graphs_and_those_without_edges_have_what_there_is() {
        let threads = Threads::new(1).unwrap();
        let (star, _) = both(Graph::undirected(5, &[0, 0, 0, 0], &[1, 2, 3, 4]).unwrap());
        let svd = lanczos_svd(&threads, &star, true, config(50, 1e-3)).unwrap();
        assert_eq!((svd.rank(), svd.left.len()), (5, 25));
        assert!((svd.values[0] - 2.0).abs() < 1e-5 && (svd.values[1] - 2.0).abs() < 1e-5);
        assert_eq!(svd.values[2..], [0.0; 3]);
        assert!(svd.right.chunks_exact(5).all(|row| row[2..] == [0.0; 3]), "no value, no vector");
        for symmetric in [true, false] {
            let (empty, _) = both(Graph::from_edges(30, &[], &[]).unwrap());
            let svd = lanczos_svd(&threads, &empty, symmetric, config(3, 1e-3)).unwrap();
            assert!(svd.values == [0.0; 3] && svd.left.iter().all(|&x| x == 0.0));
        }
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_bit() {
        let (matrix, _) = random(900, 5000, true);
        let made = [1, 2, 8].map(|count| {
            lanczos_svd(&Threads::new(count).unwrap(), &matrix, true, config(30, 1e-3)).unwrap()
        });
        assert!(made[0] == made[1] && made[0] == made[2]);
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let graph = Arc::new(Graph::undirected(40, &[0, 1], &[1, 2]).unwrap());
        let threads = Threads::new(1).unwrap();
        let large = EdgeMatrix::new(&threads, graph, &[f32::MAX; 4]).unwrap();
        assert!(lanczos_svd(&threads, &large, false, config(3, 1e-3)).is_err());
    }
}
