//! Settings of a run: documented defaults, read from text, as a person writes them.

use edgepace_graph::Refusal;
use edgepace_nn::{AdamConfig, Backbone, Decay, Metric, ModelConfig};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::error::TrainError;
use crate::features_from::FeaturesFrom;
use crate::ground::{self, DecayOn, EpochRule, Ground, Situation};
use crate::prepare::Preparation;
use crate::search_kind::Search;
use crate::setting::{Setting, literal};

/// Settings of a run that every method shares, and those of its method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// The convolution: `gcn`, `gin`, `sage`, `pna` or `mlp`.
    #[serde(with = "backbone_name")]
    pub backbone: Backbone,
    /// The method that decides on edges and nodes; [`METHODS`](crate::METHODS) lists them.
    pub method: String,
    /// A named set of the method's settings.
    pub preset: Option<String>,
    /// Training epochs, at least 1.
    pub epochs: u32,
    /// Step size of Adam, above 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lr: Option<f64>,
    /// What settings stand on that are left open: `paper` or `strong`. Unset: `strong` for `auto`, `belief`, and `rcl`
    /// with the preset `trust`, `paper` for all else.
    pub ground: Option<Ground>,
    /// The gradient of decay/2 · ‖θ‖² joins the loss's; at least 0. Unset: as the ground says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_decay: Option<f64>,
    /// The parameters that decay: `all`, or those of the `first` layer. Unset: as the ground says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay_on: Option<DecayOn>,
    /// Units of the hidden layer and of the embedding, at least 1. Unset: as the ground says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden: Option<usize>,
    /// Share of hidden units that are dropped in training, in [0, 1).
    pub dropout: f64,
    /// Share of the values of the features that are dropped in training, in [0, 1). Unset: as the ground says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_dropout: Option<f64>,
    /// Whether the hidden units of each node are brought to mean 0 and variance 1 before the ReLU. Unset: as the ground says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer_norm: Option<bool>,
    /// Probability that an edge is left out of a training step, in [0, 1). Unset: as the ground says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_edge: Option<f64>,
    /// How much of each label is spread evenly over all classes, in [0, 1).
    pub label_smoothing: f64,
    /// How much a node without a label counts beside a training node in plain training, with what belief propagation says of it
    /// for a label, in [0, 1]. Unset: 0.5 where `rcl` with the preset `trust` on the strong ground is compared with that, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pseudo_labels: Option<f64>,
    /// What is done to the features: `auto`, `none`, `rows`, `lengths`, `counts` or `standardise`.
    pub features: Preparation,
    /// Where features come from: `auto`, `given`, `filled`, `identity`, `degree`, `spectral` or `none`.
    pub features_from: FeaturesFrom,
    /// Stop when validation has not been better for so many epochs; 0: never.
    pub patience: u32,
    /// Which epochs count: `accuracy` or `window`. Unset: as the ground says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_rule: Option<EpochRule>,
    /// Epochs without a better window after which a network without edges begins anew with four times the weight decay, if its
    /// best is one of its first 30; 0: never. Unset: as the ground says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_after: Option<u32>,
    /// What validation is judged by: `accuracy`, `macro-f1`, `balanced-accuracy`, `roc-auc` or `log-loss`; unset: accuracy, or
    /// ROC-AUC where nodes have many labels.
    #[serde(with = "metric_name", skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// What a run may keep that trained a plain model as its warm start; unset: `best` for `rcl`, and `method` for the methods
    /// that it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
    /// How settings are searched for, the best on validation being kept.
    pub search: Search,
    /// Settings of the method, over those of its preset.
    pub settings: Table,
}

/// What a run may keep of all that it trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// The best on validation: what the method made, or its warm start, which is plain training.
    #[default]
    Best,
    /// What the method made, however good plain training was: what a comparison of methods needs.
    Method,
}

/// The settings that every method shares, in the order of [`RunConfig`]'s fields.
pub const RUN_SETTINGS: &[Setting] = &[
    Setting::fixed("backbone", "the convolution: gcn, gin, sage, pna or mlp"),
    Setting::fixed("method", "what decides which edges and nodes to learn from"),
    Setting::fixed(
        "preset",
        "a named set of the method's settings; unset: its first, but edgepace for rcl on the paper's ground",
    ),
    Setting::fixed("epochs", "training epochs, from 1 to 1000000"),
    Setting::fixed(
        "lr",
        "step size of Adam, above 0; unset: 0.01; on the strong ground 0.002 where layer_norm is true",
    ),
    Setting::fixed(
        "ground",
        "how a network is regularised where that is left open: paper (as in the paper's experiments) or strong; unset: strong for \
         the methods rcl (but for presets other than trust), auto and belief, paper for the others",
    ),
    Setting::fixed(
        "weight_decay",
        "weight of the squared parameters in the loss, at least 0; unset: 0 on the paper's ground; on the strong one for words 4 by the number of training nodes, at most 0.002, else 0.0005",
    ),
    Setting::fixed(
        "decay_on",
        "the parameters that decay: all, or those of the first layer; unset: all, but for features other than words on the strong ground",
    ),
    Setting::fixed(
        "hidden",
        "units of the hidden layer and of the embedding, from 1 to 1048576; unset: 64; on the strong ground 128 where layer_norm is true",
    ),
    Setting::fixed("dropout", "share of hidden units dropped in training, in [0, 1)"),
    Setting::fixed(
        "input_dropout",
        "share of the values of the features dropped in training, in [0, 1); unset: 0; on the strong ground 0.5 for \
         words and tags, 0.2 where there are more than twice as many training nodes as words",
    ),
    Setting::fixed(
        "layer_norm",
        "true: the hidden units of each node have mean 0 and variance 1 before the ReLU; unset: false; on the strong \
         ground true for words where there are 10000 training nodes, and at most two for each word",
    ),
    Setting::fixed(
        "drop_edge",
        "probability that an edge is left out of a training step, in [0, 1); unset: 0, or 0.3 on the strong ground where the \
         method does not decide on edges in each step itself",
    ),
    Setting::fixed(
        "label_smoothing",
        "how much of each label is spread evenly over all classes in training, in [0, 1)",
    ),
    Setting::fixed(
        "pseudo_labels",
        "how much a node without a label counts beside a training node in plain training, with what belief propagation says of it \
         for a label, in [0, 1]; unset: 0.5 where rcl with the preset trust on the strong ground is compared with that, else 0",
    ),
    Setting::fixed(
        "features",
        "what is done to the features: none, rows (divided by their sum), lengths (divided by their length), counts (the \
         same, with columns that tell how many words a row has), standardise (columns of mean 0 and deviation 1), or auto (lengths for \
         words and tags, but counts on the strong ground where half of the nodes have 12 of them at most; standardise for all else)",
    ),
    Setting::fixed(
        "features_from",
        "what is learned from: given (the features of the dataset), filled (the same, with columns for nodes that have none), \
         or instead of them identity (a column for each node), degree, spectral (eigenvectors of the adjacency, and degree) or \
         none; auto: given, filled where a quarter of the nodes has none, and identity or spectral without any",
    ),
    Setting::fixed("patience", "stop after so many epochs without a better validation score; 0: never"),
    Setting::fixed(
        "epoch_rule",
        "which epochs count: accuracy (the one of the best validation score) or window (the last 10 together, at the least \
         log-loss on validation); unset: accuracy on the paper's ground, window on the strong one",
    ),
    Setting::fixed(
        "restart_after",
        "epochs without a better window after which a network without edges begins anew, once, with four times the weight decay, \
         if its best is one of its first 30; 0: never; unset: 0; on the strong ground 40 for words where there are 500 training nodes",
    ),
    Setting::fixed(
        "metric",
        "what validation is judged by: accuracy, macro-f1, balanced-accuracy, roc-auc or log-loss; unset: accuracy, or \
         roc-auc where nodes have many labels",
    ),
    Setting::fixed(
        "keep",
        "what is kept beside a warm start: best (on validation, plain training included) or method; unset: best for rcl, method \
         for the others",
    ),
    Setting::fixed(
        "search",
        "try settings and keep the best on validation: true (presets and settings worth trying, one after the other), grid (the \
         paper's epochs, lr and pace), random:N (so many of all combinations) or halving (many briefly, the best of them longer)",
    ),
];

/// The setting of that name that every method has.
fn of_run(name: &str) -> Option<&'static Setting> {
    RUN_SETTINGS.iter().find(|setting| setting.name == name)
}

impl Default for RunConfig {
    fn default() -> Self {
        let model = ModelConfig::new(Backbone::Gcn);
        Self {
            backbone: model.backbone,
            method: "rcl".into(),
            preset: None,
            epochs: 150,
            lr: None,
            ground: None,
            weight_decay: None,
            decay_on: None,
            hidden: None,
            dropout: model.dropout,
            input_dropout: None,
            layer_norm: None,
            drop_edge: None,
            label_smoothing: 0.0,
            pseudo_labels: None,
            features: Preparation::Auto,
            features_from: FeaturesFrom::Auto,
            patience: 0,
            epoch_rule: None,
            restart_after: None,
            metric: None,
            keep: None,
            search: Search::Off,
            settings: Table::new(),
        }
    }
}

impl RunConfig {
    /// Settings from TOML text; what is not named keeps its default.
    ///
    /// # Errors
    /// Not TOML, an unknown setting, or a value of the wrong type.
    pub fn parse(text: &str) -> Result<Self, TrainError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| TrainError::Settings {
            field: "config".into(),
            reason: error.to_string(),
        })?;
        from_table(table)
    }

    /// The default of each setting that every method shares; one that is unset by default is not in it.
    ///
    /// # Errors
    /// A default that TOML cannot write.
    pub fn defaults() -> Result<Table, TrainError> {
        let mut defaults = to_table(&Self::default())?;
        defaults.remove("settings");
        Ok(defaults)
    }

    /// Changes one setting, given as text: of the run if it has one of that name, otherwise of the method.
    ///
    /// # Errors
    /// A value of the wrong type for a setting of the run. Those of the method are read by `check`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), TrainError> {
        let key = key.replace('-', "_");
        let Some(setting) = of_run(&key) else {
            self.settings.insert(key, literal(value));
            return Ok(());
        };
        match setting.name {
            "backbone" => self.backbone = backbone_of(value)?,
            "metric" => self.metric = Some(metric_of(value)?),
            _ => return self.set_shared(setting, value),
        }
        Ok(())
    }

    fn set_shared(&mut self, setting: &Setting, value: &str) -> Result<(), TrainError> {
        let mut table = to_table(self)?;
        table.insert(setting.name.to_owned(), literal(value));
        *self = from_table(table).map_err(|error| match error {
            TrainError::Settings { reason, .. }
                if ["invalid", "unknown variant"].iter().any(|begin| reason.starts_with(begin)) =>
            {
                TrainError::refused(setting.name, format!("`{value}`"), setting.meaning)
            }
            other => other,
        })?;
        Ok(())
    }

    /// Refuses what is out of its range, whatever the method.
    pub(crate) fn check_ranges(&self) -> Result<(), TrainError> {
        let refuse = |field: &'static str, found: String, expected: &'static str| {
            Err(TrainError::refused(field, found, expected))
        };
        if self.epochs == 0 || self.epochs > 1_000_000 {
            return refuse("epochs", self.epochs.to_string(), "between 1 and 1000000");
        }
        if let Some(lr) = self.lr.filter(|lr| !(*lr > 0.0 && lr.is_finite())) {
            return refuse("lr", lr.to_string(), "a finite number above 0");
        }
        if let Some(decay) = self.weight_decay.filter(|decay| !(*decay >= 0.0 && decay.is_finite())) {
            return refuse("weight_decay", decay.to_string(), "a finite number, at least 0");
        }
        if let Some(hidden) = self.hidden.filter(|hidden| !(1..=1 << 20).contains(hidden)) {
            return refuse("hidden", hidden.to_string(), "between 1 and 1048576");
        }
        if self.layer_norm == Some(true) && self.hidden == Some(1) {
            return refuse(
                "hidden",
                "1".to_owned(),
                "at least 2 with `layer_norm`: one unit by itself has no spread",
            );
        }
        if let Some(share) = self.pseudo_labels.filter(|share| !(0.0..=1.0).contains(share)) {
            return refuse("pseudo_labels", share.to_string(), "in [0, 1]");
        }
        let rates = [
            ("dropout", Some(self.dropout)),
            ("input_dropout", self.input_dropout),
            ("drop_edge", self.drop_edge),
            ("label_smoothing", Some(self.label_smoothing)),
        ];
        for (field, rate) in rates {
            if let Some(rate) = rate.filter(|rate| !(0.0..1.0).contains(rate)) {
                return refuse(field, rate.to_string(), "in [0, 1)");
            }
        }
        Ok(())
    }

    /// The ground that is set, or that of the method. Presets and kernels of the curriculum other than its own were chosen on
    /// the paper's.
    pub(crate) fn stands_on(&self) -> Ground {
        let kernel = self.settings.get("kernel").and_then(toml::Value::as_str);
        self.ground.unwrap_or(match (&self.method[..], self.preset.as_deref().or(kernel)) {
            ("auto" | "belief", _) | ("rcl", None | Some("trust")) => Ground::Strong,
            _ => Ground::Paper,
        })
    }

    /// The same with what the ground says of settings that are left open.
    pub(crate) fn grounded(&self, situation: Situation) -> Self {
        let ground = self.stands_on().settings(situation);
        Self {
            ground: Some(self.stands_on()),
            lr: self.lr.or(Some(ground.lr)),
            hidden: self.hidden.or(Some(ground.hidden)),
            weight_decay: self.weight_decay.or(Some(ground.weight_decay)),
            decay_on: self.decay_on.or(Some(ground.decay_on)),
            input_dropout: self.input_dropout.or(Some(ground.input_dropout)),
            layer_norm: self.layer_norm.or(Some(ground.layer_norm)),
            drop_edge: self.drop_edge.or(Some(ground.drop_edge)),
            epoch_rule: self.epoch_rule.or(Some(ground.epoch_rule)),
            restart_after: self.restart_after.or(Some(ground.restart_after)),
            ..self.clone()
        }
    }

    /// The same with what the paper's ground says, whatever was set. Width and step size stay, unless they are those that go with
    /// layer normalisation; so do features, without the counts that the strong ground adds.
    pub(crate) fn on_paper(&self) -> Self {
        let goes_with_norm = |set: bool| self.layer_norm == Some(true) && set;
        let counted = self.features == Preparation::Counts;
        let open = Self {
            features: if counted { Preparation::Lengths } else { self.features },
            ground: Some(Ground::Paper),
            lr: self.lr.filter(|&lr| !goes_with_norm(lr == ground::step_size(true))),
            hidden: self.hidden.filter(|&hidden| !goes_with_norm(hidden == ground::units(true))),
            weight_decay: None,
            decay_on: None,
            input_dropout: None,
            layer_norm: None,
            drop_edge: None,
            pseudo_labels: Some(0.0),
            epoch_rule: None,
            restart_after: None,
            ..self.clone()
        };
        // The paper's ground looks at nothing.
        open.grounded(Situation { words: None, train: 0, layer_norm: None, drops_edges: false })
    }

    /// Settings that do nothing, by name: what does nothing is not part of a run's id.
    pub(crate) fn without_effect(&self) -> Vec<&'static str> {
        let decays = self.weight_decay.is_some_and(|decay| decay > 0.0);
        let neutral = [
            // What it stands for is set.
            ("ground", true),
            ("decay_on", !decays || self.decay_on == Some(DecayOn::All)),
            ("input_dropout", self.input_dropout == Some(0.0)),
            ("layer_norm", self.layer_norm == Some(false)),
            ("drop_edge", self.drop_edge == Some(0.0)),
            ("label_smoothing", self.label_smoothing == 0.0),
            ("pseudo_labels", self.pseudo_labels() == 0.0),
            ("epoch_rule", self.epoch_rule == Some(EpochRule::Accuracy)),
            // Only windows begin anew.
            ("restart_after", self.epoch_rule == Some(EpochRule::Accuracy) || self.restart_after == Some(0)),
        ];
        neutral.into_iter().filter_map(|(name, is_neutral)| is_neutral.then_some(name)).collect()
    }

    /// How much nodes without a label count in plain training, with what is believed of them for one.
    pub(crate) fn pseudo_labels(&self) -> f64 {
        self.pseudo_labels.unwrap_or(0.0)
    }

    /// Units of the hidden layer: those that are set, or else those of the paper.
    pub fn units(&self) -> usize {
        self.hidden.unwrap_or(ground::UNITS)
    }

    /// The step size: the one that is set, or else that of the paper.
    pub fn step_size(&self) -> f64 {
        self.lr.unwrap_or(ground::STEP_SIZE)
    }

    pub(crate) fn model(&self) -> ModelConfig {
        ModelConfig {
            hidden: self.units(),
            dropout: self.dropout,
            input_dropout: self.input_dropout.unwrap_or(0.0),
            layer_norm: self.layer_norm.unwrap_or(false),
            ..ModelConfig::new(self.backbone)
        }
    }

    pub(crate) fn adam(&self) -> AdamConfig {
        let decay = self.weight_decay.filter(|&decay| decay > 0.0).map_or(Decay::None, Decay::Coupled);
        AdamConfig { rate: self.step_size(), decay, ..AdamConfig::default() }
    }

    /// The settings of a method: `base`, which a preset made, with the user's over it.
    pub(crate) fn settings_over<T: Serialize + DeserializeOwned>(&self, base: &T) -> Result<T, TrainError> {
        let mut table = to_table(base)?;
        for (key, value) in &self.settings {
            table.insert(key.clone(), value.clone());
        }
        from_table(table)
    }
}

pub(crate) fn to_table<T: Serialize>(value: &T) -> Result<Table, TrainError> {
    Table::try_from(value)
        .map_err(|error| TrainError::Settings { field: "config".into(), reason: error.to_string() })
}

fn from_table<T: DeserializeOwned>(table: Table) -> Result<T, TrainError> {
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
        let field = error.path().to_string();
        let reason = error.into_inner().to_string().trim().replace('\n', " ");
        // Where a value of a table is, its error says as well.
        let place = format!(" in `{field}`");
        let reason = reason.strip_suffix(&place[..]).map(ToOwned::to_owned).unwrap_or(reason);
        TrainError::Settings { field, reason }
    })
}

fn backbone_of(name: &str) -> Result<Backbone, Refusal> {
    let found = Backbone::ALL.into_iter().find(|backbone| backbone.name() == name);
    let names = Backbone::ALL.map(Backbone::name);
    found.ok_or_else(|| Refusal::unknown("backbone", name, "a backbone", names))
}

fn metric_of(name: &str) -> Result<Metric, Refusal> {
    let found = Metric::ALL.into_iter().find(|metric| metric.name() == name);
    found.ok_or_else(|| Refusal::unknown("metric", name, "a metric", Metric::ALL.map(Metric::name)))
}

mod metric_name {
    use edgepace_nn::Metric;
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    #[allow(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(super) fn serialize<S: Serializer>(
        metric: &Option<Metric>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        metric.map(Metric::name).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Metric>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        name.map(|name| super::metric_of(&name).map_err(serde::de::Error::custom)).transpose()
    }
}

mod backbone_name {
    use edgepace_nn::Backbone;
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    pub(super) fn serialize<S: Serializer>(backbone: &Backbone, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(backbone.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Backbone, D::Error> {
        let name = String::deserialize(deserializer)?;
        super::backbone_of(&name).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_settings_has_each_field_once_and_in_order() {
        let text = toml::to_string(&RunConfig {
            preset: Some("paper".into()),
            metric: Some(Metric::Accuracy),
            keep: Some(Keep::Best),
            pseudo_labels: Some(0.5),
            ..RunConfig::default().grounded(Situation {
                words: Some(100),
                train: 100,
                layer_norm: None,
                drops_edges: true,
            })
        });
        let written = text.unwrap();
        let fields: Vec<&str> =
            written.lines().map_while(|line| line.split_once(" = ")).map(|(name, _)| name).collect();
        assert_eq!(fields, RUN_SETTINGS.iter().map(|setting| setting.name).collect::<Vec<_>>());
    }

    #[test]
    fn ranges_are_those_that_the_table_names() {
        let with = |key: &str, value: &str| {
            let mut config = RunConfig::default();
            config.set(key, value).is_ok() && config.check_ranges().is_ok()
        };
        for setting in RUN_SETTINGS {
            if let Some((_, range)) = setting.meaning.split_once("from ") {
                let range = range.split(';').next().unwrap();
                let (low, high) = range.split_once(" to ").unwrap();
                let outside: [u64; 2] = [low, high].map(|bound| bound.parse().unwrap());
                assert!(with(setting.name, low) && with(setting.name, high), "{}", setting.name);
                assert!(!with(setting.name, &(outside[0] - 1).to_string()), "{}", setting.name);
                assert!(!with(setting.name, &(outside[1] + 1).to_string()), "{}", setting.name);
            }
        }
        assert!(
            !with("lr", "0") && !with("weight_decay", "-1") && !with("dropout", "1") && with("dropout", "0")
        );
    }

    #[test]
    fn words_that_the_table_names_are_legal() {
        for (key, words) in [
            ("backbone", &["gcn", "gin", "sage", "pna", "mlp"][..]),
            ("features", &["none", "rows", "lengths", "counts", "standardise", "auto"]),
            ("features_from", &["given", "filled", "identity", "degree", "spectral", "none", "auto"]),
            ("ground", &["paper", "strong"]),
            ("decay_on", &["all", "first"]),
            ("epoch_rule", &["accuracy", "window"]),
            ("keep", &["best", "method"]),
            ("metric", &["accuracy", "macro-f1", "balanced-accuracy", "roc-auc", "log-loss"]),
        ] {
            for word in words {
                assert!(of_run(key).is_some_and(|setting| setting.meaning.contains(word)), "{word}");
                assert!(RunConfig::default().set(key, word).is_ok(), "{word}");
            }
        }
    }

    #[test]
    fn a_wrong_value_is_answered_with_what_the_setting_means() {
        let error = RunConfig::default().set("hidden", "many").unwrap_err().to_string();
        assert_eq!(
            error,
            "`hidden` is `many`, expected units of the hidden layer and of the embedding, from 1 to 1048576; unset: 64; on the strong \
             ground 128 where layer_norm is true"
        );
    }
}
