//! A table of nodes: which columns are what, and what they become.

use std::path::{Path, PathBuf};

use edgepace_graph::{Classes, DenseFeatures, Features, Labels, ManyLabels, Names, Split, UNLABELLED};

use super::ids::{Ids, Named, parse_number};
use super::{Columns, FeatureColumns};
use crate::error::{excerpt, format_error, graph_error};
use crate::{DataError, Place};

/// The start of the name of a column that is one split of several, or one label of many.
pub(crate) const SPLIT_PREFIX: &str = "split:";
pub(crate) const LABEL_PREFIX: &str = "label:";

/// One cell of a table.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "only Parquet has typed cells"))]
pub(crate) enum Cell<'a> {
    Text(&'a str),
    Integer(i64),
    Number(f64),
    Missing,
}

/// What a table of nodes says, node by node.
#[derive(Debug)]
pub(crate) struct NodeTable {
    pub(crate) ids: Ids,
    pub(crate) names: Option<Names>,
    pub(crate) labels: Labels,
    pub(crate) class_names: Option<Names>,
    pub(crate) splits: Vec<Split>,
    /// `None` when the table has no columns for them.
    pub(crate) features: Option<Features>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Id,
    Name,
    Label,
    ManyLabel,
    Split(usize),
    Feature,
    /// A feature, if the first row has a number there.
    Perhaps,
    Ignored,
}

/// Collects the rows of a table.
pub(crate) struct NodesBuilder<'a> {
    file: PathBuf,
    columns: &'a Columns,
    header: Vec<String>,
    roles: Vec<Role>,
    rows: usize,
    ids: Named,
    /// Whether the ids so far are 0, 1, 2, …
    counted: bool,
    names: Vec<String>,
    class_values: Named,
    class_of: Vec<u32>,
    many: Vec<u8>,
    splits: Vec<(String, [Vec<u32>; 3])>,
    features: Vec<f32>,
}

impl<'a> NodesBuilder<'a> {
    pub(crate) fn new(
        file: &Path,
        header: &[impl AsRef<str>],
        columns: &'a Columns,
    ) -> Result<NodesBuilder<'a>, DataError> {
        let header: Vec<String> = header.iter().map(|name| name.as_ref().trim().to_owned()).collect();
        let (roles, splits) = roles(file, &header, columns)?;
        Ok(NodesBuilder {
            file: file.to_owned(),
            columns,
            header,
            roles,
            rows: 0,
            ids: Named::default(),
            counted: true,
            names: Vec::new(),
            class_values: Named::default(),
            class_of: Vec::new(),
            many: Vec::new(),
            splits: splits.into_iter().map(|name| (name, Default::default())).collect(),
            features: Vec::new(),
        })
    }

    /// Adds a row, which has a cell for every column. `place` says where a column of it is, or the row as a whole.
    pub(crate) fn push<'c>(
        &mut self,
        cells: impl Iterator<Item = Cell<'c>>,
        place: impl Fn(Option<&str>) -> Place,
    ) -> Result<(), DataError> {
        let row = self.rows as u32;
        for (column, cell) in cells.enumerate().take(self.roles.len()) {
            let at = || place(Some(&self.header[column]));
            if self.roles[column] == Role::Perhaps {
                let role = if number(cell).is_some() { Role::Feature } else { Role::Ignored };
                self.roles[column] = role;
            }
            match self.roles[column] {
                Role::Id => {
                    let id = text(cell);
                    self.counted &= parse_number(id.as_bytes()) == Some(row);
                    if id.is_empty() || self.ids.intern(id.as_bytes()) != Some(row) {
                        return Err(format_error(
                            &self.file,
                            at(),
                            "an id that no other node has",
                            excerpt(id.as_bytes()),
                        ));
                    }
                }
                Role::Name => self.names.push(raw_text(cell)),
                Role::Label => self.label(cell),
                Role::ManyLabel => match number(cell) {
                    Some(value) if value == 0.0 || value == 1.0 => self.many.push(value as u8),
                    _ => return Err(format_error(&self.file, at(), "0 or 1", shown(cell))),
                },
                Role::Split(split) => {
                    let Ok(set) = self.set(cell) else {
                        let expected = "`train`, `validation`, `test`, 0, 1, 2 or nothing";
                        return Err(format_error(&self.file, at(), expected, shown(cell)));
                    };
                    if let Some(set) = set {
                        self.splits[split].1[set].push(row);
                    }
                }
                Role::Feature => {
                    let value = number(cell).map(|value| value as f32).filter(|value| value.is_finite());
                    let value = value.ok_or_else(|| {
                        format_error(&self.file, at(), "a finite number", shown(cell))
                            .with_help("fill in missing features, or list the columns that are features")
                    })?;
                    self.features.push(value);
                }
                Role::Perhaps | Role::Ignored => {}
            }
        }
        self.rows += 1;
        Ok(())
    }

    fn is_missing(&self, text: &str) -> bool {
        self.columns.missing.iter().any(|marker| marker.eq_ignore_ascii_case(text))
    }

    fn label(&mut self, cell: Cell<'_>) {
        let text = text(cell);
        let class = if matches!(cell, Cell::Missing) || self.is_missing(&text) {
            UNLABELLED
        } else {
            self.class_values.intern(text.as_bytes()).unwrap_or(UNLABELLED)
        };
        self.class_of.push(class);
    }

    /// 0 for training, 1 for validation, 2 for test, `None` for none of them; an error for anything else.
    fn set(&self, cell: Cell<'_>) -> Result<Option<usize>, ()> {
        let text = text(cell).to_ascii_lowercase();
        match &text[..] {
            "train" | "training" | "0" => Ok(Some(0)),
            "val" | "valid" | "validation" | "1" => Ok(Some(1)),
            "test" | "2" => Ok(Some(2)),
            "none" => Ok(None),
            other if self.is_missing(other) => Ok(None),
            _ => Err(()),
        }
    }

    pub(crate) fn finish(self) -> Result<NodeTable, DataError> {
        let wrong = |error| graph_error(&self.file)(error);
        let nodes = self.rows;
        let has = |role: Role| self.roles.contains(&role);
        // In a table without rows nothing says which of the other columns are numbers.
        let features = self.roles.iter().filter(|role| matches!(role, Role::Feature)).count();
        let listed = matches!(&self.columns.features, FeatureColumns::Listed(_));
        let features = if features > 0 || listed {
            Some(DenseFeatures::new(nodes, features, self.features).map_err(wrong)?.into())
        } else {
            None
        };
        let (labels, class_names) = if has(Role::ManyLabel) {
            let columns = self.roles.iter().zip(&self.header).filter(|(role, _)| **role == Role::ManyLabel);
            let names = columns.map(|(_, name)| name.strip_prefix(LABEL_PREFIX).unwrap_or(name));
            let names = Names::new(names);
            (ManyLabels::new(nodes, names.len(), self.many).map_err(wrong)?.into(), Some(names))
        } else if has(Role::Label) {
            classes(&self.file, self.columns, &self.class_values, self.class_of)?
        } else {
            (Classes::new(0, vec![UNLABELLED; nodes]).map_err(wrong)?.into(), None)
        };
        let class_names = match &self.columns.class_names {
            Some(names) => Some(Names::new(names)),
            None if self.columns.classes.is_some() => None,
            None => class_names,
        };
        let mut splits = Vec::new();
        for (name, [train, validation, test]) in self.splits {
            splits.push(Split::new(name, nodes, train, validation, test).map_err(wrong)?);
        }
        let named = self.roles.contains(&Role::Name);
        let ids = if self.roles.contains(&Role::Id) && !self.counted {
            Ids::Named(self.ids)
        } else {
            Ids::Numbers { nodes }
        };
        let names = named.then(|| Names::new(&self.names));
        Ok(NodeTable { ids, names, labels, class_names, splits, features })
    }
}

/// Numbers the classes: whole numbers in their order, other values by the alphabet. Their names are kept, unless they
/// are the numbers 0, 1, 2, … themselves.
fn classes(
    file: &Path,
    columns: &Columns,
    values: &Named,
    mut of: Vec<u32>,
) -> Result<(Labels, Option<Names>), DataError> {
    let texts: Vec<&str> =
        values.iter().map(|value| std::str::from_utf8(value).unwrap_or_default()).collect();
    let numbers: Option<Vec<i64>> = texts.iter().map(|text| text.parse().ok()).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    match &numbers {
        Some(numbers) => order.sort_by_key(|&value| numbers[value]),
        None => order.sort_by_key(|&value| texts[value]),
    }
    let mut class_of_value = vec![0; texts.len()];
    for (class, &value) in order.iter().enumerate() {
        class_of_value[value] = class as u32;
    }
    let mut count = texts.len();
    if let Some(expected) = columns.classes {
        for (value, class) in class_of_value.iter_mut().enumerate() {
            let number = texts[value].parse::<u32>().ok().filter(|&number| (number as usize) < expected);
            *class = number.ok_or_else(|| {
                let expected = format!("a class below {expected}");
                format_error(file, Place::Whole, expected, excerpt(texts[value].as_bytes()))
            })?;
        }
        count = expected;
    }
    for class in of.iter_mut().filter(|class| **class != UNLABELLED) {
        *class = class_of_value[*class as usize];
    }
    let plain = order.iter().enumerate().all(|(class, &value)| texts[value] == class.to_string());
    let names = (!plain).then(|| Names::new(order.iter().map(|&value| texts[value])));
    Ok((Classes::new(count, of).map_err(graph_error(file))?.into(), names))
}

/// What each column is, and the names of the splits.
fn roles(file: &Path, header: &[String], columns: &Columns) -> Result<(Vec<Role>, Vec<String>), DataError> {
    let find = |name: &str| {
        header.iter().position(|own| own == name).ok_or_else(|| {
            let some: Vec<String> = header.iter().take(8).map(|name| excerpt(name.as_bytes())).collect();
            let found = format!("{} columns: {}", header.len(), some.join(", "));
            format_error(file, Place::Line(1), format!("a column `{name}`"), found)
        })
    };
    let usual = |names: &[&str]| {
        header.iter().position(|own| names.iter().any(|name| own.eq_ignore_ascii_case(name)))
    };
    let named = |given: &Option<String>, names: &[&str]| match given {
        Some(name) => find(name).map(Some),
        None => Ok(usual(names)),
    };
    let mut roles = vec![Role::Perhaps; header.len()];
    let mut splits = Vec::new();
    match &columns.features {
        FeatureColumns::Remaining => {}
        FeatureColumns::Listed(names) => {
            roles.fill(Role::Ignored);
            for name in names {
                roles[find(name)?] = Role::Feature;
            }
        }
        FeatureColumns::Prefix(prefix) => {
            for (role, name) in roles.iter_mut().zip(header) {
                *role = if name.starts_with(&prefix[..]) { Role::Feature } else { Role::Ignored };
            }
            if !roles.contains(&Role::Feature) {
                let expected = format!("columns whose names start with `{prefix}`");
                return Err(format_error(file, Place::Line(1), expected, "none"));
            }
        }
    }
    match &columns.splits {
        Some(names) => {
            for name in names {
                roles[find(name)?] = Role::Split(splits.len());
                splits.push(name.strip_prefix(SPLIT_PREFIX).unwrap_or(name).to_owned());
            }
        }
        None => {
            for (role, name) in roles.iter_mut().zip(header) {
                if name == "split" || name.starts_with(SPLIT_PREFIX) {
                    *role = Role::Split(splits.len());
                    splits.push(name.strip_prefix(SPLIT_PREFIX).unwrap_or(name).to_owned());
                }
            }
        }
    }
    let label = named(&columns.label, &["label", "class", "y"])?;
    for (role, name) in roles.iter_mut().zip(header) {
        if label.is_none() && name.starts_with(LABEL_PREFIX) {
            *role = Role::ManyLabel;
        }
    }
    if let Some(label) = label {
        roles[label] = Role::Label;
    }
    if let Some(name) = named(&columns.node_name, &["name"])? {
        roles[name] = Role::Name;
    }
    if let Some(id) = named(&columns.id, &["id", "node", "node_id"])? {
        roles[id] = Role::Id;
    }
    Ok((roles, splits))
}

fn number(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Text(text) => match text.trim() {
            "true" | "True" => Some(1.0),
            "false" | "False" => Some(0.0),
            // A number as one writes it for an `f32` must not be rounded twice.
            text => text.parse::<f32>().ok().map(f64::from),
        },
        Cell::Integer(value) => Some(value as f64),
        Cell::Number(value) => Some(value),
        Cell::Missing => None,
    }
}

/// A cell as an id or a class: a whole number is written without a fraction, whatever its column's type.
fn text(cell: Cell<'_>) -> String {
    let whole = |value: f64| value.fract() == 0.0 && value.abs() < 2_f64.powi(53);
    match cell {
        Cell::Text(text) => {
            let text = text.trim();
            let looks_whole =
                text.ends_with(".0") && text.bytes().all(|byte| matches!(byte, b'-' | b'.' | b'0'..=b'9'));
            match text.parse::<f64>() {
                Ok(value) if looks_whole && whole(value) => (value as i64).to_string(),
                _ => text.to_owned(),
            }
        }
        Cell::Integer(value) => value.to_string(),
        Cell::Number(value) if whole(value) => (value as i64).to_string(),
        Cell::Number(value) => value.to_string(),
        Cell::Missing => String::new(),
    }
}

fn raw_text(cell: Cell<'_>) -> String {
    if let Cell::Text(text) = cell { text.to_owned() } else { text(cell) }
}

fn shown(cell: Cell<'_>) -> String {
    if matches!(cell, Cell::Missing) { "nothing".to_owned() } else { excerpt(raw_text(cell).as_bytes()) }
}
