//! The figures of the paper, read from `plans/paper.csv`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::tables::PaperValue;

/// Table, backbone, method and dataset.
type Key = [String; 4];

static FIGURES: LazyLock<BTreeMap<Key, PaperValue>> = LazyLock::new(|| {
    let lines = include_str!("../../plans/paper.csv").lines().skip(1);
    lines.filter_map(line).collect()
});

/// A line without a number, as where the paper ran out of memory, is no figure.
fn line(line: &str) -> Option<(Key, PaperValue)> {
    let fields: Vec<&str> = line.split(',').collect();
    let [table, backbone, method, dataset, mean, sd] = fields[..] else { return None };
    let key = [table, backbone, method, dataset].map(ToOwned::to_owned);
    Some((key, PaperValue { mean: mean.parse().ok()?, sd: sd.parse().ok() }))
}

/// What the paper says for a cell.
pub(super) fn figure(table: &str, backbone: &str, method: &str, dataset: &str) -> Option<PaperValue> {
    FIGURES.get(&[table, backbone, method, dataset].map(ToOwned::to_owned)).copied()
}

/// How many figures it has for a table.
#[cfg(test)]
pub(super) fn count(table: &str) -> usize {
    FIGURES.keys().filter(|key| key[0] == table).count()
}
