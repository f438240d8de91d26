use std::fs;
use std::path::{Path, PathBuf};

use edgepace_data::DataError;
use edgepace_data::import::{Columns, FeatureColumns, Format, Import, import};
use edgepace_graph::{Dataset, Features, Labels, Threads, UNLABELLED};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn run(request: &Import) -> Result<Dataset, DataError> {
    Ok(import(&Threads::one(), request, &|_, _| {})?.dataset)
}

fn file(name: &str) -> Dataset {
    run(&Import::file(fixture(name))).unwrap()
}

/// A request for the files with that content.
fn written(folder: &Path, edges: &str, nodes: Option<&str>) -> Import {
    let mut request = Import::file(folder.join("edges.csv"));
    fs::write(&request.edges, edges).unwrap();
    if let Some(nodes) = nodes {
        let file = folder.join("nodes.csv");
        fs::write(&file, nodes).unwrap();
        request.nodes = Some(file);
    }
    request
}

fn refusal(edges: &str, nodes: Option<&str>) -> String {
    let folder = tempfile::tempdir().unwrap();
    run(&written(folder.path(), edges, nodes)).unwrap_err().to_string()
}

fn classes(dataset: &Dataset) -> (usize, Vec<u32>) {
    match &**dataset.labels() {
        Labels::Classes(classes) => (classes.width(), classes.of().to_vec()),
        Labels::Many(_) => panic!("one class per node was expected"),
    }
}

fn dense(dataset: &Dataset) -> (usize, Vec<f32>) {
    match &**dataset.features() {
        Features::Dense(dense) => (dense.cols(), dense.values().to_vec()),
        Features::Sparse(_) => panic!("dense features were expected"),
    }
}

/// All edges as pairs of numbers.
fn pairs(dataset: &Dataset) -> Vec<(u32, u32)> {
    dataset.graph().sources().iter().copied().zip(dataset.graph().targets()).collect()
}

fn names(dataset: &Dataset) -> Vec<&str> {
    dataset.node_names().map(|names| names.iter().collect()).unwrap_or_default()
}

#[test]
fn a_table_of_nodes_gives_ids_classes_splits_and_features() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = "id,label,year,split,comment\nu,code,1999,train,hello\nv,theory,2001,valid,\nw,?,2003,,x\n";
    let dataset = run(&written(folder.path(), "source,target\nv,u\nu,v\n", Some(nodes))).unwrap();
    assert_eq!(dataset.name(), "edges");
    assert_eq!(names(&dataset), ["u", "v", "w"]);
    assert_eq!(classes(&dataset), (2, vec![0, 1, UNLABELLED]));
    assert_eq!(dataset.class_names().unwrap().iter().collect::<Vec<_>>(), ["code", "theory"]);
    assert_eq!(dense(&dataset), (1, vec![1999.0, 2001.0, 2003.0]));
    let split = dataset.split("split").unwrap();
    assert_eq!((split.train(), split.validation(), split.test()), (&[0][..], &[1][..], &[][..]));
    assert_eq!(pairs(&dataset), [(1, 0), (0, 1)]);
    assert_eq!(dataset.graph().dropped().duplicates, 1);
}

#[test]
fn whole_numbers_keep_their_order_as_classes() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = "id,label\n0,10.0\n1,2.0\n2,NaN\n3,-1\n";
    let dataset = run(&written(folder.path(), "0,1\n2,3\n", Some(nodes))).unwrap();
    assert_eq!(classes(&dataset), (3, vec![2, 1, UNLABELLED, 0]));
    assert_eq!(dataset.class_names().unwrap().iter().collect::<Vec<_>>(), ["-1", "2", "10"]);
    assert!(dataset.node_names().is_none(), "ids that count from 0 are no names");
}

#[test]
fn columns_can_be_told() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = "key,topic,f1,f2,g1,fold\na,x,1,2,3,0\nb,y,4,5,6,1\nc,x,7,8,9,2\n";
    let mut request = written(folder.path(), "w,to_node,from_node\n0.5,a,b\n2,b,c\n", Some(nodes));
    request.directed = Some(true);
    request.columns = Columns {
        source: Some("from_node".to_owned()),
        target: Some("to_node".to_owned()),
        weight: Some("w".to_owned()),
        id: Some("key".to_owned()),
        label: Some("topic".to_owned()),
        splits: Some(vec!["fold".to_owned()]),
        features: FeatureColumns::Prefix("f".to_owned()),
        ..Columns::default()
    };
    // `fold` starts with f as well, but it is a split.
    let dataset = run(&request).unwrap();
    assert_eq!(dense(&dataset), (2, vec![1.0, 2.0, 4.0, 5.0, 7.0, 8.0]));
    assert_eq!(pairs(&dataset), [(1, 0), (2, 1)]);
    assert_eq!(dataset.edge_column("weight"), Some(&[0.5, 2.0][..]));
    assert_eq!(dataset.split("fold").unwrap().test(), [2]);
}

#[test]
fn edges_alone_make_a_graph_without_features() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = run(&written(folder.path(), "0,1\n1,2\n1,3\n", None)).unwrap();
    assert_eq!(classes(&dataset), (0, vec![UNLABELLED; 4]));
    assert_eq!(dense(&dataset), (0, Vec::new()), "none is made up");
    let table = run(&written(folder.path(), "0,1\n1,2\n", Some("id,label\n0,a\n1,b\n2,a\n"))).unwrap();
    assert_eq!((dense(&table), classes(&table)), ((0, Vec::new()), (2, vec![0, 1, 0])));
}

#[test]
fn many_binary_labels_are_columns() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = "id,label:a,label:b\n0,1,0\n1,1,1\n";
    let dataset = run(&written(folder.path(), "0,1\n", Some(nodes))).unwrap();
    let Labels::Many(many) = &**dataset.labels() else { panic!("many labels were expected") };
    assert_eq!((many.width(), many.values()), (2, &[1, 0, 1, 1][..]));
}

#[test]
fn what_is_wrong_with_a_table_is_told_by_line_and_column() {
    let claims = [
        ("source,target\na,b\na,z\n", "id\na\nb\n", "line 3", "`z`"),
        ("a,b\n", "id\na\nb\na\n", "line 4", "`a`"),
        ("a,b\n", "id,x\na,1\nb,one\n", "field `x`", "`one`"),
        ("a,b\n", "id,x\na,1\nb,inf\n", "line 3", "inf (infinite)"),
        ("a,b\n", "id,split\na,train\nb,later\n", "field `split`", "`later`"),
        ("a,b\n", "id,label:x\na,1\nb,2\n", "field `label:x`", "`2`"),
        ("a,b\n", "id,x\na,1\nb\n", "line 3", "2 columns"),
        ("a,b\n", "", "nodes.csv", "first line"),
    ];
    for (edges, nodes, first, second) in claims {
        let error = refusal(edges, Some(nodes));
        assert!(error.contains(first) && error.contains(second), "{nodes:?}: {error}");
    }
}

#[test]
fn an_unknown_extension_names_the_legal_ones() {
    let error = run(&Import::file("graph.docx")).unwrap_err().to_string();
    assert!(error.contains("graph.docx") && error.contains("parquet"), "{error}");
    assert_eq!(Format::of(Path::new("a.b/Edges.CSV.gz")).unwrap(), Format::Csv);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_reads_what_pandas_writes() {
    for codec in ["snappy", "zstd", "gzip"] {
        let mut request = Import::file(fixture("edges.parquet"));
        request.nodes = Some(fixture(&format!("nodes.{codec}.parquet")));
        let dataset = run(&request).unwrap();
        assert_eq!(names(&dataset), ["a", "b", "c", "d"]);
        assert_eq!(classes(&dataset), (2, vec![1, 0, UNLABELLED, 0]));
        let features = vec![1999.0, 0.5, 1.0, 2001.0, -1.25, 0.0, 2003.0, 3.0, 1.0, 2005.0, 0.1, 1.0];
        assert_eq!(dense(&dataset), (3, features));
        assert_eq!(dataset.split("split").unwrap().test(), [3]);
        assert_eq!(pairs(&dataset), [(1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2)]);
        assert_eq!(dataset.edge_column("weight"), Some(&[0.5, 2.5, 0.5, 1.5, 2.5, 1.5][..]));
    }
    assert_eq!(pairs(&file("numbers.parquet")).len(), 6);
    let mut request = Import::file(fixture("numbers.parquet"));
    request.nodes = Some(fixture("lists.parquet"));
    let error = run(&request).unwrap_err().to_string();
    assert!(error.contains("flat column"), "{error}");
}

#[test]
fn graphml_reads_what_networkx_writes() {
    let dataset = file("undirected.graphml");
    assert_eq!(names(&dataset), ["a & b", "c", "é"]);
    assert_eq!(classes(&dataset), (2, vec![0, 1, 0]));
    assert_eq!(dense(&dataset), (1, vec![1.5, 2.0, -3.0]));
    assert_eq!(pairs(&dataset), [(1, 0), (0, 1), (2, 1), (1, 2)]);
    assert_eq!(dataset.edge_column("weight"), Some(&[0.5, 0.5, 2.0, 2.0][..]));
    assert_eq!(dataset.split("split").unwrap().validation(), [1]);
    let directed = file("directed.graphml");
    assert_eq!(pairs(&directed), [(3, 0), (0, 1), (1, 2)]);
    assert_eq!(names(&directed), ["0", "1", "2", "5"]);
}

#[test]
fn graphml_beyond_plain_graphs_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graphml");
    let claims = [
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><graphml/>", "document type"),
        ("<graphml><graph edgedefault='directed'><hyperedge/></graph></graphml>", "hyperedge"),
        (
            "<graphml><graph edgedefault='directed'><node id='a'><graph edgedefault='directed'/></node></graph></graphml>",
            "nested",
        ),
        (
            "<graphml><graph edgedefault='directed'><node id='a'/><edge source='a' target='b'/></graph></graphml>",
            "`b`",
        ),
        ("<graphml><graph><node id='a'/></graph></graphml>", "edgedefault"),
        ("<graphml><graph edgedefault='directed'><node id='&lol;'/></graph></graphml>", "byte"),
        ("<graphml><graph edgedefault='directed'>", "whole <graph>"),
    ];
    for (text, part) in claims {
        fs::write(&path, text).unwrap();
        let error = run(&Import::file(&path)).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn edge_lists_read_what_networkx_writes() {
    for (name, weights) in [("dictionary", true), ("weighted", true), ("plain", false)] {
        let dataset = file(&format!("{name}.edgelist"));
        assert_eq!(pairs(&dataset), [(1, 0), (0, 1), (2, 1), (1, 2)], "{name}");
        assert_eq!(dataset.edge_column("weight"), weights.then_some(&[3.0, 3.0, 4.5, 4.5][..]), "{name}");
    }
}

#[test]
fn arrays_read_what_numpy_and_scipy_write() {
    let dataset = file("arrays.npz");
    assert_eq!(pairs(&dataset), [(1, 0), (0, 1), (2, 1), (1, 2)]);
    assert_eq!(classes(&dataset), (2, vec![0, 1, UNLABELLED]));
    assert_eq!(dense(&dataset), (2, vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
    assert_eq!(dataset.splits()[0].validation(), [1]);
    assert_eq!(file("pairs.npz").graph().edges(), 6);
    for name in ["adjacency.npz", "coordinates.npz"] {
        let mut request = Import::file(fixture(name));
        request.directed = Some(true);
        request.features = Some(fixture("features.npz"));
        let dataset = run(&request).unwrap();
        assert_eq!(pairs(&dataset), [(0, 1), (1, 2)]);
        assert_eq!(dataset.edge_column("weight"), Some(&[2.0, 3.0][..]));
        let Features::Sparse(sparse) = &**dataset.features() else { panic!("sparse features were expected") };
        assert_eq!((sparse.columns(), sparse.values()), (&[0, 1][..], &[1.0, 2.5][..]));
    }
}

#[test]
fn an_edge_of_weight_zero_is_not_there_whatever_else_is_made_of_the_graph() {
    let folder = tempfile::tempdir().unwrap();
    let read = |text: &str| run(&written(folder.path(), text, None)).unwrap();
    let zero = read("source,target,weight\n0,1,2\n1,2,0\n2,3,1\n3,0,1\n");
    let none = read("source,target,weight\n0,1,2\n2,3,1\n3,0,1\n");
    // The degrees that stand in for features are those without it.
    assert_eq!(zero.checksum(), none.checksum());
    assert_eq!((zero.graph().dropped().weightless, none.graph().dropped().weightless), (1, 0));
    assert_ne!(zero.checksum(), read("source,target\n0,1\n2,3\n3,0\n").checksum());
}

#[test]
fn of_repeated_edges_the_first_weight_counts_and_others_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let text = "source,target,weight\n0,1,2\n1,0,5\n1,2,3\n1,2,3\n";
    let both = run(&written(folder.path(), text, None)).unwrap();
    assert_eq!(both.weights(), Some(&[2.0, 2.0, 3.0, 3.0][..]));
    assert_eq!((both.graph().dropped().duplicates, both.graph().dropped().conflicting), (2, 1));
    let one = run(&Import { directed: Some(true), ..written(folder.path(), text, None) }).unwrap();
    assert_eq!(one.weights(), Some(&[5.0, 2.0, 3.0][..]));
    assert_eq!((one.graph().dropped().duplicates, one.graph().dropped().conflicting), (1, 0));
}

#[test]
fn what_is_no_weight_is_refused_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, place) in [
        ("e.csv", "source,target,weight\n0,1,1\n1,2,-3\n", "line 3, field `weight`"),
        ("e.tsv", "source\ttarget\tweight\n0\t1\t2e9\n", "line 2, field `weight`"),
        ("e.edgelist", "0 1 1.0\n1 2 {'weight': nan}\n", "line 2"),
        ("e.edgelist", "0 1 -1\n", "line 1"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let error = run(&Import::file(&path)).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(place), "{error}");
        assert!(error.contains("a weight: a number from 0 (no edge) to 1e9"), "{error}");
    }
    // Other columns hold any number, times after 2001 for instance.
    let path = folder.path().join("times.csv");
    std::fs::write(&path, "source,target,time,change\n0,1,1650000000,-2\n").unwrap();
    let mut request = Import::file(&path);
    request.columns.edge_values = vec!["time".to_owned(), "change".to_owned()];
    assert_eq!(run(&request).unwrap().edge_column("change"), Some(&[-2.0, -2.0][..]));
}
