use std::sync::Arc;

use edgepace_graph::{DenseFeatures, Features, GraphError, SparseFeatures};
use proptest::prelude::*;

/// A matrix as plain rows, about half of it zeros.
fn matrices() -> impl Strategy<Value = (usize, usize, Vec<f32>)> {
    (0_usize..6, 0_usize..6).prop_flat_map(|(rows, cols)| {
        let value = prop_oneof![Just(0.0_f32), -9.0_f32..9.0];
        (Just(rows), Just(cols), prop::collection::vec(value, rows * cols))
    })
}

fn compress(rows: usize, cols: usize, values: &[f32]) -> SparseFeatures {
    let (mut offsets, mut columns, mut stored) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        for column in 0..cols {
            let value = values[row * cols + column];
            if value != 0.0 {
                columns.push(column as u32);
                stored.push(value);
            }
        }
        offsets.push(columns.len());
    }
    SparseFeatures::new(rows, cols, offsets, columns, stored).unwrap()
}

proptest! {
    #[test]
    fn the_transpose_of_a_sparse_matrix_is_the_transpose_of_the_dense_one((rows, cols, values) in matrices()) {
        let mut exchanged = vec![0.0; values.len()];
        for row in 0..rows {
            for column in 0..cols {
                exchanged[column * rows + row] = values[row * cols + column];
            }
        }
        let sparse = compress(rows, cols, &values);
        prop_assert_eq!(sparse.transpose(), compress(cols, rows, &exchanged));
        prop_assert_eq!(sparse.transpose().transpose(), sparse);
    }

    #[test]
    fn density_and_shape_do_not_depend_on_the_storage((rows, cols, values) in matrices()) {
        let sparse: Features = compress(rows, cols, &values).into();
        let non_zero = values.iter().filter(|&&value| value != 0.0).count();
        let dense: Features = DenseFeatures::new(rows, cols, values).unwrap().into();
        for features in [&sparse, &dense] {
            prop_assert_eq!((features.rows(), features.cols()), (rows, cols));
            let expected = non_zero as f64 / (rows * cols).max(1) as f64;
            prop_assert!((features.density() - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn stored_zeros_do_not_count_as_density() {
    let sparse = SparseFeatures::new(1, 4, vec![0, 2], vec![0, 3], vec![0.0, 5.0]).unwrap();
    assert!((Features::Sparse(sparse).density() - 0.25).abs() < 1e-12);
}

#[test]
fn parts_are_given_back_as_they_came() {
    let sparse = SparseFeatures::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0]).unwrap();
    assert_eq!((sparse.rows(), sparse.cols()), (2, 3));
    assert_eq!(sparse.offsets(), [0, 2, 3]);
    assert_eq!(sparse.columns(), [0, 2, 1]);
    assert_eq!(sparse.values(), [1.0, 2.0, 3.0]);
    let dense = DenseFeatures::new(2, 1, vec![4.0, 5.0]).unwrap();
    assert_eq!((dense.rows(), dense.cols()), (2, 1));
    assert_eq!(dense.values(), [4.0, 5.0]);
    assert_eq!(dense.into_values(), [4.0, 5.0]);
}

#[test]
fn a_dense_matrix_needs_rows_times_columns_values() {
    let error = DenseFeatures::new(2, 3, vec![0.0; 5]).unwrap_err();
    let rule = "rows × columns values, row after row";
    assert_eq!(error, GraphError::Length { field: "values", found: 5, expected: 6, rule });
    assert_eq!(
        error.to_string(),
        "`values` has 5 entries, expected 6: pass rows × columns values, row after row"
    );
}

#[test]
fn dense_features_that_are_not_finite_are_refused_by_row_and_column() {
    let error = DenseFeatures::new(2, 2, vec![0.0, 1.0, f32::INFINITY, 2.0]).unwrap_err();
    let value = f32::INFINITY;
    assert_eq!(error, GraphError::FeatureNotFinite { position: 2, row: 1, column: 0, value });
    let error = DenseFeatures::new(2, 2, vec![0.0, 1.0, 2.0, f32::NAN]).unwrap_err();
    assert!(matches!(
        error,
        GraphError::FeatureNotFinite { position: 3, row: 1, column: 1, value } if value.is_nan()
    ));
    assert_eq!(
        error.to_string(),
        "feature `values`[3] (row 1, column 1) is NaN: \
         replace missing or infinite features by finite numbers"
    );
}

#[test]
fn sparse_features_that_are_not_finite_are_refused_by_row_and_column() {
    // The bad value stands in row 2, after an empty row.
    let error =
        SparseFeatures::new(3, 9, vec![0, 1, 1, 2], vec![4, 7], vec![1.0, f32::NEG_INFINITY]).unwrap_err();
    let value = f32::NEG_INFINITY;
    assert_eq!(error, GraphError::FeatureNotFinite { position: 1, row: 2, column: 7, value });
    let error = SparseFeatures::new(1, 9, vec![0, 1], vec![4], vec![f32::NAN]).unwrap_err();
    assert!(matches!(
        error,
        GraphError::FeatureNotFinite { position: 0, row: 0, column: 4, value } if value.is_nan()
    ));
}

#[test]
fn sparse_parts_of_the_wrong_length_are_refused() {
    let length = |field, found, expected, rule| Err(GraphError::Length { field, found, expected, rule });
    assert_eq!(
        SparseFeatures::new(2, 2, vec![0, 1], vec![0], vec![1.0]),
        length("offsets", 2, 3, "one offset per row and a last one for the end")
    );
    assert_eq!(
        SparseFeatures::new(1, 2, vec![0, 2], vec![0], vec![1.0, 2.0]),
        length("columns", 1, 2, "one column per stored value (the last offset)")
    );
    assert_eq!(
        SparseFeatures::new(1, 2, vec![0, 1], vec![0], vec![]),
        length("values", 0, 1, "one value per column (the last offset)")
    );
    assert_eq!(
        SparseFeatures::new(0, 0, vec![], vec![], vec![]),
        length("offsets", 0, 1, "one offset per row and a last one for the end")
    );
}

#[test]
fn offsets_must_start_at_zero_and_never_decrease() {
    let error = SparseFeatures::new(1, 2, vec![1, 1], vec![0], vec![1.0]).unwrap_err();
    assert_eq!(error, GraphError::OffsetsStart { value: 1 });
    assert_eq!(error.to_string(), "`offsets`[0] is 1, expected 0: the first row starts at the first entry");

    let error = SparseFeatures::new(3, 2, vec![0, 2, 1, 2], vec![0, 1], vec![1.0, 1.0]).unwrap_err();
    assert_eq!(error, GraphError::OffsetsDecrease { position: 2, value: 1, previous: 2 });
    assert_eq!(
        error.to_string(),
        "`offsets`[2] is 1, below 2 before it: offsets are running totals and must never decrease"
    );
}

#[test]
fn a_column_out_of_range_is_refused_with_its_row() {
    let error = SparseFeatures::new(2, 3, vec![0, 1, 2], vec![2, 3], vec![1.0, 1.0]).unwrap_err();
    assert_eq!(error, GraphError::ColumnOutOfRange { position: 1, row: 1, value: 3, cols: 3 });
    assert_eq!(
        error.to_string(),
        "`columns`[1] (row 1) is 3, but there are 3 columns: \
         columns count from 0 and must be below that number"
    );
}

#[test]
fn columns_must_ascend_strictly_within_a_row_but_start_again_in_the_next() {
    let with_columns = |columns| SparseFeatures::new(2, 3, vec![0, 2, 3], columns, vec![1.0; 3]);
    assert!(with_columns(vec![1, 2, 0]).is_ok());
    let error = with_columns(vec![2, 1, 0]).unwrap_err();
    assert_eq!(error, GraphError::ColumnsNotAscending { position: 1, row: 0, value: 1, previous: 2 });
    assert_eq!(
        error.to_string(),
        "`columns`[1] (row 0) is 1, not above 2 before it: \
         sort the columns of each row and join repeated ones"
    );
    assert_eq!(
        with_columns(vec![1, 1, 0]),
        Err(GraphError::ColumnsNotAscending { position: 1, row: 0, value: 1, previous: 1 })
    );
}

#[test]
fn shapes_beyond_the_ids_are_refused_before_anything_is_multiplied() {
    let (found, limit) = (usize::MAX, u32::MAX as usize - 1);
    assert_eq!(
        DenseFeatures::new(found, 2, vec![]),
        Err(GraphError::TooMany { field: "rows", found, limit })
    );
    assert_eq!(
        SparseFeatures::new(0, found, vec![0], vec![], vec![]),
        Err(GraphError::TooMany { field: "columns", found, limit })
    );
}

#[test]
fn equal_numbers_are_stored_alike_however_they_came() {
    let few = vec![0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, -1.0];
    let many = vec![1.0, 0.0, 2.0, 3.0, 0.0, 5.0, 6.0, -1.0];
    for (values, sparse) in [(few, true), (many, false)] {
        let dense = Arc::new(Features::from(DenseFeatures::new(2, 4, values.clone()).unwrap()));
        // Every number is stored, zeros too.
        let columns = vec![0, 1, 2, 3, 0, 1, 2, 3];
        let stored = Arc::new(Features::from(
            SparseFeatures::new(2, 4, vec![0, 4, 8], columns, values.clone()).unwrap(),
        ));
        let compact = Features::compact(&dense);
        assert_eq!(compact, Features::compact(&stored));
        assert_eq!(matches!(*compact, Features::Sparse(_)), sparse);
        assert_eq!((compact.non_zero(), compact.density()), (dense.non_zero(), dense.density()));
        assert!(Arc::ptr_eq(&compact, &Features::compact(&compact)), "what is stored so already is shared");
    }
    let none = Arc::new(Features::from(DenseFeatures::new(3, 0, Vec::new()).unwrap()));
    assert!(Arc::ptr_eq(&none, &Features::compact(&none)));
}
