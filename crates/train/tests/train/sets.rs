//! Small datasets for the tests.

use edgepace_data::{Cache, SplitRule, load, splits};
use edgepace_graph::{Dataset, Split};
use edgepace_nn::Threads;
use edgepace_train::{Finished, RunConfig, Silent, train};

/// A generated circle of classes with a random split.
pub(crate) fn circle(settings: &str, seed: u64) -> (Dataset, Split) {
    let dataset =
        load(&Threads::one(), &format!("synthetic:{settings},seed={seed}"), &Cache::at("unused")).unwrap();
    let split = splits::make(&Threads::one(), &SplitRule::standard(&dataset, seed), &dataset, seed).unwrap();
    (dataset, split)
}

/// A circle that trains in milliseconds.
pub(crate) fn small() -> (Dataset, Split) {
    circle("homophily=0.5,nodes=300,edges=1500,classes=5", 1)
}

/// The same with weights from 0.1 to 1, alike in both directions of an edge.
pub(crate) fn weighted((dataset, split): (Dataset, Split)) -> (Dataset, Split) {
    let graph = dataset.graph();
    let of = |edge: usize| graph.twins().map_or(edge, |twins| edge.min(twins[edge] as usize));
    let weights: Vec<f32> = (0..graph.edges()).map(|edge| (1 + of(edge) * 7 % 10) as f32 / 10.0).collect();
    (dataset.with_edge_column(Dataset::WEIGHT, weights).unwrap(), split)
}

/// A config from `key=value` pairs.
pub(crate) fn config(settings: &[(&str, &str)]) -> RunConfig {
    let mut config = RunConfig { epochs: 30, hidden: Some(16), ..RunConfig::default() };
    for (key, value) in settings {
        config.set(key, value).unwrap();
    }
    config
}

pub(crate) fn trained((dataset, split): &(Dataset, Split), config: &RunConfig, threads: usize) -> Finished {
    train(dataset, split, config, 3, &Threads::new(threads).unwrap(), &mut Silent).unwrap()
}

/// Every method with its default preset, and the curriculum with each.
pub(crate) fn every_method() -> Vec<RunConfig> {
    let mut configs = Vec::new();
    for method in edgepace_train::METHODS {
        let presets: Vec<Option<&str>> = match method.name {
            "rcl" => method.presets.iter().map(|&preset| Some(preset)).collect(),
            _ => vec![None],
        };
        for preset in presets {
            let mut config = config(&[("method", method.name)]);
            config.preset = preset.map(Into::into);
            configs.push(config);
        }
    }
    configs
}
