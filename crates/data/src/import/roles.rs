//! Which column of a table is what: as the user says, or by the usual names.

use std::path::Path;

use edgepace_graph::nearest;

use super::encode::Encoding;
use super::report::Role;
use super::{Columns, FeatureColumns};
use crate::error::{excerpt, format_error};
use crate::{DataError, Place};

/// The start of the name of a column that is one split of several, or one label of many.
pub(crate) const SPLIT_PREFIX: &str = "split:";
pub(crate) const LABEL_PREFIX: &str = "label:";

/// Usual names in lower case and without what is neither letter nor digit, the surest first.
const ID_NAMES: [&str; 6] = ["id", "node", "nodeid", "vertex", "vertexid", "ids"];
const LABEL_NAMES: [&str; 9] =
    ["label", "class", "y", "target", "labels", "classes", "nodelabel", "classlabel", "category"];
const NAME_NAMES: [&str; 3] = ["name", "nodename", "title"];
const MASK_NAMES: [&[&str]; 3] = [&["trainmask"], &["valmask", "validmask", "validationmask"], &["testmask"]];
/// Columns that a message lists, at most.
const LISTED: usize = 12;
/// Letters of a name that may have been meant, at most.
const LONGEST: usize = 64;

/// What a column is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    Id,
    Name,
    Label,
    ManyLabel,
    /// Which set of a split each node is in.
    Split(usize),
    /// Whether each node is in this set (0 training, 1 validation, 2 test) of a split.
    Mask(usize, usize),
    /// The user says that it is a feature.
    Feature,
    /// A feature, if it looks like one.
    Perhaps,
    /// Nothing, and why.
    Out(String),
}

/// What all columns are to be.
#[derive(Debug)]
pub(crate) struct Roles {
    pub(crate) of: Vec<Given>,
    /// The names of the splits.
    pub(crate) splits: Vec<String>,
}

/// The name without what differs between spellings.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// The position of the first of `names` that there is.
fn usual(header: &[&str], names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| header.iter().position(|own| plain(own) == *name))
}

/// The position of a column that the user named. Case and blanks count only where several columns differ in them alone.
pub(crate) fn find(file: &Path, header: &[&str], what: &str, name: &str) -> Result<usize, DataError> {
    let exact = header.iter().position(|own| *own == name);
    let alike = || header.iter().position(|own| own.trim().eq_ignore_ascii_case(name.trim()));
    exact.or_else(alike).ok_or_else(|| no_such_column(file, header, what, name))
}

/// There is no such column: which there are, and which of them may have been meant.
pub(crate) fn no_such_column(file: &Path, header: &[&str], what: &str, name: &str) -> DataError {
    let some: Vec<String> = header.iter().take(LISTED).map(|own| excerpt(own.as_bytes())).collect();
    let more =
        if header.len() > LISTED { format!(" and {} more", header.len() - LISTED) } else { String::new() };
    let found = format!("{}{more}", some.join(", "));
    let error = format_error(file, Place::Whole, format!("a column `{name}` ({what})"), found);
    match meant(name, header.iter().copied()) {
        Some(meant) => error.with_help(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// The column that may have been meant. Names of any length are no reason to compare them all.
pub(crate) fn meant<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest(name, names.filter(|own| own.len() <= LONGEST))
}

impl Roles {
    /// As the user says, or by the usual names.
    pub(crate) fn guess(file: &Path, header: &[&str], columns: &Columns) -> Result<Roles, DataError> {
        let find = |what: &str, name: &str| find(file, header, what, name);
        let named = |what: &str, given: &Option<String>, names: &[&str]| match given {
            Some(name) => find(what, name).map(Some),
            None => Ok(usual(header, names)),
        };
        let mut of = vec![Given::Perhaps; header.len()];
        match &columns.features {
            FeatureColumns::Remaining => {}
            FeatureColumns::Listed(names) => {
                of.fill(Given::Out("not among the features that were asked for".to_owned()));
                for name in names {
                    of[find("a feature", name)?] = Given::Feature;
                }
            }
            FeatureColumns::Prefix(prefix) => {
                for (role, name) in of.iter_mut().zip(header) {
                    *role = if name.starts_with(&prefix[..]) {
                        Given::Feature
                    } else {
                        Given::Out(format!("does not start with `{prefix}`"))
                    };
                }
                if !of.contains(&Given::Feature) {
                    let expected = format!("columns whose names start with `{prefix}`");
                    return Err(format_error(file, Place::Whole, expected, "none"));
                }
            }
        }
        let splits = splits(header, columns, &mut of, find)?;
        let label = named("the label", &columns.label, &LABEL_NAMES)?;
        for (role, name) in of.iter_mut().zip(header) {
            if label.is_none() && name.starts_with(LABEL_PREFIX) {
                *role = Given::ManyLabel;
            }
        }
        if let Some(label) = label {
            of[label] = Given::Label;
        }
        if let Some(name) = named("the name", &columns.node_name, &NAME_NAMES)? {
            of[name] = Given::Name;
        }
        if let Some(id) = named("the id", &columns.id, &ID_NAMES)? {
            of[id] = Given::Id;
        }
        for name in &columns.drop {
            of[find("to drop", name)?] = Given::Out("left out as asked".to_owned());
        }
        Ok(Roles { of, splits })
    }

    /// As in the table that an encoding was made of. What the user names counts more.
    pub(crate) fn of_encoding(
        file: &Path,
        header: &[&str],
        columns: &Columns,
        encoding: &Encoding,
    ) -> Result<Roles, DataError> {
        let roles =
            Roles::guess(file, header, &Columns { features: FeatureColumns::Remaining, ..columns.clone() })?;
        let Roles { mut of, splits } = roles;
        for column in encoding.columns.iter().filter(|column| column.role == Role::Feature) {
            find(file, header, "a feature of the table that the model was trained on", &column.name)?;
        }
        for (role, name) in of.iter_mut().zip(header) {
            let known = encoding.columns.iter().find(|column| column.name == *name);
            *role = match (known.map(|column| column.role), &role) {
                (Some(Role::Feature), _) => Given::Feature,
                (Some(Role::Label), Given::Perhaps) => Given::Label,
                (Some(Role::Id), Given::Perhaps) => Given::Id,
                (Some(Role::Name), Given::Perhaps) => Given::Name,
                (Some(_), Given::Perhaps) => Given::Out("left out before as well".to_owned()),
                (None, Given::Perhaps) => {
                    let known: Vec<&str> = encoding.columns.iter().map(|column| &column.name[..]).collect();
                    let place = Place::Part((*name).to_owned());
                    let expected = "only columns that the first table had";
                    let error = format_error(file, place, expected, "one that it did not have");
                    let meant = meant(name, known.into_iter().filter(|own| !header.contains(own)));
                    return Err(error.with_help(match meant {
                        Some(meant) => format!("is it `{meant}`? Rename it, or set `drop={name}`"),
                        None => format!("remove it, or set `drop={name}`"),
                    }));
                }
                (_, given) => (*given).clone(),
            };
        }
        Ok(Roles { of, splits })
    }
}

/// The names of the splits, whose columns get their role.
fn splits(
    header: &[&str],
    columns: &Columns,
    of: &mut [Given],
    find: impl Fn(&str, &str) -> Result<usize, DataError>,
) -> Result<Vec<String>, DataError> {
    let mut splits: Vec<String> = Vec::new();
    let short = |name: &str| name.strip_prefix(SPLIT_PREFIX).unwrap_or(name).to_owned();
    if let Some(names) = &columns.splits {
        for name in names {
            of[find("a split", name)?] = Given::Split(splits.len());
            splits.push(short(name));
        }
        return Ok(splits);
    }
    for (role, name) in of.iter_mut().zip(header) {
        if plain(name) == "split" || name.starts_with(SPLIT_PREFIX) {
            *role = Given::Split(splits.len());
            splits.push(short(name));
        }
    }
    let masks = MASK_NAMES.map(|names| usual(header, names));
    if splits.is_empty() && masks[0].is_some() && masks[2].is_some() {
        splits.push("mask".to_owned());
        for (set, mask) in masks.into_iter().enumerate() {
            if let Some(mask) = mask {
                of[mask] = Given::Mask(0, set);
            }
        }
    }
    Ok(splits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_are_known_in_every_spelling() {
        let roles =
            |header: &[&str]| Roles::guess(Path::new("n.csv"), header, &Columns::default()).unwrap().of;
        for id in ["id", "ID", "node_id", "nodeId", "Node ID", "node"] {
            assert_eq!(roles(&["x", id])[1], Given::Id, "{id}");
        }
        for label in ["label", "Class", "y", "target", "category"] {
            assert_eq!(roles(&[label, "x"])[0], Given::Label, "{label}");
        }
        assert_eq!(roles(&["category", "label"]), [Given::Perhaps, Given::Label], "the surer name counts");
        assert_eq!(
            roles(&["train_mask", "val_mask", "test_mask"]),
            [Given::Mask(0, 0), Given::Mask(0, 1), Given::Mask(0, 2)]
        );
    }

    #[test]
    fn a_wrong_name_gets_the_right_one_and_the_list() {
        let error = find(Path::new("n.csv"), &["asin", "price", "colour"], "the label", "color").unwrap_err();
        assert_eq!(
            error.to_string(),
            "n.csv: expected a column `color` (the label), found `asin`, `price`, `colour`: did you mean `colour`?"
        );
        assert_eq!(meant("xyz", ["asin", "price"].into_iter()), None);
        assert_eq!(find(Path::new("n.csv"), &["Price"], "the label", "price").unwrap(), 0);
    }
}
