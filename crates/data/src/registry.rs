//! The datasets that can be had by name: where their files are, what they hold, and which rule makes them a graph.

mod files;
mod sets;

pub use sets::SETS;

use edgepace_graph::nearest;

/// A dataset that can be had by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// The name to ask for, as in `cora`.
    pub name: &'static str,
    /// The name to print, as in `Cora`.
    pub title: &'static str,
    /// What it is, in one line.
    pub description: &'static str,
    /// How its files are laid out, which decides the reader.
    pub layout: Layout,
    /// Where its files come from.
    pub origin: Origin,
    /// Its files.
    pub files: &'static [RemoteFile],
    /// What the graph must have once read.
    pub counts: Counts,
    /// The rule that makes edges of what the files say, in words.
    pub edge_rule: &'static str,
    /// The split that is used when none is asked for, in words.
    pub split: &'static str,
    /// Who made it: the work to cite.
    pub reference: &'static str,
    /// Its licence, as far as the makers state one.
    pub licence: &'static str,
    /// The content checksum of the graph once read, where it is known.
    pub checksum: Option<&'static str>,
}

/// How the files of a dataset are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Eight files `ind.NAME.*`: Python pickles and a list of test nodes.
    Planetoid,
    /// One npz file with the sparse matrices `adj_*` and `attr_*`, and `labels`.
    GnnBenchmark,
    /// One npz file with `edges`, `node_features`, `node_labels` and ten masks of each kind.
    Heterophilous,
    /// Two text files and ten npz files with masks.
    GeomGcn,
    /// A folder of compressed CSV files, as the Open Graph Benchmark packs them.
    Ogb,
}

/// Where the files of a dataset come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Their folder in the cache, and below a mirror of one's own.
    pub folder: &'static str,
    /// Addresses that a file's name is appended to, in the order in which they are tried.
    pub mirrors: &'static [&'static str],
}

/// One file of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteFile {
    /// Its path below the origin's folder and below each mirror, with `/` between the parts.
    pub name: &'static str,
    /// The SHA-256 of its bytes, where known. Otherwise the first download is remembered and later ones are held to it.
    pub sha256: Option<&'static str>,
    /// Its size, where known.
    pub bytes: Option<u64>,
    /// More bytes than this are never taken, whatever a server says.
    pub limit: u64,
    /// For an archive: what becomes of it.
    pub unpack: Option<Unpack>,
}

/// What becomes of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unpack {
    /// The folder in the archive.
    pub top: &'static str,
    /// What it is called below the origin's folder.
    pub folder: &'static str,
    /// More bytes than this are never unpacked.
    pub limit: u64,
}

/// How large a graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Nodes.
    pub nodes: u64,
    /// Directed edges, once the rule on edges was applied.
    pub edges: u64,
    /// Features of a node.
    pub features: u64,
    /// Classes, or labels of a node where each is yes or no.
    pub classes: u64,
}

impl Set {
    /// The addresses of a file, in the order in which they are tried.
    pub fn mirrors(&self, file: &RemoteFile) -> Vec<String> {
        self.origin.mirrors.iter().map(|base| format!("{base}{}", file.name)).collect()
    }

    /// The path of a file in the cache and below a mirror of one's own, with `/` between the parts.
    pub fn path_of(&self, file: &RemoteFile) -> String {
        format!("{}/{}", self.origin.folder, file.name)
    }

    /// What a download takes, as far as the sizes are known, and whether all of them are.
    pub fn known_bytes(&self) -> (u64, bool) {
        let known = self.files.iter().filter_map(|file| file.bytes).sum();
        (known, self.files.iter().all(|file| file.bytes.is_some()))
    }
}

impl RemoteFile {
    /// What the readers open, below the origin's folder: the file, or the folder that the archive becomes.
    pub fn installed(&self) -> &'static str {
        self.unpack.map_or(self.name, |unpack| unpack.folder)
    }
}

/// The dataset of that name. Capitals and `_` for `-` do not matter.
pub fn find(name: &str) -> Option<&'static Set> {
    let name = plain(name);
    SETS.iter().find(|set| set.name == name)
}

/// The name that is nearest to one that is not there, or that has it as a part, if any is near enough to be meant.
pub fn suggest(name: &str) -> Option<&'static str> {
    nearest(name, SETS.iter().map(|set| set.name))
}

fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace('_', "-")
}
