use std::fs::File;
use std::io::Read as _;
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
use super::guard::Mapped;
use super::header::{Digests, FORMAT, HEADER_BLANK, HEADER_KEY, Info, digest, header_digest};
use crate::error::{format_error, graph_error, io_error};
use crate::{DataError, Place};

const DAMAGED: &str = "the file is damaged: copy or make it again";

/// Files up to this size, 64 MiB, are read into memory when they are opened; larger ones are mapped.
pub const READ_WHOLE: u64 = 64 << 20;

/// A native file in memory, read or mapped, with its header checked.
///
/// A file of up to [`READ_WHOLE`] bytes is read and then let go: whatever happens to it later changes nothing. A larger one
/// is mapped, and must not be written to while it is open; [`save`](super::save) never does, it puts a new file in its place.
/// Those who do are found out by [`check_unchanged`](super::check_unchanged).
#[derive(Debug)]
pub struct Native {
    file: PathBuf,
    memory: Arc<Memory>,
    /// Where the sections start.
    data: usize,
    header: Metadata,
    info: Info,
    digests: Digests,
}

impl Native {
    /// Opens a native file: reads or maps it, and checks version, header and the bounds of every section. The data of a
    /// large file is not read, so that it takes milliseconds at any size; see [`verify`](Native::verify) for the data.
    ///
    /// # Errors
    /// A file that cannot be read, is not of this kind, is of a newer version, was cut short or has a damaged header; a
    /// machine that is not little endian with 64 bits.
    pub fn open(path: &Path) -> Result<Native, DataError> {
        check_machine(path)?;
        let mut file = File::open(path).map_err(io_error("open", path))?;
        let data = file.metadata().map_err(io_error("open", path))?;
        check_length(path, data.len())?;
        if data.len() <= READ_WHOLE {
            let mut map = MmapMut::map_anon(data.len() as usize).map_err(io_error("map", path))?;
            file.read_exact(&mut map).map_err(io_error("read", path))?;
            return Native::over(path, Memory::of_its_own(path, map)?, true);
        }
        #[allow(unsafe_code, reason = "there is no other way to map a file")]
        // SAFETY: the map is read only, and every number in it is valid whatever its bits. That nobody changes the file
        // under us is a condition in the documentation, as for every mapped file, and is checked by the guard.
        let map = unsafe { Mmap::map(&file) }.map_err(io_error("map", path))?;
        let of_file = Some(Mapped::watch(path, file, &data, &map)?);
        Native::over(path, Memory { map, of_file }, true)
    }

    /// A native file that is in memory already; `path` is what errors call it.
    ///
    /// # Errors
    /// As [`Native::open`].
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Native, DataError> {
        Native::copied(path, bytes, true)
    }

    /// The same, whatever its checksums: a search for files that lie would never find one that has them right.
    pub(crate) fn from_bytes_unhashed(path: &Path, bytes: &[u8]) -> Result<Native, DataError> {
        Native::copied(path, bytes, false)
    }

    fn copied(path: &Path, bytes: &[u8], hashed: bool) -> Result<Native, DataError> {
        check_machine(path)?;
        check_length(path, bytes.len() as u64)?;
        // Memory of its own, because bytes from anywhere may not be aligned.
        let mut map = MmapMut::map_anon(bytes.len()).map_err(io_error("map", path))?;
        map.copy_from_slice(bytes);
        Native::over(path, Memory::of_its_own(path, map)?, hashed)
    }

    fn over(path: &Path, memory: Memory, hashed: bool) -> Result<Native, DataError> {
        let map = &memory.map;
        let (length, header) =
            SafeTensors::read_metadata(map).map_err(|error| header_error(path, map.len(), &error))?;
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
        if hashed {
            check_header(path, &map[8..data], value(HEADER_KEY)?)?;
        }
        let parse = |key: &str, error: serde_json::Error| {
            format_error(path, Place::Part(key.to_owned()), "readable metadata", error.to_string())
                .with_help(DAMAGED)
        };
        let info: Info = serde_json::from_str(value("info")?).map_err(|error| parse("info", error))?;
        let digests = serde_json::from_str(value("sections")?).map_err(|error| parse("sections", error))?;
        let native = Native { file: path.to_owned(), memory: Arc::new(memory), data, header, info, digests };
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
        self.memory.map.len() as u64
    }

    /// Reads the whole file, compares every section with its digest, and checks that what the sections hold is a dataset:
    /// a file may have right checksums and wrong content. The threads share the work.
    ///
    /// # Errors
    /// The first section that is damaged or holds what no dataset has; a file that was written to since it was opened.
    pub fn verify(&self, threads: &Threads) -> Result<(), DataError> {
        self.check_digests(threads)?;
        self.check_content(threads)?;
        super::check_unchanged()
    }

    /// As [`verify`](Native::verify), and also compares what the header says about the dataset with the dataset:
    /// its checksum and its homophily, which nothing but a look at the file depends on.
    ///
    /// # Errors
    /// As [`verify`](Native::verify), or a header that says something else than the data.
    pub fn verify_header(&self, threads: &Threads) -> Result<(), DataError> {
        self.verify(threads)?;
        let wrong = |place: &str, expected: String, found: String| {
            format_error(&self.file, Place::Part(format!("info.{place}")), expected, found).with_help(DAMAGED)
        };
        let (dataset, info) = (self.dataset()?, &self.info);
        let now = Info::of(&dataset, &info.record);
        if now.checksum != info.checksum {
            return Err(wrong("checksum", now.checksum, info.checksum.clone()));
        }
        if now.homophily != info.homophily {
            return Err(wrong("homophily", format!("{:?}", now.homophily), format!("{:?}", info.homophily)));
        }
        Ok(())
    }

    /// Checks that what the sections hold is a dataset.
    pub(crate) fn check_content(&self, threads: &Threads) -> Result<(), DataError> {
        let mut names: Vec<&String> = self.info.edge_columns.iter().collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let error = GraphError::RepeatedColumn { value: pair[0].clone() };
            return Err(graph_error(&self.file)(error));
        }
        self.dataset()?.check(threads).map_err(graph_error(&self.file))
    }

    fn check_digests(&self, threads: &Threads) -> Result<(), DataError> {
        for name in self.header.offset_keys() {
            let range = self.header.info(&name).map_or(0..0, |tensor| self.range(tensor.data_offsets));
            let found = digest(threads, &self.memory.map[range]);
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
    /// It is taken as it is: call [`verify`](Native::verify) first, unless you wrote the file yourself. Damage makes
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
        let dropped = Dropped {
            duplicates: info.dropped_duplicates,
            loops: info.dropped_loops,
            weightless: info.dropped_weightless,
            conflicting: info.dropped_conflicting,
        };
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
        let mut columns = Vec::new();
        for (position, name) in info.edge_columns.iter().enumerate() {
            columns.push((name.clone(), self.section(&format!("edge.{position}"), Dtype::F32, info.edges)?));
        }
        dataset = dataset.with_trusted_edge_columns(columns).map_err(graph_error)?;
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
        if bytemuck::try_cast_slice::<u8, T>(&self.memory.map[range.clone()]).is_err() {
            return Err(error("numbers that are not aligned".to_owned()));
        }
        let section: Section<T> = Section { memory: Arc::clone(&self.memory), range, of: PhantomData };
        Ok(Buffer::shared(Arc::new(section)))
    }

    fn range(&self, (start, end): (usize, usize)) -> Range<usize> {
        self.data + start..self.data + end
    }
}

/// The bytes of a file.
#[derive(Debug)]
struct Memory {
    map: Mmap,
    /// The file that the map is of; `None` for a copy of it.
    of_file: Option<Arc<Mapped>>,
}

impl Memory {
    fn of_its_own(path: &Path, map: MmapMut) -> Result<Memory, DataError> {
        Ok(Memory { map: map.make_read_only().map_err(io_error("map", path))?, of_file: None })
    }
}

/// Numbers in the map, known to be aligned.
struct Section<T> {
    memory: Arc<Memory>,
    range: Range<usize>,
    of: PhantomData<fn() -> T>,
}

impl<T: Pod> Keeper<T> for Section<T> {
    #[cfg(unix)]
    #[allow(unsafe_code, reason = "the advice loses what only memory holds")]
    fn release_memory(&self) {
        if self.memory.of_file.is_some() {
            // SAFETY: nothing is written to the map of a file, so what leaves memory is read from the file again. An error
            // means that it stays.
            let _ = unsafe {
                self.memory.map.unchecked_advise_range(
                    UncheckedAdvice::DontNeed,
                    self.range.start,
                    self.range.len(),
                )
            };
        }
    }
}

impl<T: Pod> AsRef<[T]> for Section<T> {
    fn as_ref(&self) -> &[T] {
        bytemuck::cast_slice(&self.memory.map[self.range.clone()])
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

    /// A dataset whose file is mapped.
    fn large() -> Dataset {
        let name = "blocks:nodes=40000,edges=90000,features=420,seed=1";
        generate(&Threads::one(), name).unwrap().unwrap()
    }

    #[test]
    fn a_mapped_file_that_is_written_to_is_found_out_and_one_that_is_replaced_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.graph");
        let dataset = large();
        save(&Threads::one(), &dataset, &path).unwrap();
        let native = Native::open(&path).unwrap();
        assert!(native.memory.of_file.is_some());
        native.verify(&Threads::one()).unwrap();
        // A save puts a new file in the place of the old one, which lives on in the map.
        save(&Threads::one(), &dataset.clone().renamed("other"), &path).unwrap();
        native.verify(&Threads::one()).unwrap();
        let start = native.memory.map.as_ptr() as usize;
        let name = super::super::mapped_file_at(start).expect("the name of the file");
        assert!(name.ends_with(b"a.graph"));
        drop(native);
        assert_eq!(super::super::mapped_file_at(start), None);

        let native = Native::open(&path).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(native.bytes() - 4096).unwrap();
        let error = native.memory.of_file.as_ref().unwrap().check().unwrap_err().to_string();
        assert!(error.contains("a.graph") && error.contains("written to meanwhile"), "{error}");
    }

    #[test]
    fn features_that_rest_come_back_from_a_file_and_stay_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.graph");
        let dataset = large();
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
