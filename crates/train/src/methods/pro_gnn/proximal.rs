//! The proximal step of t ‖S‖_* on a symmetric S: every eigenvalue λ moves by t towards 0 and stops there,
//! S − Σ_p sign(λ_p) min(|λ_p|, t) u_p u_pᵀ. *Exact* takes every eigenpair; *leading* those of the largest |λ| alone, and
//! leaves what is beyond them as it is.

use edgepace_nn::{Packed, Threads, add_product, tall_product};
use faer::{Mat, Side};

use crate::error::TrainError;
use crate::linalg::{Operator, SvdConfig, leading_eigenpairs};

/// What the step takes away: Σ_p sign_p w_p w_pᵀ.
#[derive(Debug)]
pub(super) struct Shrinkage {
    signs: Vec<f32>,
    /// √min(|λ_p|, t) · u_p in column p, nodes × pairs.
    rows: Vec<f32>,
}

/// Columns of the block beyond those that are wanted.
const OVERSAMPLING: usize = 8;
/// Products with S before the eigenpairs are read off: at first, and from those of the step before.
const COLD: usize = 4;
const WARM: usize = 1;

impl Shrinkage {
    /// From the leading `rank` eigenpairs; `start` has the vectors of the step before, and gets these.
    pub(super) fn leading(
        threads: &Threads,
        operator: &dyn Operator,
        (rank, threshold): (usize, f32),
        seed: u64,
        start: &mut Vec<f32>,
    ) -> Result<Self, TrainError> {
        let iterations = if start.is_empty() { COLD } else { WARM };
        let config = SvdConfig { rank, oversampling: OVERSAMPLING, iterations, seed };
        let warm = (!start.is_empty()).then_some(&start[..]);
        let pairs = leading_eigenpairs(threads, operator, config, warm)?;
        let shrinkage = Self::new(&pairs.values, pairs.vectors.clone(), threshold);
        *start = pairs.vectors;
        Ok(shrinkage)
    }

    /// From every eigenpair of a matrix, nodes × nodes.
    pub(super) fn exact(matrix: &[f32], nodes: usize, threshold: f32) -> Result<Self, TrainError> {
        let matrix = Mat::<f32>::from_fn(nodes, nodes, |i, j| matrix[i * nodes + j]);
        let failed = |_| TrainError::NotFinite { what: "eigenvalues" };
        let pairs = matrix.self_adjoint_eigen(Side::Lower).map_err(failed)?;
        let values: Vec<f32> = (0..nodes).map(|p| pairs.S()[p]).collect();
        let vectors = (0..nodes * nodes).map(|at| pairs.U()[(at / nodes, at % nodes)]).collect();
        Ok(Self::new(&values, vectors, threshold))
    }

    fn new(values: &[f32], mut rows: Vec<f32>, threshold: f32) -> Self {
        // Half of the factor goes to each side, so that both entries of a pair become the same bits.
        let halves: Vec<f32> = values.iter().map(|value| value.abs().min(threshold).sqrt()).collect();
        for row in rows.chunks_exact_mut(halves.len().max(1)) {
            row.iter_mut().zip(&halves).for_each(|(x, half)| *x *= half);
        }
        Self { signs: values.iter().map(|value| value.signum()).collect(), rows }
    }

    /// Takes it away from all entries of a matrix, nodes × nodes.
    pub(super) fn subtract(&self, threads: &Threads, matrix: &mut [f32]) {
        let pairs = self.signs.len();
        if pairs == 0 {
            return;
        }
        let nodes = self.rows.len() / pairs;
        let mut left = self.rows.clone();
        for row in left.chunks_exact_mut(pairs) {
            row.iter_mut().zip(&self.signs).for_each(|(x, sign)| *x *= -sign);
        }
        let mut packed = Packed::default();
        packed.pack_transposed(&self.rows, pairs, nodes);
        add_product(threads, &left, &packed, matrix);
    }

    /// What it takes away from one entry.
    pub(super) fn at(&self, i: usize, j: usize) -> f32 {
        let pairs = self.signs.len();
        let row = |i: usize| &self.rows[i * pairs..][..pairs];
        let mut lanes = [0.0; 8];
        let signs = self.signs.chunks(8).zip(row(i).chunks(8).zip(row(j).chunks(8)));
        for (signs, (x, y)) in signs {
            for ((lane, sign), (x, y)) in lanes.iter_mut().zip(signs).zip(x.iter().zip(y)) {
                *lane += sign * (x * y);
            }
        }
        lanes.iter().sum()
    }
}

/// A symmetric matrix, nodes × nodes, as an operator.
pub(super) struct Symmetric<'a> {
    pub(super) nodes: usize,
    pub(super) values: &'a [f32],
}

impl Operator for Symmetric<'_> {
    fn rows(&self) -> usize {
        self.nodes
    }

    fn apply(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]) {
        let mut packed = Packed::default();
        packed.pack(x, self.nodes, width);
        tall_product(threads, self.values, &packed, out);
    }

    fn apply_transposed(&self, threads: &Threads, x: &[f32], width: usize, out: &mut [f32]) {
        self.apply(threads, x, width, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: usize = 12;
    const THRESHOLD: f32 = 0.4;

    fn noise(at: usize) -> f32 {
        ((at * at * 31 + at * 7) % 101) as f32 / 50.0 - 1.0
    }

    /// Symmetric, with eigenvalues of both signs.
    fn matrix(seed: usize) -> Vec<f32> {
        let at = |i: usize, j: usize| noise(seed + i.min(j) * NODES + i.max(j));
        (0..NODES * NODES).map(|k| at(k / NODES, k % NODES)).collect()
    }

    fn after(shrinkage: &Shrinkage, matrix: &[f32]) -> Vec<f32> {
        let mut out = matrix.to_vec();
        shrinkage.subtract(&Threads::new(1).unwrap(), &mut out);
        out
    }

    /// ½ ‖Y − S‖² + t ‖Y‖_*.
    fn objective(y: &[f32], s: &[f32]) -> f64 {
        let distance: f64 = y.iter().zip(s).map(|(y, s)| f64::from(y - s).powi(2)).sum();
        let y = Mat::<f64>::from_fn(NODES, NODES, |i, j| f64::from(y[i * NODES + j]));
        let nuclear: f64 = y.svd().unwrap().S().column_vector().iter().sum();
        0.5 * distance + f64::from(THRESHOLD) * nuclear
    }

    #[test]
    fn the_exact_step_minimises_its_objective() {
        let s = matrix(3);
        let best = after(&Shrinkage::exact(&s, NODES, THRESHOLD).unwrap(), &s);
        let least = objective(&best, &s);
        assert!(least < objective(&s, &s), "better than no step");
        for trial in 1..200 {
            for size in [1e-3, 1e-2, 0.1] {
                let other: Vec<f32> =
                    best.iter().zip(matrix(trial * 17)).map(|(&b, noise)| b + size * noise).collect();
                assert!(objective(&other, &s) >= least - 1e-6, "trial {trial}, size {size}");
            }
        }
    }

    #[test]
    fn the_leading_step_with_every_pair_is_the_exact_one() {
        let s = matrix(5);
        let operator = Symmetric { nodes: NODES, values: &s };
        let threads = Threads::new(1).unwrap();
        let mut start = Vec::new();
        let exact = after(&Shrinkage::exact(&s, NODES, THRESHOLD).unwrap(), &s);
        for _ in 0..2 {
            let shrinkage =
                Shrinkage::leading(&threads, &operator, (NODES, THRESHOLD), 1, &mut start).unwrap();
            for (i, (leading, exact)) in after(&shrinkage, &s).iter().zip(&exact).enumerate() {
                assert!((leading - exact).abs() < 1e-4, "{i}: {leading} {exact}");
            }
        }
    }

    #[test]
    fn the_leading_step_shrinks_the_leading_eigenvalues_and_no_other() {
        let s = matrix(7);
        let threads = Threads::new(1).unwrap();
        let operator = Symmetric { nodes: NODES, values: &s };
        let mut start = Vec::new();
        // Warm starts make the pairs precise.
        for _ in 0..200 {
            Shrinkage::leading(&threads, &operator, (2, THRESHOLD), 1, &mut start).unwrap();
        }
        let shrunk =
            after(&Shrinkage::leading(&threads, &operator, (2, THRESHOLD), 1, &mut start).unwrap(), &s);
        let sizes = |m: &[f32]| {
            let m = Mat::<f64>::from_fn(NODES, NODES, |i, j| f64::from(m[i * NODES + j]));
            m.svd().unwrap().S().column_vector().iter().copied().collect::<Vec<f64>>()
        };
        let mut expected = sizes(&s);
        expected[0] -= f64::from(THRESHOLD);
        expected[1] -= f64::from(THRESHOLD);
        expected.sort_by(|a, b| b.total_cmp(a));
        for (found, expected) in sizes(&shrunk).iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-3, "{found} {expected}");
        }
    }

    #[test]
    fn entries_are_those_of_the_whole_and_keep_symmetry_to_the_bit() {
        let s = matrix(9);
        let shrinkage = Shrinkage::exact(&s, NODES, THRESHOLD).unwrap();
        let shrunk = after(&shrinkage, &s);
        for i in 0..NODES {
            for j in 0..NODES {
                assert_eq!(shrunk[i * NODES + j].to_bits(), shrunk[j * NODES + i].to_bits());
                assert_eq!(shrinkage.at(i, j).to_bits(), shrinkage.at(j, i).to_bits());
                assert!((s[i * NODES + j] - shrinkage.at(i, j) - shrunk[i * NODES + j]).abs() < 1e-5);
            }
        }
    }
}
