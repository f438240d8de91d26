//! `auto`: experts of different kinds as one answer, each trusted as far as validation says.
//!
//! The edge-free model knows features alone, the plain networks trust every edge, the curriculum learns which to trust, and
//! belief propagation reads what classes neighbours of a class have, alike or not. Label propagation knows which labels are near,
//! and nothing of features. Where one of them is bad another one is good, and the pool ([`crate::pool`]) need not know which
//! beforehand. With `pick` one expert is kept instead: the simplest
//! within one standard error of the best.
//!
//! Not all stand on the same ground. Most graphs want the strong one, but some must be learned by heart (Chameleon and Squirrel,
//! many of whose nodes are copies of one another), which regularisation forbids: so plain training stays as the paper has it.

use edgepace_nn::Backbone;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::candidates::{Candidate, Experts};
use crate::config::{Keep, RunConfig, to_table};
use crate::error::TrainError;
use crate::ground::Ground;
use crate::setting::Setting;

/// Settings of `auto`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AutoConfig {
    /// Whether one expert is kept in place of the pool.
    pick: bool,
    /// Whether label propagation is one of the experts on the strong ground.
    labels: bool,
}

impl Default for AutoConfig {
    fn default() -> Self {
        Self { pick: false, labels: true }
    }
}

/// The name of the setting that says whether label propagation is one of the experts.
pub(crate) const WITH_LABELS: &str = "labels";

/// Epochs without a better window after which a regularised network that trusts every edge stops, unless `patience` is set.
const PATIENCE: u32 = 60;

/// What can be set.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting::fixed(
        "pick",
        "true: keep one expert, the simplest within one standard error of the best on validation, in place of the pool",
    ),
    Setting::fixed(WITH_LABELS, "false: without label propagation among the experts"),
];

pub(crate) fn defaults(_: &RunConfig) -> Result<Table, TrainError> {
    to_table(&AutoConfig::default())
}

/// The experts of a config, the simplest first.
pub(crate) fn experts(config: &RunConfig) -> Result<Experts, TrainError> {
    let AutoConfig { pick, labels } = config.settings_over(&AutoConfig::default())?;
    let expert = |label: &'static str, method: &str, backbone: Backbone| {
        let (method, settings, keep) = (method.to_owned(), Table::new(), Some(Keep::Method));
        let ground = Some(config.stands_on());
        Candidate { label, config: RunConfig { backbone, method, ground, keep, settings, ..config.clone() } }
    };
    let plain = |label: &'static str, backbone: Backbone| {
        let Candidate { label, config: regularised } = expert(label, "vanilla", backbone);
        Candidate { label, config: RunConfig { ground: Some(Ground::Paper), ..regularised } }
    };
    // Of the experts it takes longest, and what it says after so long without getting better is seldom worth the wait.
    let patient = |label: &'static str, backbone: Backbone| {
        let Candidate { label, config: endless } = expert(label, "vanilla", backbone);
        let open = endless.patience == 0 && config.stands_on() == Ground::Strong;
        let patience = if open { PATIENCE } else { endless.patience };
        Candidate { label, config: RunConfig { patience, ..endless } }
    };
    let believing = |label: &'static str, strength: f64| {
        let mut candidate = expert(label, "belief", Backbone::Mlp);
        candidate.config.settings.insert("strength".into(), Value::Float(strength));
        candidate
    };
    // The pool has models for edges that mislead. What it wants of the curriculum is what genuine edges say, so nothing holds
    // them back, and all edges alike are the plain network's.
    let trusting = |label: &'static str, backbone: Backbone| {
        let mut candidate = expert(label, "rcl", backbone);
        if config.stands_on() == Ground::Strong {
            candidate.config.settings.insert("gamma".into(), Value::Float(0.0));
            candidate.config.settings.insert("evaluation".into(), Value::String("weighted".into()));
        }
        candidate
    };
    let backbone = config.backbone;
    let mut list = vec![expert("mlp", "mlp", Backbone::Mlp), plain(backbone.name(), backbone)];
    match backbone {
        Backbone::Gcn => list.push(patient("sage", Backbone::Sage)),
        _ if config.stands_on() == Ground::Paper => {}
        Backbone::Gin => list.push(patient("gin strong", backbone)),
        Backbone::Sage => list.push(patient("sage strong", backbone)),
        Backbone::Pna => list.push(patient("pna strong", backbone)),
        Backbone::Mlp => {}
    }
    list.extend([trusting("rcl", backbone), believing("belief 0.5", 0.5), believing("belief 1", 1.0)]);
    // On the paper's ground the experts are those of the paper's experiments.
    if labels && config.stands_on() == Ground::Strong {
        list.push(expert("labels", "label-propagation", Backbone::Mlp));
    }
    Ok(Experts { list, pick })
}
