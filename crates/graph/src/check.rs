//! What the constructors make sure of, for parts that were taken on trust: a file may have right checksums and wrong content.
//!
//! Every check is O(size), shared by the threads, and allocates nothing that grows with what a file declares. Of several
//! faults the first is reported, whatever the number of threads.

use std::ops::Range;

use crate::error::{check_edge_count, check_ids, check_length, check_node_count};
use crate::scatter::MANY;
use crate::{
    Classes, Dataset, Features, Graph, GraphError, Labels, ManyLabels, Names, Split, Threads, UNLABELLED,
};

/// A number of classes that no node has is a mistake, and makes a model of any size; so many are let pass.
const CLASSES_WITHOUT_NODES: usize = 1 << 16;

impl Dataset {
    /// Checks everything that the constructors of a dataset and its parts promise, for one that was taken on trust (see
    /// [`Dataset::trusted`]).
    ///
    /// # Errors
    /// The first part that no correct dataset has.
    pub fn check(&self, threads: &Threads) -> Result<(), GraphError> {
        self.graph().check(threads)?;
        let nodes = self.graph().nodes();
        check_rows("features", self.features().rows(), nodes)?;
        self.features().check(threads)?;
        check_rows("labels", self.labels().nodes(), nodes)?;
        self.labels().check(threads)?;
        for split in self.splits() {
            split.check(threads)?;
        }
        crate::dataset::check_splits(self.splits(), self.labels())?;
        let names: Vec<&str> = self.edge_columns().map(|(name, _)| name).collect();
        for (position, (name, values)) in self.edge_columns().enumerate() {
            if names[..position].contains(&name) {
                return Err(GraphError::RepeatedColumn { value: name.to_owned() });
            }
            check_length("edge column", values.len(), self.graph().edges(), "one value per edge id")?;
            check_edge_values(threads, name, values)?;
            if name == Dataset::WEIGHT {
                self.check_weights(values)?;
                if let Some(position) = values.iter().position(|&weight| weight == 0.0) {
                    return Err(GraphError::Weightless { position });
                }
            }
        }
        if let Some(names) = self.node_names() {
            check_length("node names", names.len(), nodes, "one name per node")?;
            names.check(threads, "node names")?;
        }
        if let Some(names) = self.class_names() {
            check_length("class names", names.len(), self.labels().width(), "one name per class")?;
            names.check(threads, "class names")?;
        }
        if let Some(names) = self.feature_names() {
            check_length("feature names", names.len(), self.features().cols(), "one name per feature")?;
            names.check(threads, "feature names")?;
        }
        Ok(())
    }
}

impl Graph {
    /// Rows in order, each with ascending sources and without loops, and twins that are each other's reverse.
    pub(crate) fn check(&self, threads: &Threads) -> Result<(), GraphError> {
        check_node_count("nodes", self.nodes())?;
        check_edge_count(self.edges())?;
        let (offsets, sources) = (self.offsets(), self.sources());
        check_offsets(threads, offsets, sources.len())?;
        check_ids(threads, "sources", sources, self.nodes())?;
        first(threads, self.nodes(), |piece| {
            piece.into_iter().try_for_each(|target| self.check_row(target))
        })?;
        let Some(twins) = self.twins() else {
            return match crate::graph::find_twins(threads, offsets, sources) {
                None => Ok(()),
                Some(_) => Err(GraphError::TwinsMissing),
            };
        };
        check_length("twins", twins.len(), sources.len(), "one twin per edge")?;
        first(threads, self.nodes(), |piece| {
            let edges = piece.flat_map(|target| self.in_edges(target).map(move |edge| (target, edge)));
            for (target, edge) in edges {
                let twin = twins[edge] as usize;
                // Rows hold a source once: this is the only edge that can be the reverse.
                let reverse =
                    self.in_edges(sources[edge] as usize).contains(&twin) && sources[twin] as usize == target;
                if !reverse {
                    return Err(GraphError::WrongTwin { position: edge, value: twins[edge] });
                }
            }
            Ok(())
        })
    }

    fn check_row(&self, target: usize) -> Result<(), GraphError> {
        let row = self.in_edges(target);
        for position in row.clone() {
            let value = self.sources()[position];
            if value as usize == target {
                return Err(GraphError::SelfLoop { position, value });
            }
            let previous = (position > row.start).then(|| self.sources()[position - 1]);
            if let Some(previous) = previous.filter(|&previous| previous >= value) {
                return Err(GraphError::SourcesNotAscending { position, target, value, previous });
            }
        }
        Ok(())
    }
}

impl Features {
    fn check(&self, threads: &Threads) -> Result<(), GraphError> {
        check_node_count("rows", self.rows())?;
        check_node_count("columns", self.cols())?;
        let cols = self.cols();
        match self {
            Features::Dense(dense) => {
                let rule = "rows × columns values, row after row";
                check_length("values", dense.values().len(), dense.rows().saturating_mul(cols), rule)?;
                check_finite(threads, dense.values(), |position| (position / cols, position % cols))
            }
            Features::Sparse(sparse) => {
                let (offsets, columns) = (sparse.offsets(), sparse.columns());
                check_length(
                    "offsets",
                    offsets.len(),
                    sparse.rows() + 1,
                    "one offset per row and a last one",
                )?;
                check_length("values", sparse.values().len(), columns.len(), "one value per column")?;
                check_offsets(threads, offsets, columns.len())?;
                first(threads, sparse.rows(), |rows| {
                    rows.into_iter().try_for_each(|row| {
                        let start = offsets[row];
                        crate::features::check_columns(row, cols, start, &columns[start..offsets[row + 1]])
                    })
                })?;
                check_finite(threads, sparse.values(), |position| {
                    let row = offsets.partition_point(|&start| start <= position).saturating_sub(1);
                    (row, columns[position] as usize)
                })
            }
        }
    }
}

impl Labels {
    fn check(&self, threads: &Threads) -> Result<(), GraphError> {
        match self {
            Labels::Classes(classes) => classes.check(threads),
            Labels::Many(many) => many.check(threads),
        }
    }
}

impl Classes {
    fn check(&self, threads: &Threads) -> Result<(), GraphError> {
        let (classes, of) = (self.width(), self.of());
        let limit = of.len().saturating_add(CLASSES_WITHOUT_NODES);
        if classes > limit {
            return Err(GraphError::TooMany { field: "classes", found: classes, limit });
        }
        first(threads, of.len(), |piece| {
            let wrong = |&class: &u32| class != UNLABELLED && class as usize >= classes;
            match of[piece.clone()].iter().position(wrong) {
                None => Ok(()),
                Some(within) => {
                    let position = piece.start + within;
                    Err(GraphError::ClassOutOfRange { position, value: of[position], classes })
                }
            }
        })
    }
}

impl ManyLabels {
    fn check(&self, threads: &Threads) -> Result<(), GraphError> {
        let (width, values) = (self.width(), self.values());
        let expected = self.nodes().saturating_mul(width);
        check_length("labels", values.len(), expected, "nodes × labels values, node after node")?;
        first(threads, values.len(), |piece| {
            match values[piece.clone()].iter().position(|&value| value > 1) {
                None => Ok(()),
                Some(within) => {
                    let position = piece.start + within;
                    let (node, label, value) = (position / width, position % width, values[position]);
                    Err(GraphError::LabelNotBinary { position, node, label, value })
                }
            }
        })
    }
}

impl Split {
    fn check(&self, threads: &Threads) -> Result<(), GraphError> {
        check_node_count("nodes", self.nodes())?;
        let split = || self.name().to_owned();
        let sets = self.sets();
        for (field, ids) in sets {
            check_ids(threads, field, ids, self.nodes())?;
            if let Some(before) = ids.windows(2).position(|pair| pair[0] >= pair[1]) {
                let (position, value, previous) = (before + 1, ids[before + 1], ids[before]);
                return Err(if value == previous {
                    GraphError::RepeatedNode { split: split(), field, position, value }
                } else {
                    GraphError::SplitNotAscending { split: split(), field, position, value, previous }
                });
            }
        }
        if self.train().is_empty() {
            return Err(GraphError::EmptyTrainingSet { split: split() });
        }
        for (first, second) in [(0, 1), (0, 2), (1, 2)] {
            let ((other, kept), (field, ids)) = (sets[first], sets[second]);
            if let Some(position) = shared(kept, ids) {
                let value = ids[position];
                return Err(GraphError::OverlappingSets { split: split(), field, position, value, other });
            }
        }
        let expected = self.computed_hash();
        if self.hash() != expected {
            return Err(GraphError::SplitHash { split: split(), found: self.hash().to_owned(), expected });
        }
        Ok(())
    }
}

impl Names {
    /// Checks that the names lie one behind the other without a gap, and that each is text.
    fn check(&self, threads: &Threads, field: &'static str) -> Result<(), GraphError> {
        let (offsets, bytes) = (self.offsets(), self.bytes());
        let ends = offsets.first() == Some(&0) && offsets.last() == Some(&(bytes.len() as u64));
        if !(ends || offsets.is_empty() && bytes.is_empty()) {
            return Err(GraphError::BadName {
                field,
                position: 0,
                what: "does not start or end with the text",
            });
        }
        first(threads, self.len(), |piece| {
            for position in piece {
                let (start, end) = (offsets[position], offsets[position + 1]);
                let text = bytes.get(start as usize..end as usize);
                let what = match text.map(std::str::from_utf8) {
                    Some(Ok(_)) => continue,
                    Some(Err(_)) => "is not UTF-8",
                    None => "ends before it starts, or beyond the text",
                };
                return Err(GraphError::BadName { field, position, what });
            }
            Ok(())
        })
    }
}

/// Checks that every value of an edge column is a finite number.
///
/// # Errors
/// The first that is not.
pub fn check_edge_values(threads: &Threads, column: &str, values: &[f32]) -> Result<(), GraphError> {
    first(threads, values.len(), |piece| {
        match values[piece.clone()].iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(within) => {
                let (column, position) = (column.to_owned(), piece.start + within);
                Err(GraphError::EdgeValueNotFinite { column, position, value: values[position] })
            }
        }
    })
}

fn check_rows(field: &'static str, found: usize, expected: usize) -> Result<(), GraphError> {
    if found == expected { Ok(()) } else { Err(GraphError::NodeCount { field, found, expected }) }
}

/// Running totals from 0 to the number of entries.
fn check_offsets(threads: &Threads, offsets: &[usize], entries: usize) -> Result<(), GraphError> {
    let (Some(&start), Some(&end)) = (offsets.first(), offsets.last()) else {
        return check_length("offsets", 0, 1, "one offset per row and a last one");
    };
    if start != 0 {
        return Err(GraphError::OffsetsStart { value: start });
    }
    first(threads, offsets.len() - 1, |piece| {
        for before in piece {
            let (previous, value) = (offsets[before], offsets[before + 1]);
            if value < previous {
                return Err(GraphError::OffsetsDecrease { position: before + 1, value, previous });
            }
        }
        Ok(())
    })?;
    if end == entries { Ok(()) } else { Err(GraphError::OffsetsEnd { value: end, entries }) }
}

fn check_finite(
    threads: &Threads,
    values: &[f32],
    place: impl Fn(usize) -> (usize, usize) + Sync,
) -> Result<(), GraphError> {
    first(threads, values.len(), |piece| {
        match values[piece.clone()].iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(within) => {
                let position = piece.start + within;
                let (row, column) = place(position);
                Err(GraphError::FeatureNotFinite { position, row, column, value: values[position] })
            }
        }
    })
}

/// The position in `b` of the first entry that `a` has too; both ascend.
fn shared(a: &[u32], b: &[u32]) -> Option<usize> {
    let (mut at, mut position) = (0, 0);
    while at < a.len() && position < b.len() {
        match a[at].cmp(&b[position]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => position += 1,
            std::cmp::Ordering::Equal => return Some(position),
        }
    }
    None
}

/// Checks pieces of the positions below `len`; the fault of the first piece that has one.
fn first(
    threads: &Threads,
    len: usize,
    check: impl Fn(Range<usize>) -> Result<(), GraphError> + Sync,
) -> Result<(), GraphError> {
    threads.map_pieces(len, MANY, check).into_iter().collect()
}
