#![allow(missing_docs)]
use edgepace_data::{Cache, Noise, SplitRule, load, splits};
use edgepace_nn::Threads;
use edgepace_train::{RunConfig, Silent, run};
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
        let (mut t, mut v, mut s) = (vec![], vec![], 0.0);
        let mut chosen = String::new();
        for seed in 0..n {
            let d = if let Some(rest) = a[1].strip_prefix("synthetic:") {
                load(&format!("synthetic:{rest},seed={seed}"), &cache).unwrap()
            } else {
                base.clone()
            };
            let split = splits::make(&SplitRule::standard(&d, seed), &d, seed).unwrap();
            let d = d.with_splits(vec![split.clone()]).unwrap();
            let d = if noise.is_none() { d } else { noise.apply(d, None, seed).unwrap() };
            let r = run(&d, &split, &c, seed, &threads, &mut Silent).unwrap();
            if let Some(c) = &r.result.chosen {
                chosen.push_str(c);
                chosen.push(';');
            }
            t.push(r.result.test.unwrap());
            v.push(r.result.validation.unwrap());
            s += r.result.seconds + r.result.warm_start_seconds;
        }
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let sd = (t.iter().map(|x| (x - mean(&t)).powi(2)).sum::<f64>() / (t.len().max(2) - 1) as f64).sqrt();
        println!(
            "{:24} {:10} {:60} test {:.2} ± {:.2} val {:.2}  {:.2}s/run {chosen}",
            a[1],
            a[2],
            spec,
            mean(&t),
            sd,
            mean(&v),
            s / n as f64
        );
    }
}
