//! Small valid files for every reader.

#[path = "../data/npz_files.rs"]
mod npz_files;
#[path = "../data/pickles.rs"]
mod pickles;
#[path = "../data/samples.rs"]
mod samples;

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use edgepace_data::export::{Format, export};
use edgepace_data::native::save;
use edgepace_graph::Threads;
use flate2::Compression;
use flate2::write::GzEncoder;
use npz_files::{floats, gnn_benchmark_arrays, heterophilous_arrays, ints, npy, npy_in, npz};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Valid inputs of the fuzz target of that name.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "unpack" => vec![archive(&[("top/a.csv", b"1,2\n3,4\n"), ("top/b/c.txt", &[7; 4000])]), archive(&[])],
        "npz" => matrices(),
        "gnn_benchmark" => both(&gnn_benchmark_arrays()),
        "heterophilous" => both(&heterophilous_arrays()),
        "geom_gcn" => vec![
            b"node_id\tfeature\tlabel\n1\t0,1,0\t1\n0\t1,0,0\t0\n2\t0,0,0\t2\n\0node_id\tnode_id\n0\t1\n1\t2\n".to_vec(),
            b"node_id\tfeature(feature_amount:9)\tlabel\n1\t4,2\t0\n0\t9\t1\n\0node_id\tnode_id\n0\t1\n".to_vec(),
        ],
        "ogb_csv" => tables(),
        "native" | "native_content" => {
            samples::all().iter().map(|dataset| written(|path| save(&Threads::one(), dataset, path).unwrap())).collect()
        }
        "pickle" => {
            let mut seeds = pickles::set()[..7].to_vec();
            seeds.push(pickles::csr(2, 3, &[0, 2, 3], &[2, 0, 1], &[1.0, 2.0, 3.0]));
            seeds.push(pickles::pickle(&pickles::array("f8", '>', &[1, 1], &1.5_f64.to_be_bytes())));
            seeds.push(b"(dp0\nI0\n(lp1\nI1\nasI1\n(lp2\nL0L\nas.".to_vec());
            seeds
        }
        "planetoid" => {
            let sized = |part: &Vec<u8>| [&(part.len() as u32).to_le_bytes(), &part[..]].concat();
            vec![pickles::set().iter().flat_map(sized).collect()]
        }
        "specs" => specs(),
        "parquet" => fixtures(&[
            "edges.parquet",
            "nodes.snappy.parquet",
            "nodes.zstd.parquet",
            "nodes.gzip.parquet",
            "numbers.parquet",
        ]),
        "graphml" => fixtures(&["undirected.graphml", "directed.graphml"]),
        "edge_list" => fixtures(&["dictionary.edgelist", "weighted.edgelist", "plain.edgelist"]),
        "arrays" => {
            let mut files = fixtures(&["arrays.npz", "pairs.npz", "adjacency.npz", "coordinates.npz"]);
            for dataset in samples::all() {
                let folder = tempfile::tempdir().unwrap();
                let written = export(&dataset, folder.path(), Format::Npz, false).unwrap();
                files.push(fs::read(&written[0]).unwrap());
            }
            files
        }
        "mat" => fixtures(&[
            "mat/network.mat",
            "mat/attributed.mat",
            "mat/problem.mat",
            "mat/dense.mat",
            "mat/one_hot.mat",
        ]),
        "per_node" => vec![
            br#"{"2": [7, 3], "0": [0], "1": []}"#.to_vec(),
            br#"{"99": [0.5, 1, 1], "98": [2, 2, 0]}"#.to_vec(),
        ],
        "delimited" => delimited(),
        "table" => table(),
        other => panic!("no seeds for {other}"),
    }
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn both(arrays: &[(&str, Vec<u8>)]) -> Vec<Vec<u8>> {
    vec![npz(arrays, false), npz(arrays, true)]
}

fn matrices() -> Vec<Vec<u8>> {
    let sparse = |format: &str, [row, column]: [(&'static str, Vec<u8>); 2]| {
        npz(
            &[
                row,
                column,
                ("format", npy("|S3", "()", format.as_bytes())),
                ("shape", ints("(2,)", &[2, 3])),
                ("data", floats("(2,)", &[1.5, 2.0])),
            ],
            true,
        )
    };
    vec![
        floats("(2, 2)", &[1.0, 2.0, 3.0, 4.0]),
        npy_in("True", ">i2", "(2, 2)", &[0, 1, 0, 2, 0, 3, 0, 4]),
        // Few bytes of input for many values.
        npz(&[("x", npy("|u1", "(300, 300)", &vec![0; 90_000]))], true),
        sparse("csr", [("indices", ints("(2,)", &[2, 0])), ("indptr", ints("(3,)", &[0, 1, 2]))]),
        sparse("csc", [("indices", ints("(2,)", &[1, 0])), ("indptr", ints("(4,)", &[0, 1, 1, 2]))]),
        sparse("coo", [("row", ints("(2,)", &[1, 0])), ("col", ints("(2,)", &[2, 0]))]),
    ]
}

fn tables() -> Vec<Vec<u8>> {
    let plain = [&b"0,1,0\n1,1,0\n0,0,1\n"[..], b"0\n1\n2.0\n1\n"];
    // Few bytes of input for many lines.
    let long = b"0,1\n".repeat(20_000);
    let packed = [plain[0], plain[1], &long].map(|text| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    });
    plain.iter().map(|text| text.to_vec()).chain(packed).collect()
}

/// The bytes that `write` puts into a file.
fn written(write: impl FnOnce(&Path)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    write(&path);
    fs::read(path).unwrap()
}

fn specs() -> Vec<Vec<u8>> {
    let texts = [
        "synthetic:homophily=0.3,law=inverse,seed=0,nodes=500\nfake=1,delete=0.1,flip=0.05,seed=7\nkfold:5:0:stratified",
        "blocks:nodes=100,edges=300,exponent=2.5\ndice=0.2,perturb=0.1\nfraction:1/3:0.2:seed=9",
        "scale-free:nodes=100,features=3\n\nper-class:20:500:1000",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Files that the programs wrote whose formats we read.
fn fixtures(names: &[&str]) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    names.iter().map(|name| fs::read(folder.join(name)).unwrap()).collect()
}

/// Edge lists in every dialect. Each has a weight, so that damage is seen.
fn table() -> Vec<Vec<u8>> {
    let rows = |row: fn(usize) -> String| (0..30).map(row).collect::<String>();
    [
        "id,label,split,x,colour,when,ok\n".to_owned()
            + &rows(|row| {
                format!("{row},{},train,{row}.5,c{},2019-03-{:02},true\n", row % 3, row % 4, row % 28 + 1)
            }),
        "\u{feff}name;y;a;b\r\n".to_owned() + &rows(|row| format!("n{row};{};;{}\r\n", row % 2, row * row)),
        "node|label:a|label:b|text\n".to_owned() + &rows(|row| format!("v{row}|0|1|\"say \"\"{row}\"\"\"\n")),
    ]
    .map(String::into_bytes)
    .to_vec()
}

fn delimited() -> Vec<Vec<u8>> {
    let lines = |line: &str| line.repeat(20);
    [
        "source,target,weight\n".to_owned() + &lines("0,1,0.5\n1,2,1\n"),
        "# SNAP\nfrom\tto\tw\n".to_owned() + &lines("12345678901\t7\t1e-3\r\n"),
        "\u{feff}u v w\n".to_owned() + &lines("  user_1   é 2 \n\n"),
        "\"src\";\"dst\";\"weight\"\n".to_owned() + &lines("\"a;\"\"b\n\";c;3\n"),
    ]
    .map(String::into_bytes)
    .into()
}
