//! Noise in labels.

use edgepace_graph::random::Purpose;
use edgepace_graph::{Classes, Dataset, Labels, UNLABELLED};

use super::{one_class_per_node, stream};
use crate::draw::choose;
use crate::pairs::pairs_of;
use crate::splits::no_such_split;
use crate::{DataError, error::request_error};

/// Gives `share` of the training nodes of the split another class, each other class with the same probability.
pub(super) fn flip(
    dataset: Dataset,
    share: f64,
    split: Option<&str>,
    seed: u64,
) -> Result<Dataset, DataError> {
    let field = "noise: flip";
    let classes = one_class_per_node(&dataset, field)?;
    let width = classes.width() as u64;
    if width < 2 {
        return Err(request_error(field, share.to_string(), "0: there is only one class"));
    }
    let Some(name) = split else {
        return Err(request_error(
            field,
            share.to_string(),
            "a split beside it: only training labels are flipped",
        ));
    };
    let train = dataset.split(name).ok_or_else(|| no_such_split(&dataset, name))?.train();
    let count = (share * train.len() as f64).round() as usize;
    let chosen = choose(stream(seed, Purpose::FlippedLabels, 0), train.len(), count);
    let step = stream(seed, Purpose::FlippedLabels, 1);
    let mut of = classes.of().to_vec();
    for (&node, _) in train.iter().zip(chosen).filter(|(_, chosen)| *chosen) {
        let class = &mut of[node as usize];
        *class = ((u64::from(*class) + 1 + step.below(node.into(), width - 1)) % width) as u32;
    }
    let labels = Labels::from(Classes::new(classes.width(), of)?);
    Ok(dataset.with_labels(labels)?)
}

/// How many pairs of labelled nodes have different classes.
pub(super) fn pairs_across(classes: &Classes) -> u64 {
    let mut sizes = vec![0; classes.width()];
    classes.of().iter().filter(|&&class| class != UNLABELLED).for_each(|&class| sizes[class as usize] += 1);
    pairs_of(sizes.iter().sum()) - sizes.iter().map(|&size| pairs_of(size)).sum::<u64>()
}
