//! Files and folders that people pass around are read as they are.

#[path = "npz_files.rs"]
mod npz_files;
#[path = "pickles.rs"]
mod pickles;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use edgepace_data::export::{Format, export};
use edgepace_data::import::{Import, import};
use edgepace_data::{Cache, Source, load};
use edgepace_graph::{Dataset, Features, Labels, Threads, UNLABELLED};
use flate2::Compression;
use flate2::write::GzEncoder;
use npz_files::{floats, gnn_benchmark_arrays, heterophilous_arrays, ints, npy, npz};
use tempfile::TempDir;

use crate::samples;

fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    folder
}

/// As every command that takes a dataset reads it.
fn dataset(path: &Path) -> Dataset {
    load(&Threads::one(), path.to_str().unwrap(), &Cache::at("nowhere"))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(path: &Path) -> String {
    let error = load(&Threads::one(), path.to_str().unwrap(), &Cache::at("nowhere")).expect_err("a refusal");
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn counts(dataset: &Dataset) -> [usize; 4] {
    [dataset.graph().nodes(), dataset.graph().edges(), dataset.features().cols(), dataset.labels().width()]
}

fn classes(dataset: &Dataset) -> &[u32] {
    match &**dataset.labels() {
        Labels::Classes(classes) => classes.of(),
        Labels::Many(_) => panic!("one class per node"),
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mat").join(name)
}

#[test]
fn gnn_benchmark_files_of_both_spellings_are_read_and_their_weights_kept() {
    let mut arrays = gnn_benchmark_arrays();
    let mut older: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, bytes) in &arrays {
        let name = name.replace("adj_", "adj_matrix.").replace("attr_", "attr_matrix.");
        older.push((name, bytes.clone()));
    }
    let older: Vec<(&str, Vec<u8>)> = older.iter().map(|(name, bytes)| (&name[..], bytes.clone())).collect();
    let plain = npz(&arrays, true);
    arrays[0] = ("adj_data", floats("(3,)", &[1.0, 0.5, 9.0]));
    let files = folder(&[
        ("photo.npz", &plain[..]),
        ("older.npz", &npz(&older, false)),
        ("weighted.npz", &npz(&arrays, false)),
        // Political blogs come without attributes.
        ("blogs.npz", &npz(&[&arrays[..4], &arrays[8..9]].concat(), false)),
    ]);
    let [photo, older, weighted, blogs] = ["photo", "older", "weighted", "blogs"]
        .map(|name| dataset(&files.path().join(format!("{name}.npz"))));
    assert_eq!((photo.name(), counts(&photo)), ("photo", [3, 4, 3, 2]));
    assert_eq!((photo.checksum(), photo.edge_columns().len()), (older.checksum(), 0));
    assert_eq!(weighted.edge_column("weight"), Some(&[1.0, 1.0, 0.5, 0.5][..]));
    assert_eq!((blogs.graph().edges(), classes(&blogs)), (4, classes(&photo)));
}

#[test]
fn heterophilous_files_are_read_with_features_labels_and_masks() {
    let arrays = heterophilous_arrays();
    let files = folder(&[("h.npz", &npz(&arrays, true)), ("unmasked.npz", &npz(&arrays[..3], false))]);
    let read = dataset(&files.path().join("h.npz"));
    assert_eq!(counts(&read), [4, 4, 5, 3]);
    let names: Vec<&str> = read.splits().iter().map(edgepace_graph::Split::name).collect();
    assert_eq!((names, read.splits()[0].train()), (vec!["geom:0", "geom:1"], &[0, 1][..]));
    let unmasked = dataset(&files.path().join("unmasked.npz"));
    assert_eq!((unmasked.checksum(), unmasked.splits().len()), (read.checksum(), 0));
    // `--edges` is no different.
    let import = import(&Threads::one(), &Import::file(files.path().join("h.npz")), &|_, _| {}).unwrap();
    assert_eq!(import.dataset, read);
}

#[test]
fn an_npz_file_that_is_not_understood_is_told_with_all_its_arrays() {
    let arrays = [
        ("foo", floats("(2, 3)", &[0.0; 6])),
        ("bar", ints("(4,)", &[0; 4])),
        ("o", npy("|O", "(1,)", b"x")),
    ];
    let files = folder(&[("odd.npz", &npz(&arrays, false))]);
    let error = refusal(&files.path().join("odd.npz"));
    assert!(error.contains("found the arrays `bar` (4, <i4), `foo` (2 × 3, <f4), `o` (1, |O)"), "{error}");
    for word in ["odd.npz", "`edge_index`", "`adj_indptr`", "scipy.sparse.save_npz", "--edges-format"] {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn a_planetoid_folder_is_a_dataset_and_of_several_sets_one_is_named() {
    let parts = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"];
    let set = pickles::set();
    let write = |folder: &Path, name: &str| {
        for (part, bytes) in parts.iter().zip(&set) {
            fs::write(folder.join(format!("ind.{name}.{part}")), bytes).unwrap();
        }
    };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "mine");
    let read = dataset(folder.path());
    assert_eq!((read.name(), read.splits().len(), read.graph().edges()), ("mine", 2, 2 * 505));
    write(folder.path(), "other");
    let error = refusal(folder.path());
    assert!(error.contains("expected a folder with one set, found 2: mine, other"), "{error}");
    assert!(error.contains(&format!("{}", folder.path().join("ind.mine").display())), "{error}");
    for name in ["ind.other", "other", "ind.other.x"] {
        let path = folder.path().join(name);
        assert_eq!((dataset(&path).name(), dataset(&path).checksum()), ("other", read.checksum()), "{name}");
    }
    fs::remove_file(folder.path().join("ind.other.ty")).unwrap();
    assert!(refusal(&folder.path().join("other")).contains("ind.other.ty"));
}

#[test]
fn a_geom_gcn_folder_brings_the_splits_that_lie_beside_it() {
    let mask = |nodes: &[usize]| {
        let bytes: Vec<u8> = (0..3).map(|node| u8::from(nodes.contains(&node))).collect();
        npy("|b1", "(3,)", &bytes)
    };
    let split = |train: usize, validation: usize, test: usize| {
        npz(
            &[
                ("train_mask", mask(&[train])),
                ("val_mask", mask(&[validation])),
                ("test_mask", mask(&[test])),
            ],
            false,
        )
    };
    let nodes = b"node_id\tfeature\tlabel\n1\t0,1,0\t1\n0\t1,0,0\t0\n2\t0,0,1\t1\n";
    let columns = b"node_id\tfeature(feature_amount:9)\tlabel\n1\t4,2\t0\n0\t9\t1\n2\t\t1\n";
    let edges = b"node_id\tnode_id\n0\t1\n1\t2\n";
    let files = folder(&[
        ("new_data/mine/out1_node_feature_label.txt", nodes),
        ("new_data/mine/out1_graph_edges.txt", edges),
        ("new_data/films/out1_node_feature_label.txt", columns),
        ("new_data/films/out1_graph_edges.txt", edges),
        ("splits/mine_split_0.6_0.2_0.npz", &split(0, 1, 2)),
        ("splits/mine_split_0.6_0.2_1.npz", &split(2, 1, 0)),
    ]);
    let mine = dataset(&files.path().join("new_data/mine"));
    assert_eq!((mine.name(), counts(&mine)), ("mine", [3, 4, 3, 2]));
    assert_eq!(
        (mine.splits().len(), mine.splits()[1].name(), mine.splits()[1].train()),
        (2, "geom:1", &[2][..])
    );
    assert_eq!(dataset(&files.path().join("mine")), mine);
    assert_eq!(dataset(&files.path().join("new_data/mine/out1_graph_edges.txt")), mine);
    let films = dataset(&files.path().join("new_data/films"));
    assert_eq!((counts(&films), films.splits().len()), ([3, 4, 10, 2], 0));
    let error = refusal(files.path());
    assert!(error.contains("found 2: films, mine"), "{error}");
}

#[test]
fn an_ogb_folder_is_a_dataset() {
    let gz = |text: &str| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    };
    let texts = [
        ("mine/raw/num-node-list.csv.gz", "4\n"),
        ("mine/raw/num-edge-list.csv.gz", "3\n"),
        ("mine/raw/edge.csv.gz", "0,1\n1,2\n3,0\n"),
        ("mine/raw/node-feat.csv.gz", "0.5,-1\n1e-3,2\n3,4\n5,6\n"),
        ("mine/raw/node-label.csv.gz", "1\n0\n1\n2\n"),
        ("mine/split/time/train.csv.gz", "2\n0\n"),
        ("mine/split/time/valid.csv.gz", "1\n"),
        ("mine/split/time/test.csv.gz", "3\n"),
    ]
    .map(|(name, text)| (name, gz(text)));
    let files: Vec<(&str, &[u8])> = texts.iter().map(|(name, bytes)| (*name, &bytes[..])).collect();
    let files = folder(&files);
    let read = dataset(&files.path().join("mine"));
    assert_eq!((read.name(), counts(&read), read.splits()[0].name()), ("mine", [4, 6, 2, 3], "time"));
}

#[test]
fn a_musae_folder_is_a_dataset_whose_features_follow_the_ids() {
    let files = folder(&[
        ("musae_pages_edges.csv", b"id_1,id_2\n0,1\n1,2\n3,0\n"),
        ("musae_pages_features.json", br#"{"2": [7, 3], "0": [0], "1": []}"#),
        (
            "musae_pages_target.csv",
            b"id,facebook_id,page_name,page_type,kind\n0,99,A,shop,x\n1,98,B,club,y\n2,97,C,shop,z\n3,96,D,club,x\n",
        ),
    ]);
    let read = dataset(files.path());
    assert_eq!((read.name(), counts(&read)), ("musae_pages", [4, 6, 8, 2]));
    let Features::Sparse(sparse) = &**read.features() else { panic!("lists of columns are sparse") };
    assert_eq!((sparse.offsets(), sparse.columns()), (&[0, 1, 1, 3, 3][..], &[0, 3, 7][..]));
    let class = |node: usize| read.class_names().unwrap().get(classes(&read)[node] as usize);
    assert_eq!([0, 1, 2, 3].map(class), ["shop", "club", "shop", "club"]);
    assert_eq!(read.node_names().map(|names| names.get(2)), Some("C"));
    // The same by the names of the files, and by that of the set.
    let file = |end: &str| files.path().join(format!("musae_pages_{end}"));
    let mut request = Import::file(file("edges.csv"));
    (request.nodes, request.features) = (Some(file("target.csv")), Some(file("features.json")));
    let named = import(&Threads::one(), &request, &|_, _| {}).unwrap();
    assert_eq!(named.dataset.checksum(), read.checksum());
    assert_eq!(dataset(&files.path().join("musae_pages")), read);
    // What is told beside a folder holds.
    let mut request = Import::file(files.path());
    (request.columns.label, request.name) = (Some("kind".to_owned()), Some("mine".to_owned()));
    let told = import(&Threads::one(), &request, &|_, _| {}).unwrap();
    assert_eq!((told.dataset.name(), told.dataset.labels().width()), ("mine", 3));
}

#[test]
fn features_by_name_and_dense_lists_are_understood_and_what_is_wrong_with_them_is_said() {
    let files = folder(&[
        ("e.csv", b"source,target\nann,bob\nbob,cem\n"),
        ("dense.json", br#"{"cem": [0.5, 1, 1], "ann": [2, 2, 0]}"#),
        ("unknown.json", br#"{"ann": [1], "dan": [2]}"#),
        ("twice.json", br#"{"ann": [1], "ann": [2]}"#),
        ("words.json", br#"{"ann": ["x"]}"#),
        ("list.json", br"[[1], [2]]"),
        ("huge.json", br#"{"ann": [4000000000], "bob": [1, 2]}"#),
    ]);
    let with = |name: &str| {
        let mut request = Import::file(files.path().join("e.csv"));
        request.features = Some(files.path().join(name));
        import(&Threads::one(), &request, &|_, _| {}).map_err(|error| error.to_string())
    };
    let dense = with("dense.json").unwrap();
    let Features::Dense(values) = &**dense.dataset.features() else { panic!("dense") };
    assert_eq!(values.values(), [2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0]);
    for (name, expected) in [
        ("unknown", "`dan` is the id of no node"),
        ("twice", "`ann` is there twice"),
        ("words", "line 1: expected an object from ids of nodes to lists of numbers"),
        ("list", "an object from ids of nodes to lists of numbers"),
        ("huge", "found 4000000000"),
    ] {
        let error = with(&format!("{name}.json")).unwrap_err();
        assert!(error.contains(expected) && error.contains(name), "{error}");
    }
}

#[test]
fn an_exported_folder_is_a_dataset() {
    for dataset_ in samples::all() {
        for format in [Format::Csv, Format::Npz] {
            let folder = tempfile::tempdir().unwrap();
            export(&dataset_, folder.path(), format, false).unwrap();
            let read = dataset(folder.path());
            assert_eq!(read.checksum(), dataset_.checksum(), "{} {format:?}", dataset_.name());
            assert_eq!(read.splits(), dataset_.splits());
        }
    }
}

#[test]
fn matlab_files_that_scipy_wrote_are_graphs() {
    let network = dataset(&fixture("network.mat"));
    assert_eq!((network.name(), network.graph().edges(), network.edge_columns().len()), ("network", 8, 0));
    let Labels::Many(groups) = &**network.labels() else { panic!("a node may be in several groups") };
    assert_eq!(groups.values(), [1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]);

    let attributed = dataset(&fixture("attributed.mat"));
    assert_eq!((counts(&attributed), classes(&attributed)), ([5, 8, 3, 3], &[0, 1, 0, 1, 2][..]));
    assert_eq!(attributed.graph().sources(), network.graph().sources());
    assert_eq!(attributed.edge_column("weight").map(|weights| weights[..2].to_vec()), Some(vec![2.5, 1.0]));
    assert_eq!(attributed.class_names().unwrap().iter().collect::<Vec<_>>(), ["1", "2", "3"]);
    let Features::Sparse(sparse) = &**attributed.features() else { panic!("sparse features stay sparse") };
    assert_eq!(sparse.columns(), [0, 1, 2, 0, 1, 2]);
    assert_eq!(sparse.values(), [1.0, 2.0, 3.0, 1.0, 1.0, 0.5]);

    let problem = dataset(&fixture("problem.mat"));
    assert_eq!((problem.graph().sources(), problem.labels().width()), (network.graph().sources(), 0));
    let dense = dataset(&fixture("dense.mat"));
    assert_eq!((dense.graph(), classes(&dense)), (problem.graph(), classes(&attributed)));
    let Features::Dense(values) = &**dense.features() else { panic!("most values are not 0") };
    assert_eq!(values.values()[..6], [1.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
    let one_hot = dataset(&fixture("one_hot.mat"));
    assert_eq!((classes(&one_hot), one_hot.features()), (classes(&attributed), dense.features()));
    assert!(classes(&problem).iter().all(|&class| class == UNLABELLED));

    let error = refusal(&fixture("other.mat"));
    assert!(error.contains("`left` (2 × 3), `words` (text)") && error.contains("`network`"), "{error}");
}

#[test]
fn what_is_no_layout_at_all_is_told_with_what_lies_there() {
    let files = folder(&[("a/readme.md", b"x"), ("a/data.bin", b"y"), ("b/x.docx", b"z")]);
    let error = refusal(&files.path().join("a"));
    assert!(error.contains("one with data.bin, readme.md") && error.contains("Planetoid"), "{error}");
    for name in ["nowhere.npz", "nowhere"] {
        let error = refusal(&files.path().join(name));
        assert!(
            error.contains("cannot read") && error.contains(name) && error.contains("o such file"),
            "{error}"
        );
    }
    let error =
        import(&Threads::one(), &Import::file(files.path().join("b/x.docx")), &|_, _| {}).unwrap_err();
    assert!(error.to_string().contains("npz, mat") && error.to_string().contains("edges_format"), "{error}");
    assert!(matches!(Source::parse("my.npz"), Ok(Source::File(_))));
    assert!(matches!(Source::parse("cora"), Ok(Source::Set(_))));
}

#[test]
fn a_table_of_nodes_beside_a_file_that_has_them_is_refused() {
    let files = folder(&[("photo.npz", &npz(&gnn_benchmark_arrays(), true)), ("n.csv", b"id,label\n0,1\n")]);
    let mut request = Import::file(files.path().join("photo.npz"));
    request.nodes = Some(files.path().join("n.csv"));
    let error = import(&Threads::one(), &request, &|_, _| {}).unwrap_err().to_string();
    assert!(
        error.contains("n.csv") && error.contains("gnn-benchmark layout, which holds the nodes itself"),
        "{error}"
    );
    (request.nodes, request.directed) = (None, Some(true));
    let error = import(&Threads::one(), &request, &|_, _| {}).unwrap_err().to_string();
    assert!(error.contains("in both directions"), "{error}");
}

/// 4 MB of either become 4 to 6 GB.
#[test]
fn packed_files_that_unpack_to_too_much_are_refused_before_they_fill_the_memory() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..300 {
        packed.write_all(&b"0,1\n".repeat(1 << 18)).unwrap();
    }
    let zeros =
        ints("(75000000,)", &[]).into_iter().chain(std::iter::repeat_n(0, 300_000_000)).collect::<Vec<u8>>();
    let files =
        folder(&[("e.csv.gz", &packed.finish().unwrap()), ("a.npz", &npz(&[("edge_index", zeros)], true))]);
    for name in ["e.csv.gz", "a.npz"] {
        let error = refusal(&files.path().join(name));
        for word in [name, "at most 268435456 bytes", "--max-expansion", "EDGEPACE_MAX_EXPANSION"] {
            assert!(error.contains(word), "{error}");
        }
    }
}
