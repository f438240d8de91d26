//! Feature preparation: a named step of the run.

use std::sync::Arc;

use edgepace_graph::{DenseFeatures, Features, GraphError, SparseFeatures};
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::word_counts::with_counts;

/// A column or a matrix that is filled to at most this share is mostly 0.
const MOSTLY_ZERO: f64 = 0.5;
/// A column that more than this share of the nodes fill, with other numbers than 0 and 1, is a measurement and no word.
const NEARLY_ALL: f64 = 0.9;

/// Words that half of the nodes must not have more of for their number to be told beside them, on the strong ground
/// (`docs/research.md`).
const FEW_WORDS: usize = 12;

/// What is done to features before training. It follows from their numbers alone, not from how they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preparation {
    /// `lengths` for words and tags: no number is negative, most are 0, and there is no column of numbers other than 0 and 1 that nearly
    /// every node has. `standardise` for all else. Chosen on validation (`docs/results/features.md`). On the strong ground
    /// `counts` in place of `lengths` where half of the nodes have 12 words at most.
    #[default]
    Auto,
    /// Nothing.
    None,
    /// Each row is divided by the sum of its absolute values.
    Rows,
    /// Each row is divided by its Euclidean length, so that long and short documents weigh alike.
    Lengths,
    /// The same, and columns beside them that tell how many numbers of a row are not 0.
    Counts,
    /// Each column gets mean 0 and standard deviation 1, and becomes 0 where all nodes have the same. A column that is mostly 0, as of a
    /// category, keeps its zeros: it is only divided by the root mean square of its other numbers.
    Standardise,
}

impl Preparation {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Preparation::Auto => "auto",
            Preparation::None => "none",
            Preparation::Rows => "rows",
            Preparation::Lengths => "lengths",
            Preparation::Counts => "counts",
            Preparation::Standardise => "standardise",
        }
    }

    /// What features are after it, in words.
    pub fn outcome(self) -> &'static str {
        match self {
            Preparation::Auto | Preparation::None => "as they are",
            Preparation::Rows => "rows of sum 1",
            Preparation::Lengths => "rows of length 1",
            Preparation::Counts => "rows of length 1 with their number of words",
            Preparation::Standardise => "columns of mean 0 and deviation 1",
        }
    }

    /// The step that is taken for these features; never `Auto`.
    #[must_use]
    pub fn resolve(self, features: &Features) -> Preparation {
        if self == Preparation::Auto { self.resolved(&Profile::of(features)) } else { self }
    }

    /// The step that is taken for features like this; never `Auto`.
    #[must_use]
    pub(crate) fn resolved(self, profile: &Profile) -> Preparation {
        match self {
            Preparation::Auto if profile.is_bag() => Preparation::Lengths,
            Preparation::Auto => Preparation::Standardise,
            chosen => chosen,
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

/// What the numbers of features are like, however they are stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Profile {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Numbers that are not 0.
    pub(crate) non_zero: usize,
    /// Rows without any.
    pub(crate) empty_rows: usize,
    /// Half of the rows have no more than so many; none where all have as many.
    usual_in_row: Option<usize>,
    /// Whether nodes differ in any column.
    pub(crate) tells_nodes_apart: bool,
    /// Columns that are not mostly 0.
    filled_columns: usize,
    /// The numbers in them that are not 0.
    non_zero_in_filled: usize,
    negative: bool,
    /// Whether nearly every node has a number in a column of numbers other than 0 and 1.
    measured: bool,
}

impl Profile {
    /// Reads all numbers once.
    pub(crate) fn of(features: &Features) -> Self {
        #[derive(Clone, Copy, Default)]
        struct Column {
            count: usize,
            first: f32,
            varies: bool,
            other_than_one: bool,
        }
        let (rows, cols) = (features.rows(), features.cols());
        // A file may declare more columns than any machine has room for: those without a number tell nothing.
        let used: Option<Vec<u32>> = match features {
            Features::Sparse(sparse) if cols > sparse.columns().len() => {
                let mut used = sparse.columns().to_vec();
                used.sort_unstable();
                used.dedup();
                Some(used)
            }
            _ => None,
        };
        let place = |column: usize| match &used {
            Some(used) => used.partition_point(|&own| (own as usize) < column),
            None => column,
        };
        let mut columns = vec![Column::default(); used.as_ref().map_or(cols, Vec::len)];
        let (mut non_zero, mut empty_rows, mut negative) = (0, 0, false);
        let mut in_rows = Vec::with_capacity(rows);
        for row in 0..rows {
            let before = non_zero;
            each_in_row(features, row, |column, x| {
                let own = &mut columns[place(column)];
                if own.count == 0 {
                    own.first = x;
                }
                own.count += 1;
                own.varies |= x != own.first;
                own.other_than_one |= x != 1.0;
                non_zero += 1;
                negative |= x < 0.0;
            });
            empty_rows += usize::from(before == non_zero);
            in_rows.push(non_zero - before);
        }
        let differ = in_rows.windows(2).any(|pair| pair[0] != pair[1]);
        let usual_in_row = differ.then(|| *in_rows.select_nth_unstable((rows - 1) / 2).1);
        let filled = |column: &&Column| column.count as f64 > MOSTLY_ZERO * rows as f64;
        Self {
            rows,
            columns: cols,
            non_zero,
            empty_rows,
            usual_in_row,
            tells_nodes_apart: columns
                .iter()
                .any(|column| column.varies || (column.count > 0 && column.count < rows)),
            filled_columns: columns.iter().filter(filled).count(),
            non_zero_in_filled: columns.iter().filter(filled).map(|column| column.count).sum(),
            negative,
            measured: columns
                .iter()
                .any(|column| column.other_than_one && column.count as f64 > NEARLY_ALL * rows as f64),
        }
    }

    /// Words, tags and the like.
    pub(crate) fn is_bag(&self) -> bool {
        let cells = self.rows as f64 * self.columns as f64;
        !self.negative && !self.measured && self.non_zero as f64 <= MOSTLY_ZERO * cells
    }

    /// Whether half of the nodes have so few words that their number tells much. As many categories for each node tell nothing.
    pub(crate) fn has_few_words(&self) -> bool {
        self.is_bag() && self.usual_in_row.is_some_and(|words| words <= FEW_WORDS)
    }

    /// How many numbers are stored of such features after a step; none: all of them, as the matrix is dense.
    pub(crate) fn stored(&self, step: Preparation) -> Option<usize> {
        let stored = match step {
            Preparation::Standardise => {
                self.non_zero - self.non_zero_in_filled + self.filled_columns * self.rows
            }
            _ => self.non_zero,
        };
        Features::is_sparse(stored, self.rows, self.columns).then_some(stored)
    }
}

/// Calls `visit` with column and value of each number of a row that is not 0, in order.
fn each_in_row(features: &Features, row: usize, mut visit: impl FnMut(usize, f32)) {
    match features {
        Features::Dense(dense) => {
            let cols = dense.cols();
            let values = &dense.values()[row * cols..(row + 1) * cols];
            for (column, &x) in values.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                visit(column, x);
            }
        }
        Features::Sparse(sparse) => {
            for position in sparse.offsets()[row]..sparse.offsets()[row + 1] {
                let x = sparse.values()[position];
                if x != 0.0 {
                    visit(sparse.columns()[position] as usize, x);
                }
            }
        }
    }
}

/// A preparation with what it took from the features that it was fitted on, as means and deviations of their columns. It does
/// the same to any other features of as many columns: what a model was trained on is what it meets later.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    step: Preparation,
    columns: usize,
    /// By column, for `standardise`; 0 where it is mostly 0. Otherwise empty.
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
        let features = Features::compact(features);
        let prepared = match self.step {
            Preparation::None | Preparation::Auto => return Ok(features),
            Preparation::Rows => divided(&features, |row| row.map(f64::abs).sum()),
            Preparation::Lengths => of_length_one(&features),
            Preparation::Counts => of_length_one(&features).and_then(|rows| with_counts(&rows)),
            Preparation::Standardise => self.standardised(&features),
        };
        Ok(Arc::new(prepared?))
    }

    /// (x − mean) / deviation by column; what is 0 in a column whose mean is not has a value too.
    fn standardised(&self, features: &Features) -> Result<Features, GraphError> {
        let value = |column: usize, x: f32| match f64::from(self.deviation[column]) {
            0.0 => 0.0,
            deviation => ((f64::from(x) - f64::from(self.mean[column])) / deviation) as f32,
        };
        let (rows, cols) = (features.rows(), features.cols());
        let of_zero: Vec<f32> = (0..cols).map(|column| value(column, 0.0)).collect();
        let shifted: Vec<u32> =
            (0..cols).filter(|&column| self.mean[column] != 0.0).map(|column| column as u32).collect();
        let mut stored = shifted.len() * rows;
        for row in 0..rows {
            each_in_row(features, row, |column, _| stored += usize::from(self.mean[column] == 0.0));
        }
        if !Features::is_sparse(stored, rows, cols) {
            let mut values = of_zero.repeat(rows);
            for (row, out) in values.chunks_exact_mut(cols.max(1)).enumerate() {
                each_in_row(features, row, |column, x| out[column] = value(column, x));
            }
            return Ok(DenseFeatures::new(rows, cols, values)?.into());
        }
        let mut offsets = Vec::with_capacity(rows + 1);
        let (mut columns, mut values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
        let (mut rest, mut cells) = (Vec::new(), Vec::new());
        offsets.push(0);
        for row in 0..rows {
            // Columns with a mean have a value in every row, the others where there was one: two sorted lists become one.
            cells.clear();
            each_in_row(features, row, |column, x| cells.push((column as u32, value(column, x))));
            rest.clear();
            rest.extend(shifted.iter().map(|&column| (column, of_zero[column as usize])));
            rest.retain(|(column, _)| cells.binary_search_by_key(column, |cell| cell.0).is_err());
            cells.append(&mut rest);
            cells.sort_unstable_by_key(|cell| cell.0);
            columns.extend(cells.iter().map(|cell| cell.0));
            values.extend(cells.iter().map(|cell| cell.1));
            offsets.push(values.len());
        }
        Ok(SparseFeatures::new(rows, cols, offsets, columns, values)?.into())
    }
}

fn of_length_one(features: &Features) -> Result<Features, GraphError> {
    divided(features, |row| row.map(|x| x * x).sum::<f64>().sqrt())
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

/// Mean and standard deviation of each column; 0 and the root mean square of what is not 0 for one that is mostly 0.
fn standardisation(features: &Features) -> Fitted {
    let (rows, cols) = (features.rows(), features.cols());
    let (mut counts, mut sums) = (vec![0_usize; cols], vec![0.0_f64; cols]);
    for row in 0..rows {
        each_in_row(features, row, |column, x| {
            counts[column] += 1;
            sums[column] += f64::from(x);
        });
    }
    let filled = |count: usize| count as f64 > MOSTLY_ZERO * rows as f64;
    // A mean in single precision is exact for a column of equal numbers, which then has no spread.
    let mean: Vec<f32> = counts
        .iter()
        .zip(&sums)
        .map(|(&count, &sum)| if filled(count) { (sum / rows as f64) as f32 } else { 0.0 })
        .collect();
    let mut squares = vec![0.0_f64; cols];
    for row in 0..rows {
        each_in_row(features, row, |column, x| {
            squares[column] += (f64::from(x) - f64::from(mean[column])).powi(2);
        });
    }
    let deviation = |column: usize| {
        let (count, mean) = (counts[column], f64::from(mean[column]));
        let zeros = if filled(count) { rows - count } else { 0 };
        let square = squares[column] + zeros as f64 * mean * mean;
        (square / (count + zeros).max(1) as f64).sqrt() as f32
    };
    let deviation = (0..cols).map(deviation).collect();
    Fitted { step: Preparation::Standardise, columns: cols, mean, deviation }
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
        let prepared = Preparation::Rows.apply(&dense(3, vec![1.0, 3.0, 0.0, 0.0, 2.0, 2.0])).unwrap();
        assert_eq!(prepared, dense(3, vec![0.25, 0.75, 0.0, 0.0, 0.5, 0.5]));
        let sparse = SparseFeatures::new(2, 4, vec![0, 2, 2], vec![0, 2], vec![1.0, 3.0]).unwrap();
        let expected = SparseFeatures::new(2, 4, vec![0, 2, 2], vec![0, 2], vec![0.25, 0.75]).unwrap();
        assert_eq!(*Preparation::Rows.apply(&Arc::new(sparse.into())).unwrap(), expected.into());
    }

    /// The same numbers, each of them stored, zeros too.
    fn all_stored(dense: &Features) -> Arc<Features> {
        let Features::Dense(own) = dense else { panic!("dense features") };
        let (rows, cols) = (own.rows(), own.cols());
        let columns = (0..rows).flat_map(|_| 0..cols as u32).collect();
        let offsets = (0..=rows).map(|row| row * cols).collect();
        Arc::new(SparseFeatures::new(rows, cols, offsets, columns, own.values().to_vec()).unwrap().into())
    }

    /// Two categories of three values each and a number that every node has, which is seldom 0.
    fn table(nodes: usize) -> Arc<Features> {
        let row = |node: usize| {
            let mut row = [0.0; 7];
            row[node % 3] = 1.0;
            row[3 + (node / 3) % 3] = 1.0;
            row[6] = 1000.0 + (node % 10) as f32;
            row
        };
        dense(nodes, (0..nodes).flat_map(row).collect())
    }

    fn words() -> Arc<Features> {
        dense(4, vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 4.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    }

    #[test]
    fn what_is_done_follows_from_the_numbers_and_not_from_how_they_are_stored() {
        let coordinates = dense(3, vec![0.5, -1.0, 2.0, 0.0, 1.0, 3.0]);
        let cases = [
            (words(), Preparation::Lengths),
            (table(30), Preparation::Standardise),
            (coordinates, Preparation::Standardise),
        ];
        for (features, expected) in cases {
            let stored = all_stored(&features);
            for step in [Preparation::Auto, Preparation::None, Preparation::Rows, Preparation::Standardise] {
                assert_eq!(step.fit(&features), step.fit(&stored));
                assert_eq!(step.apply(&features).unwrap(), step.apply(&stored).unwrap(), "{step:?}");
            }
            assert_eq!(Preparation::Auto.resolve(&features), expected);
            // How much will be stored is known before it is.
            for step in [Preparation::None, Preparation::Lengths, Preparation::Standardise] {
                let found = match &*step.apply(&features).unwrap() {
                    Features::Dense(_) => None,
                    Features::Sparse(sparse) => Some(sparse.values().len()),
                };
                assert_eq!(found, Profile::of(&features).stored(step), "{step:?}");
            }
        }
    }

    #[test]
    fn categories_keep_their_zeros_beside_numbers_of_another_scale() {
        let prepared = Preparation::Auto.apply(&table(30)).unwrap();
        let Features::Sparse(prepared) = &*prepared else { panic!("three of seven are filled") };
        for (node, row) in prepared.values().chunks_exact(3).enumerate() {
            let place = [node % 3, 3 + (node / 3) % 3, 6].map(|column| column as u32);
            assert_eq!(prepared.columns()[3 * node..3 * node + 3], place);
            assert!(row[..2] == [1.0, 1.0] && row[2].abs() < 2.0, "{row:?}");
        }
        let mean = prepared.values().chunks_exact(3).map(|row| f64::from(row[2])).sum::<f64>();
        assert!(mean.abs() < 1e-4, "{mean}");
    }

    #[test]
    fn a_filled_column_among_many_that_are_not_is_shifted_where_the_matrix_stays_sparse() {
        // Twelve values of a category, and a year.
        let row = |node: usize| {
            let mut row = [0.0; 13];
            row[node % 12] = 2.0;
            row[12] = 2000.0 + (node % 2) as f32;
            row
        };
        let prepared = Preparation::Standardise.apply(&dense(24, (0..24).flat_map(row).collect())).unwrap();
        let Features::Sparse(prepared) = &*prepared else { panic!("two of thirteen are filled") };
        for node in 0..24 {
            let stored = 2 * node..2 * node + 2;
            assert_eq!(prepared.columns()[stored.clone()], [node as u32 % 12, 12]);
            assert_eq!(prepared.values()[stored], [1.0, if node % 2 == 0 { -1.0 } else { 1.0 }]);
        }
    }

    #[test]
    fn words_get_rows_of_length_one() {
        let prepared = Preparation::Auto.apply(&words()).unwrap();
        let expected =
            SparseFeatures::new(4, 4, vec![0, 1, 3, 4, 4], vec![0, 2, 3, 0], vec![1.0, 0.6, 0.8, 1.0])
                .unwrap();
        assert_eq!(*prepared, expected.into(), "a quarter of the numbers is not 0");
    }

    #[test]
    fn a_profile_knows_rows_and_columns_that_say_nothing() {
        assert_eq!(Profile::of(&words()).empty_rows, 1);
        for (values, tells) in
            [(vec![1.0, 1.0], false), (vec![0.0, 0.0], false), (vec![0.0, 1.0], true), (vec![2.0, 1.0], true)]
        {
            assert_eq!(Profile::of(&dense(2, values.clone())).tells_nodes_apart, tells, "{values:?}");
        }
        let none = Features::from(DenseFeatures::new(3, 0, Vec::new()).unwrap());
        assert!(!Profile::of(&none).tells_nodes_apart);
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
