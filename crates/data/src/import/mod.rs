//! Graphs from a user's own files.

pub(crate) mod delimited;
pub(crate) mod ids;

/// An edge list and nothing else as an undirected graph: what `examples/import_speed.rs` measures.
#[doc(hidden)]
pub fn undirected_edge_list(file: &std::path::Path) -> Result<edgepace_graph::Graph, crate::DataError> {
    let edges = delimited::read_edges(file, &delimited::Delimited::default(), None, &|_| {})?;
    let nodes = edges.ids.nodes();
    drop(edges.ids);
    edgepace_graph::Graph::undirected(nodes, &edges.sources, &edges.targets)
        .map_err(crate::error::graph_error(file))
}
