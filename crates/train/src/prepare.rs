//! Feature preparation: a named step of the run.

use std::sync::Arc;

use edgepace_graph::bytes::{array, total};
use edgepace_graph::{DenseFeatures, Features, GraphError, SparseFeatures};
use serde::{Deserialize, Serialize};

use crate::error::TrainError;

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
    /// Each column gets mean 0 and standard deviation 1, and is 0 where it has no spread. Sparse columns are only divided by their
    /// root mean square, because a shift would fill the matrix.
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

    /// The step with what it takes from these features, to be applied to them and to others. Statistics are over all nodes: no
    /// label takes part.
    #[must_use]
    pub fn fit(self, features: &Features) -> Fitted {
        match self.resolve(features) {
            Preparation::Standardise => standardisation(features),
            step => Fitted { step, columns: features.cols(), mean: Vec::new(), deviation: Vec::new() },
        }
    }

    /// The prepared features: fitted on them, and applied to them.
    ///
    /// # Errors
    /// As [`Fitted::apply`].
    pub fn apply(self, features: &Arc<Features>) -> Result<Arc<Features>, TrainError> {
        self.fit(features).apply(features)
    }
}

/// A preparation with what it took from the features that it was fitted on, as means and deviations of their columns. It does
/// the same to any other features of as many columns: what a model was trained on is what it meets later.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    step: Preparation,
    columns: usize,
    /// By column, for `standardise`; all 0 where features are sparse. Otherwise empty.
    mean: Vec<f32>,
    /// What is divided by, by column, for `standardise`; 0 for a column without spread. Otherwise empty.
    deviation: Vec<f32>,
}

impl Fitted {
    /// The same again from what [`Fitted::mean`] and [`Fitted::deviation`] gave, as a file keeps them.
    ///
    /// # Errors
    /// `standardise` without a mean and a deviation for each column, or with one that is no deviation, or another step with such.
    pub fn restored(
        step: Preparation,
        columns: usize,
        mean: Vec<f32>,
        deviation: Vec<f32>,
    ) -> Result<Self, TrainError> {
        let expected = if step == Preparation::Standardise { columns } else { 0 };
        for (field, numbers) in [("feature means", &mean), ("feature deviations", &deviation)] {
            if numbers.len() != expected {
                return Err(TrainError::refused(field, numbers.len().to_string(), expected.to_string()));
            }
        }
        let wrong = |&&x: &&f32| !x.is_finite();
        if let Some(x) = mean.iter().find(wrong) {
            return Err(TrainError::refused("feature means", x.to_string(), "finite numbers"));
        }
        if let Some(x) = deviation.iter().find(|x| wrong(x) || **x < 0.0) {
            return Err(TrainError::refused(
                "feature deviations",
                x.to_string(),
                "finite numbers, at least 0",
            ));
        }
        Ok(Self { step, columns, mean, deviation })
    }

    /// The step; never `Auto`.
    pub fn step(&self) -> Preparation {
        self.step
    }

    /// The columns of features that it can be applied to.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// What is taken from each column; empty where nothing is.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// What each column is divided by, 0 meaning that it becomes 0; empty where nothing is.
    pub fn deviation(&self) -> &[f32] {
        &self.deviation
    }

    /// The prepared features.
    ///
    /// # Errors
    /// Features of another number of columns, or a result that is not finite, as from numbers near the largest that there are.
    pub fn apply(&self, features: &Arc<Features>) -> Result<Arc<Features>, TrainError> {
        if features.cols() != self.columns {
            let expected = format!("{}, as in training", self.columns);
            return Err(TrainError::refused("columns of features", features.cols().to_string(), expected));
        }
        let prepared = match self.step {
            Preparation::None | Preparation::Auto => return Ok(Arc::clone(features)),
            Preparation::Rows => divided(features, |row| row.map(f64::abs).sum()),
            Preparation::Lengths => divided(features, |row| row.map(|x| x * x).sum::<f64>().sqrt()),
            Preparation::Standardise => self.standardised(features),
        };
        Ok(Arc::new(prepared?))
    }

    /// (x − mean) / deviation by column. Where a mean is not 0, what is not stored has a value too.
    fn standardised(&self, features: &Features) -> Result<Features, GraphError> {
        let value = |column: usize, x: f32| match f64::from(self.deviation[column]) {
            0.0 => 0.0,
            deviation => ((f64::from(x) - f64::from(self.mean[column])) / deviation) as f32,
        };
        let (rows, cols) = (features.rows(), features.cols());
        let shifted = self.mean.iter().any(|&mean| mean != 0.0);
        match features {
            Features::Dense(dense) => {
                let values = dense.values().iter().enumerate().map(|(i, &x)| value(i % cols, x)).collect();
                Ok(DenseFeatures::new(rows, cols, values)?.into())
            }
            Features::Sparse(sparse) if shifted => {
                let of_zero: Vec<f32> = (0..cols).map(|column| value(column, 0.0)).collect();
                let mut values = of_zero.repeat(rows);
                for (row, bounds) in sparse.offsets().windows(2).enumerate() {
                    for position in bounds[0]..bounds[1] {
                        let column = sparse.columns()[position] as usize;
                        values[row * cols + column] = value(column, sparse.values()[position]);
                    }
                }
                Ok(DenseFeatures::new(rows, cols, values)?.into())
            }
            Features::Sparse(sparse) => {
                let cells = sparse.columns().iter().zip(sparse.values());
                with_values(sparse, cells.map(|(&column, &x)| value(column as usize, x)).collect())
            }
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

/// Mean and standard deviation of each column, or 0 and the root mean square where zeros are not stored.
fn standardisation(features: &Features) -> Fitted {
    let cols = features.cols();
    let rows = features.rows().max(1) as f64;
    let (mut mean, mut square) = (vec![0.0; cols], vec![0.0; cols]);
    // A mean in single precision is exact for a column of equal numbers, which then has no spread.
    let rounded = match features {
        Features::Dense(dense) => {
            let by_row = || dense.values().chunks_exact(cols.max(1));
            for row in by_row() {
                mean.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x) / rows);
            }
            let rounded: Vec<f32> = mean.iter().map(|&mean| mean as f32).collect();
            for row in by_row() {
                for ((sum, &x), &mean) in square.iter_mut().zip(row).zip(&rounded) {
                    *sum += (f64::from(x) - f64::from(mean)).powi(2) / rows;
                }
            }
            rounded
        }
        Features::Sparse(sparse) => {
            for (&column, &x) in sparse.columns().iter().zip(sparse.values()) {
                square[column as usize] += f64::from(x) * f64::from(x) / rows;
            }
            vec![0.0; cols]
        }
    };
    let deviation = square.iter().map(|&square| f64::sqrt(square) as f32).collect();
    Fitted { step: Preparation::Standardise, columns: cols, mean: rounded, deviation }
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
    fn what_was_fitted_on_one_matrix_is_done_to_another() {
        let fitted = Preparation::Standardise.fit(&dense(2, vec![1.0, 7.0, 0.1, 3.0, 7.0, 0.1]));
        let again = Fitted::restored(fitted.step(), 3, fitted.mean().to_vec(), fitted.deviation().to_vec());
        assert_eq!(again.unwrap(), fitted);
        let expected = dense(1, vec![8.0, 0.0, 0.0]);
        assert_eq!(
            fitted.apply(&dense(1, vec![10.0, 9.0, 0.2])).unwrap(),
            expected,
            "not its own statistics"
        );
        let sparse = SparseFeatures::new(1, 3, vec![0, 1], vec![0], vec![10.0]).unwrap();
        assert_eq!(fitted.apply(&Arc::new(sparse.into())).unwrap(), expected, "however they are stored");
        let error = fitted.apply(&dense(1, vec![1.0, 2.0])).unwrap_err().to_string();
        assert!(
            error.contains("columns of features") && error.contains('2') && error.contains('3'),
            "{error}"
        );
    }

    #[test]
    fn statistics_that_no_features_have_are_refused() {
        let restored = |step, mean: &[f32], deviation: &[f32]| {
            Fitted::restored(step, 1, mean.to_vec(), deviation.to_vec()).is_ok()
        };
        assert!(restored(Preparation::Standardise, &[1.0], &[0.0]) && restored(Preparation::Rows, &[], &[]));
        assert!(
            !restored(Preparation::Standardise, &[], &[1.0]) && !restored(Preparation::Rows, &[1.0], &[1.0])
        );
        assert!(!restored(Preparation::Standardise, &[f32::NAN], &[1.0]));
        assert!(!restored(Preparation::Standardise, &[1.0], &[-1.0]));
    }

    #[test]
    fn none_shares_the_features() {
        let features = dense(1, vec![1.0]);
        assert!(Arc::ptr_eq(&Preparation::None.apply(&features).unwrap(), &features));
    }
}
