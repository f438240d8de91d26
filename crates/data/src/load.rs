//! From a name to a dataset: a set of the registry, a generator with its settings, or a file of one's own.

use std::path::{Path, PathBuf};

use edgepace_graph::{Dataset, Threads, nearest};

use crate::error::{format_error, request_error};
use crate::generate::Generator;
use crate::import::{Format, Import, import};
use crate::native::Native;
use crate::readers::{geom_gcn, gnn_benchmark, heterophilous, ogb, planetoid};
use crate::registry::{self, Layout, Set};
use crate::{Cache, DataError, Place};

/// What a dataset's name means.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A set of the registry, as `cora`.
    Set(&'static Set),
    /// A graph that is made, as `synthetic:homophily=0.3`.
    Generator(Generator),
    /// A graph file, as `my.graph`, or a file or folder that [`import`](crate::import::import) recognises.
    File(PathBuf),
}

impl Source {
    /// What `name` means. A name that ends in `.graph` or another known extension or has a folder in it is a file, and so
    /// is one that means nothing else and is there.
    ///
    /// # Errors
    /// A name that is none of these, or a generator with settings that it does not have.
    pub fn parse(name: &str) -> Result<Source, DataError> {
        if let Some(set) = registry::find(name) {
            return Ok(Source::Set(set));
        }
        let path = Path::new(name);
        if is_graph_file(path) || path.components().count() > 1 || Format::of(path).is_ok() {
            return Ok(Source::File(path.to_owned()));
        }
        if let Some(generator) = Generator::parse(name)? {
            return Ok(Source::Generator(generator));
        }
        if path.exists() || starts_with_planetoid(name) {
            return Ok(Source::File(path.to_owned()));
        }
        let expected = "the name of a known set, `synthetic:…`, or a file or folder with a graph";
        let kind = name.split_once(':').map_or(name, |(kind, _)| kind);
        let near = registry::suggest(name).or_else(|| nearest(kind, Generator::NAMES));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "tables of your own are imported into such a file".to_owned(),
        };
        Err(request_error("dataset", name, expected).with_help(help))
    }

    /// The dataset. Files of the registry's sets are looked for in `cache` and never fetched here.
    ///
    /// # Errors
    /// Files that are missing, damaged or hold something else than the set; settings that no graph can have.
    pub fn load(&self, threads: &Threads, cache: &Cache) -> Result<Dataset, DataError> {
        match self {
            Source::Set(set) => read(threads, set, cache),
            Source::Generator(generator) => generator.dataset(threads),
            Source::File(path) if is_import(path) => {
                Ok(import(threads, &Import::file(path), &|_, _| {})?.dataset)
            }
            Source::File(path) => {
                let native = Native::open(path)?;
                native.verify(threads)?;
                native.dataset()
            }
        }
    }
}

/// Whether a path is that of a graph file, and not of one that is imported.
pub fn is_graph_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "graph") && !path.is_dir()
}

/// Whether a path is imported: a folder, a file of another kind, or a name for several files of a folder. Any other file can
/// only be a graph file.
fn is_import(path: &Path) -> bool {
    !is_graph_file(path)
        && (!path.is_file() || Format::of(path).is_ok() || file_name(path).starts_with("ind."))
}

/// Whether a name is that of a set in Planetoid's layout, as `ind.cora`.
fn starts_with_planetoid(name: &str) -> bool {
    name.starts_with("ind.")
}

fn file_name(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The dataset of that name; see [`Source`].
///
/// # Errors
/// As [`Source::parse`] and [`Source::load`].
pub fn load(threads: &Threads, name: &str, cache: &Cache) -> Result<Dataset, DataError> {
    Source::parse(name)?.load(threads, cache)
}

/// Reads a set of the registry from its files, and holds it to the checksum of what upstream has.
fn read(threads: &Threads, set: &'static Set, cache: &Cache) -> Result<Dataset, DataError> {
    let files: Vec<PathBuf> = set.files.iter().map(|file| cache.installed(set, file)).collect();
    if let Some(missing) = files.iter().find(|file| !file.exists()) {
        let found = format!("no {}", missing.display());
        return Err(format_error(cache.root(), Place::Whole, format!("the files of {}", set.title), found)
            .with_help("fetch it first"));
    }
    let folder = cache.root().join(set.origin.folder);
    let dataset = match set.layout {
        Layout::Planetoid => planetoid::read(threads, &folder, set.name),
        Layout::GnnBenchmark => gnn_benchmark::read(threads, &files[0], set.name),
        Layout::Heterophilous => heterophilous::read(threads, &files[0], set.name),
        Layout::GeomGcn => geom_gcn::read(threads, &folder, upstream_name(set)),
        Layout::Ogb => ogb::read(threads, &files[0], set.name),
    }?;
    if let Some(expected) = set.checksum {
        let found = dataset.checksum();
        if found != expected {
            let expected = format!("{} with content {expected}", set.title);
            return Err(format_error(&files[0], Place::Whole, expected, found)
                .with_help("remove the file and fetch it again"));
        }
    }
    Ok(dataset.renamed(set.name))
}

/// Geom-GCN calls Actor «film».
fn upstream_name(set: &Set) -> &'static str {
    match set.name.trim_end_matches("-geom-gcn") {
        "actor" => "film",
        _ => set.name.trim_end_matches("-geom-gcn"),
    }
}
