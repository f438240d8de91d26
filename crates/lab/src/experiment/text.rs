//! Values that a file has as text.

use std::fmt::{self, Display};
use std::str::FromStr;

use edgepace_graph::Refusal;
use edgepace_nn::Backbone;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::BackboneName;

/// A value that is written as it is displayed, and read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsText<T>(pub T);

impl<T: Display> Serialize for AsText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for AsText<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

impl<T> JsonSchema for AsText<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

impl FromStr for BackboneName {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let found = Backbone::ALL.into_iter().find(|backbone| backbone.name() == text);
        let names = Backbone::ALL.map(Backbone::name);
        found.map(Self).ok_or_else(|| Refusal::unknown("backbone", text, "a backbone", names))
    }
}

impl Display for BackboneName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}
