//! What a method says that it needs is what it takes.

#[path = "../../graph/tests/shared/counting.rs"]
mod counting;

use edgepace_data::{Cache, SplitRule, load, splits};
use edgepace_nn::Threads;
use edgepace_train::{Material, RunConfig, Silent, train};

#[test]
fn estimates_are_within_a_quarter_of_what_is_allocated() {
    let dataset =
        load(&Threads::one(), "synthetic:nodes=1200,edges=4000,seed=1", &Cache::at("unused")).unwrap();
    let split = splits::make(&Threads::one(), &SplitRule::standard(&dataset, 1), &dataset, 1).unwrap();
    let threads = Threads::new(1).unwrap();
    let peak = |config: &RunConfig| {
        counting::peak_bytes(|| train(&dataset, &split, config, 1, &threads, &mut Silent).unwrap()).1
    };
    let config = |settings: &str| {
        let mut config = RunConfig { epochs: 2, hidden: 16, ..RunConfig::default() };
        for setting in settings.split(' ') {
            let (key, value) = setting.split_once('=').unwrap();
            config.set(key, value).unwrap();
        }
        config
    };
    let plain = peak(&config("method=vanilla"));
    // For each method the part that can grow beyond what there is.
    let mut off = Vec::new();
    for settings in [
        "method=pro-gnn nuclear_every=1 rank=8",
        "method=pro-gnn nuclear_every=1 rank=8 exact=true",
        "method=pro-gnn nuclear_every=1 rank=8 search=true",
        "method=pro-gnn-sparse neighbours=100 inner=1 nuclear_every=1",
        "method=pro-gnn-sparse neighbours=0 rank=300 inner=1 nuclear_every=1",
        "method=gnn-svd density=1 rank=300",
        "method=gnn-svd density=60 rank=10",
    ] {
        let config = config(settings);
        let taken = (peak(&config) - plain) as f64;
        let (material, _) = Material::new(&dataset, &split).unwrap();
        let estimate = config.check().unwrap().spec(&material, 1).unwrap().extra_bytes(&material) as f64;
        if !(0.75..1.25).contains(&(estimate / taken)) {
            off.push(format!("{settings}: estimate {estimate:e}, taken {taken:e}"));
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}
