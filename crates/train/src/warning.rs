//! Warnings about a run: nothing is refused, but something is probably not as it was meant.

use std::fmt;

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Serialize, Serializer};

/// Something about a run that one would want to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Warning {
    /// The graph has no edges.
    NoEdges,
    /// There are edges, but none was ever trained on.
    NoEdgeEverIn {
        /// Epochs of the training.
        epochs: u32,
    },
    /// The curriculum is updated too seldom to bring its edges in.
    FewEpochs {
        /// Epochs of the training.
        epochs: u32,
        /// Epochs from one update to the next.
        period: u32,
    },
    /// All that was learned from is of one class.
    OneClass {
        /// Its name, or its number.
        name: String,
    },
    /// Classes without a training node.
    UntrainedClasses {
        /// Their names, or their numbers.
        names: Vec<String>,
        /// How many classes there are.
        classes: usize,
    },
    /// No feature of the graph tells two nodes apart.
    NoFeatures,
    /// Features of very different size, as they are trained on.
    FeatureRanges {
        /// The column of the largest range, from 0, and its range.
        widest: (usize, f32),
        /// The column of the smallest range that is not 0, and its range.
        narrowest: (usize, f32),
    },
    /// There are no validation nodes.
    NoValidation,
    /// There are too few validation nodes to choose by.
    SmallValidation {
        /// How many there are.
        nodes: usize,
        /// The standard error of their accuracy, in points.
        standard_error: f64,
    },
    /// There are no test nodes.
    NoTest,
    /// Plain training validates better than the method, by more than chance.
    DidNotPay {
        /// By so much, in points of the metric, or of its own unit where it is no share.
        points: f64,
        /// What validation is judged by.
        metric: String,
        /// Whether plain training was kept therefore.
        plain_kept: bool,
        /// Whether the method orders edges.
        orders_edges: bool,
    },
}

/// The largest standard error, in points, of a validation accuracy that one can choose by.
pub(crate) const LARGEST_ERROR: f64 = 3.0;

/// How far apart the ranges of two features may be.
pub(crate) const LARGEST_RATIO: f32 = 1e6;

/// Periods that a curriculum needs at least to bring in edges and to learn from them.
pub(crate) const LEAST_PERIODS: u32 = 2;

/// Names that are listed; of more it is said how many.
const LISTED: usize = 5;

impl Warning {
    /// What it is about, as records have it.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::NoEdges => "no-edges",
            Warning::NoEdgeEverIn { .. } => "no-edge-ever-in",
            Warning::FewEpochs { .. } => "few-epochs",
            Warning::OneClass { .. } => "one-class",
            Warning::UntrainedClasses { .. } => "untrained-classes",
            Warning::NoFeatures => "no-features",
            Warning::FeatureRanges { .. } => "feature-ranges",
            Warning::NoValidation => "no-validation",
            Warning::SmallValidation { .. } => "small-validation",
            Warning::NoTest => "no-test",
            Warning::DidNotPay { .. } => "did-not-pay",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NoEdges => {
                write!(f, "the graph has no edges: nodes are told apart by their own features alone")
            }
            Warning::NoEdgeEverIn { epochs } => write!(
                f,
                "no edge was ever in: the method let none in within {epochs} epochs and learned from features alone"
            ),
            Warning::FewEpochs { epochs, period } => write!(
                f,
                "{epochs} epochs are fewer than {LEAST_PERIODS} periods of the curriculum, which lets edges in every \
                 {period} epochs: set `epochs` to {} or more, or a smaller `period`",
                LEAST_PERIODS * period
            ),
            Warning::OneClass { name } => write!(
                f,
                "all training and validation nodes are of one class, `{name}`: there is nothing to tell apart"
            ),
            Warning::UntrainedClasses { names, classes } => {
                let listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
                let more = match names.len().saturating_sub(LISTED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let have = if names.len() == 1 { "has" } else { "have" };
                write!(
                    f,
                    "{} of {classes} classes {have} no training node and will hardly be predicted: {}{more}",
                    names.len(),
                    listed.join(", ")
                )
            }
            Warning::NoFeatures => {
                write!(f, "no feature tells two nodes apart: all that can be learned from is the edges")
            }
            Warning::FeatureRanges { widest, narrowest } => write!(
                f,
                "features differ a million times in size: column {} spans {:.2e}, column {} spans {:.2e}, which then hardly \
                 counts; set `features` to `standardise`, or leave columns out that say nothing",
                widest.0, widest.1, narrowest.0, narrowest.1
            ),
            Warning::NoValidation => write!(
                f,
                "there are no validation nodes: the last epoch counts, and nothing was chosen by how good it is"
            ),
            Warning::SmallValidation { nodes, standard_error } => write!(
                f,
                "{nodes} validation nodes are few to choose by: their accuracy is off by {standard_error:.1} points by chance \
                 (standard error; {LARGEST_ERROR} or less is good); give more of them, or trust the mean of many seeds \
                 only"
            ),
            Warning::NoTest => {
                write!(f, "there are no test nodes: nothing says how good the model is where it did not look")
            }
            Warning::DidNotPay { points, metric, plain_kept, orders_edges } => {
                let unit = if metric == "log-loss" { "of log-loss" } else { "points" };
                let digits = if metric == "log-loss" { 3 } else { 1 };
                let kept = if *plain_kept { "and was kept" } else { "but `keep` is `method`" };
                let reason = if *orders_edges {
                    "edges carry more than the features that tell which of them to trust"
                } else {
                    "the method did not pay"
                };
                write!(f, "plain training validates {points:.digits$} {unit} better here, {kept}: {reason}")
            }
        }
    }
}

/// Writes warnings with their message beside what they are made of.
pub(crate) fn with_messages<S: Serializer>(warnings: &[Warning], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Said<'a> {
        #[serde(flatten)]
        warning: &'a Warning,
        message: String,
    }
    let mut list = serializer.serialize_seq(Some(warnings.len()))?;
    for warning in warnings {
        list.serialize_element(&Said { warning, message: warning.to_string() })?;
    }
    list.end()
}
