use std::fs::File;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use edgepace_graph::{
    Buffer, Classes, Dataset, DenseFeatures, Dropped, Features, Graph, GraphError, Keeper, Labels,
    ManyLabels, Names, SparseFeatures, Split, Threads,
};
#[cfg(unix)]
use memmap2::UncheckedAdvice;
use memmap2::{Mmap, MmapMut};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, SafeTensorError, SafeTensors};

use super::VERSION;
use super::header::{Digests, FORMAT, HEADER_BLANK, HEADER_KEY, Info, digest, header_digest};
use crate::error::{format_error, graph_error, io_error};
use crate::{DataError, Place};

const DAMAGED: &str = "the file is damaged: copy or make it again";

/// A native file, mapped into memory and with its header checked.
///
/// The file must not be changed while it is open; [`save`](super::save) never changes one, it puts a new file in its
/// place.
#[derive(Debug)]
pub struct Native {
    file: PathBuf,
    map: Arc<Mmap>,
    /// Whether the map is of the file, and not of memory that holds a copy of it.
    of_file: bool,
    /// Where the sections start.
    data: usize,
    header: Metadata,
    info: Info,
    digests: Digests,
}

impl Native {
    /// Opens a native file: maps it and checks version, header and the bounds of every section. The data is not read, so
    /// that it takes milliseconds at any size; see [`verify`](Native::verify) for the data.
    ///
    /// # Errors
    /// A file that cannot be read, is not of this kind, is of a newer version, was cut short or has a damaged header; a
    /// machine that is not little endian with 64 bits.
    pub fn open(path: &Path) -> Result<Native, DataError> {
        check_machine(path)?;
        let file = File::open(path).map_err(io_error("open", path))?;
        let length = file.metadata().map_err(io_error("open", path))?.len();
        check_length(path, length)?;
        #[allow(unsafe_code, reason = "there is no other way to map a file")]
        // SAFETY: the map is read only, and every number in it is valid whatever its bits. That nobody changes the file
        // under us is a condition in the documentation, as for every mapped file.
        let map = unsafe { Mmap::map(&file) }.map_err(io_error("map", path))?;
        Native::over(path, map, true)
    }

    /// A native file that is in memory already.
    pub(crate) fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Native, DataError> {
        check_machine(path)?;
        check_length(path, bytes.len() as u64)?;
        // Memory of its own, because bytes from anywhere may not be aligned.
        let mut map = MmapMut::map_anon(bytes.len()).map_err(io_error("map", path))?;
        map.copy_from_slice(bytes);
        Native::over(path, map.make_read_only().map_err(io_error("map", path))?, false)
    }

    fn over(path: &Path, map: Mmap, of_file: bool) -> Result<Native, DataError> {
        let (length, header) =
            SafeTensors::read_metadata(&map).map_err(|error| header_error(path, map.len(), &error))?;
        let data = 8 + length;
        let none = std::collections::HashMap::new();
        let metadata = header.metadata().as_ref().unwrap_or(&none);
        let value = |key: &str| {
            metadata.get(key).map(String::as_str).ok_or_else(|| {
                format_error(path, Place::Part("__metadata__".to_owned()), format!("the key `{key}`"), "none")
                    .with_help(DAMAGED)
            })
        };
        if metadata.get("format").is_none_or(|format| format != FORMAT) {
            let found = "a safetensors file of another kind";
            return Err(format_error(path, Place::Whole, "a graph file of edgepace", found));
        }
        check_version(path, value("version")?)?;
        check_header(path, &map[8..data], value(HEADER_KEY)?)?;
        let parse = |key: &str, error: serde_json::Error| {
            format_error(path, Place::Part(key.to_owned()), "readable metadata", error.to_string())
                .with_help(DAMAGED)
        };
        let info: Info = serde_json::from_str(value("info")?).map_err(|error| parse("info", error))?;
        let digests = serde_json::from_str(value("sections")?).map_err(|error| parse("sections", error))?;
        let native =
            Native { file: path.to_owned(), map: Arc::new(map), of_file, data, header, info, digests };
        // Joining the parts reads no data, and finds sections that are missing or of the wrong size.
        native.dataset()?;
        Ok(native)
    }

    /// What the file says about its dataset.
    pub fn info(&self) -> &Info {
        &self.info
    }

    /// The size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.map.len() as u64
    }

    /// Reads the whole file and compares every section with its digest; the threads share the work.
    ///
    /// # Errors
    /// The first section that is damaged.
    pub fn verify(&self, threads: &Threads) -> Result<(), DataError> {
        for name in self.header.offset_keys() {
            let range = self.header.info(&name).map_or(0..0, |tensor| self.range(tensor.data_offsets));
            let found = digest(threads, &self.map[range]);
            let expected = self.digests.get(&name).map_or("a digest in the header", String::as_str);
            if found != expected {
                let place = Place::Part(name);
                return Err(format_error(&self.file, place, expected, found).with_help(DAMAGED));
            }
        }
        Ok(())
    }

    /// The dataset, whose large parts stay in the file and are read when they are used.
    ///
    /// It is taken as it is: call [`verify`](Native::verify) first for a file that may have been damaged. Damage makes
    /// wrong answers or panics later on, never undefined behaviour.
    ///
    /// # Errors
    /// Sections that are missing, or that do not fit what the header says.
    pub fn dataset(&self) -> Result<Dataset, DataError> {
        let graph_error = |error: GraphError| graph_error(&self.file)(error);
        let info = &self.info;
        let offsets = self.section("graph.offsets", Dtype::U64, info.nodes.saturating_add(1))?;
        let sources = self.section("graph.sources", Dtype::U32, info.edges)?;
        let twins =
            info.undirected.then(|| self.section("graph.twins", Dtype::U32, info.edges)).transpose()?;
        let dropped = Dropped { duplicates: info.dropped_duplicates, loops: info.dropped_loops };
        let graph = Graph::trusted(offsets, sources, twins, dropped).map_err(graph_error)?;
        let mut splits = Vec::new();
        for (position, split) in info.splits.iter().enumerate() {
            let set = |name, length| self.section(&format!("split.{position}.{name}"), Dtype::U32, length);
            let sets =
                [set("train", split.train)?, set("validation", split.validation)?, set("test", split.test)?];
            splits.push(Split::trusted(&split.name, info.nodes, sets, &split.hash));
        }
        let (features, labels) = (self.features()?, self.labels()?);
        let mut dataset = Dataset::trusted(&info.name, graph, features, labels, splits);
        for (position, name) in info.edge_columns.iter().enumerate() {
            let values = self.section(&format!("edge.{position}"), Dtype::F32, info.edges)?;
            dataset = dataset.with_edge_column(name, values).map_err(graph_error)?;
        }
        if info.node_names {
            let names = self.names("node_names", info.nodes)?;
            dataset = dataset.with_node_names(names).map_err(graph_error)?;
        }
        if info.class_names {
            let names = self.names("class_names", info.labels.width)?;
            dataset = dataset.with_class_names(names).map_err(graph_error)?;
        }
        if info.feature_names {
            let names = self.names("feature_names", info.features.columns)?;
            dataset = dataset.with_feature_names(names).map_err(graph_error)?;
        }
        if info.encoding {
            dataset = dataset.with_encoding(self.text("encoding")?);
        }
        Ok(dataset)
    }

    fn features(&self) -> Result<Features, DataError> {
        let (rows, cols) = (self.info.nodes, self.info.features.columns);
        let features = if let Some(stored) = self.info.features.stored {
            let offsets = self.section("features.offsets", Dtype::U64, rows.saturating_add(1))?;
            let columns = self.section("features.columns", Dtype::U32, stored)?;
            let values = self.section("features.values", Dtype::F32, stored)?;
            SparseFeatures::trusted(rows, cols, offsets, columns, values).map(Features::from)
        } else {
            let values = self.section("features.values", Dtype::F32, rows.saturating_mul(cols))?;
            DenseFeatures::trusted(rows, cols, values).map(Features::from)
        };
        features.map_err(graph_error(&self.file))
    }

    fn labels(&self) -> Result<Labels, DataError> {
        let (nodes, width) = (self.info.nodes, self.info.labels.width);
        if self.info.labels.many {
            let values = self.section("labels", Dtype::U8, nodes.saturating_mul(width))?;
            let labels = ManyLabels::trusted(nodes, width, values).map_err(graph_error(&self.file))?;
            return Ok(labels.into());
        }
        Ok(Classes::trusted(width, self.section("labels", Dtype::U32, nodes)?).into())
    }

    fn names(&self, name: &str, length: usize) -> Result<Names, DataError> {
        let offsets = self.section(&format!("{name}.offsets"), Dtype::U64, length.saturating_add(1))?;
        Ok(Names::trusted(offsets, self.bytes_of(&format!("{name}.bytes"))?))
    }

    fn text(&self, name: &str) -> Result<String, DataError> {
        let bytes = self.bytes_of(name)?;
        std::str::from_utf8(&bytes).map(str::to_owned).map_err(|error| {
            format_error(&self.file, Place::Part(name.to_owned()), "text in UTF-8", error.to_string())
                .with_help(DAMAGED)
        })
    }

    /// A section of bytes, however many there are.
    fn bytes_of(&self, name: &str) -> Result<Buffer<u8>, DataError> {
        let length = self.header.info(name).map_or(0, |tensor| tensor.shape.iter().product());
        self.section(name, Dtype::U8, length)
    }

    /// A section as numbers, where it lies.
    fn section<T: Pod + Send + Sync>(
        &self,
        name: &str,
        dtype: Dtype,
        length: usize,
    ) -> Result<Buffer<T>, DataError> {
        let expected = format!("{length} numbers of type {dtype}");
        let error = |found: String| {
            format_error(&self.file, Place::Part(name.to_owned()), &expected, found).with_help(DAMAGED)
        };
        let tensor = self.header.info(name).ok_or_else(|| error("nothing of that name".to_owned()))?;
        let range = self.range(tensor.data_offsets);
        let found = range.len() / size_of::<T>();
        if tensor.dtype != dtype || found != length {
            return Err(error(format!("{found} of type {}", tensor.dtype)));
        }
        if bytemuck::try_cast_slice::<u8, T>(&self.map[range.clone()]).is_err() {
            return Err(error("numbers that are not aligned".to_owned()));
        }
        let section: Section<T> =
            Section { map: Arc::clone(&self.map), of_file: self.of_file, range, of: PhantomData };
        Ok(Buffer::shared(Arc::new(section)))
    }

    fn range(&self, (start, end): (usize, usize)) -> Range<usize> {
        self.data + start..self.data + end
    }
}

/// Numbers in the map, known to be aligned.
struct Section<T> {
    map: Arc<Mmap>,
    of_file: bool,
    range: Range<usize>,
    of: PhantomData<fn() -> T>,
}

impl<T: Pod> Keeper<T> for Section<T> {
    #[cfg(unix)]
    #[allow(unsafe_code, reason = "the advice loses what only memory holds")]
    fn release_memory(&self) {
        if self.of_file {
            // SAFETY: nothing is written to the map of a file, so what leaves memory is read from the file again. An error
            // means that it stays.
            let _ = unsafe {
                self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, self.range.start, self.range.len())
            };
        }
    }
}

impl<T: Pod> AsRef<[T]> for Section<T> {
    fn as_ref(&self) -> &[T] {
        bytemuck::cast_slice(&self.map[self.range.clone()])
    }
}

/// Files hold little-endian 64-bit offsets that are used where they lie.
pub(super) fn check_machine(path: &Path) -> Result<(), DataError> {
    if cfg!(all(target_endian = "little", target_pointer_width = "64")) {
        return Ok(());
    }
    let found = "one of another kind";
    Err(format_error(path, Place::Whole, "a little-endian machine with 64-bit addresses", found)
        .with_help("graph files work only there: import the dataset from its source instead"))
}

fn check_length(path: &Path, length: u64) -> Result<(), DataError> {
    if length >= 8 {
        return Ok(());
    }
    let found = format!("a file of {length} bytes");
    Err(format_error(path, Place::Whole, "a graph file of edgepace", found).with_help(DAMAGED))
}

fn check_version(path: &Path, version: &str) -> Result<(), DataError> {
    let known = format!("version {VERSION} or older");
    match version.parse::<u32>() {
        Ok(1..=VERSION) => Ok(()),
        Ok(newer) if newer > VERSION => {
            Err(format_error(path, Place::Whole, known, format!("version {newer}"))
                .with_help("a newer edgepace wrote this file: update edgepace"))
        }
        _ => Err(format_error(path, Place::Whole, known, format!("version `{}`", shortened(version)))
            .with_help(DAMAGED)),
    }
}

/// Compares the header with its own checksum, computed while that checksum's digits were zeros.
fn check_header(path: &Path, header: &[u8], own: &str) -> Result<(), DataError> {
    let error = |found: String| {
        let expected = format!("a header with checksum {}", shortened(own));
        format_error(path, Place::Byte(8), expected, found).with_help(DAMAGED)
    };
    let text = std::str::from_utf8(header).map_err(|error_| error(error_.to_string()))?;
    let written = format!("\"{HEADER_KEY}\":\"{own}\"");
    let blank = text.replacen(&written, &format!("\"{HEADER_KEY}\":\"{HEADER_BLANK}\""), 1);
    let found = header_digest(blank.as_bytes());
    if found == own { Ok(()) } else { Err(error(found)) }
}

fn header_error(path: &Path, length: usize, error: &SafeTensorError) -> DataError {
    let (expected, found) = match error {
        SafeTensorError::MetadataIncompleteBuffer => {
            ("as many bytes as the header says".to_owned(), format!("a file of {length} bytes"))
        }
        SafeTensorError::InvalidHeaderLength | SafeTensorError::HeaderTooLarge => {
            ("a header inside the file".to_owned(), format!("one that ends beyond its {length} bytes"))
        }
        other => ("a readable header".to_owned(), shortened(&other.to_string())),
    };
    format_error(path, Place::Byte(0), expected, found)
        .with_help("this is no graph file of edgepace, or it was cut short or damaged")
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;
    use crate::native::save;

    #[test]
    fn features_that_rest_come_back_from_a_file_and_stay_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.graph");
        let dataset =
            generate(&Threads::one(), "blocks:nodes=3000,edges=9000,features=8,seed=1").unwrap().unwrap();
        save(&Threads::one(), &dataset, &path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for native in [Native::open(&path).unwrap(), Native::from_bytes(&path, &bytes).unwrap()] {
            let back = native.dataset().unwrap();
            assert_eq!(back, dataset);
            back.features().release_memory();
            assert_eq!(back, dataset);
        }
    }
}
