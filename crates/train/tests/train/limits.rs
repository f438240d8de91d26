//! Runs that need more memory than there is are refused before anything is made for them.

use std::sync::Arc;

use edgepace_graph::{Classes, Dataset, Features, Graph, Labels, SparseFeatures, Split};
use edgepace_train::{METHODS, Material, RunConfig, TrainError};

/// A path of 40 nodes whose features have so many columns, of which each node has one.
fn material(columns: usize) -> Arc<Material> {
    let nodes = 40_u32;
    let (a, b): (Vec<u32>, Vec<u32>) = (1..nodes).map(|node| (node - 1, node)).unzip();
    let count = nodes as usize;
    let graph = Graph::undirected(count, &a, &b).unwrap();
    let last = (columns - 1) as u32;
    let places = (0..nodes).map(|node| last - node).collect();
    let features =
        SparseFeatures::new(count, columns, (0..=count).collect(), places, vec![1.0; count]).unwrap();
    let labels = Classes::new(2, (0..nodes).map(|node| node % 2).collect()).unwrap();
    let dataset = Dataset::new("wide", graph, Features::from(features), Labels::from(labels), Vec::new());
    let part = |rest| (0..nodes).filter(|node| node % 3 == rest).collect();
    let split = Split::new("thirds", count, part(0), part(1), part(2)).unwrap();
    Material::new(&dataset.unwrap(), &split).unwrap().0
}

fn needed(config: &RunConfig, material: &Material) -> u64 {
    config.check().unwrap().spec(material, 0).unwrap().needed_bytes(material)
}

#[test]
fn a_hundred_million_columns_are_refused_by_every_method_with_a_network() {
    let wide = material(100_000_000);
    // One has no network, and no parameter for any column.
    for method in METHODS.iter().filter(|method| method.name != "label-propagation") {
        let config = RunConfig { method: method.name.into(), ..RunConfig::default() };
        let spec = config.check().unwrap().spec(&wide, 0).unwrap();
        match spec.check_memory(&wide, 1, Some(16_000_000_000)) {
            Err(TrainError::Memory { needed, available, runs, runs_that_fit, .. }) => {
                // Parameters of the first layer, their gradient and two moments, at least.
                assert!(needed > 4 * 4 * 64 * 100_000_000, "{}: {needed}", method.name);
                assert_eq!((available, runs, runs_that_fit), (16_000_000_000, 1, 0));
            }
            other => panic!("{}: {other:?}", method.name),
        }
    }
}

#[test]
fn label_propagation_does_not_pay_for_columns() {
    let config = RunConfig { method: "label-propagation".into(), ..RunConfig::default() };
    let needed = needed(&config, &material(100_000_000));
    assert!(needed < 100_000, "{needed}");
}

#[test]
fn sizes_that_no_machine_has_do_not_overflow() {
    let widest = material(u32::MAX as usize - 1);
    let mut most = 0;
    for backbone in edgepace_nn::Backbone::ALL {
        let config =
            RunConfig { method: "vanilla".into(), backbone, hidden: Some(1 << 20), ..RunConfig::default() };
        most = most.max(needed(&config, &widest));
        let spec = config.check().unwrap().spec(&widest, 0).unwrap();
        let error = spec.check_memory(&widest, usize::MAX, Some(1 << 50)).unwrap_err().to_string();
        assert!(error.contains("more than any machine has"), "{error}");
    }
    assert_eq!(most, u64::MAX, "PNA has columns² parameters");
}

#[test]
fn the_message_says_what_is_needed_what_is_free_and_what_helps() {
    let narrow = material(100);
    let config = RunConfig { method: "vanilla".into(), ..RunConfig::default() };
    let spec = config.check().unwrap().spec(&narrow, 0).unwrap();
    let of_one = spec.needed_bytes(&narrow);
    spec.check_memory(&narrow, 2, Some(2 * of_one)).unwrap();
    let error = spec.check_memory(&narrow, 3, Some(2 * of_one)).unwrap_err().to_string();
    let megabytes = |runs: u64| format!("{:.1} MB", (runs * of_one) as f64 / 1e6);
    let expected = format!(
        "method vanilla needs {} for 3 runs at once on 40 nodes, and {} are free: use at most 2 at once, or a smaller `hidden`",
        megabytes(3),
        megabytes(2)
    );
    assert_eq!(error, expected);
}

#[test]
fn more_hidden_units_columns_or_runs_need_more() {
    let (narrow, wide) = (material(100), material(1000));
    let config =
        |hidden| RunConfig { method: "vanilla".into(), hidden: Some(hidden), ..RunConfig::default() };
    let base = needed(&config(16), &narrow);
    assert!(needed(&config(32), &narrow) > base);
    assert!(needed(&config(16), &wide) > base);
}
