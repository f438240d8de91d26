//! An edge list with a JSON file of features per node, as the MUSAE graphs come (Rozemberczki and others): `NAME_edges.csv`,
//! `NAME_features.json` and `NAME_target.csv`.
//!
//! The JSON is an object from the id of a node to a list: of the columns that are 1, or, where lists are of one length and
//! hold something else than different whole numbers, of a value for every column. A node that is not in it has no features.

use std::fmt;
use std::fs;
use std::path::Path;

use edgepace_graph::Features;
use serde::Deserializer as _;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

use super::ids::Ids;
use super::table::{csv_error, csv_reader};
use super::{Columns, FeatureColumns, Import};
use crate::DataError;
use crate::error::{Place, excerpt, format_error, graph_error, io_error};
use crate::readers::parts::{RowBuilder, compact};

/// How the names of the files end.
pub(crate) const EDGES: &str = "_edges.csv";
pub(crate) const FEATURES: &str = "_features.json";
const TARGET: &str = "_target.csv";

/// What the tables of targets call the class, the id that edges use, and the name.
const LABELS: [&str; 7] = ["target", "ml_target", "page_type", "mature", "label", "class", "y"];
const IDS: [&str; 4] = ["new_id", "id", "node", "node_id"];
const NAMES: [&str; 2] = ["page_name", "name"];

/// Columns that a list may name per entry of all lists, so that one wrong number does not make a model of billions.
const COLUMNS_PER_ENTRY: usize = 64;

/// Whether a file of features is of this kind.
pub(crate) fn is_json(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// The import of the files of that name, if they are there.
pub(crate) fn of_folder(folder: &Path, name: &str) -> Result<Option<Import>, DataError> {
    let file = |end: &str| folder.join(format!("{name}{end}"));
    let [edges, features, target] = [EDGES, FEATURES, TARGET].map(file);
    if name.is_empty() || !edges.is_file() || !features.is_file() {
        return Ok(None);
    }
    let nodes = target.is_file().then_some(target);
    let name = Some(name.to_owned());
    completed(&Import { features: Some(features), nodes, name, ..Import::file(edges) }).map(Some)
}

/// The same import, with the columns of the table of targets that it leaves open.
pub(crate) fn completed(request: &Import) -> Result<Import, DataError> {
    let mut import = request.clone();
    let Some(file) = &request.nodes else { return Ok(import) };
    if !file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return Ok(import);
    }
    let data = fs::File::open(file).map_err(io_error("read", file))?;
    let mut record = csv::StringRecord::new();
    let mut table = csv_reader(data, b',');
    if !table.read_record(&mut record).map_err(csv_error(file))? {
        return Ok(import);
    }
    let find = |names: &[&str]| {
        names.iter().find(|name| record.iter().any(|column| column == **name)).map(|name| (*name).to_owned())
    };
    let columns: &mut Columns = &mut import.columns;
    columns.id = columns.id.take().or_else(|| find(&IDS));
    columns.label = columns.label.take().or_else(|| find(&LABELS));
    columns.node_name = columns.node_name.take().or_else(|| find(&NAMES));
    if columns.features == FeatureColumns::Remaining {
        columns.features = FeatureColumns::Listed(Vec::new());
    }
    Ok(import)
}

/// Reads the features of the nodes with these ids.
pub(crate) fn read(file: &Path, ids: &Ids) -> Result<Features, DataError> {
    read_bytes(file, &fs::read(file).map_err(io_error("read", file))?, ids)
}

/// A file that is already in memory.
pub(crate) fn read_bytes(file: &Path, bytes: &[u8], ids: &Ids) -> Result<Features, DataError> {
    let mut lists = Lists { ids, rows: Vec::new(), values: Vec::new(), seen: vec![false; ids.nodes()] };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    json.deserialize_map(&mut lists).and_then(|()| json.end()).map_err(|error| {
        let place = Place::Line(error.line() as u64);
        let found: String = error.to_string().chars().take(300).collect();
        format_error(file, place, "an object from ids of nodes to lists of numbers", found)
    })?;
    lists.features(file)
}

/// What the file said, in its order.
struct Lists<'a> {
    ids: &'a Ids,
    /// Node, and where its list is.
    rows: Vec<(u32, std::ops::Range<usize>)>,
    values: Vec<f64>,
    seen: Vec<bool>,
}

impl<'de> Visitor<'de> for &mut Lists<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object from ids of nodes to lists of numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(id) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            let Some(node) = self.ids.number(id.as_bytes()) else {
                return Err(A::Error::custom(format!("{} is the id of no node", excerpt(id.as_bytes()))));
            };
            if std::mem::replace(&mut self.seen[node as usize], true) {
                return Err(A::Error::custom(format!("{} is there twice", excerpt(id.as_bytes()))));
            }
            let start = self.values.len();
            map.next_value_seed(List(&mut self.values))?;
            self.rows.push((node, start..self.values.len()));
        }
        Ok(())
    }
}

/// One list, added to all values.
struct List<'a>(&'a mut Vec<f64>);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element::<f64>()? {
            self.0.push(value);
        }
        Ok(())
    }
}

impl Lists<'_> {
    fn features(mut self, file: &Path) -> Result<Features, DataError> {
        self.rows.sort_unstable_by_key(|(node, _)| *node);
        let nodes = self.ids.nodes();
        let width = self.rows.first().map_or(0, |(_, list)| list.len());
        let of_one_length = self.rows.iter().all(|(_, list)| list.len() == width);
        if of_one_length
            && width > 0
            && !self.rows.iter().all(|(_, list)| are_columns(&self.values[list.clone()]))
        {
            let all = nodes
                .checked_mul(width)
                .filter(|&all| all <= COLUMNS_PER_ENTRY.saturating_mul(self.values.len()));
            let Some(all) = all else {
                let found = format!("{} of {nodes}", self.rows.len());
                return Err(format_error(file, Place::Whole, "values for most of the nodes", found));
            };
            let mut values = vec![0.0; all];
            for (node, list) in &self.rows {
                for (place, &value) in
                    values[*node as usize * width..].iter_mut().zip(&self.values[list.clone()])
                {
                    *place = value as f32;
                }
            }
            return compact(nodes, width, values).map_err(graph_error(file));
        }
        let limit = (COLUMNS_PER_ENTRY * self.values.len()).saturating_add(1 << 16).min(u32::MAX as usize);
        let mut cols = 0;
        let mut builder = RowBuilder::default();
        let mut rows = self.rows.iter().peekable();
        let mut row: Vec<u32> = Vec::new();
        for node in 0..nodes as u32 {
            row.clear();
            if let Some((_, list)) = rows.next_if(|(own, _)| *own == node) {
                for &value in &self.values[list.clone()] {
                    if value.fract() != 0.0 || value < 0.0 || value >= limit as f64 {
                        let place = Place::Entry("list of node".to_owned(), u64::from(node));
                        let expected =
                            format!("columns, whole numbers below {limit}, or lists of one length");
                        return Err(format_error(file, place, expected, value.to_string()));
                    }
                    row.push(value as u32);
                }
                row.sort_unstable();
                row.dedup();
                cols = cols.max(row.last().map_or(0, |&last| last as usize + 1));
            }
            builder.push(row.iter().map(|&column| (column, 1.0)));
        }
        builder.finish(cols).map(Features::from).map_err(graph_error(file))
    }
}

/// Whether a list can be one of columns: whole numbers, each once.
fn are_columns(list: &[f64]) -> bool {
    if list.iter().any(|&value| value.fract() != 0.0 || value < 0.0) {
        return false;
    }
    let mut sorted = list.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
