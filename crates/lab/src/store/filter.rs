//! Which runs: `dataset=cora method=rcl seed<3`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use edgepace_graph::Refusal;
use serde_json::{Map, Value};

use super::{RunRow, Store};
use crate::error::LabError;

/// What a run has that a filter or an order may name, beside `experiment`.
const FIELDS: [&str; 22] = [
    "id",
    "status",
    "dataset",
    "noise",
    "split",
    "backbone",
    "method",
    "preset",
    "seed",
    "metric",
    "test",
    "validation",
    "epochs",
    "seconds",
    "created",
    "program",
    "numerics",
    "nodes",
    "edges",
    "work",
    "chosen",
    "error",
];
/// What experiments have a run.
const EXPERIMENT: &str = "experiment";

/// Conditions that all must hold: `field=value`, also with `!=`, `<`, `<=`, `>`, `>=` and `~` for «contains», between blanks. A
/// value with blanks stands in quotes; an id may be cut short.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter(Vec<Condition>);

#[derive(Clone, Debug, PartialEq)]
struct Condition {
    field: String,
    relation: Relation,
    value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Is,
    IsNot,
    Below,
    AtMost,
    Above,
    AtLeast,
    Contains,
}

/// Longer signs first.
const RELATIONS: [(&str, Relation); 7] = [
    ("!=", Relation::IsNot),
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("=", Relation::Is),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("~", Relation::Contains),
];

impl FromStr for Filter {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        words(text)?.iter().map(|word| condition(word)).collect::<Result<_, _>>().map(Self)
    }
}

/// Parts between blanks that are not in quotes, without the quotes.
fn words(text: &str) -> Result<Vec<String>, Refusal> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in text.chars() {
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            (letter, _) => word.push(letter),
        }
    }
    if quote.is_some() {
        return Err(Refusal::new("where", format_args!("`{text}`"), "a second quote: one is open"));
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    Ok(words)
}

fn condition(word: &str) -> Result<Condition, Refusal> {
    let first = word.find(['=', '!', '<', '>', '~']);
    let found = first.and_then(|at| {
        let (field, rest) = word.split_at(at);
        RELATIONS.iter().find_map(|(sign, relation)| Some((field, *relation, rest.strip_prefix(sign)?)))
    });
    let Some((field, relation, value)) = found.filter(|(field, _, _)| !field.is_empty()) else {
        let expected = "`field=value`, also with !=, <, <=, >, >= or ~ (contains)";
        return Err(Refusal::new("where", format_args!("`{word}`"), expected));
    };
    check_field("where", field)?;
    Ok(Condition { field: field.to_owned(), relation, value: value.to_owned() })
}

fn check_field(of: &'static str, field: &str) -> Result<(), Refusal> {
    let known = FIELDS.into_iter().chain([EXPERIMENT]);
    if known.clone().any(|known| known == field) {
        return Ok(());
    }
    Err(Refusal::unknown(of, field, "a field of runs", known))
}

impl Condition {
    fn holds(&self, found: &Value) -> bool {
        if self.field == "id" && self.relation == Relation::Is {
            return found.as_str().is_some_and(|id| id.starts_with(&self.value));
        }
        if self.relation == Relation::Contains {
            return text_of(found).contains(&self.value);
        }
        // What a run does not have is neither more nor less than anything.
        let order = match (found, self.value.parse::<f64>()) {
            (Value::Null, _) if self.value.is_empty() => Some(Ordering::Equal),
            (Value::Null, _) => None,
            (Value::Number(number), Ok(value)) => number.as_f64().and_then(|found| found.partial_cmp(&value)),
            (found, _) => Some(text_of(found).as_str().cmp(&self.value)),
        };
        match self.relation {
            Relation::Is => order == Some(Ordering::Equal),
            Relation::IsNot => order != Some(Ordering::Equal),
            Relation::Below => order == Some(Ordering::Less),
            Relation::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Relation::Above => order == Some(Ordering::Greater),
            Relation::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            Relation::Contains => false,
        }
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// An order of runs: fields between commas, each with a minus for largest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order(Vec<(String, bool)>);

impl FromStr for Order {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let fields = text.split(',').map(str::trim).filter(|field| !field.is_empty()).map(|field| {
            let (name, falls) = field.strip_prefix('-').map_or((field, false), |name| (name, true));
            check_field("sort", name)?;
            Ok((name.to_owned(), falls))
        });
        fields.collect::<Result<_, _>>().map(Self)
    }
}

fn compare(one: &Value, other: &Value) -> Ordering {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        _ => text_of(one).cmp(&text_of(other)),
    }
}

impl Store {
    /// The runs that fit, in that order; otherwise in the order in which they were stored.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub fn select(&self, filter: &Filter, order: &Order) -> Result<Vec<RunRow>, LabError> {
        let mut experiments: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        if filter.0.iter().any(|condition| condition.field == EXPERIMENT) {
            for label in self.labels(None)? {
                experiments.entry(label.id).or_default().insert(label.experiment);
            }
        }
        let mut found: Vec<(RunRow, Map<String, Value>)> = Vec::new();
        for row in self.rows()? {
            let Ok(Value::Object(fields)) = serde_json::to_value(&row) else { continue };
            let fits = filter.0.iter().all(|condition| {
                if condition.field == EXPERIMENT {
                    let of_run = experiments.get(&row.id).into_iter().flatten();
                    return of_run.clone().any(|name| condition.holds(&Value::String(name.clone())));
                }
                condition.holds(fields.get(&condition.field).unwrap_or(&Value::Null))
            });
            if fits {
                found.push((row, fields));
            }
        }
        let value =
            |fields: &Map<String, Value>, name: &str| fields.get(name).cloned().unwrap_or(Value::Null);
        found.sort_by(|(_, one), (_, other)| {
            let by = order.0.iter().map(|(field, falls)| {
                let order = compare(&value(one, field), &value(other, field));
                if *falls { order.reverse() } else { order }
            });
            by.fold(Ordering::Equal, Ordering::then)
        });
        Ok(found.into_iter().map(|(row, _)| row).collect())
    }
}
