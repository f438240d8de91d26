//! Settings of a run: documented defaults, read from text, as a person writes them.

use edgepace_nn::{AdamConfig, Backbone, Decay, Metric, ModelConfig};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::error::TrainError;
use crate::features_from::FeaturesFrom;
use crate::prepare::Preparation;

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
    pub lr: f64,
    /// The gradient of decay/2 · ‖θ‖² joins the loss's; at least 0.
    pub weight_decay: f64,
    /// Units of the hidden layer and of the embedding, at least 1.
    pub hidden: usize,
    /// Share of hidden units that are dropped in training, in [0, 1).
    pub dropout: f64,
    /// What is done to the features: `auto`, `none`, `rows`, `lengths` or `standardise`.
    pub features: Preparation,
    /// Where features come from: `auto`, `given`, `filled`, `identity`, `degree`, `spectral` or `none`.
    pub features_from: FeaturesFrom,
    /// Stop when the validation score has not risen for so many epochs; 0: never.
    pub patience: u32,
    /// What validation is judged by: `accuracy`, `macro-f1`, `balanced-accuracy`, `roc-auc` or `log-loss`; unset: accuracy, or
    /// ROC-AUC where nodes have many labels.
    #[serde(with = "metric_name", skip_serializing_if = "Option::is_none")]
    pub metric: Option<Metric>,
    /// What a run may keep that trained a plain model as its warm start; unset: `best` for `rcl`, and `method` for the methods
    /// that it is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
    /// Whether the values that the method names as worth trying are tried, the best on validation being kept.
    pub search: bool,
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

/// The settings of a run, for messages.
const RUN_SETTINGS: &str = "backbone, method, preset, epochs, lr, weight_decay, hidden, dropout, features, \
                            features_from, patience, metric, keep, search";

impl Default for RunConfig {
    fn default() -> Self {
        let model = ModelConfig::new(Backbone::Gcn);
        Self {
            backbone: model.backbone,
            method: "rcl".into(),
            preset: None,
            epochs: 150,
            lr: AdamConfig::default().rate,
            weight_decay: 0.0,
            hidden: model.hidden,
            dropout: model.dropout,
            features: Preparation::Auto,
            features_from: FeaturesFrom::Auto,
            patience: 0,
            metric: None,
            keep: None,
            search: false,
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

    /// Changes one setting, given as text: of the run if it has one of that name, otherwise of the method.
    ///
    /// # Errors
    /// A value of the wrong type for a setting of the run. Those of the method are read by `check`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), TrainError> {
        let value = literal(value);
        let mut table = to_table(self)?;
        let key = key.replace('-', "_");
        let of_run = key != "settings"
            && (table.contains_key(&key) || ["preset", "metric", "keep"].contains(&&key[..]));
        if of_run {
            table.insert(key, value);
        } else if let Some(Value::Table(settings)) = table.get_mut("settings") {
            settings.insert(key, value);
        }
        *self = from_table(table)?;
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
        if !(self.lr > 0.0 && self.lr.is_finite()) {
            return refuse("lr", self.lr.to_string(), "a finite number above 0");
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay.is_finite()) {
            return refuse("weight_decay", self.weight_decay.to_string(), "a finite number, at least 0");
        }
        if !(1..=1 << 20).contains(&self.hidden) {
            return refuse("hidden", self.hidden.to_string(), "between 1 and 1048576");
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return refuse("dropout", self.dropout.to_string(), "in [0, 1)");
        }
        Ok(())
    }

    pub(crate) fn model(&self) -> ModelConfig {
        ModelConfig { hidden: self.hidden, dropout: self.dropout, ..ModelConfig::new(self.backbone) }
    }

    pub(crate) fn adam(&self) -> AdamConfig {
        let decay = if self.weight_decay > 0.0 { Decay::Coupled(self.weight_decay) } else { Decay::None };
        AdamConfig { rate: self.lr, decay, ..AdamConfig::default() }
    }

    /// The settings of a method: `base`, which a preset made, with the user's over it.
    pub(crate) fn settings_over<T: Serialize + DeserializeOwned>(&self, base: &T) -> Result<T, TrainError> {
        let mut table = to_table(base)?;
        for (key, value) in &self.settings {
            table.insert(key.clone(), value.clone());
        }
        from_table(table).map_err(|error| match error {
            // Whoever mistyped a setting of the run must not look for it among the method's alone.
            TrainError::Settings { field, reason } if reason.starts_with("unknown field") => {
                let reason = format!("{reason}; settings of the run itself are {RUN_SETTINGS}");
                TrainError::Settings { field, reason }
            }
            other => other,
        })
    }
}

/// A value as one types it: a number, true or false, or else text.
pub(crate) fn literal(text: &str) -> Value {
    if let Ok(integer) = text.parse::<i64>() {
        Value::Integer(integer)
    } else if let Ok(float) = text.parse::<f64>() {
        Value::Float(float)
    } else {
        text.parse().map_or_else(|_| Value::String(text.into()), Value::Boolean)
    }
}

pub(crate) fn to_table<T: Serialize>(value: &T) -> Result<Table, TrainError> {
    Table::try_from(value)
        .map_err(|error| TrainError::Settings { field: "config".into(), reason: error.to_string() })
}

fn from_table<T: DeserializeOwned>(table: Table) -> Result<T, TrainError> {
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
        let field = error.path().to_string();
        TrainError::Settings { field, reason: error.into_inner().to_string().trim().replace('\n', " ") }
    })
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
        name.map(|name| name.parse().map_err(serde::de::Error::custom)).transpose()
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
        let found = Backbone::ALL.into_iter().find(|backbone| backbone.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Backbone::ALL.iter().map(|backbone| backbone.name()).collect();
            serde::de::Error::custom(format!("`{name}` is not one of {}", names.join(", ")))
        })
    }
}
