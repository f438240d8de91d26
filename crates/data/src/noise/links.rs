//! The edges of a graph while noise removes some and adds others.

use edgepace_graph::random::Stream;
use edgepace_graph::{Dataset, Dropped, Graph, Threads};

use crate::draw::{choose, two_below, uniform};
use crate::pairs::{ends, forward_edges, key, undirected};
use crate::{DataError, error::request_error};

/// Stands for the edge id of an added edge.
const ADDED: u32 = u32::MAX;
/// More pairs than this are not listed one by one.
const MOST_LISTED: u64 = 1 << 34;

/// Undirected pairs or directed edges: each with its key and its id in the original graph, or [`ADDED`]; ascending.
pub(super) struct Links<'a> {
    original: &'a Graph,
    list: Vec<(u64, u32)>,
    directed: bool,
}

impl<'a> Links<'a> {
    pub(super) fn of(original: &'a Graph) -> Links<'a> {
        let directed = original.twins().is_none();
        let targets = original.targets();
        let link = |edge: usize| (key(original.sources()[edge], targets[edge]), edge as u32);
        let list = if directed {
            (0..original.edges()).map(link).collect()
        } else {
            forward_edges(original).map(link).collect()
        };
        Links { original, list, directed }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Removes exactly `count` of the links that `may_go`.
    pub(super) fn delete(
        &mut self,
        field: &str,
        count: usize,
        stream: Stream,
        may_go: impl Fn(u32, u32) -> bool,
    ) -> Result<(), DataError> {
        let open = |&(key, _): &(u64, u32)| {
            let (source, target) = ends(key);
            may_go(source, target)
        };
        let candidates = self.list.iter().filter(|link| open(link)).count();
        if candidates < count {
            let found = format!("{count} edges to remove");
            return Err(request_error(
                field,
                found,
                format!("at most {candidates}, as many as may be removed"),
            ));
        }
        let mut goes = choose(stream, candidates, count).into_iter();
        self.list.retain(|link| !open(link) || !goes.next().unwrap_or(false));
        Ok(())
    }

    /// Adds exactly `count` of the pairs that `may_come` and are no edge, neither of the original graph nor added before.
    /// `pairs` is how many unordered pairs `may_come`, edges or not.
    pub(super) fn connect(
        &mut self,
        threads: &Threads,
        field: &str,
        count: usize,
        stream: Stream,
        pairs: u64,
        may_come: impl Fn(u32, u32) -> bool + Sync,
    ) -> Result<(), DataError> {
        let added: Vec<u64> = self.list.iter().filter(|link| link.1 == ADDED).map(|link| link.0).collect();
        let (original, directed) = (self.original, self.directed);
        let is_free = |source: u32, target: u32| {
            source != target
                && (directed || source < target)
                && may_come(source, target)
                && original.edge_id(source, target).is_none()
                && added.binary_search(&key(source, target)).is_err()
        };
        let old = Links::of(original);
        let known = old.list.iter().map(|link| link.0).chain(added.iter().copied());
        let taken = known.map(ends).filter(|&(source, target)| may_come(source, target)).count();
        let all = if directed { 2 * pairs } else { pairs };
        let available = all.saturating_sub(taken as u64);
        let edges = self.list.len().saturating_add(count).saturating_mul(if directed { 1 } else { 2 });
        if count as u64 > available || edges >= u32::MAX as usize {
            let found = format!("{count} edges to add");
            let most = available.min((u32::MAX as u64 - 1) / 2);
            return Err(request_error(
                field,
                found,
                format!("at most {most}, as many as there are pairs without one"),
            ));
        }
        let nodes = original.nodes() as u64;
        if nodes * nodes > MOST_LISTED && available < nodes * nodes / 256 {
            let found = format!("{count} edges to add");
            return Err(request_error(
                field,
                found,
                "a graph with more free pairs: hardly a random pair is free",
            ));
        }
        let draw = |words| {
            let (a, b) = two_below(words, nodes);
            let (source, target) = if directed { (a, b) } else { (a.min(b), a.max(b)) };
            is_free(source, target).then(|| key(source, target))
        };
        let all_free = || {
            let nodes = nodes as u32;
            let free = |target| (0..nodes).filter(move |&source| is_free(source, target));
            let free = &free;
            (0..nodes).flat_map(|target| free(target).map(move |source| key(source, target))).collect()
        };
        let keys = uniform(threads, stream, count, available, draw, all_free);
        self.list.extend(keys.into_iter().map(|key| (key, ADDED)));
        threads.sort(&mut self.list);
        Ok(())
    }

    /// The dataset over these links. Edge columns follow; an added edge has the weight of an original one that `weights` draws,
    /// and 0 in all other columns. With `mark`, added edges are marked in [`Dataset::FAKE`].
    pub(super) fn into_dataset(
        self,
        threads: &Threads,
        dataset: Dataset,
        weights: Stream,
        mark: bool,
    ) -> Result<Dataset, DataError> {
        let nodes = self.original.nodes();
        let graph = if self.directed {
            let (sources, targets): (Vec<u32>, Vec<u32>) = self.list.iter().map(|link| ends(link.0)).unzip();
            Graph::from_edges_on(threads, nodes, &sources, &targets)?
        } else {
            let keys: Vec<u64> = self.list.iter().map(|link| link.0).collect();
            undirected(nodes, &keys, Dropped::default())?
        };
        let old_of = self.origins(&graph);
        let mut columns: Vec<(String, Vec<f32>)> = Vec::new();
        for (name, values) in dataset.edge_columns() {
            let value = |&old: &u32| if old == ADDED { 0.0 } else { values[old as usize] };
            let mut column: Vec<f32> = old_of.iter().map(value).collect();
            if name == Dataset::WEIGHT {
                self.draw_weights(&graph, weights, values, &mut column);
            }
            columns.push((name.to_owned(), column));
        }
        if mark {
            let known = columns.iter().position(|(name, _)| name == Dataset::FAKE);
            let place = known.unwrap_or_else(|| {
                columns.push((Dataset::FAKE.to_owned(), vec![0.0; graph.edges()]));
                columns.len() - 1
            });
            for (value, &old) in columns[place].1.iter_mut().zip(&old_of) {
                *value = if old == ADDED { 1.0 } else { *value };
            }
        }
        let columns = columns.into_iter().map(|(name, values)| (name, values.into()));
        Ok(dataset.with_graph(graph)?.with_edge_columns(columns)?)
    }

    /// Gives each added edge the weight of an original one, all of which are equally likely; both directions of an undirected
    /// edge come from the same one.
    fn draw_weights(&self, graph: &Graph, stream: Stream, weights: &[f32], column: &mut [f32]) {
        let old = Links::of(self.original).list;
        let draw = |key: u64| old[stream.below(key, old.len() as u64) as usize].1 as usize;
        let new_edges: Vec<usize> =
            if self.directed { (0..graph.edges()).collect() } else { forward_edges(graph).collect() };
        for (&edge, _) in new_edges.iter().zip(&self.list).filter(|(_, link)| link.1 == ADDED) {
            let from = draw(edge as u64);
            column[edge] = weights[from];
            if let (Some(twins), Some(old_twins)) = (graph.twins(), self.original.twins()) {
                column[twins[edge] as usize] = weights[old_twins[from] as usize];
            }
        }
    }

    /// For each edge of the new graph its id in the original one, or [`ADDED`].
    fn origins(&self, graph: &Graph) -> Vec<u32> {
        if self.directed {
            return self.list.iter().map(|link| link.1).collect();
        }
        let (old_twins, twins) =
            (self.original.twins().unwrap_or_default(), graph.twins().unwrap_or_default());
        let mut old_of = vec![ADDED; graph.edges()];
        for (edge, &(_, old)) in forward_edges(graph).zip(&self.list) {
            if old != ADDED {
                old_of[edge] = old;
                old_of[twins[edge] as usize] = old_twins[old as usize];
            }
        }
        old_of
    }
}
