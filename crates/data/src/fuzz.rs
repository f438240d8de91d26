//! Every reader as a function of bytes, for `fuzz/` and `tests/hostile.rs`. Not part of the public interface.

use std::path::Path;

use crate::DataError;
use crate::readers::geom_gcn::{self, Style};
use crate::readers::npz::{self, Npz};
use crate::readers::text::Lines;
use crate::readers::{gnn_benchmark, heterophilous, ogb};

/// What packed data may need: deflate makes up to 1032 bytes of one, each can stand for a number of 8 bytes, and a vector
/// that grows is there twice or three times.
const PACKED: usize = 1032 * 24;

/// A reader that takes whatever bytes it is given.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is also that of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Reads, and throws away what was read.
    pub read: fn(&[u8]) -> Result<(), DataError>,
    /// How many bytes of memory it may need per byte of input, at most: a few, or a thousand where the format is
    /// compressed.
    pub expansion: usize,
}

/// All readers.
pub const TARGETS: &[Target] = &[
    Target { name: "npz", read: read_npz, expansion: PACKED },
    Target { name: "gnn_benchmark", read: read_gnn_benchmark, expansion: PACKED },
    Target { name: "heterophilous", read: read_heterophilous, expansion: PACKED },
    Target { name: "geom_gcn", read: read_geom_gcn, expansion: 64 },
    Target { name: "ogb_csv", read: read_ogb_csv, expansion: PACKED },
];

/// The name of the file in messages.
fn input() -> &'static Path {
    Path::new("input")
}

/// A matrix of features.
fn read_npz(bytes: &[u8]) -> Result<(), DataError> {
    npz::features_of(&mut Npz::from_bytes(input(), bytes)?).map(drop)
}

fn read_gnn_benchmark(bytes: &[u8]) -> Result<(), DataError> {
    gnn_benchmark::read_from(&mut Npz::from_bytes(input(), bytes)?, "input").map(drop)
}

fn read_heterophilous(bytes: &[u8]) -> Result<(), DataError> {
    heterophilous::read_from(&mut Npz::from_bytes(input(), bytes)?, "input").map(drop)
}

/// A file of nodes, a zero byte, and a file of edges. A header that announces columns means lists of columns.
fn read_geom_gcn(bytes: &[u8]) -> Result<(), DataError> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (nodes, edges) = bytes.split_at(end);
    let lists = nodes.windows(14).any(|piece| piece == b"feature_amount");
    let style = if lists { Style::Columns } else { Style::Values };
    let (_, labels) = geom_gcn::read_nodes(Lines::new(input(), nodes), style)?;
    geom_gcn::read_edges(Lines::new(input(), edges.get(1..).unwrap_or_default()), labels.nodes()).map(drop)
}

/// A table, gzipped or not, first as numbers and then as labels.
fn read_ogb_csv(bytes: &[u8]) -> Result<(), DataError> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        ogb::matrix(Lines::gz(input(), bytes), None)?;
        return ogb::node_labels(Lines::gz(input(), bytes), None, None).map(drop);
    }
    ogb::matrix(Lines::new(input(), bytes), None)?;
    ogb::node_labels(Lines::new(input(), bytes), None, None).map(drop)
}
