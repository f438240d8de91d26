//! The form of an experiment for editors and people, generated from the types.

use edgepace_train::{RUN_SETTINGS, RunConfig};
use schemars::{Schema, SchemaGenerator, json_schema, schema_for};
use serde_json::{Map, Value};

use super::ExperimentFile;

/// Settings that an experiment names elsewhere.
const NAMED_ELSEWHERE: [&str; 3] = ["backbone", "method", "preset"];

/// The JSON schema of an experiment.
pub fn schema() -> Value {
    schema_for!(ExperimentFile).to_value()
}

/// As `Seeds` reads them.
pub(super) fn seeds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "string", "pattern": "^[0-9., ]+$" },
            { "type": "integer", "minimum": 0 },
            { "type": "array", "items": { "type": "integer", "minimum": 0 } },
            { "type": "null" },
        ],
    })
}

/// Any setting of a run or of its method.
pub(super) fn settings(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": { "type": ["string", "number", "boolean"] },
    })
}

/// The settings of a run, from the table that the program itself goes by.
pub(super) fn run(_: &mut SchemaGenerator) -> Schema {
    let defaults = RunConfig::defaults().unwrap_or_default();
    let mut properties = Map::new();
    for setting in RUN_SETTINGS.iter().filter(|setting| !NAMED_ELSEWHERE.contains(&setting.name)) {
        let mut about = Map::from_iter([("description".to_owned(), setting.meaning.into())]);
        if let Some(default) = defaults.get(setting.name).and_then(|value| serde_json::to_value(value).ok()) {
            about.insert("default".to_owned(), default);
        }
        properties.insert(setting.name.to_owned(), Value::Object(about));
    }
    json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// All that an experiment can say, as a page in Markdown.
pub fn option_reference() -> String {
    let schema = schema();
    let mut page = String::from(
        "# What an experiment file can say\n\nGenerated from the types by `edgepace sweep --options`. [Sweeps](sweeps.md) \
         explains how to use it; `edgepace sweep --schema` prints the JSON schema for editors.\n",
    );
    let no_parts = Map::new();
    let parts = schema["$defs"].as_object().unwrap_or(&no_parts);
    section(&mut page, "The file", &schema);
    if let Some(run) = schema["properties"].get("run") {
        section(&mut page, "`[run]`: settings of all runs", run);
    }
    for (list, part) in [
        ("graphs", "GraphEntry"),
        ("methods", "MethodEntry"),
        ("configs", "ConfigEntry"),
        ("limits", "Limit"),
    ] {
        if let Some(part) = parts.get(part) {
            section(&mut page, &format!("`[[{list}]]`"), part);
        }
    }
    page
}

fn section(page: &mut String, title: &str, schema: &Value) {
    let about = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
    page.push_str(&format!("\n## {title}\n\n"));
    if !about.is_empty() {
        page.push_str(&format!("{about}\n\n"));
    }
    page.push_str("| key | meaning | default |\n| --- | --- | --- |\n");
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (key, value) in schema["properties"].as_object().into_iter().flatten() {
        let meaning =
            value["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        let default = match value.get("default") {
            _ if required.contains(&&key[..]) => "must be given".to_owned(),
            Some(Value::String(text)) if text.is_empty() => "unset".to_owned(),
            Some(Value::String(text)) => format!("`{text}`"),
            Some(Value::Array(list)) if list.is_empty() => "none".to_owned(),
            Some(Value::Object(_) | Value::Null) | None => "unset".to_owned(),
            Some(other) => format!("`{other}`"),
        };
        page.push_str(&format!("| `{key}` | {meaning} | {default} |\n"));
    }
}
