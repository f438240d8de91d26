//! The accuracy that no method can be expected to beat on a graph of the synthetic family, because it is that of the
//! generator's own parameters.
//!
//! Knowing the class centres and σ, the features of a node say exp(−‖x − centre‖²/2σ²) of each class; knowing homophily and
//! law, an edge between the classes c and d is Ψ_cd = K·P(d | c) times as likely as one at random; training labels are
//! known, and all classes are equally likely. The class of greatest posterior probability is right most often. The
//! posterior is found by belief propagation. That is exact on trees, and on random graphs as sparse as these the best that is
//! known: loops are long there. That two nodes are not linked says next to nothing, because nodes of all classes have
//! equally many links.

use edgepace_data::generate::Synthetic;
use edgepace_data::{Generator, Noise, SplitRule, generate};
use edgepace_graph::{Classes, Dataset, Features, Labels, Refusal, Split, Threads};
use edgepace_nn::{Beliefs, Logits, Metric};
use edgepace_train::{RunConfig, TrainError};
use serde::Serialize;

use crate::error::LabError;
use crate::plan::{DataSource, Plan};
use crate::statistics::{mean, standard_deviation};

/// Sweeps until messages hardly move: on the graph of homophily 0.3, 30, 100 and 200 sweeps give the same predictions.
const SWEEPS: usize = 100;

/// How much of a message is new in each sweep.
const FRESH: f64 = 0.5;

/// Stands for a link that the law does not know, so that every message is finite.
const NEVER: f64 = 1e-12;

/// Limits on the graphs and splits of some seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// The generator, as it was given.
    pub dataset: String,
    /// The mean over the seeds, in percent; none without test nodes.
    pub limit_mean: Option<f64>,
    /// Its standard deviation; none for one seed.
    pub limit_sd: Option<f64>,
    /// The mean of what features alone can give.
    pub features_mean: Option<f64>,
    /// Each seed.
    pub seeds: Vec<SeedLimit>,
}

/// The limit on one graph and split, in percent; none without test nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedLimit {
    /// The seed.
    pub seed: u64,
    /// The split.
    pub split: String,
    /// Knowing features, edges and training labels.
    pub limit: Option<f64>,
    /// Knowing the features alone.
    pub features: Option<f64>,
}

impl Limits {
    /// The limits on a graph of the synthetic family. Split and graph follow the seed unless they name their own.
    ///
    /// # Errors
    /// Another dataset, of which nobody knows how it came about, or a split that it does not have.
    pub fn new(
        threads: &Threads,
        name: &str,
        split: Option<SplitRule>,
        seeds: Vec<u64>,
    ) -> Result<Self, LabError> {
        let Some(Generator::Synthetic(law)) = Generator::parse(name)? else {
            let expected = "`synthetic:…`: of other graphs nobody knows how likely each link is";
            return Err(refused(name, expected).into());
        };
        let plan = Plan {
            data: DataSource::Name(name.to_owned()),
            noise: Noise::default(),
            split,
            config: RunConfig::default(),
            seeds: seeds.clone(),
        };
        let first = plan.first_name().unwrap_or_else(|| name.to_owned());
        let Some(dataset) = generate(threads, &first)? else {
            return Err(refused(&first, "`synthetic:…`").into());
        };
        let of_seed = |seed| {
            let data = plan.data_of(threads, &dataset, seed)?;
            let split = data.material.split();
            let (limit, features) = limit(threads, &law, &data.dataset, split)?;
            let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
            let (limit, features) = (percent(limit), percent(features));
            Ok(SeedLimit { seed, split: split.name().to_owned(), limit, features })
        };
        let seeds = seeds.into_iter().map(of_seed).collect::<Result<Vec<_>, LabError>>()?;
        let limits: Vec<Option<f64>> = seeds.iter().map(|seed| seed.limit).collect();
        let features: Vec<Option<f64>> = seeds.iter().map(|seed| seed.features).collect();
        Ok(Self {
            dataset: name.to_owned(),
            limit_mean: mean(&limits),
            limit_sd: standard_deviation(&limits),
            features_mean: mean(&features),
            seeds,
        })
    }
}

fn refused(name: &str, expected: &'static str) -> TrainError {
    Refusal::new("dataset", format!("`{name}`"), expected).into()
}

/// The share of test nodes whose class is the most probable one, with edges and without.
fn limit(
    threads: &Threads,
    law: &Synthetic,
    dataset: &Dataset,
    split: &Split,
) -> Result<(Option<f64>, Option<f64>), TrainError> {
    let (Features::Dense(features), Labels::Classes(classes)) = (&**dataset.features(), &**dataset.labels())
    else {
        return Err(refused(dataset.name(), "coordinates, and one class per node"));
    };
    let score = |logits: &[f64]| {
        Metric::Accuracy.score(dataset.labels(), split.test(), Logits::new(logits, law.classes))
    };
    let mut unaries: Vec<f64> = features.values().chunks_exact(2).flat_map(|x| of_features(law, x)).collect();
    let alone = score(&unaries);
    know_labels(&mut unaries, classes, split.train());
    let graph = dataset.weighted_graph()?;
    let mut beliefs = Beliefs::new(&graph, law.classes, unaries)?;
    let compatibility = compatibility(law);
    for _ in 0..SWEEPS {
        beliefs.sweep(threads, &compatibility, 1.0, FRESH);
    }
    Ok((score(beliefs.logits()), alone))
}

/// What its features say of a node: for each class the logarithm of their density, up to a constant.
fn of_features(law: &Synthetic, x: &[f32]) -> Vec<f64> {
    let far = |class: usize| {
        let centre = law.centre(class);
        x.iter().zip(centre).map(|(&x, centre)| (f64::from(x) - centre).powi(2)).sum::<f64>()
    };
    let far: Vec<f64> = (0..law.classes).map(far).collect();
    let nearest = far.iter().copied().fold(f64::INFINITY, f64::min);
    // Without spread, or with next to none, it is the nearest centre for sure.
    let log = |far: f64| -(far - nearest) / (2.0 * law.sigma * law.sigma);
    far.iter()
        .map(|&far| if far > nearest { log(far).max(Beliefs::<f64>::IMPOSSIBLE) } else { 0.0 })
        .collect()
}

fn know_labels(unaries: &mut [f64], classes: &Classes, train: &[u32]) {
    let width = classes.width();
    for &node in train {
        let row = &mut unaries[node as usize * width..][..width];
        row.fill(Beliefs::<f64>::IMPOSSIBLE);
        row[classes.of()[node as usize] as usize] = 0.0;
    }
}

/// Ψ by the law.
fn compatibility(law: &Synthetic) -> Vec<f64> {
    let (classes, by_distance) = (law.classes, law.probabilities());
    let ratio = |at: usize| classes as f64 * by_distance[law.distance(at / classes, at % classes)];
    (0..classes * classes).map(|at| ratio(at).max(NEVER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(name: &str, seeds: Vec<u64>) -> Limits {
        Limits::new(&Threads::one(), name, None, seeds).unwrap()
    }

    #[test]
    fn what_is_sure_has_a_limit_of_a_hundred_and_what_is_chance_that_of_a_guess() {
        let sure = limits("synthetic:homophily=0.5,nodes=300,edges=900,classes=5,sigma=0", vec![0]);
        assert_eq!((sure.limit_mean, sure.features_mean), (Some(100.0), Some(100.0)));
        // All centres are one, and a tenth of the links is what chance gives a class.
        let chance = "synthetic:homophily=0.5,nodes=2000,edges=0,classes=10,radius=0";
        let guess = limits(chance, vec![0, 1, 2]);
        assert!((guess.limit_mean.unwrap() - 10.0).abs() < 3.0, "{guess:?}");
        let linked = limits("synthetic:homophily=1,nodes=600,edges=6000,classes=3,radius=0", vec![0]);
        assert!(linked.limit_mean.unwrap() > 99.0 && linked.features_mean.unwrap() < 50.0, "{linked:?}");
    }

    /// Two classes at ±R on a line with spread σ: features alone are right with probability Φ(R/σ), here Φ(1).
    #[test]
    fn without_edges_the_limit_is_that_of_the_normal_distribution() {
        let found = limits("synthetic:homophily=0.5,nodes=30000,edges=0,classes=2,radius=100", vec![1]);
        assert!((found.limit_mean.unwrap() - 84.13).abs() < 1.1, "{found:?}");
        assert_eq!(found.limit_mean, found.features_mean);
    }

    #[test]
    fn graph_and_split_follow_the_seed_and_other_graphs_are_refused() {
        let name = "synthetic:homophily=0.3,nodes=300,edges=1500,classes=5";
        let found = limits(name, vec![0, 1, 2]);
        assert_eq!(found.seeds.len(), 3);
        assert!(found.limit_sd.unwrap() > 0.0 && found.limit_mean > found.features_mean);
        for (name, part) in [("blocks:nodes=100", "synthetic:"), ("cora", "synthetic:")] {
            let error = Limits::new(&Threads::one(), name, None, vec![0]).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(name), "{error}");
        }
    }
}
