//! Arrays in NumPy's npz format: a zip file of npy files.

use std::io::{self, Seek, Write};

use edgepace_graph::{Dataset, Features, Labels, Names, UNLABELLED};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::import::KEYS;

/// Values are converted and written in pieces of this many.
const PIECE: usize = 1 << 14;

/// NumPy's own type for counts. A slice in memory is never too long for it.
fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

struct Arrays<W: Write + Seek>(ZipWriter<W>);

impl<W: Write + Seek> Arrays<W> {
    fn new(out: W) -> Self {
        Arrays(ZipWriter::new(out))
    }

    fn start(&mut self, name: &str, dtype: &str, shape: &[usize]) -> io::Result<()> {
        let options =
            SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
        self.0.start_file(format!("{name}.npy"), options)?;
        let sizes: Vec<String> = shape.iter().map(|size| format!("{size},")).collect();
        let mut header =
            format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({}), }}", sizes.join(" "));
        // Magic, version and length take 10 bytes; the values start at a multiple of 64.
        while !(10 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        self.0.write_all(b"\x93NUMPY\x01\x00")?;
        self.0.write_all(&(header.len() as u16).to_le_bytes())?;
        self.0.write_all(header.as_bytes())
    }

    fn values<T: Copy, const BYTES: usize>(
        &mut self,
        values: impl Iterator<Item = T>,
        bytes_of: impl Fn(T) -> [u8; BYTES],
    ) -> io::Result<()> {
        let mut piece = Vec::with_capacity(PIECE * BYTES);
        for value in values {
            piece.extend_from_slice(&bytes_of(value));
            if piece.len() >= PIECE * BYTES {
                self.0.write_all(&piece)?;
                piece.clear();
            }
        }
        self.0.write_all(&piece)
    }

    fn whole(&mut self, name: &str, shape: &[usize], values: impl Iterator<Item = i64>) -> io::Result<()> {
        self.start(name, "<i8", shape)?;
        self.values(values, i64::to_le_bytes)
    }

    fn ids(&mut self, name: &str, values: &[u32]) -> io::Result<()> {
        // SciPy wants signed indices; they have 32 bits as long as ids fit.
        if values.iter().all(|&id| i32::try_from(id).is_ok()) {
            self.start(name, "<i4", &[values.len()])?;
            return self.values(values.iter().copied(), u32::to_le_bytes);
        }
        self.whole(name, &[values.len()], values.iter().map(|&id| i64::from(id)))
    }

    fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> io::Result<()> {
        self.start(name, "<f4", shape)?;
        self.values(values.iter().copied(), f32::to_le_bytes)
    }

    fn bytes(&mut self, name: &str, dtype: &str, shape: &[usize], values: &[u8]) -> io::Result<()> {
        self.start(name, dtype, shape)?;
        self.0.write_all(values)
    }

    /// Text in UTF-32, each as long as the longest.
    fn names(&mut self, name: &str, names: &Names) -> io::Result<()> {
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(1);
        self.start(name, &format!("<U{longest}"), &[names.len()])?;
        let letters = names.iter().flat_map(|name| name.chars().chain(std::iter::repeat('\0')).take(longest));
        self.values(letters, |letter| u32::from(letter).to_le_bytes())
    }

    fn finish(self) -> io::Result<()> {
        self.0.finish()?;
        Ok(())
    }
}

/// Sparse features as `scipy.sparse.save_npz` writes them.
pub(super) fn features(dataset: &Dataset, out: impl Write + Seek) -> io::Result<()> {
    let mut arrays = Arrays::new(out);
    if let Features::Sparse(sparse) = &**dataset.features() {
        arrays.bytes("format", "|S3", &[], b"csr")?;
        self::sparse(&mut arrays, "", sparse)?;
    }
    arrays.finish()
}

fn sparse(
    arrays: &mut Arrays<impl Write + Seek>,
    prefix: &str,
    sparse: &edgepace_graph::SparseFeatures,
) -> io::Result<()> {
    let shape = [signed(sparse.rows()), signed(sparse.cols())];
    arrays.whole(&format!("{prefix}shape"), &[2], shape.into_iter())?;
    let offsets = sparse.offsets();
    arrays.whole(
        &format!("{prefix}indptr"),
        &[offsets.len()],
        offsets.iter().map(|&offset| signed(offset)),
    )?;
    arrays.ids(&format!("{prefix}indices"), sparse.columns())?;
    arrays.floats(&format!("{prefix}data"), &[sparse.values().len()], sparse.values())
}

/// A whole dataset.
pub(super) fn arrays(dataset: &Dataset, directed: bool, out: impl Write + Seek) -> io::Result<()> {
    let mut arrays = Arrays::new(out);
    let graph = dataset.graph();
    let (nodes, edges) = (graph.nodes(), graph.edges());
    let targets = (0..nodes).flat_map(|node| graph.in_edges(node).map(move |_| signed(node)));
    let sources = graph.sources().iter().map(|&source| i64::from(source));
    arrays.whole(KEYS.edges, &[2, edges], sources.chain(targets))?;
    arrays.bytes(KEYS.directed, "|b1", &[], &[u8::from(directed)])?;
    for (name, values) in dataset.edge_columns() {
        arrays.floats(&format!("{}{name}", KEYS.edge_prefix), &[edges], values)?;
    }
    match &**dataset.features() {
        Features::Dense(dense) => arrays.floats(KEYS.features, &[nodes, dense.cols()], dense.values())?,
        Features::Sparse(own) => sparse(&mut arrays, &format!("{}_", KEYS.features), own)?,
    }
    match &**dataset.labels() {
        Labels::Classes(classes) => {
            let number = |&class: &u32| if class == UNLABELLED { -1 } else { i64::from(class) };
            arrays.whole(KEYS.labels, &[nodes], classes.of().iter().map(number))?;
            arrays.whole(KEYS.classes, &[], std::iter::once(signed(classes.width())))?;
        }
        Labels::Many(many) => arrays.bytes(KEYS.labels, "|u1", &[nodes, many.width()], many.values())?,
    }
    let splits = dataset.splits();
    if !splits.is_empty() {
        let shape = if splits.len() == 1 { vec![nodes] } else { vec![nodes, splits.len()] };
        for (set, key) in KEYS.masks.into_iter().enumerate() {
            let mut mask = vec![0; nodes * splits.len()];
            for (position, split) in splits.iter().enumerate() {
                for &node in split.sets()[set].1 {
                    mask[node as usize * splits.len() + position] = 1;
                }
            }
            arrays.bytes(key, "|b1", &shape, &mask)?;
        }
        arrays.names(KEYS.split_names, &Names::new(splits.iter().map(edgepace_graph::Split::name)))?;
    }
    if let Some(names) = dataset.node_names() {
        arrays.names(KEYS.node_names, names)?;
    }
    if let Some(names) = dataset.class_names() {
        arrays.names(KEYS.class_names, names)?;
    }
    if let Some(names) = dataset.feature_names() {
        arrays.names(KEYS.feature_names, names)?;
    }
    if let Some(text) = dataset.encoding() {
        arrays.names(KEYS.encoding, &Names::new([text]))?;
    }
    arrays.finish()
}
