use std::fs;
use std::io::Write;
use std::path::Path;

use edgepace_graph::{Dataset, Features, Labels, Threads, UNLABELLED};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::read;
use crate::DataError;

fn gz(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Writes gzipped files into a folder of their own.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(folder.path(), name, &gz(text));
    }
    folder
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    let file = folder.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

const ARXIV: [(&str, &str); 9] = [
    ("raw/num-node-list.csv.gz", "4\n"),
    ("raw/num-edge-list.csv.gz", "5\n"),
    ("raw/edge.csv.gz", "0,1\n1,0\n1,2\n3,3\n3,0\n"),
    ("raw/node-feat.csv.gz", "0.5,-1\n1e-3,2\n3,4\n5,6\n"),
    ("raw/node-label.csv.gz", "4\n0\n39\n4\n"),
    ("raw/node_year.csv.gz", "this file is not read\n"),
    ("split/time/train.csv.gz", "2\n0\n"),
    ("split/time/valid.csv.gz", "1\n"),
    ("split/time/test.csv.gz", "3\n"),
];

const PROTEINS: [(&str, &str); 8] = [
    ("raw/num-node-list.csv.gz", "4\n"),
    ("raw/num-edge-list.csv.gz", "3\n"),
    ("raw/edge.csv.gz", "0,1\n1,2\n0,2\n"),
    ("raw/edge-feat.csv.gz", "0.1,0.2\n0.3,0.4\n0.5,0.6\n"),
    ("raw/node-label.csv.gz", "0,1,0\n1,1,1\n0,0,0\n1,0,0\n"),
    ("split/species/train.csv.gz", "0\n1\n"),
    ("split/species/valid.csv.gz", "2\n"),
    ("split/species/test.csv.gz", "3\n"),
];

fn read_with(files: &[(&str, &str)], changed: (&str, &str)) -> Result<Dataset, DataError> {
    let folder = folder(files);
    write(folder.path(), changed.0, &gz(changed.1));
    read(&Threads::one(), folder.path(), "ogbn-arxiv")
}

/// The message without the folder, which is another one at every run.
fn message(result: Result<Dataset, DataError>) -> String {
    let message = result.expect_err("an error").to_string();
    let start = ["raw", "split"].iter().filter_map(|part| message.find(&format!("{part}/"))).min();
    message[start.unwrap_or(0)..].to_owned()
}

#[test]
fn arxiv_has_its_edges_in_both_directions_and_its_split() {
    let folder = folder(&ARXIV);
    let dataset = read(&Threads::one(), folder.path(), "ogbn-arxiv").unwrap();
    assert_eq!((dataset.graph().nodes(), dataset.graph().edges()), (4, 6));
    let dropped = dataset.graph().dropped();
    assert_eq!((dropped.loops, dropped.duplicates), (1, 1));
    let Features::Dense(dense) = &**dataset.features() else { panic!("all but full is dense") };
    assert_eq!(dense.values(), [0.5, -1.0, 0.001, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let Labels::Classes(classes) = &**dataset.labels() else { panic!("one class per node") };
    assert_eq!((classes.width(), classes.of()), (40, &[4, 0, 39, 4][..]));
    let split = dataset.split("time").unwrap();
    assert_eq!((split.train(), split.validation(), split.test()), (&[0, 2][..], &[1][..], &[3][..]));
}

#[test]
fn proteins_have_the_mean_of_their_edges_as_features() {
    let folder = folder(&PROTEINS);
    let dataset = read(&Threads::one(), folder.path(), "ogbn-proteins").unwrap();
    let Features::Dense(dense) = &**dataset.features() else { panic!("means are dense") };
    // Node 0 has edges 1 and 3, node 1 has 1 and 2, node 2 has 2 and 3, node 3 has none.
    let expected = [0.3, 0.4, 0.2, 0.3, 0.4, 0.5, 0.0, 0.0];
    assert_eq!(dense.cols(), 2);
    assert!(dense.values().iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
    let Labels::Many(many) = &**dataset.labels() else { panic!("many labels") };
    assert_eq!((many.width(), many.values()), (3, &[0, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 0][..]));
    assert_eq!((dataset.graph().edges(), dataset.splits()[0].name()), (6, "species"));
}

#[test]
fn a_node_without_a_class_is_unlabelled_and_may_not_be_in_a_split() {
    let labels = ("raw/node-label.csv.gz", "4\nnan\n39\n4\n");
    assert!(read_with(&ARXIV, labels).is_err());
    let folder = folder(&ARXIV);
    write(folder.path(), labels.0, &gz(labels.1));
    write(folder.path(), "split/time/valid.csv.gz", &gz(""));
    let dataset = read(&Threads::one(), folder.path(), "ogbn-arxiv").unwrap();
    assert!(matches!(&**dataset.labels(), Labels::Classes(classes) if classes.of()[1] == UNLABELLED));
}

#[test]
fn what_is_wrong_is_named_with_its_file_and_line() {
    let cases = [
        (
            "raw/node-label.csv.gz",
            "1\n2\n3\n",
            "raw/node-label.csv.gz: expected 4 lines, as num-node-list.csv.gz says, found 3: fetch the set again",
        ),
        (
            "raw/node-feat.csv.gz",
            "1,2\n3,4\n",
            "raw/node-feat.csv.gz: expected 4 lines, as num-node-list.csv.gz says, found 2: fetch the set again",
        ),
        (
            "raw/edge.csv.gz",
            "0,1\n",
            "raw/edge.csv.gz: expected 5 lines, as num-edge-list.csv.gz says, found 1: fetch the set again",
        ),
        (
            "raw/edge.csv.gz",
            "0,1\n0,x\n",
            "raw/edge.csv.gz, line 2: expected a whole number below 4, the number of nodes, found `x`",
        ),
        (
            "raw/edge.csv.gz",
            "0,1\n0,4\n",
            "raw/edge.csv.gz, line 2: expected a whole number below 4, the number of nodes, found `4`",
        ),
        ("raw/edge.csv.gz", "0,1,2\n", "raw/edge.csv.gz, line 1: expected 2 fields, found 3"),
        (
            "raw/node-feat.csv.gz",
            "1,2\n3,4..\n",
            "raw/node-feat.csv.gz, line 2: expected a finite number, found `4..`",
        ),
        (
            "raw/node-feat.csv.gz",
            "1,2\n3\n",
            "raw/node-feat.csv.gz, line 2: expected 2 columns, as on the lines before, found 1",
        ),
        (
            "raw/node-label.csv.gz",
            "1\n2\n40\n0\n",
            "raw/node-label.csv.gz, line 3: expected a whole number below 40, the number of classes, found `40`",
        ),
        (
            "raw/num-node-list.csv.gz",
            "4\n5\n",
            "raw/num-node-list.csv.gz, line 2: expected a single number, found a second line: only sets of one graph (node properties) can be read",
        ),
        ("split/time/test.csv.gz", "1\n", "split/time"),
    ];
    for (file, text, expected) in cases {
        assert_eq!(message(read_with(&ARXIV, (file, text))), expected);
    }
    let cases = [
        (
            "raw/edge-feat.csv.gz",
            "0.1,0.2\n",
            "raw/edge-feat.csv.gz: expected a line per edge, found fewer lines",
        ),
        (
            "raw/edge-feat.csv.gz",
            "1\n2\n3\n4\n",
            "raw/edge-feat.csv.gz, line 4: expected the end of the file, as there are no more edges, found another line",
        ),
        (
            "raw/node-label.csv.gz",
            "0,1\n0,2\n",
            "raw/node-label.csv.gz, line 2: expected a whole number below 2, the number of values of a label, found `2`",
        ),
    ];
    for (file, text, expected) in cases {
        assert_eq!(message(read_with(&PROTEINS, (file, text))), expected);
    }
}

#[test]
fn a_file_cut_short_or_not_packed_at_all_is_refused() {
    for file in ["raw/edge.csv.gz", "raw/node-feat.csv.gz", "split/time/train.csv.gz"] {
        let folder = folder(&ARXIV);
        let whole = fs::read(folder.path().join(file)).unwrap();
        for bytes in [&whole[..whole.len() - 5], b"0,1\n1,2\n"] {
            write(folder.path(), file, bytes);
            let message = message(read(&Threads::one(), folder.path(), "ogbn-arxiv"));
            assert!(
                message.starts_with(file) && message.contains("expected data that can be unpacked"),
                "{message}"
            );
        }
        fs::remove_file(folder.path().join(file)).unwrap();
        assert!(read(&Threads::one(), folder.path(), "ogbn-arxiv").is_err());
    }
}

#[test]
#[ignore = "a measurement: cargo test --release -p edgepace-data --lib ogb -- --ignored --nocapture"]
fn lines_per_second() {
    const EDGES: usize = 4_000_000;
    const NODES: usize = 132_534;
    let mut state = 1_u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    let labels = "0,1,0,0\n".repeat(NODES);
    let (nodes, count) = (format!("{NODES}\n"), format!("{EDGES}\n"));
    let folder = folder(&[
        ("raw/num-node-list.csv.gz", &nodes),
        ("raw/num-edge-list.csv.gz", &count),
        ("raw/node-label.csv.gz", &labels),
        ("split/species/train.csv.gz", "0\n"),
        ("split/species/valid.csv.gz", "1\n"),
        ("split/species/test.csv.gz", "2\n"),
    ]);
    let create = |name: &str| {
        let file = fs::File::create(folder.path().join("raw").join(name)).unwrap();
        GzEncoder::new(std::io::BufWriter::new(file), Compression::fast())
    };
    // Written line by line, so that the peak of memory is the reader's own.
    let (mut edges, mut values) = (create("edge.csv.gz"), create("edge-feat.csv.gz"));
    for _ in 0..EDGES {
        writeln!(edges, "{},{}", below(NODES), below(NODES)).unwrap();
        let row: Vec<String> = (0..8).map(|_| format!("0.{:03}", below(1000))).collect();
        writeln!(values, "{}", row.join(",")).unwrap();
    }
    edges.finish().unwrap().flush().unwrap();
    values.finish().unwrap().flush().unwrap();
    let start = std::time::Instant::now();
    let dataset = read(&Threads::one(), folder.path(), "ogbn-proteins").unwrap();
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{} edges of 8 features in {seconds:.2} s: {:.0} lines/s", EDGES, 2.0 * EDGES as f64 / seconds);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    eprintln!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("peak memory not known"));
    assert_eq!(dataset.graph().nodes(), NODES);
}
