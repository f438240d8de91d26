//! Every reader as a function of bytes, for `fuzz/` and `tests/hostile.rs`. Not part of the public interface.

use std::io::Cursor;
use std::path::Path;

use edgepace_graph::{Features, Split, Threads};

use crate::error::io_error;
use crate::fetch::{Limits, unpack};
use crate::readers::geom_gcn::{self, Style};
use crate::readers::npz::{self, Npz};
use crate::readers::pickle::Pickle;
use crate::readers::text::Lines;
use crate::readers::{gnn_benchmark, heterophilous, ogb, planetoid};
use crate::{DataError, Generator, Native, Noise, SplitRule, import};

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
    Target { name: "pickle", read: pickle, expansion: PICKLE },
    Target { name: "planetoid", read: planetoid, expansion: PICKLE },
    Target { name: "npz", read: read_npz, expansion: PACKED },
    Target { name: "gnn_benchmark", read: read_gnn_benchmark, expansion: PACKED },
    Target { name: "heterophilous", read: read_heterophilous, expansion: PACKED },
    Target { name: "geom_gcn", read: read_geom_gcn, expansion: 64 },
    Target { name: "ogb_csv", read: read_ogb_csv, expansion: PACKED },
    Target { name: "native", read: native, expansion: 32 },
    Target { name: "native_content", read: native_content, expansion: 32 },
    Target { name: "unpack", read: unpack, expansion: 64 },
    Target { name: "specs", read: specs, expansion: 64 },
    #[cfg(feature = "parquet")]
    // 1032 cells per byte, each a number of 8 bytes, once more while its column is looked at, and a few features of 4.
    Target { name: "parquet", read: parquet, expansion: 40 * 1032 },
    Target { name: "graphml", read: graphml, expansion: 64 },
    Target { name: "mat", read: mat, expansion: PACKED },
    // A list of two bytes is a number of 8, a range of 16 and a node of 4, in vectors that grow.
    Target { name: "per_node", read: per_node, expansion: 256 },
    Target { name: "edge_list", read: edge_list, expansion: 64 },
    Target { name: "arrays", read: arrays, expansion: 16 * 1032 },
    // A byte of gzip can stand for a thousand bytes of text, and four of those for an edge.
    Target { name: "delimited", read: delimited, expansion: 16_000 },
    // A cell of two bytes may become a hundred columns of 4.
    Target { name: "table", read: table, expansion: 512 },
];

/// An instruction of one byte may make an object, put it on the stack and into the memo, and all three grow by doubling.
const PICKLE: usize = 256;

/// Whatever the file holds, and whether it can be converted: a matrix, a sparse matrix, neighbours.
fn pickle(bytes: &[u8]) -> Result<(), DataError> {
    let pickle = Pickle::read(Path::new("fuzz"), bytes)?;
    let (matrix, sparse) = (pickle.matrix().map(drop), pickle.sparse().map(drop));
    matrix.or(sparse).or_else(|_| pickle.adjacency().map(drop))
}

/// The eight parts of a set one after the other, each after its size in 4 bytes, little endian.
fn planetoid(mut bytes: &[u8]) -> Result<(), DataError> {
    let mut pieces = [&[][..]; 8];
    for piece in &mut pieces {
        let (size, rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], &[]));
        (*piece, bytes) = rest.split_at((u32::from_le_bytes(*size) as usize).min(rest.len()));
    }
    planetoid::from_pieces(pieces).map(drop)
}

fn unpack(bytes: &[u8]) -> Result<(), DataError> {
    let folder = tempfile::tempdir().map_err(io_error("create", Path::new("a temporary folder")))?;
    let limits = Limits { unpacked: 1 << 20, entries: 100, ..Limits::default() };
    unpack::extract(Cursor::new(bytes), bytes.len() as u64, Path::new("fuzz.zip"), folder.path(), &limits)
}

/// The name of the file in messages.
fn input() -> &'static Path {
    Path::new("input")
}

/// A matrix of features.
fn read_npz(bytes: &[u8]) -> Result<(), DataError> {
    npz::features_of(&mut Npz::from_bytes(input(), bytes)?).map(drop)
}

fn read_gnn_benchmark(bytes: &[u8]) -> Result<(), DataError> {
    gnn_benchmark::read_from(&Threads::one(), &mut Npz::from_bytes(input(), bytes)?, "input").map(drop)
}

fn read_heterophilous(bytes: &[u8]) -> Result<(), DataError> {
    heterophilous::read_from(&Threads::one(), &mut Npz::from_bytes(input(), bytes)?, "input").map(drop)
}

/// A file of nodes, a zero byte, and a file of edges. A header that announces columns means lists of columns.
fn read_geom_gcn(bytes: &[u8]) -> Result<(), DataError> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (nodes, edges) = bytes.split_at(end);
    let lists = nodes.windows(14).any(|piece| piece == b"feature_amount");
    let style = if lists { Style::Columns } else { Style::Values };
    let (_, labels) = geom_gcn::read_nodes(Lines::new(input(), nodes), style)?;
    geom_gcn::read_edges(
        &Threads::one(),
        Lines::new(input(), edges.get(1..).unwrap_or_default()),
        labels.nodes(),
    )
    .map(drop)
}

/// A table, gzipped or not, first as numbers and then as labels.
fn read_ogb_csv(bytes: &[u8]) -> Result<(), DataError> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let packed = bytes.len() as u64;
        ogb::matrix(Lines::gz(input(), bytes, packed), None)?;
        return ogb::node_labels(Lines::gz(input(), bytes, packed), None, None).map(drop);
    }
    ogb::matrix(Lines::new(input(), bytes), None)?;
    ogb::node_labels(Lines::new(input(), bytes), None, None).map(drop)
}

fn native(bytes: &[u8]) -> Result<(), DataError> {
    let native = Native::from_bytes(input(), bytes)?;
    native.verify(&Threads::one())?;
    native.dataset()?.checksum();
    Ok(())
}

/// A graph file whatever its checksums: what passes the checks of its content can be used in every way.
fn native_content(bytes: &[u8]) -> Result<(), DataError> {
    let native = Native::from_bytes_unhashed(input(), bytes)?;
    native.check_content(&Threads::one())?;
    let dataset = native.dataset()?;
    dataset.checksum();
    let graph = dataset.graph();
    assert_eq!(graph.targets().len(), graph.edges());
    assert_eq!(graph.transpose().edges.len(), graph.edges());
    for (edge, &twin) in graph.twins().unwrap_or_default().iter().enumerate() {
        assert_eq!(graph.twins().map(|twins| twins[twin as usize] as usize), Some(edge));
    }
    if let Features::Sparse(sparse) = &**dataset.features()
        && sparse.cols() <= bytes.len()
    {
        assert_eq!(sparse.transpose().values().len(), sparse.values().len());
    }
    for names in [dataset.node_names(), dataset.class_names()].into_iter().flatten() {
        assert_eq!(names.iter().map(str::len).sum::<usize>(), names.bytes().len());
    }
    // What the constructors refuse, the checks refuse.
    for split in dataset.splits() {
        let [train, validation, test] = split.sets().map(|(_, ids)| ids.to_vec());
        assert!(Split::new(split.name(), graph.nodes(), train, validation, test).as_ref() == Ok(split));
    }
    Ok(())
}

/// Descriptions of a generated graph, of noise and of a split, one per line. They must read what they write.
fn specs(bytes: &[u8]) -> Result<(), DataError> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let [generator, noise, split] = [(); 3].map(|()| lines.next().unwrap_or_default());
    if let Some(generator) = Generator::parse(generator)? {
        assert_eq!(Generator::parse(&generator.to_string())?, Some(generator));
    }
    let noise: Noise = noise.parse()?;
    assert_eq!(noise.to_string().parse::<Noise>()?, noise);
    let split: SplitRule = split.parse()?;
    assert_eq!(split.to_string().parse::<SplitRule>()?, split);
    Ok(())
}

#[cfg(feature = "parquet")]
fn parquet(bytes: &[u8]) -> Result<(), DataError> {
    import::read_parquet(input(), bytes)
}

fn graphml(bytes: &[u8]) -> Result<(), DataError> {
    import::read_graphml(input(), bytes)
}

/// A graph, as MATLAB saves it.
fn mat(bytes: &[u8]) -> Result<(), DataError> {
    import::read_mat(input(), bytes).map(drop)
}

/// Features of 100 nodes as JSON.
fn per_node(bytes: &[u8]) -> Result<(), DataError> {
    import::per_node::read_bytes(input(), bytes, &import::Ids::Numbers { nodes: 100 }).map(drop)
}

fn edge_list(bytes: &[u8]) -> Result<(), DataError> {
    import::read_edge_list(input(), bytes)
}

fn arrays(bytes: &[u8]) -> Result<(), DataError> {
    import::read_arrays(input(), bytes).map(drop)
}

/// A table of nodes.
fn table(bytes: &[u8]) -> Result<(), DataError> {
    import::read_table_bytes(input(), bytes)
}

/// Small blocks, so that lines fall across them.
fn delimited(bytes: &[u8]) -> Result<(), DataError> {
    import::read_delimited_edges(input(), bytes, 64)
}
