//! How many words a node has, as columns beside its words.
//!
//! Rows of length 1 do not tell it. Where nodes have a handful of words each, that is much of what there was to know: an actor
//! with one word is of another class than one with eleven. The count n is at x = 2 log₂(1 + n) among columns that are half an
//! octave apart, and the two next to it share a 1 by how near they are, so that a linear map of the columns is a piecewise
//! linear function of x.

use edgepace_graph::{DenseFeatures, Features, GraphError, SparseFeatures};

/// Columns that are added: the last one is for 1023 words or more.
pub(crate) const COLUMNS: usize = 21;
/// Columns to an octave.
const PER_OCTAVE: f64 = 2.0;
/// Numbers that are stored of each count.
pub(crate) const STORED: usize = 2;

/// The same features with the columns of their counts behind them.
///
/// # Errors
/// More columns than there are ids.
pub(crate) fn with_counts(features: &Features) -> Result<Features, GraphError> {
    let (rows, cols) = (features.rows(), features.cols());
    match features {
        Features::Dense(dense) => {
            let mut values = Vec::with_capacity(rows * (cols + COLUMNS));
            for row in 0..rows {
                let own = &dense.values()[row * cols..][..cols];
                values.extend_from_slice(own);
                let mut beside = [0.0; COLUMNS];
                for (column, share) in places(own.iter().filter(|&&x| x != 0.0).count()) {
                    beside[column] += share;
                }
                values.extend_from_slice(&beside);
            }
            Ok(DenseFeatures::new(rows, cols + COLUMNS, values)?.into())
        }
        Features::Sparse(sparse) => {
            let stored = sparse.values().len() + STORED * rows;
            let mut offsets = Vec::with_capacity(rows + 1);
            let (mut columns, mut values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
            offsets.push(0);
            for row in sparse.offsets().windows(2) {
                let own = &sparse.values()[row[0]..row[1]];
                columns.extend_from_slice(&sparse.columns()[row[0]..row[1]]);
                values.extend_from_slice(own);
                for (column, share) in places(own.iter().filter(|&&x| x != 0.0).count()) {
                    if share > 0.0 {
                        columns.push((cols + column) as u32);
                        values.push(share);
                    }
                }
                offsets.push(values.len());
            }
            Ok(SparseFeatures::new(rows, cols + COLUMNS, offsets, columns, values)?.into())
        }
    }
}

/// The columns that share a count, in order, and their shares.
fn places(count: usize) -> [(usize, f32); STORED] {
    let at = (PER_OCTAVE * libm::log2(1.0 + count as f64)).min((COLUMNS - 1) as f64);
    let first = (at as usize).min(COLUMNS - 2);
    let share = (at - first as f64) as f32;
    [(first, 1.0 - share), (first + 1, share)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_shared_by_the_columns_next_to_it() {
        assert_eq!(places(0), [(0, 1.0), (1, 0.0)]);
        assert_eq!(places(1), [(2, 1.0), (3, 0.0)]);
        assert_eq!(places(7), [(6, 1.0), (7, 0.0)]);
        let [(first, less), (second, more)] = places(2);
        assert_eq!((first, second), (3, 4));
        assert!((f64::from(more) - 0.169_925).abs() < 1e-6 && less + more == 1.0, "{less} {more}");
        for count in [1023, 1024, 1_000_000, usize::MAX] {
            assert_eq!(places(count), [(COLUMNS - 2, 0.0), (COLUMNS - 1, 1.0)]);
        }
    }

    #[test]
    fn dense_and_sparse_features_get_the_same_columns() {
        let values = vec![0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0];
        let dense = DenseFeatures::new(3, 3, values).unwrap();
        let sparse = SparseFeatures::new(
            3,
            3,
            vec![0, 3, 3, 6],
            vec![0, 1, 2, 0, 1, 2],
            vec![
                // A zero that is stored is no word.
                0.5, 0.0, 0.5, 1.0, 2.0, 3.0,
            ],
        )
        .unwrap();
        let [dense, sparse] =
            [Features::from(dense), sparse.into()].map(|features| with_counts(&features).unwrap());
        assert_eq!(dense.cols(), 3 + COLUMNS);
        let (Features::Dense(dense), Features::Sparse(sparse)) = (&dense, &sparse) else {
            panic!("the storage stays as it was")
        };
        let mut values = vec![0.0; dense.values().len()];
        for row in 0..3 {
            for at in sparse.offsets()[row]..sparse.offsets()[row + 1] {
                values[row * sparse.cols() + sparse.columns()[at] as usize] = sparse.values()[at];
            }
        }
        assert_eq!(values, dense.values());
        assert_eq!(&dense.values()[24 + 3..][..2], [1.0, 0.0]);
    }
}
