//! Noise in features.

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Dataset, DenseFeatures, Features, SparseFeatures, Threads};
use rustc_hash::FxHashSet;

use super::stream;
use crate::draw::choose;
use crate::{DataError, error::request_error};

/// See [`Noise::perturb`](super::Noise::perturb).
pub(super) fn perturb(
    threads: &Threads,
    dataset: Dataset,
    amount: f64,
    seed: u64,
) -> Result<Dataset, DataError> {
    let noise = stream(seed, Purpose::PerturbedFeatures, 0);
    let features = match &**dataset.features() {
        Features::Dense(dense) => Features::from(shake(threads, dense, amount, noise)?),
        Features::Sparse(_) if amount > 1.0 => {
            let expected = "a share from 0 to 1: these features are sparse, and their values are moved";
            return Err(request_error("noise: perturb", amount.to_string(), expected));
        }
        Features::Sparse(sparse) => Features::from(scatter(threads, sparse, amount, noise)?),
    };
    Ok(dataset.with_features(features)?)
}

/// Adds normal noise of `amount` standard deviations of each column.
fn shake(
    threads: &Threads,
    dense: &DenseFeatures,
    amount: f64,
    noise: Stream,
) -> Result<DenseFeatures, DataError> {
    let (rows, cols) = (dense.rows(), dense.cols());
    // One after the other, so that the sums are the same everywhere.
    let mut means = vec![0.0_f64; cols];
    let mut deviations = vec![0.0_f64; cols];
    for row in dense.values().chunks_exact(cols.max(1)) {
        means.iter_mut().zip(row).for_each(|(mean, &value)| *mean += f64::from(value) / rows as f64);
    }
    for row in dense.values().chunks_exact(cols.max(1)) {
        for ((deviation, mean), &value) in deviations.iter_mut().zip(&means).zip(row) {
            *deviation += (f64::from(value) - mean) * (f64::from(value) - mean) / rows as f64;
        }
    }
    for deviation in &mut deviations {
        *deviation = deviation.sqrt();
    }
    let shaken = |position: usize| {
        let value = f64::from(dense.values()[position]);
        (value + amount * deviations[position % cols] * noise.normal(position as u64)) as f32
    };
    let values = threads.map(dense.values().len(), shaken);
    Ok(DenseFeatures::new(rows, cols, values)?)
}

/// Moves `share` of the values of each row to columns where the row has none, as far as there are such columns.
fn scatter(
    threads: &Threads,
    sparse: &SparseFeatures,
    share: f64,
    noise: Stream,
) -> Result<SparseFeatures, DataError> {
    let cols = sparse.cols();
    let scattered = |row: usize| {
        let range = sparse.offsets()[row]..sparse.offsets()[row + 1];
        let own = &sparse.columns()[range.clone()];
        let count = ((share * own.len() as f64).round() as usize).min(cols - own.len());
        // The stored values have positions of their own in the stream; the row's key chooses among them and the columns.
        let key = noise.word(row as u64);
        let moves = choose(stream(key, Purpose::PerturbedFeatures, 1), own.len(), count);
        let mut free = free_columns(own, cols, count, stream(key, Purpose::PerturbedFeatures, 2)).into_iter();
        let mut entries: Vec<(u32, f32)> = Vec::with_capacity(own.len());
        for ((&column, &value), moved) in own.iter().zip(&sparse.values()[range]).zip(moves) {
            entries.push((if moved { free.next().unwrap_or(column) } else { column }, value));
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        entries
    };
    let rows: Vec<Vec<(u32, f32)>> = threads.map(sparse.rows(), scattered);
    let (columns, values) = rows.into_iter().flatten().unzip();
    Ok(SparseFeatures::new(sparse.rows(), cols, sparse.offsets().to_vec(), columns, values)?)
}

/// `count` distinct columns that `own`, ascending, does not hold, in random order.
fn free_columns(own: &[u32], cols: usize, count: usize, noise: Stream) -> Vec<u32> {
    if 2 * (own.len() + count) > cols {
        let free: Vec<u32> = (0..cols as u32).filter(|column| own.binary_search(column).is_err()).collect();
        let order = crate::draw::permutation(&Threads::one(), noise, free.len());
        return order.into_iter().take(count).map(|place| free[place as usize]).collect();
    }
    // At least half of all draws are new.
    let mut seen = FxHashSet::default();
    let draws = (0..).map(|position| noise.below(position, cols as u64) as u32);
    draws.filter(|column| own.binary_search(column).is_err() && seen.insert(*column)).take(count).collect()
}
