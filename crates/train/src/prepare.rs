//! Feature preparation: a named step of the run.

use std::sync::Arc;

use edgepace_graph::bytes::{array, total};
use edgepace_graph::{DenseFeatures, Features, GraphError, SparseFeatures};
use serde::{Deserialize, Serialize};

/// What is done to features before training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preparation {
    /// `rows` for sparse features (bags of words), `lengths` for sparse ones of which more than a tenth is filled (words of
    /// many documents together), `standardise` for dense ones (measurements). On Amazon's Photo and Computers, of which a
    /// third is filled, a word among hundreds weighs too little after `rows` to be learned in 150 epochs: validation
    /// accuracy 93.6 and 85.2, after `lengths` 94.8 and 90.3. As they are they weigh too much: training on Photo with as
    /// many fake edges as real ones is a matter of luck (42, `rows` 64, `lengths` 83).
    #[default]
    Auto,
    /// Nothing.
    None,
    /// Each row is divided by the sum of its absolute values, so that long and short documents weigh alike.
    Rows,
    /// Each row is divided by its Euclidean length.
    Lengths,
    /// Each column gets mean 0 and standard deviation 1. Sparse columns are only divided by their root mean square, because a
    /// shift would fill the matrix.
    Standardise,
}

impl Preparation {
    /// The step that is taken for these features; never `Auto`.
    #[must_use]
    pub fn resolve(self, features: &Features) -> Preparation {
        match (self, features) {
            (Preparation::Auto, Features::Sparse(sparse)) => {
                let cells = features.rows() as f64 * features.cols() as f64;
                if sparse.values().len() as f64 > 0.1 * cells {
                    Preparation::Lengths
                } else {
                    Preparation::Rows
                }
            }
            (Preparation::Auto, Features::Dense(_)) => Preparation::Standardise,
            (chosen, _) => chosen,
        }
    }

    /// The bytes of the prepared features: of a copy, or none where they stay as they are.
    pub fn bytes(self, features: &Features) -> u64 {
        match (self.resolve(features), features) {
            (Preparation::None | Preparation::Auto, _) => 0,
            (_, Features::Dense(dense)) => array::<f32>(&[dense.values().len()]),
            (_, Features::Sparse(sparse)) => total([
                array::<usize>(&[sparse.offsets().len()]),
                array::<u32>(&[sparse.columns().len()]),
                array::<f32>(&[sparse.values().len()]),
            ]),
        }
    }

    /// The prepared features. Statistics are over all nodes: no label takes part.
    ///
    /// # Errors
    /// A result that is not finite, as from numbers near the largest that there are.
    pub fn apply(self, features: &Arc<Features>) -> Result<Arc<Features>, GraphError> {
        match self.resolve(features) {
            Preparation::None | Preparation::Auto => Ok(Arc::clone(features)),
            Preparation::Rows => divided(features, |row| row.map(f64::abs).sum()).map(Arc::new),
            Preparation::Lengths => {
                divided(features, |row| row.map(|x| x * x).sum::<f64>().sqrt()).map(Arc::new)
            }
            Preparation::Standardise => standardise(features).map(Arc::new),
        }
    }
}

/// Divides each row by its size; a row of zeros stays.
fn divided(
    features: &Features,
    size: impl Fn(&mut dyn Iterator<Item = f64>) -> f64,
) -> Result<Features, GraphError> {
    let scale = |row: &mut [f32]| {
        let size = size(&mut row.iter().map(|&x| f64::from(x)));
        if size > 0.0 {
            for x in row {
                *x = (f64::from(*x) / size) as f32;
            }
        }
    };
    match features {
        Features::Dense(dense) => {
            let (rows, cols) = (dense.rows(), dense.cols());
            let mut values = dense.values().to_vec();
            values.chunks_exact_mut(cols.max(1)).for_each(scale);
            Ok(DenseFeatures::new(rows, cols, values)?.into())
        }
        Features::Sparse(sparse) => {
            let mut values = sparse.values().to_vec();
            for row in sparse.offsets().windows(2) {
                scale(&mut values[row[0]..row[1]]);
            }
            with_values(sparse, values)
        }
    }
}

/// (x − mean) / standard deviation by column, or x / root mean square where zeros are not stored. A column without spread
/// becomes 0, or stays when it is sparse.
fn standardise(features: &Features) -> Result<Features, GraphError> {
    let cols = features.cols();
    let rows = features.rows().max(1) as f64;
    match features {
        Features::Dense(dense) => {
            let (mut mean, mut square) = (vec![0.0; cols], vec![0.0; cols]);
            let columns = |row: &[f32], sums: &mut [f64], of: &dyn Fn(usize, f64) -> f64| {
                for (column, (sum, &x)) in sums.iter_mut().zip(row).enumerate() {
                    *sum += of(column, f64::from(x)) / rows;
                }
            };
            for row in dense.values().chunks_exact(cols.max(1)) {
                columns(row, &mut mean, &|_, x| x);
            }
            for row in dense.values().chunks_exact(cols.max(1)) {
                columns(row, &mut square, &|column, x| (x - mean[column]).powi(2));
            }
            let scale: Vec<f64> =
                square.iter().map(|&s| if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 }).collect();
            let values = dense
                .values()
                .iter()
                .enumerate()
                .map(|(i, &x)| ((f64::from(x) - mean[i % cols]) * scale[i % cols]) as f32)
                .collect();
            Ok(DenseFeatures::new(dense.rows(), cols, values)?.into())
        }
        Features::Sparse(sparse) => {
            let mut square = vec![0.0; cols];
            for (&column, &x) in sparse.columns().iter().zip(sparse.values()) {
                square[column as usize] += f64::from(x) * f64::from(x) / rows;
            }
            let scaled = |(&column, &x): (&u32, &f32)| match square[column as usize] {
                s if s > 0.0 => (f64::from(x) / f64::sqrt(s)) as f32,
                _ => x,
            };
            with_values(sparse, sparse.columns().iter().zip(sparse.values()).map(scaled).collect())
        }
    }
}

fn with_values(sparse: &SparseFeatures, values: Vec<f32>) -> Result<Features, GraphError> {
    let (offsets, columns) = (sparse.offsets().to_vec(), sparse.columns().to_vec());
    Ok(SparseFeatures::new(sparse.rows(), sparse.cols(), offsets, columns, values)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(rows: usize, values: Vec<f32>) -> Arc<Features> {
        Arc::new(DenseFeatures::new(rows, values.len() / rows, values).unwrap().into())
    }

    #[test]
    fn rows_sum_to_one_and_rows_of_zeros_stay() {
        let prepared = Preparation::Rows.apply(&dense(2, vec![1.0, 3.0, 0.0, 0.0])).unwrap();
        assert_eq!(prepared, dense(2, vec![0.25, 0.75, 0.0, 0.0]));
        let sparse = SparseFeatures::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![1.0, 3.0]).unwrap();
        let expected = SparseFeatures::new(2, 3, vec![0, 2, 2], vec![0, 2], vec![0.25, 0.75]).unwrap();
        assert_eq!(*Preparation::Rows.apply(&Arc::new(sparse.into())).unwrap(), expected.into());
    }

    #[test]
    fn sparse_features_that_are_well_filled_get_rows_of_length_one() {
        let full = SparseFeatures::new(1, 2, vec![0, 2], vec![0, 1], vec![3.0, 4.0]).unwrap();
        let full = Arc::new(Features::from(full));
        assert_eq!(Preparation::Auto.resolve(&full), Preparation::Lengths);
        let expected = SparseFeatures::new(1, 2, vec![0, 2], vec![0, 1], vec![0.6, 0.8]).unwrap();
        assert_eq!(*Preparation::Auto.apply(&full).unwrap(), expected.into());
        let words = SparseFeatures::new(1, 20, vec![0, 2], vec![0, 1], vec![1.0, 1.0]).unwrap();
        assert_eq!(Preparation::Auto.resolve(&words.into()), Preparation::Rows);
    }

    #[test]
    fn standardised_columns_have_mean_zero_and_deviation_one_and_constant_ones_become_zero() {
        let prepared = Preparation::Auto.apply(&dense(2, vec![1.0, 7.0, 3.0, 7.0])).unwrap();
        assert_eq!(prepared, dense(2, vec![-1.0, 0.0, 1.0, 0.0]));
    }

    #[test]
    fn none_shares_the_features() {
        let features = dense(1, vec![1.0]);
        assert!(Arc::ptr_eq(&Preparation::None.apply(&features).unwrap(), &features));
    }
}
