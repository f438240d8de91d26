//! The final bits of every method × backbone × preset on small graphs, held by a committed table of hashes.
//!
//! A row that changes is a change of a number. It is deliberate: the commit that changes the table says why, and raises
//! the numerics version. `EDGEPACE_WRITE_BITS=1 cargo test -p edgepace-train --test train bits` writes the table anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, Labels, ManyLabels, SparseFeatures, Split,
};
use edgepace_train::{Finished, Keep, METHODS, RunConfig, Search};
use sha2::{Digest, Sha256};

use crate::sets::{circle, trained, weighted};

type Set = (Dataset, Split);

fn table_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bits.txt")
}

/// Undirected edges, sparse features, one class per node: bags of words.
fn words() -> Set {
    let (dataset, split) = circle("homophily=0.5,nodes=200,edges=2400,classes=4", 1);
    let nodes = dataset.graph().nodes();
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("one class per node") };
    let (columns, words) = (60, 5);
    let mut offsets = vec![0];
    let (mut ids, mut values) = (Vec::new(), Vec::new());
    for node in 0..nodes {
        let class = classes.of()[node] as usize;
        let mut row: Vec<u32> = (0..words)
            .map(|word| ((node * (2 * word + 3) + 15 * class + word * word) % columns) as u32)
            .collect();
        row.sort_unstable();
        row.dedup();
        values.extend(row.iter().map(|&id| 1.0 + (id % 3) as f32));
        ids.extend(row);
        offsets.push(ids.len());
    }
    let features = SparseFeatures::new(nodes, columns, offsets, ids, values).unwrap();
    let graph = Graph::clone(dataset.graph());
    let labels = Labels::clone(dataset.labels());
    let dataset =
        Dataset::new("words", graph, Features::from(features), labels, vec![split.clone()]).unwrap();
    (dataset, split)
}

/// Undirected edges and coordinates, enough of them that loops over edges, in blocks of 4096, are split among threads.
fn coordinates() -> Set {
    let set = circle("homophily=0.5,nodes=120,edges=4400,classes=3", 2);
    assert!(set.0.graph().edges() > 2 * 4096);
    set
}

fn made(nodes: usize) -> (Vec<u32>, Vec<u32>, Features) {
    let of = |i: usize, a: usize, b: usize| ((i * a + (i / 7) * b + 1) % nodes) as u32;
    let (sources, targets): (Vec<u32>, Vec<u32>) =
        (0..6 * nodes).map(|i| (of(i, 13, 5), of(i, 29, 11))).filter(|(a, b)| a != b).unzip();
    let values = (0..3 * nodes).map(|i| ((i * 37) % 23) as f32 / 7.0 - 1.5).collect();
    (sources, targets, DenseFeatures::new(nodes, 3, values).unwrap().into())
}

fn thirds(nodes: usize) -> Split {
    let of = |rest: u32| (0..nodes as u32).filter(|node| node % 3 == rest).collect::<Vec<u32>>();
    Split::new("thirds", nodes, of(0), of(1), of(2)).unwrap()
}

/// Edges that go one way.
fn directed() -> Set {
    let nodes = 90;
    let (sources, targets, features) = made(nodes);
    let graph = Graph::from_edges(nodes, &sources, &targets).unwrap();
    let labels =
        Labels::from(Classes::new(3, (0..nodes as u32).map(|node| (node / 5) % 3).collect()).unwrap());
    let split = thirds(nodes);
    (Dataset::new("directed", graph, features, labels, vec![split.clone()]).unwrap(), split)
}

/// Many labels per node.
fn many() -> Set {
    let nodes = 90;
    let (sources, targets, features) = made(nodes);
    let graph = Graph::undirected(nodes, &sources, &targets).unwrap();
    let values = (0..4 * nodes).map(|i| u8::from((i * 31 / 3) % 5 < 2)).collect();
    let labels = Labels::from(ManyLabels::new(nodes, 4, values).unwrap());
    let split = thirds(nodes);
    (Dataset::new("many", graph, features, labels, vec![split.clone()]).unwrap(), split)
}

/// A row of the table: what is run.
struct Case {
    graph: &'static str,
    config: RunConfig,
}

impl Case {
    fn name(&self) -> String {
        let RunConfig { method, preset, backbone, search, keep, .. } = &self.config;
        let preset = preset.as_deref().unwrap_or("default");
        let search = if search.is_on() { " --search" } else { "" };
        let keep = if *keep == Some(Keep::Best) { " keep=best" } else { "" };
        let labels = if self.config.settings.contains_key("labels") { " labels=false" } else { "" };
        format!("{} {method} {preset} {}{search}{keep}{labels}", self.graph, backbone.name())
    }
}

/// Every method × preset × backbone on bags of words, and every method × backbone on the other graphs. Each row is of what the
/// method itself made; those that may keep their warm start have a second row for that.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for graph in ["words", "coordinates", "directed", "many", "weighted"] {
        for method in METHODS {
            // They refuse many labels.
            if graph == "many" && ["belief", "label-propagation"].contains(&method.name) {
                continue;
            }
            let presets: Vec<Option<&str>> = match (graph, method.presets) {
                ("words", [_, ..]) => method.presets.iter().map(|&preset| Some(preset)).collect(),
                // The default, and that of the paper's ground.
                _ if method.name == "rcl" => vec![None, Some("edgepace")],
                _ => vec![None],
            };
            for preset in presets {
                for backbone in method.backbones {
                    // The last update of the curriculum is one that adds edges, and one epoch follows it.
                    let mut config = RunConfig { epochs: 12, hidden: Some(16), ..RunConfig::default() };
                    for (key, value) in [("method", method.name), ("backbone", backbone)] {
                        config.set(key, value).unwrap();
                    }
                    config.preset = preset.map(Into::into);
                    if method.settings.iter().any(|setting| setting.name == "period")
                        && preset != Some("auto")
                    {
                        config.set("period", "5").unwrap();
                    }
                    if method.keeps == Keep::Best && preset != Some("auto") {
                        cases.push(Case {
                            graph,
                            config: RunConfig { keep: Some(Keep::Best), ..config.clone() },
                        });
                    }
                    config.keep = Some(Keep::Method);
                    // The experts of the paper's tables, which were measured before label propagation was one.
                    if (graph, method.name) == ("words", "auto") {
                        let mut config = config.clone();
                        config.set("labels", "false").unwrap();
                        cases.push(Case { graph, config });
                    }
                    cases.push(Case { graph, config });
                }
            }
        }
    }
    for method in ["rcl", "clnode", "ptdnet", "gnn-svd"] {
        let mut config =
            RunConfig { epochs: 6, hidden: Some(16), search: Search::Settings, ..RunConfig::default() };
        config.set("method", method).unwrap();
        config.keep = Some(Keep::Method);
        cases.push(Case { graph: "directed", config });
    }
    cases
}

/// All that two equal runs agree on, to the bit.
fn hash(trained: &Finished) -> String {
    let mut hasher = Sha256::new();
    let mut floats = |values: &[f32]| values.iter().for_each(|value| hasher.update(value.to_le_bytes()));
    floats(&trained.snapshot.parameters);
    floats(&trained.snapshot.logits);
    if let Some(edges) = &trained.edges {
        floats(&edges.difficulty);
        floats(&edges.weight);
        edges.first_epoch.iter().for_each(|epoch| hasher.update(epoch.to_le_bytes()));
    }
    let result = &trained.record.result;
    hasher.update(format!(
        "{} {} {:?} {:?} {:?}",
        result.best_epoch, result.evaluated_on, result.validation, result.chosen, result.edges_history
    ));
    hasher.finalize().iter().take(16).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn table(cases: Vec<Case>, threads: usize) -> BTreeMap<String, String> {
    let sets = [
        ("words", words()),
        ("coordinates", coordinates()),
        ("directed", directed()),
        ("many", many()),
        ("weighted", weighted(coordinates())),
    ];
    let of = |case: Case| {
        let (_, set) = sets.iter().find(|(name, _)| *name == case.graph).unwrap();
        (case.name(), hash(&trained(set, &case.config, threads)))
    };
    cases.into_iter().map(of).collect()
}

/// The table in the repository.
fn committed() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(table_path()).unwrap();
    let rows = text.lines().filter_map(|line| line.split_once(' '));
    rows.map(|(hash, name)| (name.into(), hash.into())).collect()
}

/// The rows of two tables that differ.
fn differing<'a>(one: &'a BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<&'a String> {
    assert_eq!(one.len(), other.len(), "as many rows");
    one.iter().filter(|(name, hash)| other.get(*name) != Some(hash)).map(|(name, _)| name).collect()
}

#[test]
fn final_bits_are_those_of_the_committed_table_on_any_number_of_threads() {
    let found = table(cases(), 1);
    if std::env::var_os("EDGEPACE_WRITE_BITS").is_some() {
        let lines: Vec<String> = found.iter().map(|(name, hash)| format!("{hash} {name}\n")).collect();
        std::fs::write(table_path(), lines.concat()).unwrap();
    }
    let committed = committed();
    let moved = differing(&found, &committed);
    assert!(moved.is_empty(), "{} rows moved: {moved:#?}", moved.len());
    for threads in [2, 8] {
        let many = table(cases(), threads);
        let moved = differing(&many, &committed);
        assert!(moved.is_empty(), "{threads} threads: {moved:#?}");
    }
}

/// The rows on the smaller graphs, where the software that stands in for fused multiply-adds takes seconds, and vanilla on
/// bags of words, whose features are sparse.
fn few_cases() -> Vec<Case> {
    let few = |case: &Case| match case.graph {
        "directed" | "many" => !case.config.search.is_on(),
        "words" => case.config.method == "vanilla",
        _ => false,
    };
    cases().into_iter().filter(few).collect()
}

/// Runs itself again in a process without vector instructions. Those of faer cannot be switched off: under emulation
/// (`EDGEPACE_SIMD=off qemu-x86_64 -cpu Nehalem`) GNN-SVD, which decomposes with it, has other bits on a machine without
/// AVX, and others again with AVX2. Its rows of the table are those of AVX-512. Pro-GNN decomposes with it too; its rows
/// hold there, but reach that step once at most.
#[test]
fn final_bits_are_those_of_the_committed_table_without_vector_instructions() {
    if std::env::var_os("EDGEPACE_SIMD").is_some_and(|value| value == "off") {
        let (found, committed) = (table(few_cases(), 1), committed());
        assert!(found.len() > 150, "{} rows show little", found.len());
        let moved: Vec<_> = found.iter().filter(|(name, hash)| committed.get(*name) != Some(hash)).collect();
        assert!(moved.is_empty(), "{moved:#?}");
        return;
    }
    let name = "bits::final_bits_are_those_of_the_committed_table_without_vector_instructions";
    let mut again = Command::new(std::env::current_exe().unwrap());
    let output = again.args(["--exact", name]).env("EDGEPACE_SIMD", "off").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
