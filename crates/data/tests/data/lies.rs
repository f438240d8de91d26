//! Graph files whose checksums are right and whose content is wrong: each is refused by name, none panics or hangs.

use std::fs;
use std::path::Path;

use edgepace_data::native::save;
use edgepace_data::{Cache, Native, load};
use edgepace_graph::{Dataset, Threads};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::samples;

/// A graph file taken apart.
/// Name, type, bytes.
type Section = (String, String, Vec<u8>);

struct Forged {
    /// In the order of the file.
    sections: Vec<Section>,
    info: Value,
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

impl Forged {
    fn of(dataset: &Dataset, folder: &Path) -> Forged {
        let path = folder.join("true.graph");
        save(&Threads::one(), dataset, &path).unwrap();
        let bytes = fs::read(&path).unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header: Map<String, Value> = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let mut sections: Vec<(usize, Section)> = Vec::new();
        for (name, tensor) in header.iter().filter(|(name, _)| *name != "__metadata__") {
            let at = |end: usize| 8 + length + tensor["data_offsets"][end].as_u64().unwrap() as usize;
            let dtype = tensor["dtype"].as_str().unwrap().to_owned();
            sections.push((at(0), (name.clone(), dtype, bytes[at(0)..at(1)].to_vec())));
        }
        // Sections without bytes start where another does: the order of the names is as good as any.
        sections.sort_by_key(|(start, (_, _, bytes))| (*start, !bytes.is_empty()));
        let info = serde_json::from_str(header["__metadata__"]["info"].as_str().unwrap()).unwrap();
        Forged { sections: sections.into_iter().map(|(_, section)| section).collect(), info }
    }

    /// The bytes of a section, to be changed.
    fn section(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.sections.iter_mut().find(|(own, _, _)| own == name).expect("a section of that name").2
    }

    fn set<const N: usize>(&mut self, name: &str, position: usize, value: [u8; N]) {
        self.section(name)[position * N..(position + 1) * N].copy_from_slice(&value);
    }

    /// Writes the file with all checksums right.
    fn write(&self, path: &Path) {
        let digests: Map<String, Value> = self
            .sections
            .iter()
            .map(|(name, _, bytes)| {
                let blocks: Vec<u8> = bytes.chunks(16 << 20).flat_map(Sha256::digest).collect();
                (name.clone(), json!(hex(&blocks)))
            })
            .collect();
        let blank = "0".repeat(64);
        let mut header = Map::new();
        let metadata = json!({
            "format": "edgepace-graph", "version": "1", "info": self.info.to_string(),
            "sections": Value::Object(digests).to_string(), "header_sha256": blank,
        });
        header.insert("__metadata__".to_owned(), metadata);
        let mut start = 0;
        for (name, dtype, bytes) in &self.sections {
            let size = match &dtype[..] {
                "U64" => 8,
                "U8" => 1,
                _ => 4,
            };
            let end = start + bytes.len();
            let tensor =
                json!({ "dtype": dtype, "shape": [bytes.len() / size], "data_offsets": [start, end] });
            header.insert(name.clone(), tensor);
            start = end;
        }
        let mut text = Value::Object(header).to_string();
        while !text.len().is_multiple_of(8) {
            text.push(' ');
        }
        let own = hex(text.as_bytes());
        let text = text.replacen(
            &format!("\"header_sha256\":\"{blank}\""),
            &format!("\"header_sha256\":\"{own}\""),
            1,
        );
        let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(text.as_bytes());
        self.sections.iter().for_each(|(_, _, section)| bytes.extend_from_slice(section));
        fs::write(path, bytes).unwrap();
    }
}

/// What is said of a file when it is loaded as a dataset, with all causes.
fn said(path: &Path) -> Option<String> {
    let loaded = load(&Threads::new(2).unwrap(), path.to_str().unwrap(), &Cache::at("nowhere"));
    let mut text = String::new();
    let error = loaded.err()?;
    let mut cause = Some(&error as &dyn std::error::Error);
    while let Some(error) = cause {
        text = format!("{text}{error}: ");
        cause = error.source();
    }
    Some(text)
}

type Lie = (&'static str, fn(&mut Forged), &'static str);

/// A way to change a valid file, and a word of what must be said about it.
const LIES_ABOUT_CITATIONS: &[Lie] = &[
    // The graph: offsets 0 2 4 7 8 8, sources 1 2, 0 2, 0 1 3, 2.
    ("offsets start late", |f| f.set("graph.offsets", 0, 1_u64.to_le_bytes()), "`offsets`[0] is 1"),
    ("offsets go down", |f| f.set("graph.offsets", 2, 1_u64.to_le_bytes()), "must never decrease"),
    ("offsets jump", |f| f.set("graph.offsets", 3, (1_u64 << 63).to_le_bytes()), "must never decrease"),
    ("offsets are huge", |f| f.set("graph.offsets", 5, u64::MAX.to_le_bytes()), "`offsets` end at"),
    ("offsets end early", |f| f.set("graph.offsets", 5, 7_u64.to_le_bytes()), "must never decrease"),
    (
        "offsets all end early",
        |f| (3..6).for_each(|at| f.set("graph.offsets", at, 7_u64.to_le_bytes())),
        "`offsets` end at 7, but there are 8",
    ),
    ("a row takes from the next", |f| f.set("graph.offsets", 1, 3_u64.to_le_bytes()), "`sources`[2]"),
    ("a source is no node", |f| f.set("graph.sources", 0, 5_u32.to_le_bytes()), "there are 5 nodes"),
    (
        "a source is the largest id",
        |f| f.set("graph.sources", 7, u32::MAX.to_le_bytes()),
        "there are 5 nodes",
    ),
    (
        "sources are not sorted",
        |f| {
            f.set("graph.sources", 0, 2_u32.to_le_bytes());
            f.set("graph.sources", 1, 1_u32.to_le_bytes());
        },
        "not above 2",
    ),
    ("an edge is there twice", |f| f.set("graph.sources", 1, 1_u32.to_le_bytes()), "not above 1"),
    ("an edge is a loop", |f| f.set("graph.sources", 2, 1_u32.to_le_bytes()), "no edges of that kind"),
    ("an edge has no reverse", |f| f.set("graph.sources", 7, 1_u32.to_le_bytes()), "not the reverse"),
    ("a twin is another edge", |f| f.set("graph.twins", 0, 4_u32.to_le_bytes()), "not the reverse of edge 0"),
    ("a twin is itself", |f| f.set("graph.twins", 3, 3_u32.to_le_bytes()), "not the reverse of edge 3"),
    ("a twin is no edge", |f| f.set("graph.twins", 3, 8_u32.to_le_bytes()), "not the reverse of edge 3"),
    (
        "a twin is the largest id",
        |f| f.set("graph.twins", 7, u32::MAX.to_le_bytes()),
        "not the reverse of edge 7",
    ),
    (
        "the twins are hidden",
        |f| {
            f.info["undirected"] = json!(false);
            f.sections.retain(|(name, _, _)| name != "graph.twins");
        },
        "the graph is undirected",
    ),
    ("the twins are denied", |f| f.info["undirected"] = json!(false), "the graph is undirected"),
    // Features: offsets 0 2 2 3 5 6, columns 1 6, 0, 2 3, 6 of 7.
    ("features start late", |f| f.set("features.offsets", 0, 1_u64.to_le_bytes()), "`offsets`[0] is 1"),
    ("feature offsets go down", |f| f.set("features.offsets", 1, 4_u64.to_le_bytes()), "must never decrease"),
    (
        "feature offsets are huge",
        |f| f.set("features.offsets", 5, (1_u64 << 40).to_le_bytes()),
        "`offsets` end at",
    ),
    (
        "a column is out of range",
        |f| f.set("features.columns", 5, 7_u32.to_le_bytes()),
        "there are 7 columns",
    ),
    ("columns are not sorted", |f| f.set("features.columns", 0, 6_u32.to_le_bytes()), "not above 6"),
    ("a feature is NaN", |f| f.set("features.values", 1, f32::NAN.to_le_bytes()), "(row 0, column 6) is NaN"),
    (
        "a feature is infinite",
        |f| f.set("features.values", 2, f32::INFINITY.to_le_bytes()),
        "(row 2, column 0) is inf",
    ),
    (
        "columns are beyond ids",
        |f| {
            f.info["features"]["columns"] = json!(1_u64 << 40);
            f.info["feature_names"] = json!(false);
        },
        "too many",
    ),
    // Labels: 0 2 0 2 none, of 3 classes.
    ("a class is out of range", |f| f.set("labels", 0, 3_u32.to_le_bytes()), "there are 3 classes"),
    (
        "fewer classes than labels",
        |f| {
            f.info["labels"]["width"] = json!(2);
            f.info["class_names"] = json!(false);
        },
        "there are 2 classes",
    ),
    (
        "classes for no one",
        |f| {
            f.info["labels"]["width"] = json!(1_u64 << 40);
            f.info["class_names"] = json!(false);
        },
        "classes are too many",
    ),
    // Splits: `public` 0 1 | 2 | 3 and `7` 3 | | 0 1.
    (
        "a training node does not exist",
        |f| f.set("split.0.train", 1, 5_u32.to_le_bytes()),
        "there are 5 nodes",
    ),
    (
        "a test node is the largest id",
        |f| f.set("split.0.test", 0, u32::MAX.to_le_bytes()),
        "there are 5 nodes",
    ),
    ("a training node is there twice", |f| f.set("split.0.train", 0, 1_u32.to_le_bytes()), "repeats node 1"),
    (
        "training nodes are not sorted",
        |f| {
            f.set("split.0.train", 0, 1_u32.to_le_bytes());
            f.set("split.0.train", 1, 0_u32.to_le_bytes());
        },
        "below 1 before it",
    ),
    ("a test node is trained on", |f| f.set("split.0.test", 0, 1_u32.to_le_bytes()), "also in `train`"),
    (
        "a validation node is trained on",
        |f| f.set("split.0.validation", 0, 0_u32.to_le_bytes()),
        "also in `train`",
    ),
    ("a test node is chosen by", |f| f.set("split.0.test", 0, 2_u32.to_le_bytes()), "also in `validation`"),
    ("a test node has no class", |f| f.set("split.0.test", 0, 4_u32.to_le_bytes()), "hash"),
    (
        "nobody is trained on",
        |f| {
            f.section("split.1.train").clear();
            f.info["splits"][1]["train"] = json!(0);
        },
        "no training nodes",
    ),
    (
        "a split has the hash of another",
        |f| f.info["splits"][0]["hash"] = f.info["splits"][1]["hash"].clone(),
        "its hash",
    ),
    ("two splits have one name", |f| f.info["splits"][1]["name"] = json!("public"), "both named `public`"),
    // Edge columns and names.
    ("a weight is 0", |f| f.set("edge.0", 2, 0.0_f32.to_le_bytes()), "edge column `weight`[2] is 0"),
    ("a weight is negative", |f| f.set("edge.0", 2, (-1.0_f32).to_le_bytes()), "the weight of the edge from"),
    ("a weight is NaN", |f| f.set("edge.0", 3, f32::NAN.to_le_bytes()), "edge column `weight`[3] is NaN"),
    (
        "a weight is infinite",
        |f| f.set("edge.0", 7, f32::NEG_INFINITY.to_le_bytes()),
        "edge column `weight`[7] is -inf",
    ),
    ("weights are missing", |f| f.section("edge.0").truncate(28), "8 numbers"),
    (
        "one edge column is there twice",
        |f| {
            let values = f.section("edge.0").clone();
            let at = f.sections.iter().position(|(name, _, _)| name == "edge.0").unwrap();
            f.sections.insert(at, ("edge.1".to_owned(), "F32".to_owned(), values));
            f.info["edge_columns"] = json!(["weight", "weight"]);
        },
        "two edge columns are named `weight`",
    ),
    (
        "a name is not UTF-8",
        |f| f.section("node_names.bytes")[0] = 0xff,
        "entry 0 of the node names is not UTF-8",
    ),
    (
        "a name starts within a letter",
        |f| f.set("node_names.offsets", 1, 1_u64.to_le_bytes()),
        "node names is not UTF-8",
    ),
    (
        "a name ends before it starts",
        |f| f.set("node_names.offsets", 2, 1_u64.to_le_bytes()),
        "ends before it starts",
    ),
    (
        "a name ends beyond the text",
        |f| f.set("node_names.offsets", 3, u64::MAX.to_le_bytes()),
        "beyond the text",
    ),
    ("the text is longer than the names", |f| f.section("class_names.bytes").push(b'x'), "class names"),
    ("class names are huge", |f| f.set("class_names.offsets", 3, (1_u64 << 63).to_le_bytes()), "class names"),
    (
        "a feature's name is not UTF-8",
        |f| f.section("feature_names.bytes")[0] = 0xff,
        "entry 0 of the feature names is not UTF-8",
    ),
    ("the encoding is not UTF-8", |f| f.section("encoding")[0] = 0xff, "`encoding`"),
    // Counts of the header.
    ("one node more", |f| f.info["nodes"] = json!(6), "graph.offsets"),
    ("as many nodes as there are numbers", |f| f.info["nodes"] = json!(u64::MAX), "graph.offsets"),
    ("one edge less", |f| f.info["edges"] = json!(7), "graph.sources"),
    ("one training node more", |f| f.info["splits"][0]["train"] = json!(3), "split.0.train"),
    ("dense instead of sparse", |f| f.info["features"]["stored"] = Value::Null, "features.values"),
    ("many labels instead of classes", |f| f.info["labels"]["many"] = json!(true), "labels"),
];

const LIES_ABOUT_PROTEINS: &[Lie] = &[
    ("a label is neither yes nor no", |f| f.section("labels")[5] = 2, "(node 1, label 2) is 2"),
    (
        "a dense feature is NaN",
        |f| f.set("features.values", 3, f32::NAN.to_le_bytes()),
        "(row 1, column 1) is NaN",
    ),
    (
        "a directed edge is a loop",
        |f| f.set("graph.sources", 0, 0_u32.to_le_bytes()),
        "no edges of that kind",
    ),
    ("no labels at all", |f| f.info["labels"]["width"] = json!(0), "labels"),
    (
        "twins of a directed graph",
        |f| {
            f.info["undirected"] = json!(true);
            let at = f.sections.iter().position(|(name, _, _)| name == "graph.sources").unwrap();
            f.sections.insert(at, ("graph.twins".to_owned(), "U32".to_owned(), vec![0; 12]));
        },
        "not the reverse",
    ),
    ("more columns than values", |f| f.info["features"]["columns"] = json!(u64::MAX), "features.values"),
];

#[test]
fn a_file_with_right_checksums_and_wrong_content_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lie.graph");
    for (dataset, lies) in
        [(samples::citations(), LIES_ABOUT_CITATIONS), (samples::proteins(), LIES_ABOUT_PROTEINS)]
    {
        Forged::of(&dataset, folder.path()).write(&path);
        assert_eq!(said(&path), None, "an honest file of {} is read", dataset.name());
        for (lie, tell, expected) in lies {
            let mut forged = Forged::of(&dataset, folder.path());
            tell(&mut forged);
            forged.write(&path);
            let found = said(&path).unwrap_or_else(|| panic!("nobody noticed that {lie}"));
            assert!(found.contains("lie.graph") && found.contains(expected), "{lie}: {found}");
            assert!(!found.contains("checksum"), "{lie}: the forger forgot a checksum: {found}");
        }
    }
}

#[test]
fn an_unlabelled_node_in_a_split_is_refused_even_with_the_right_hash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lie.graph");
    let mut forged = Forged::of(&samples::citations(), folder.path());
    forged.set("split.0.test", 0, 4_u32.to_le_bytes());
    let honest = edgepace_graph::Split::new("public", 5, vec![0, 1], vec![2], vec![4]).unwrap();
    forged.info["splits"][0]["hash"] = json!(honest.hash());
    forged.write(&path);
    let found = said(&path).expect("an unlabelled test node");
    assert!(found.contains("node 4 of `test` has no class"), "{found}");
}

#[test]
fn what_the_header_says_about_the_content_is_checked_when_a_file_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lie.graph");
    for (key, value) in [("checksum", json!("0".repeat(64))), ("homophily", json!(0.75))] {
        let mut forged = Forged::of(&samples::citations(), folder.path());
        forged.info[key] = value;
        forged.write(&path);
        let native = Native::open(&path).unwrap();
        native.verify(&Threads::one()).expect("the content is right");
        let error = native.verify_header(&Threads::one()).unwrap_err().to_string();
        assert!(error.contains(&format!("`info.{key}`")), "{error}");
    }
}
