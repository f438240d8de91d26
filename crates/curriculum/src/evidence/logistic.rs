//! A small ridge logistic regression, by Newton's method.

use edgepace_graph::{Threads, with_simd};

use crate::each::{PIECE, pieces};
use crate::math::exp;

/// Columns of the evidence model.
pub(crate) const COLUMNS: usize = 4;
/// The intercept is a column of ones after the others.
const TERMS: usize = COLUMNS + 1;
const MOST_STEPS: usize = 50;
const MOST_HALVINGS: usize = 30;
/// Rows that are added up side by side, one to each lane of a vector.
const LANES: usize = 4;
// A lane multiplies one factor of at most 2 for each of its rows, and 2^512 is far from overflow.
const _: () = assert!(PIECE / LANES <= 512);
/// Newton's last step is the one that promises less than this share of the objective. It doubles the digits that were right
/// before it, so that what is left is far below what could change a rank, and what rounding could hide.
const LAST_GAIN: f64 = 1e-10;

/// Coefficients of the columns, and the intercept last.
pub(crate) type Coefficients = [f64; TERMS];

/// Sums over a piece of rows, or over all.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    loss: f64,
    gradient: [f64; TERMS],
    /// The upper triangle is filled.
    hessian: [[f64; TERMS]; TERMS],
}

/// Buffers of the fit.
#[derive(Debug, Default)]
pub(crate) struct Logistic {
    partial: Vec<Sums>,
}

impl Logistic {
    /// Minimises Σ_k ln(1 + e^(−y_k s_k)) + ridge/2 |w|², s = x · w + b, over (w, b): y is 1 for the first `positives`
    /// rows and −1 for the others. The intercept b carries the ridge too, so that the minimum is unique and finite for
    /// any rows, even if all have one label or a plane parts them.
    ///
    /// Rows are finite and about standardised. Newton's steps begin at `start`: the minimum does not depend on it, but near
    /// it they are few. Each step is halved until the objective falls.
    pub(crate) fn fit(
        &mut self,
        threads: &Threads,
        rows: &[[f32; COLUMNS]],
        positives: usize,
        ridge: f64,
        start: &Coefficients,
    ) -> Coefficients {
        let mut current = *start;
        let mut sums = self.sums(threads, rows, positives, ridge, &current);
        // Zeros cost ln 2 per row: a start that is worse, or that numbers cannot hold, is none.
        let of_zeros = rows.len() as f64 * std::f64::consts::LN_2;
        if sums.loss.is_nan() || sums.loss > (1.0 + 1e-9) * of_zeros {
            current = [0.0; TERMS];
            sums = self.sums(threads, rows, positives, ridge, &current);
        }
        for _ in 0..MOST_STEPS {
            let Some(step) = solve(&sums.hessian, &sums.gradient) else { break };
            let along = |scale: f64| -> Coefficients {
                std::array::from_fn(|term| current[term] - scale * step[term])
            };
            let gain: f64 =
                0.5 * step.iter().zip(&sums.gradient).map(|(step, slope)| step * slope).sum::<f64>();
            if gain <= LAST_GAIN * sums.loss {
                return along(1.0);
            }
            let mut scale = 1.0;
            let mut next = along(scale);
            let mut next_sums = self.sums(threads, rows, positives, ridge, &next);
            for _ in 0..MOST_HALVINGS {
                if next_sums.loss <= sums.loss {
                    break;
                }
                scale *= 0.5;
                next = along(scale);
                next_sums = self.sums(threads, rows, positives, ridge, &next);
            }
            if next_sums.loss > sums.loss {
                break;
            }
            (current, sums) = (next, next_sums);
        }
        current
    }

    /// Loss, gradient and Hessian at `w`: pieces in parallel, folded in order.
    fn sums(
        &mut self,
        threads: &Threads,
        rows: &[[f32; COLUMNS]],
        positives: usize,
        ridge: f64,
        w: &Coefficients,
    ) -> Sums {
        self.partial.resize(pieces(rows.len()), Sums::default());
        threads.rows(&mut self.partial, 1, 1, |piece, sums| {
            let first = piece * PIECE;
            let rows = &rows[first..rows.len().min(first + PIECE)];
            let positives = positives.saturating_sub(first);
            let total = &mut sums[0];
            with_simd(
                // Handing `total` over makes it a closure that is called once: only such a one is inlined for sure.
                #[inline(always)]
                move || {
                    let total = total;
                    LaneSums::of(rows, positives, w, total);
                },
            );
        });
        let mut total = Sums::default();
        for partial in &self.partial {
            total.loss += partial.loss;
            for a in 0..TERMS {
                total.gradient[a] += partial.gradient[a];
                for b in a..TERMS {
                    total.hessian[a][b] += partial.hessian[a][b];
                }
            }
        }
        for a in 0..TERMS {
            total.loss += ridge / 2.0 * w[a] * w[a];
            total.gradient[a] += ridge * w[a];
            total.hessian[a][a] += ridge;
        }
        total
    }
}

/// The sums of every fourth row, side by side.
#[derive(Clone, Copy)]
struct LaneSums {
    /// Σ max(−m, 0).
    loss: [f64; LANES],
    /// Π (1 + e^−|m|) − 1.
    product: [f64; LANES],
    gradient: [[f64; LANES]; TERMS],
    hessian: [[[f64; LANES]; TERMS]; TERMS],
}

impl LaneSums {
    /// Sets `total` to the sums over the rows of a piece, the first `positives` of which are edges.
    #[inline(always)]
    fn of(rows: &[[f32; COLUMNS]], positives: usize, w: &Coefficients, total: &mut Sums) {
        let none = [0.0; LANES];
        let mut sums =
            Self { loss: none, product: none, gradient: [none; TERMS], hessian: [[none; TERMS]; TERMS] };
        let (whole, rest) = rows.as_chunks::<LANES>();
        let truth = |first: usize| std::array::from_fn(|lane| f64::from(u8::from(first + lane < positives)));
        for (number, rows) in whole.iter().enumerate() {
            sums.add(rows, &truth(number * LANES), &[1.0; LANES], w);
        }
        if !rest.is_empty() {
            let rows = std::array::from_fn(|lane| rest.get(lane).copied().unwrap_or_default());
            let counts = std::array::from_fn(|lane| f64::from(u8::from(lane < rest.len())));
            sums.add(&rows, &truth(whole.len() * LANES), &counts, w);
        }
        *total = sums.total();
    }

    /// Adds one row to each lane, or none where it does not count.
    #[inline(always)]
    fn add(
        &mut self,
        rows: &[[f32; COLUMNS]; LANES],
        truth: &[f64; LANES],
        counts: &[f64; LANES],
        w: &Coefficients,
    ) {
        let mut x = [[1.0; LANES]; TERMS];
        for column in 0..COLUMNS {
            for lane in 0..LANES {
                x[column][lane] = f64::from(rows[lane][column]);
            }
        }
        let (mut error, mut curvature) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let mut score = 0.0;
            for term in 0..TERMS {
                score += w[term] * x[term][lane];
            }
            // ln(1 + e^−m) = max(−m, 0) + ln(1 + e^−|m|): the logarithms of many rows are one logarithm of their product.
            let margin = (2.0 * truth[lane] - 1.0) * score;
            let small = exp(-margin.abs());
            self.loss[lane] += (-margin).max(0.0) * counts[lane];
            let factor = small * counts[lane];
            self.product[lane] += factor + factor * self.product[lane];
            let p = (if score >= 0.0 { 1.0 } else { small }) / (1.0 + small);
            error[lane] = (p - truth[lane]) * counts[lane];
            curvature[lane] = p * (1.0 - p) * counts[lane];
        }
        for a in 0..TERMS {
            let mut scaled = [0.0; LANES];
            for lane in 0..LANES {
                self.gradient[a][lane] += error[lane] * x[a][lane];
                scaled[lane] = curvature[lane] * x[a][lane];
            }
            for b in a..TERMS {
                for lane in 0..LANES {
                    self.hessian[a][b][lane] += scaled[lane] * x[b][lane];
                }
            }
        }
    }

    /// All lanes together, in order.
    #[inline(always)]
    fn total(&self) -> Sums {
        let sum = |lanes: &[f64; LANES]| (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        let logarithms = self.product.map(libm::log1p);
        Sums {
            loss: sum(&self.loss) + sum(&logarithms),
            gradient: self.gradient.each_ref().map(sum),
            hessian: self.hessian.each_ref().map(|row| row.each_ref().map(sum)),
        }
    }
}

/// Solves H s = g for a symmetric positive definite H, of which the upper triangle is given (Cholesky).
fn solve(hessian: &[[f64; TERMS]; TERMS], gradient: &[f64; TERMS]) -> Option<[f64; TERMS]> {
    let mut lower = [[0.0; TERMS]; TERMS];
    for a in 0..TERMS {
        for b in 0..=a {
            let mut rest = hessian[b][a];
            for k in 0..b {
                rest -= lower[a][k] * lower[b][k];
            }
            if a == b {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                lower[a][a] = rest.sqrt();
            } else {
                lower[a][b] = rest / lower[b][b];
            }
        }
    }
    let mut s = *gradient;
    for a in 0..TERMS {
        for k in 0..a {
            s[a] -= lower[a][k] * s[k];
        }
        s[a] /= lower[a][a];
    }
    for a in (0..TERMS).rev() {
        for k in a + 1..TERMS {
            s[a] -= lower[k][a] * s[k];
        }
        s[a] /= lower[a][a];
    }
    Some(s)
}

/// Mean and 1 / deviation of each column. A column without variance has 0 for the latter, which drops it.
pub(crate) fn standards(rows: &[[f32; COLUMNS]]) -> [(f64, f64); COLUMNS] {
    let count = rows.len().max(1) as f64;
    let mut means = [0.0; COLUMNS];
    let mut squares = [0.0; COLUMNS];
    for row in rows {
        for column in 0..COLUMNS {
            means[column] += f64::from(row[column]);
        }
    }
    for mean in &mut means {
        *mean /= count;
    }
    for row in rows {
        for column in 0..COLUMNS {
            let off = f64::from(row[column]) - means[column];
            squares[column] += off * off;
        }
    }
    std::array::from_fn(|column| {
        let (mean, deviation) = (means[column], (squares[column] / count).sqrt());
        let varies = deviation > 1e-6 * mean.abs() && deviation > 1e-12;
        (mean, if varies { 1.0 / deviation } else { 0.0 })
    })
}

/// Standardises rows in place.
pub(crate) fn standardise(threads: &Threads, rows: &mut [[f32; COLUMNS]], standards: &[(f64, f64); COLUMNS]) {
    threads.rows(rows, 1, PIECE, |_, piece| {
        for row in piece {
            for (value, &(mean, inverse)) in row.iter_mut().zip(standards) {
                *value = ((f64::from(*value) - mean) * inverse) as f32;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use edgepace_graph::random::{Purpose, Stream};

    use super::*;

    const NOWHERE: Coefficients = [0.0; TERMS];

    fn rows(count: usize) -> Vec<[f32; COLUMNS]> {
        let stream = Stream::new(11, Purpose::Benchmark, 0);
        (0..count)
            .map(|row| {
                let shift = if row < count / 2 { 0.8 } else { -0.2 };
                let x = |column| stream.normal((row * COLUMNS + column) as u64);
                [x(0) + shift, 0.7 * x(0) - shift + x(1), x(2), 0.0].map(|x| x as f32)
            })
            .collect()
    }

    #[test]
    fn newton_finds_what_slow_gradient_descent_finds() {
        let rows = rows(400);
        for ridge in [0.5, 20.0] {
            let fitted = Logistic::default().fit(&Threads::one(), &rows, 200, ridge, &NOWHERE);
            let mut w = [0.0_f64; TERMS];
            for _ in 0..20_000 {
                let mut gradient = w.map(|w| ridge * w);
                for (k, row) in rows.iter().enumerate() {
                    let x = [row[0], row[1], row[2], row[3], 1.0].map(f64::from);
                    let score: f64 = x.iter().zip(&w).map(|(x, w)| x * w).sum();
                    let error = 1.0 / (1.0 + libm::exp(-score)) - if k < 200 { 1.0 } else { 0.0 };
                    gradient.iter_mut().zip(&x).for_each(|(g, x)| *g += error * x);
                }
                w.iter_mut().zip(&gradient).for_each(|(w, g)| *w -= 2e-3 * g);
            }
            for term in 0..TERMS {
                assert!((fitted[term] - w[term]).abs() < 1e-7, "{fitted:?} {w:?}");
            }
            assert_eq!(fitted[3], 0.0, "a column of zeros has no say");
            for start in [fitted, [0.3, -0.2, 0.1, 0.4, -1.0], [-40.0, 60.0, 0.0, 5.0, 80.0], [1e200; TERMS]]
            {
                let again = Logistic::default().fit(&Threads::one(), &rows, 200, ridge, &start);
                for term in 0..TERMS {
                    assert!((again[term] - w[term]).abs() < 1e-7, "from {start:?}: {again:?} {w:?}");
                }
            }
        }
    }

    #[test]
    fn rows_that_a_plane_parts_and_rows_of_one_label_have_a_finite_fit() {
        let parted: Vec<[f32; COLUMNS]> =
            (0..1000).map(|i| [if i < 500 { 3.0 } else { -3.0 }, 0.0, 0.0, 0.0]).collect();
        let fitted = Logistic::default().fit(&Threads::one(), &parted, 500, 1.0, &NOWHERE);
        assert!(fitted[0] > 0.5 && fitted.iter().all(|w| w.is_finite()), "{fitted:?}");
        let fitted = Logistic::default().fit(&Threads::one(), &parted, 1000, 1.0, &NOWHERE);
        assert!(fitted[0].abs() < 1e-9 && fitted[4] > 1.0, "{fitted:?}");
        assert_eq!(Logistic::default().fit(&Threads::one(), &[], 0, 1.0, &NOWHERE), [0.0; TERMS]);
    }

    #[test]
    fn standardised_columns_have_mean_0_and_deviation_1_and_constant_ones_drop_out() {
        let mut rows = rows(600);
        for row in &mut rows {
            row[3] = 1e6;
        }
        let standards = standards(&rows);
        standardise(&Threads::one(), &mut rows, &standards);
        for column in 0..3 {
            let mean = rows.iter().map(|row| f64::from(row[column])).sum::<f64>() / 600.0;
            let square = rows.iter().map(|row| f64::from(row[column]).powi(2)).sum::<f64>() / 600.0;
            assert!(mean.abs() < 1e-6 && (square - 1.0).abs() < 1e-5);
        }
        assert!(rows.iter().all(|row| row[3] == 0.0));
    }
}
