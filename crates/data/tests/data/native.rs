use std::fs;
use std::path::Path;

use edgepace_data::Native;
use edgepace_data::native::{save, save_with_record};
use edgepace_graph::{Dataset, Threads};

use crate::samples;

fn saved(dataset: &Dataset, path: &Path) -> Vec<u8> {
    save(&Threads::one(), dataset, path).unwrap();
    fs::read(path).unwrap()
}

fn refusal(path: &Path, bytes: &[u8]) -> String {
    fs::write(path, bytes).unwrap();
    Native::open(path).expect_err("a damaged header is found when the file is opened").to_string()
}

#[test]
fn a_dataset_comes_back_as_it_was_saved() {
    let folder = tempfile::tempdir().unwrap();
    for dataset in samples::all() {
        let path = folder.path().join("a.graph");
        save(&Threads::one(), &dataset, &path).unwrap();
        let native = Native::open(&path).unwrap();
        native.verify(&Threads::one()).unwrap();
        let back = native.dataset().unwrap();
        drop(native);
        assert_eq!(back, dataset);
        assert_eq!(back.checksum(), dataset.checksum());
    }
}

#[test]
fn equal_datasets_give_equal_files_and_nothing_else_is_left_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("1.graph"), folder.path().join("2.graph"));
    assert_eq!(saved(&samples::citations(), &first), saved(&samples::citations(), &second));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn the_header_alone_tells_what_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graph");
    let dataset = samples::citations();
    save_with_record(&Threads::one(), &dataset, "half of the edges are fake", &path).unwrap();
    let native = Native::open(&path).unwrap();
    let info = native.info();
    assert_eq!((info.nodes, info.edges, info.undirected), (5, 8, true));
    assert_eq!((info.dropped_duplicates, info.dropped_loops), (1, 1));
    assert_eq!((info.features.columns, info.features.stored), (7, Some(6)));
    assert_eq!((info.labels.width, info.labels.many), (3, false));
    assert_eq!(info.homophily, Some(0.25));
    assert_eq!(info.checksum, dataset.checksum());
    assert_eq!(info.record, "half of the edges are fake");
    assert_eq!(info.splits[1].hash, dataset.splits()[1].hash());
    assert_eq!((info.splits[1].train, info.splits[1].validation, info.splits[1].test), (1, 0, 2));
}

#[test]
fn a_file_from_before_features_had_names_still_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graph");
    let dataset = samples::nothing();
    let bytes = saved(&dataset, &path);
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let (head, data) = bytes[8..].split_at(length);
    let text = std::str::from_utf8(head).unwrap();
    let field = r#"\"feature_names\":false,\"encoding\":false,"#;
    assert!(text.contains(field), "{text}");
    // The header of such a file has no such fields; blanks keep its length, and the checksum is that of the new text.
    let mut text = text.replacen(field, &" ".repeat(field.len()), 1);
    let key = "\"header_sha256\":\"";
    let digits = text.find(key).unwrap() + key.len();
    text.replace_range(digits..digits + 64, &"0".repeat(64));
    let own = sha256(text.as_bytes());
    text.replace_range(digits..digits + 64, &own);
    fs::write(&path, [&bytes[..8], text.as_bytes(), data].concat()).unwrap();
    assert_eq!(Native::open(&path).unwrap().dataset().unwrap(), dataset);
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[test]
fn any_program_for_safetensors_reads_the_sections() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = saved(&samples::citations(), &folder.path().join("a.graph"));
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let sources = tensors.tensor("graph.sources").unwrap();
    assert_eq!((sources.dtype(), sources.shape()), (safetensors::Dtype::U32, &[8_usize][..]));
    let start = bytes.len() - tensors.iter().map(|(_, tensor)| tensor.data().len()).sum::<usize>();
    assert_eq!(start % 8, 0);
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graph");
    let bytes = saved(&samples::citations(), &path);
    for byte in (0..bytes.len()).step_by(5) {
        let mut damaged = bytes.clone();
        damaged[byte] ^= 1 << (byte % 8);
        fs::write(&path, &damaged).unwrap();
        let found = Native::open(&path).and_then(|native| native.verify(&Threads::one()));
        assert!(found.is_err(), "byte {byte} of {} was changed and nobody noticed", bytes.len());
    }
}

#[test]
fn a_flipped_bit_in_the_data_names_its_section() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graph");
    let mut bytes = saved(&samples::citations(), &path);
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, &bytes).unwrap();
    let error = Native::open(&path).unwrap().verify(&Threads::one()).unwrap_err().to_string();
    assert!(error.contains("`encoding`") && error.contains("damaged"), "{error}");
}

#[test]
fn a_file_that_was_cut_short_or_is_of_another_kind_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graph");
    let bytes = saved(&samples::proteins(), &path);
    for length in 0..bytes.len() {
        let error = refusal(&path, &bytes[..length]);
        assert!(error.contains("a.graph"), "{error}");
    }
    assert!(refusal(&path, &bytes[..bytes.len() - 1]).contains("cut short"));
    let empty: [(&str, safetensors::tensor::TensorView<'_>); 0] = [];
    let other = safetensors::serialize(empty, None).unwrap();
    assert!(refusal(&path, &other).contains("safetensors file of another kind"));
}

#[test]
fn a_newer_version_asks_for_an_update() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.graph");
    let bytes = saved(&samples::proteins(), &path);
    let place = bytes.windows(13).position(|window| window == b"\"version\":\"1\"").unwrap();
    let mut newer = bytes.clone();
    newer[place + 11] = b'2';
    let error = refusal(&path, &newer);
    assert!(error.contains("version 2") && error.contains("update edgepace"), "{error}");
}
