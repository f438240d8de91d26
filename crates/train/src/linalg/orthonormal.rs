//! Orthonormal columns of a tall matrix by Cholesky-QR, twice (Yamamoto et al., 2015).
//!
//! With G = YᵀY = LLᵀ, Q = Y·L⁻ᵀ has orthonormal columns. G is summed in `f64` from `f32` numbers, so it sees directions down
//! to 1e-7 of the largest, which is all that `f32` can hold; the second pass mends what the first one's rounding left.

use edgepace_nn::{Packed, Threads, gram, tall_product};

/// A column whose part outside of those before it is shorter than this, squared and relative to the column, holds
/// nothing but rounding.
const DEPENDENT: f64 = 1e-10;

/// Buffers, so that a factorisation that is repeated allocates once.
#[derive(Default)]
pub(super) struct Orthonormaliser {
    product: Vec<f64>,
    inverse: Vec<f32>,
    packed: Packed<f32>,
    spare: Vec<f32>,
}

impl Orthonormaliser {
    /// Replaces `y` (rows × `width`) by Q with orthonormal columns that span the same space, and returns the upper
    /// triangular R, `width` × `width` row-major, with y = Q·R. A column that depends on those before it becomes 0.
    pub(super) fn factorise(&mut self, threads: &Threads, y: &mut Vec<f32>, width: usize) -> Vec<f64> {
        let mut r = vec![0.0; width * width];
        for i in 0..width {
            r[i * width + i] = 1.0;
        }
        for _ in 0..2 {
            self.product.resize(width * width, 0.0);
            gram(threads, y, y, (width, width), &mut self.product);
            let lower = cholesky(&mut self.product, width);
            self.inverse.clear();
            self.inverse.extend(inverse_transposed(lower, width).iter().map(|&x| x as f32));
            self.spare.resize(y.len(), 0.0);
            tall_product(threads, y, self.packed.pack(&self.inverse, width, width), &mut self.spare);
            std::mem::swap(y, &mut self.spare);
            r = upper_product(lower, &r, width);
        }
        r
    }
}

/// Turns the lower half of a symmetric matrix into L with G = LLᵀ. Where a pivot vanishes, the column of L is 0.
fn cholesky(g: &mut [f64], n: usize) -> &[f64] {
    for j in 0..n {
        let original = g[j * n + j];
        let pivot = original - g[j * n..j * n + j].iter().map(|x| x * x).sum::<f64>();
        // Not above: also where a number is not finite, so that it spreads no further.
        let length = if pivot > DEPENDENT * original && pivot.is_finite() { pivot.sqrt() } else { 0.0 };
        for i in j + 1..n {
            let (above, row) = g.split_at_mut(i * n);
            let dot: f64 = above[j * n..j * n + j].iter().zip(&row[..j]).map(|(a, b)| a * b).sum();
            row[j] = if length > 0.0 { (row[j] - dot) / length } else { 0.0 };
        }
        g[j * n + j] = length;
        g[j * n + j + 1..(j + 1) * n].fill(0.0);
    }
    g
}

/// L⁻ᵀ, with a column of zeros where L has one.
fn inverse_transposed(lower: &[f64], n: usize) -> Vec<f64> {
    // Row c of L⁻ᵀ is column c of L⁻¹: forward substitution, whose inner products run along rows of both.
    let mut inverse = vec![0.0; n * n];
    for c in 0..n {
        if lower[c * n + c] == 0.0 {
            continue;
        }
        let column = &mut inverse[c * n..(c + 1) * n];
        column[c] = 1.0 / lower[c * n + c];
        for i in c + 1..n {
            let length = lower[i * n + i];
            if length > 0.0 {
                let dot: f64 =
                    lower[i * n + c..i * n + i].iter().zip(&column[c..i]).map(|(a, b)| a * b).sum();
                column[i] = -dot / length;
            }
        }
    }
    inverse
}

/// Lᵀ · R, both upper triangular.
fn upper_product(lower: &[f64], r: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for p in i..n {
            let x = lower[p * n + i];
            for (out, r) in out[i * n + p..(i + 1) * n].iter_mut().zip(&r[p * n + p..(p + 1) * n]) {
                *out += x * r;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_orthonormal_dependent_ones_zero_and_the_product_is_kept() {
        let threads = Threads::new(2).unwrap();
        let (rows, width) = (700, 5);
        let mut y: Vec<f32> = (0..rows * width).map(|i| libm::sinf((i * i) as f32 * 0.37)).collect();
        for row in y.chunks_exact_mut(width) {
            // Nearly parallel, dependent, and zero.
            row[1] = row[0] + 1e-3 * row[1];
            row[3] = 2.0 * row[2] - row[0];
            row[4] = 0.0;
        }
        let original = y.clone();
        let r = Orthonormaliser::default().factorise(&threads, &mut y, width);
        let mut product = vec![0.0; width * width];
        gram(&threads, &y, &y, (width, width), &mut product);
        for i in 0..width {
            for j in 0..width {
                let expected = if i == j && i < 3 { 1.0 } else { 0.0 };
                assert!(
                    (product[i * width + j] - expected).abs() < 1e-5,
                    "{i} {j}: {}",
                    product[i * width + j]
                );
            }
        }
        for (q, y) in y.chunks_exact(width).zip(original.chunks_exact(width)) {
            for c in 0..width {
                let sum: f64 = (0..width).map(|p| f64::from(q[p]) * r[p * width + c]).sum();
                assert!((sum - f64::from(y[c])).abs() < 1e-4, "{sum} {}", y[c]);
            }
        }
    }
}
