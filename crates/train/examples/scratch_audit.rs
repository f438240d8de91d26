#![allow(missing_docs)]
use edgepace_data::{Cache, Noise, SplitRule, load, splits};
use edgepace_graph::Dataset;
use edgepace_nn::{Threads, roc_auc};
use edgepace_train::{Audit, RunConfig, Silent, run};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let cache = Cache::from_env().unwrap();
    let base = load(&a[1], &cache).unwrap();
    let noise: Noise = a[2].parse().unwrap();
    let n: u64 = a[3].parse().unwrap();
    for spec in &a[4..] {
        let mut c = RunConfig::default();
        for kv in spec.split(',') {
            let (k, v) = kv.split_once('=').unwrap();
            c.set(k, v).unwrap();
        }
        let threads = Threads::new(1).unwrap();
        let mut sums = [0.0; 5];
        for seed in 0..n {
            let d = base.clone();
            let split = splits::make(&SplitRule::standard(&d, seed), &d, seed).unwrap();
            let d = d.with_splits(vec![split.clone()]).unwrap();
            let d = noise.apply(d, None, seed).unwrap();
            let r = run(&d, &split, &c, seed, &threads, &mut Silent).unwrap();
            let report = r.edges.unwrap();
            let fake = d.edge_column(Dataset::FAKE).unwrap().to_vec();
            let audit = Audit::new(&d, &report).unwrap();
            let x = audit.against(&fake).unwrap();
            let mut alone: Vec<(f64, bool)> =
                report.difficulty.iter().zip(&fake).map(|(&r, &f)| (f64::from(r), f != 0.0)).collect();
            let alone = roc_auc(&mut alone).unwrap();
            for (s, v) in
                sums.iter_mut().zip([x.auc, x.auc_feature_cosine, x.auc_jaccard, x.precision_at_fakes, alone])
            {
                *s += v / n as f64;
            }
        }
        println!(
            "{:10} {:8} {:40} auc {:.3} cosine {:.3} jaccard {:.3} precision {:.3} difficulty alone {:.3}",
            a[1], a[2], spec, sums[0], sums[1], sums[2], sums[3], sums[4]
        );
    }
}
