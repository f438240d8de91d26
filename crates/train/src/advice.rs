//! Looks at what a run learns from, and warns of what is probably a mistake.

use edgepace_graph::{Classes, Features, Labels, UNLABELLED};
use edgepace_nn::{Backbone, Threads};

use crate::config::RunConfig;
use crate::error::TrainError;
use crate::material::Material;
use crate::warning::{LARGEST_RATIO, LEAST_PERIODS, Warning};

/// What there is to say before anything was trained.
///
/// # Errors
/// Features that cannot be prepared.
pub(crate) fn of_material(
    material: &Material,
    config: &RunConfig,
    threads: &Threads,
) -> Result<Vec<Warning>, TrainError> {
    let mut warnings = Vec::new();
    let uses_edges = config.backbone != Backbone::Mlp;
    if uses_edges && material.graph().edges() == 0 {
        warnings.push(Warning::NoEdges);
    }
    if material.graph().nodes() > 1 && all_alike(material.features()) {
        warnings.push(Warning::NoFeatures);
    }
    if let Labels::Classes(classes) = &**material.labels() {
        warnings.extend(of_classes(classes, material));
    }
    let features = material.prepared(config, threads)?;
    warnings.extend(of_features(&features));
    if material.split().validation().is_empty() {
        warnings.push(Warning::NoValidation);
    }
    if material.split().test().is_empty() {
        warnings.push(Warning::NoTest);
    }
    Ok(warnings)
}

/// Epochs that are too few for the period of a curriculum, as the settings of its run have it.
pub(crate) fn of_period(config: &RunConfig) -> Option<Warning> {
    let period = u32::try_from(config.settings.get("period")?.as_integer()?).ok()?;
    let epochs = config.epochs;
    (epochs < LEAST_PERIODS.saturating_mul(period)).then_some(Warning::FewEpochs { epochs, period })
}

/// Classes that cannot be learned.
fn of_classes(classes: &Classes, material: &Material) -> Option<Warning> {
    let split = material.split();
    let nodes_of = |nodes: &[u32]| {
        let mut counts = vec![0_usize; classes.width()];
        let of = nodes.iter().map(|&node| classes.of()[node as usize]).filter(|&class| class != UNLABELLED);
        of.for_each(|class| counts[class as usize] += 1);
        counts
    };
    let (train, validation) = (nodes_of(split.train()), nodes_of(split.validation()));
    let known: Vec<usize> =
        (0..classes.width()).filter(|&class| train[class] + validation[class] > 0).collect();
    if let [only] = known[..] {
        return Some(Warning::OneClass { name: material.class_name(only) });
    }
    let names: Vec<String> = (0..classes.width())
        .filter(|&class| train[class] == 0)
        .map(|class| material.class_name(class))
        .collect();
    (!names.is_empty()).then_some(Warning::UntrainedClasses { names, classes: classes.width() })
}

/// Whether every node has the features of the first.
fn all_alike(features: &Features) -> bool {
    match features {
        Features::Dense(dense) => {
            let mut rows = dense.values().chunks_exact(dense.cols().max(1));
            let first = rows.next();
            rows.all(|row| Some(row) == first)
        }
        Features::Sparse(sparse) => {
            let row = |at: &[usize]| (&sparse.columns()[at[0]..at[1]], &sparse.values()[at[0]..at[1]]);
            let mut rows = sparse.offsets().windows(2).map(row);
            let first = rows.next();
            rows.all(|row| Some(row) == first)
        }
    }
}

/// Features of which some drown the others.
fn of_features(features: &Features) -> Option<Warning> {
    let ranges = ranges(features);
    let by_size = |a: &(usize, f32), b: &(usize, f32)| a.1.total_cmp(&b.1);
    let spread = || ranges.iter().copied().enumerate().filter(|(_, range)| *range > 0.0);
    let (Some(narrowest), Some(widest)) = (spread().min_by(by_size), spread().max_by(by_size)) else {
        return None;
    };
    let apart = widest.1 / narrowest.1 > LARGEST_RATIO;
    apart.then_some(Warning::FeatureRanges { widest, narrowest })
}

/// The largest value of each column less its smallest.
fn ranges(features: &Features) -> Vec<f32> {
    let columns = features.cols();
    let mut bounds = vec![(f32::INFINITY, f32::NEG_INFINITY); columns];
    let mut see = |column: usize, value: f32| {
        let (low, high) = &mut bounds[column];
        (*low, *high) = (low.min(value), high.max(value));
    };
    match features {
        Features::Dense(dense) => {
            for row in dense.values().chunks_exact(columns.max(1)) {
                row.iter().enumerate().for_each(|(column, &value)| see(column, value));
            }
        }
        Features::Sparse(sparse) => {
            let mut stored = vec![0_usize; columns];
            for (&column, &value) in sparse.columns().iter().zip(sparse.values()) {
                stored[column as usize] += 1;
                see(column as usize, value);
            }
            // What is not stored is 0.
            for (column, &stored) in stored.iter().enumerate() {
                if stored < sparse.rows() {
                    see(column, 0.0);
                }
            }
        }
    }
    bounds.into_iter().map(|(low, high)| (high - low).max(0.0)).collect()
}
