//! Which nodes to learn from, to choose by and to report on, where a dataset does not say.
//!
//! The paper follows FastGCN on the citation networks (`full`), uses five folds on the coauthor and co-purchase networks
//! (`kfold:5:0` to `kfold:5:4`) and equal thirds on its synthetic graphs (`thirds`, which the generator adds).

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use edgepace_graph::random::{Purpose, Stream};
use edgepace_graph::{Classes, Dataset, Labels, Split, Threads, nearest};

use crate::DataError;
use crate::draw::permutation;
use crate::error::request_error;
use crate::spec::quote;

/// The rules and how they are written.
const RULES: &str = "the name of a split of the dataset, `kfold:K:I`, `fraction:TRAIN:VALIDATION` or \
     `per-class:TRAIN:VALIDATION:TEST`, the last three with optional `:stratified` and `:seed=N`";

/// How a split is had.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitRule {
    /// The dataset's own split of that name, as `public`, `full` or `geom:3`.
    Own(String),
    /// A random one, made by [`make`].
    Drawn {
        /// How many nodes go where.
        sizes: Sizes,
        /// Whether each class is shared out in the same proportions, to within one node.
        stratified: bool,
        /// The seed, or none for that of the run.
        seed: Option<u64>,
    },
}

/// How many nodes a random split puts where. Nodes without a label are in no set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sizes {
    /// `kfold:K:I`: of `folds` equal parts, part `fold` (from 0) is for test, the next one for validation (the first after
    /// the last), all others for training. The parts are the same for every `fold`, so each node is tested exactly once.
    KFold {
        /// Number of parts, at least 3.
        folds: usize,
        /// The part for test, below `folds`.
        fold: usize,
    },
    /// `fraction:TRAIN:VALIDATION`: these shares (numbers or fractions such as `1/3`), and the rest for test.
    Fraction {
        /// The share to train on.
        train: f64,
        /// The share to validate on.
        validation: f64,
    },
    /// `per-class:TRAIN:VALIDATION:TEST`: so many of each class for training, then so many of the others.
    PerClass {
        /// Nodes of each class to train on.
        train: usize,
        /// Nodes to validate on, in all.
        validation: usize,
        /// Nodes to test on, in all.
        test: usize,
    },
}

impl SplitRule {
    /// The paper's choice for the run with this seed: `full` where there is one (as FastGCN does on the citation networks),
    /// else one of the dataset's own splits (the seed picks it), else a fold of five that the seed draws and picks.
    pub fn standard(dataset: &Dataset, seed: u64) -> SplitRule {
        let picked = |count: usize| (seed % count as u64) as usize;
        if dataset.split("full").is_some() {
            return SplitRule::Own("full".to_owned());
        }
        match dataset.splits() {
            [] => SplitRule::Drawn {
                sizes: Sizes::KFold { folds: 5, fold: picked(5) },
                stratified: false,
                seed: None,
            },
            own => SplitRule::Own(own[picked(own.len())].name().to_owned()),
        }
    }
}

impl FromStr for SplitRule {
    type Err = DataError;

    fn from_str(text: &str) -> Result<SplitRule, DataError> {
        let wrong = |part: &str, expected: &str| {
            request_error(format!("split {}", quote(text)), quote(part), expected)
                .with_help(format!("a split is {RULES}"))
        };
        let mut parts: Vec<&str> = text.trim().split(':').collect();
        let values = match parts[0] {
            "kfold" | "fraction" => 2,
            "per-class" => 3,
            "" => return Err(wrong(text, "a rule or a name")),
            _ => return Ok(SplitRule::Own(text.trim().to_owned())),
        };
        let (mut stratified, mut seed) = (false, None);
        for option in parts.drain((values + 1).min(parts.len())..) {
            match (option, option.strip_prefix("seed=").map(str::parse)) {
                ("stratified", _) => stratified = true,
                (_, Some(Ok(value))) => seed = Some(value),
                _ => return Err(wrong(option, "`stratified` or `seed=N`")),
            }
        }
        if parts.len() != values + 1 {
            return Err(wrong(text, &format!("{values} values after `{}`", parts[0])));
        }
        let count = |part: &str| part.parse().map_err(|_| wrong(part, "a whole number"));
        let share =
            |part: &str| fraction(part).ok_or_else(|| wrong(part, "a share from 0 to 1, as 0.6 or 1/3"));
        let sizes = match parts[0] {
            "kfold" => {
                let (folds, fold) = (count(parts[1])?, count(parts[2])?);
                if folds < 3 {
                    return Err(wrong(
                        parts[1],
                        "3 folds or more: one each for test, validation and training",
                    ));
                }
                if fold >= folds {
                    return Err(wrong(parts[2], &format!("a fold from 0 to {}", folds - 1)));
                }
                Sizes::KFold { folds, fold }
            }
            "fraction" => {
                let (train, validation) = (share(parts[1])?, share(parts[2])?);
                if train == 0.0 || train + validation > 1.0 {
                    return Err(wrong(text, "a training share above 0, and shares that add up to at most 1"));
                }
                Sizes::Fraction { train, validation }
            }
            _ => {
                let train = count(parts[1])?;
                if train == 0 {
                    return Err(wrong(parts[1], "at least 1 training node per class"));
                }
                Sizes::PerClass { train, validation: count(parts[2])?, test: count(parts[3])? }
            }
        };
        Ok(SplitRule::Drawn { sizes, stratified, seed })
    }
}

/// A number or a fraction of two, from 0 to 1.
fn fraction(text: &str) -> Option<f64> {
    let value = match text.split_once('/') {
        Some((above, below)) => above.parse::<f64>().ok()? / below.parse::<f64>().ok()?,
        None => text.parse().ok()?,
    };
    (0.0..=1.0).contains(&value).then_some(value)
}

impl fmt::Display for SplitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SplitRule::Own(name) => f.write_str(name),
            SplitRule::Drawn { sizes, stratified, seed } => {
                match sizes {
                    Sizes::KFold { folds, fold } => write!(f, "kfold:{folds}:{fold}")?,
                    Sizes::Fraction { train, validation } => write!(f, "fraction:{train}:{validation}")?,
                    Sizes::PerClass { train, validation, test } => {
                        write!(f, "per-class:{train}:{validation}:{test}")?;
                    }
                }
                f.write_str(if *stratified { ":stratified" } else { "" })?;
                seed.map_or(Ok(()), |seed| write!(f, ":seed={seed}"))
            }
        }
    }
}

/// The split that `rule` describes. A random one depends on the rule, the labels and the seed alone (the rule's own, or
/// else `seed`), and its name is the rule with the seed that made it.
///
/// # Errors
/// An own split that the dataset does not have, fewer labelled nodes than the rule asks for, or classes asked of labels
/// that are not one class per node.
pub fn make(threads: &Threads, rule: &SplitRule, dataset: &Dataset, seed: u64) -> Result<Split, DataError> {
    let (sizes, stratified, seed) = match rule {
        SplitRule::Own(name) => {
            let own = dataset.split(name).cloned();
            return own.ok_or_else(|| no_such_split(dataset, name));
        }
        SplitRule::Drawn { sizes, stratified, seed: own } => (*sizes, *stratified, own.unwrap_or(seed)),
    };
    let name = SplitRule::Drawn { sizes, stratified, seed: Some(seed) }.to_string();
    draw(threads, &name, sizes, stratified, dataset.labels(), seed)
}

/// FastGCN's split: validation and test as they are, and every other labelled node for training.
///
/// # Errors
/// When no node is left to train on, or the split is for another graph.
pub fn full(split: &Split, labels: &Labels) -> Result<Split, DataError> {
    let mut free: Vec<bool> = (0..split.nodes()).map(|node| labels.is_labelled(node)).collect();
    split.validation().iter().chain(split.test()).for_each(|&node| free[node as usize] = false);
    let train = (0..split.nodes() as u32).filter(|&node| free[node as usize]).collect();
    Ok(Split::new("full", split.nodes(), train, split.validation().to_vec(), split.test().to_vec())?)
}

pub(crate) fn no_such_split(dataset: &Dataset, name: &str) -> DataError {
    let names: Vec<&str> = dataset.splits().iter().map(Split::name).collect();
    let own = if names.is_empty() { "none of its own".to_owned() } else { names.join(", ") };
    let rule = name.split(':').next().unwrap_or_default();
    let near = nearest(name, names).or_else(|| nearest(rule, ["kfold", "fraction", "per-class"]));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("a split is {RULES}"),
    };
    request_error("split", quote(name), format!("a split of `{}`, which has {own}", quote(dataset.name())))
        .with_help(help)
}

pub(crate) fn draw(
    threads: &Threads,
    name: &str,
    sizes: Sizes,
    stratified: bool,
    labels: &Labels,
    seed: u64,
) -> Result<Split, DataError> {
    let stream = Stream::new(seed, Purpose::Split, 0);
    let mut order = permutation(threads, stream, labels.nodes());
    order.retain(|&node| labels.is_labelled(node as usize));
    let classes = match labels {
        Labels::Classes(classes) => Some(classes),
        Labels::Many(_) if stratified || matches!(sizes, Sizes::PerClass { .. }) => {
            return Err(request_error("split", name, "a rule that does not ask for classes")
                .with_help("this dataset has many labels per node"));
        }
        Labels::Many(_) => None,
    };
    let groups = |order: Vec<u32>| match classes {
        Some(classes) if stratified => by_class(classes, &order),
        _ => vec![order],
    };
    let [train, validation, test] = match sizes {
        Sizes::KFold { folds, fold } => {
            if order.len() < folds {
                return Err(too_few(name, order.len(), folds));
            }
            let mut sets = [const { Vec::new() }; 3];
            // Dealt out in turn, class after class: folds differ by one node at most, in all and within each class.
            for (node, turn) in groups(order).into_iter().flatten().zip((0..folds).cycle()) {
                let set = if turn == fold { 2 } else { usize::from(turn == (fold + 1) % folds) };
                sets[set].push(node);
            }
            sets
        }
        Sizes::Fraction { train, validation } => {
            let test = (1.0 - train - validation).max(0.0);
            share_out(groups(order), [train, validation, test])
        }
        Sizes::PerClass { train, validation, test } => {
            let (mut chosen, mut rest) = (Vec::new(), Vec::new());
            let classes =
                classes.into_iter().flat_map(|classes| by_class(classes, &order).into_iter().enumerate());
            for (class, members) in classes.filter(|(_, members)| !members.is_empty()) {
                if members.len() < train {
                    let found = members.len();
                    return Err(too_few(&format!("{name}, class {class}"), found, train));
                }
                let (first, others) = members.split_at(train);
                chosen.extend_from_slice(first);
                rest.extend_from_slice(others);
            }
            let mut is_rest = vec![false; labels.nodes()];
            for &node in &rest {
                is_rest[node as usize] = true;
            }
            order.retain(|&node| is_rest[node as usize]);
            if order.len() < validation.saturating_add(test) {
                return Err(too_few(name, order.len(), validation.saturating_add(test)));
            }
            let left = order.len() as f64;
            let [v, t] = [validation, test].map(|size| size as f64 / left.max(1.0));
            let [validation, test, _] = if stratified {
                share_out(groups(order), [v, t, (1.0 - v - t).max(0.0)])
            } else {
                let test = order[validation..validation + test].to_vec();
                order.truncate(validation);
                [order, test, Vec::new()]
            };
            [chosen, validation, test]
        }
    };
    Ok(Split::new(name, labels.nodes(), train, validation, test)?)
}

fn too_few(name: &str, found: usize, needed: usize) -> DataError {
    request_error(
        "split",
        name,
        format!("at least {needed} labelled nodes to choose from, there are {found}"),
    )
}

/// The nodes of each class, in the order given.
fn by_class(classes: &Classes, order: &[u32]) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); classes.width()];
    for &node in order {
        members[classes.of()[node as usize] as usize].push(node);
    }
    members
}

/// Shares each group out among three sets: every set gets its share of every group, rounded down or up. Which way is
/// decided by what the sets lack so far, so that the totals are right as well.
fn share_out(groups: Vec<Vec<u32>>, shares: [f64; 3]) -> [Vec<u32>; 3] {
    let mut sets = [const { Vec::new() }; 3];
    let mut seen = 0;
    for group in groups {
        seen += group.len();
        let exact = shares.map(|share| share * group.len() as f64);
        // What rounding left of a whole number is no reason to round it down.
        let mut sizes = exact.map(|size| (size + 1e-9).floor() as usize);
        while sizes.iter().sum::<usize>() < group.len() {
            // In millionths of a node: what rounding does to a share decides nothing, the earlier set does.
            let lack = |set: usize| {
                let open = exact[set] - sizes[set] as f64 > 1e-9;
                let lack = shares[set] * seen as f64 - (sets[set].len() + sizes[set]) as f64;
                (open, (lack * 1e6).round() as i64, Reverse(set))
            };
            let neediest = (0..3).max_by_key(|&set| lack(set)).unwrap_or(0);
            sizes[neediest] += 1;
        }
        let mut rest = &group[..];
        for (set, size) in sets.iter_mut().zip(sizes) {
            let (own, others) = rest.split_at(size.min(rest.len()));
            set.extend_from_slice(own);
            rest = others;
        }
    }
    sets
}
