use edgepace_data::DataError;
use edgepace_data::export::{Format, export};
use edgepace_data::import::{Import, import};
use edgepace_data::native::{Native, save};
use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, Labels, ManyLabels, Names, SparseFeatures, Split,
    Threads, UNLABELLED,
};
use proptest::prelude::*;

use crate::samples;

/// Exports and imports again.
fn there_and_back(dataset: &Dataset, format: Format) -> Result<Dataset, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let files = export(dataset, folder.path(), format, false)?;
    let request = match format {
        Format::Npz => Import { name: Some(dataset.name().to_owned()), ..Import::file(&files[0]) },
        _ => Import::folder(folder.path())?,
    };
    Ok(import(&Threads::one(), &request, &|_, _| {})?.dataset)
}

fn assert_same(back: &Dataset, dataset: &Dataset) {
    assert_eq!(back.checksum(), dataset.checksum());
    assert_eq!(back.name(), dataset.name());
    assert_eq!(back.splits(), dataset.splits());
    assert_eq!(back.node_names(), dataset.node_names());
    assert_eq!(back.class_names(), dataset.class_names());
    assert_eq!(back.feature_names(), dataset.feature_names());
    assert_eq!(back.encoding(), dataset.encoding());
    assert_eq!(back.edge_columns().len(), dataset.edge_columns().len());
    for (name, values) in dataset.edge_columns() {
        assert_eq!(back.edge_column(name), Some(values), "{name}");
    }
}

#[test]
fn what_is_exported_comes_back_with_the_same_checksum() {
    for dataset in samples::all() {
        for format in [Format::Csv, Format::Npz] {
            assert_same(&there_and_back(&dataset, format).unwrap(), &dataset);
        }
    }
}

#[test]
fn a_column_that_differs_by_direction_survives() {
    let dataset =
        samples::citations().with_edge_column("seen", vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]).unwrap();
    for format in [Format::Csv, Format::Npz] {
        assert_same(&there_and_back(&dataset, format).unwrap(), &dataset);
    }
}

#[test]
fn features_are_columns_of_their_own_names_unless_another_column_has_that_name() {
    let folder = tempfile::tempdir().unwrap();
    export(&samples::proteins(), folder.path(), Format::Csv, false).unwrap();
    let nodes = std::fs::read_to_string(folder.path().join("nodes.csv")).unwrap();
    assert_eq!(
        nodes.lines().next(),
        Some("id,label:0,label:1,label:2,split:species,\"mass, in kg\",feature:1")
    );
}

#[test]
fn an_undirected_edge_is_listed_once() {
    let folder = tempfile::tempdir().unwrap();
    export(&samples::citations(), folder.path(), Format::Csv, false).unwrap();
    let edges = std::fs::read_to_string(folder.path().join("edges.csv")).unwrap();
    assert_eq!(edges, "source,target,weight\n0,1,0.5\n0,2,2\n1,2,1\n2,3,0.25\n");
}

#[test]
fn nothing_is_overwritten_unless_told() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = samples::proteins();
    export(&dataset, folder.path(), Format::Csv, false).unwrap();
    let error = export(&dataset, folder.path(), Format::Csv, false).unwrap_err().to_string();
    assert!(error.contains("nodes.csv") && error.contains("not there yet"), "{error}");
    export(&dataset, folder.path(), Format::Csv, true).unwrap();
    export(&dataset, folder.path(), Format::Npz, false).unwrap();
}

fn datasets() -> impl Strategy<Value = Dataset> {
    let shape = (1_usize..8, 0_usize..4, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    shape.prop_flat_map(|(nodes, cols, directed, sparse, many, named)| {
        let edges = prop::collection::vec((0..nodes as u32, 0..nodes as u32), 0..20);
        let cells =
            prop::collection::vec(prop_oneof![Just(0.0_f32), -1e30_f32..1e30, -1.0_f32..1.0], nodes * cols);
        let classes = prop::collection::vec(prop_oneof![Just(UNLABELLED), 0..5_u32], nodes);
        let bits = prop::collection::vec(0..2_u8, nodes * 2);
        let sets = prop::collection::vec(0..4_usize, nodes);
        let names = prop::collection::vec("[a-z\",\n é0-9]{0,6}", nodes);
        (edges, cells, classes, bits, sets, names).prop_map(
            move |(edges, cells, classes, bits, sets, names)| {
                let (a, b): (Vec<u32>, Vec<u32>) = edges.into_iter().unzip();
                let graph = if directed {
                    Graph::from_edges(nodes, &a, &b)
                } else {
                    Graph::undirected(nodes, &a, &b)
                };
                let graph = graph.unwrap();
                let column: Vec<f32> = (0..graph.edges()).map(|edge| edge as f32 / 3.0).collect();
                let features: Features = if sparse {
                    let rows: Vec<Vec<u32>> = cells
                        .chunks(cols.max(1))
                        .map(|row| {
                            (0..row.len() as u32).filter(|&column| row[column as usize] < 0.5).collect()
                        })
                        .collect();
                    let mut offsets = vec![0];
                    let (mut columns, mut values) = (Vec::new(), Vec::new());
                    for node in 0..nodes {
                        for &column in rows.get(node).into_iter().flatten() {
                            columns.push(column);
                            values.push(cells[node * cols + column as usize]);
                        }
                        offsets.push(columns.len());
                    }
                    SparseFeatures::new(nodes, cols, offsets, columns, values).unwrap().into()
                } else {
                    DenseFeatures::new(nodes, cols, cells).unwrap().into()
                };
                let labels: Labels = if many {
                    ManyLabels::new(nodes, 2, bits).unwrap().into()
                } else {
                    Classes::new(6, classes).unwrap().into()
                };
                let set = |wanted| {
                    let inside = |node: &usize| sets[*node] == wanted && labels.is_labelled(*node);
                    (0..nodes).filter(inside).map(|node| node as u32).collect::<Vec<u32>>()
                };
                let split = Split::new("a, b", nodes, set(0), set(1), set(2));
                let dataset =
                    Dataset::new("drawn", graph, features, labels, split.into_iter().collect()).unwrap();
                let dataset = dataset.with_edge_column("third", column).unwrap();
                if named { dataset.with_node_names(Names::new(&names)).unwrap() } else { dataset }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_dataset_comes_back_from_every_format(dataset in datasets()) {
        for format in [Format::Csv, Format::Npz] {
            assert_same(&there_and_back(&dataset, format).unwrap(), &dataset);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.graph");
        save(&Threads::one(), &dataset, &path).unwrap();
        let native = Native::open(&path).unwrap();
        native.verify(&Threads::one()).unwrap();
        prop_assert_eq!(native.dataset().unwrap(), dataset);
    }
}
