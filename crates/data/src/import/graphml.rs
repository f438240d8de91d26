//! GraphML, as NetworkX's `write_graphml` writes it: keys with names, then nodes, then edges, each with its data.
//!
//! Read as a stream. There are no entities beside the five of XML itself, and no document type is read. Hyperedges,
//! ports and nested graphs are refused.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use edgepace_graph::{Dataset, Threads, is_weight as is_weight_value};
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::column::{Cells, Column, Places, Table, Texts};
use super::edges::{EdgeBuilder, is_weight};
use super::ids::Ids;
use super::report::{ColumnReport, Kind, Role, TableOf};
use super::{Columns, Import, Parts, WEIGHT, nodes_of_table};
use crate::DataError;
use crate::error::{Place, excerpt, format_error, io_error};

/// Bytes of values that may be left to their default per byte of a file, at most.
const DEFAULTS_PER_BYTE: u64 = 8;

pub(crate) fn read(threads: &Threads, file: &Path, request: &Import) -> Result<Parts, DataError> {
    let data = File::open(file).map_err(io_error("read", file))?;
    read_xml(threads, file, BufReader::new(data), request)
}

/// A file that is already in memory.
pub(crate) fn read_bytes(file: &Path, bytes: &[u8]) -> Result<(), DataError> {
    read_xml(&Threads::one(), file, bytes, &Import::default()).map(drop)
}

/// A declared attribute.
struct Key {
    column: usize,
}

/// The attributes of nodes, or of edges.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    /// What GraphML calls the type of each.
    types: Vec<String>,
    of: HashMap<String, Key>,
    /// The columns that have a default, with it. An element costs as much as these and what it gives, however many keys
    /// there are.
    defaults: Vec<(usize, String)>,
    /// The last element that gave a value for the column, counted from 1.
    given: Vec<u64>,
}

impl Keys {
    /// The defaults of the columns for which an element gives no value.
    fn missing(&self, element: u64) -> impl Iterator<Item = (usize, &str)> {
        let missing = self.defaults.iter().filter(move |(column, _)| self.given[*column] != element);
        missing.map(|(column, text)| (*column, &text[..]))
    }
}

/// What the reader is inside of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Key,
    Node,
    Edge,
    Nothing,
}

struct State<'a> {
    file: &'a Path,
    columns: &'a Columns,
    node_keys: Keys,
    edge_keys: Keys,
    inside: Inside,
    /// The key of the attribute or declaration that text belongs to.
    key: Option<String>,
    key_is_for_edges: bool,
    /// Text of the attribute or default that is open.
    text: Option<String>,
    id: String,
    ends: (String, String),
    /// What the open element gives: the column and the text.
    values: Vec<(usize, String)>,
    /// Nodes and edges so far, the open one included.
    elements: u64,
    directed: Option<bool>,
    graph_done: bool,
    ids: Texts,
    /// The byte where each node ends.
    bytes: Vec<u64>,
    attributes: Vec<Texts>,
    edges: Option<EdgeBuilder>,
    edge_values: Vec<(String, Vec<f32>)>,
    /// For each column of the edges its place among their values, if it is kept.
    edge_columns: Vec<Option<usize>>,
    /// Elements inside `data` that are not GraphML's own.
    foreign: usize,
    /// Values that were left to their default.
    defaults: u64,
}

fn read_xml(
    threads: &Threads,
    file: &Path,
    data: impl BufRead,
    request: &Import,
) -> Result<Parts, DataError> {
    let mut reader = Reader::from_reader(data);
    let mut buffer = Vec::new();
    let mut state = State {
        file,
        columns: &request.columns,
        node_keys: Keys::default(),
        edge_keys: Keys::default(),
        inside: Inside::Nothing,
        key: None,
        key_is_for_edges: false,
        text: None,
        id: String::new(),
        ends: Default::default(),
        values: Vec::new(),
        elements: 0,
        directed: None,
        graph_done: false,
        ids: Texts::default(),
        bytes: Vec::new(),
        attributes: Vec::new(),
        edges: None,
        edge_values: Vec::new(),
        edge_columns: Vec::new(),
        foreign: 0,
        defaults: 0,
    };
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        let place = || Place::Byte(reader.buffer_position());
        match event {
            Err(quick_xml::Error::Io(error)) if error.raw_os_error().is_some() => {
                return Err(format_error(file, place(), "a file that can be read", error.to_string()));
            }
            Err(error) => return Err(format_error(file, place(), "XML", short(&error.to_string()))),
            Ok(Event::Eof) => break,
            Ok(Event::DocType(_)) => {
                let found = "a document type";
                return Err(format_error(file, place(), "GraphML without a document type", found)
                    .with_help("remove the <!DOCTYPE …> part: it is never needed here"));
            }
            Ok(Event::Start(tag)) => state.open(&tag, place)?,
            Ok(Event::Empty(tag)) => {
                state.open(&tag, place)?;
                state.close(tag.local_name().as_ref(), place)?;
            }
            Ok(Event::End(tag)) => state.close(tag.local_name().as_ref(), place)?,
            Ok(Event::Text(text)) => state.add(&text.xml10_content()),
            Ok(Event::CData(text)) => state.add(&text.xml10_content()),
            Ok(Event::GeneralRef(reference)) => {
                let name = reference.xml10_content();
                let letter = reference.resolve_char_ref().ok().flatten();
                match (letter, quick_xml::escape::resolve_predefined_entity(&name)) {
                    (Some(letter), _) => state.add(letter.encode_utf8(&mut [0; 4])),
                    (None, Some(text)) => state.add(text),
                    (None, None) => {
                        return Err(format_error(
                            file,
                            place(),
                            "one of the entities of XML",
                            excerpt(name.as_bytes()),
                        ));
                    }
                }
            }
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_)) => {}
        }
    }
    state.finish(threads, request)
}

impl State<'_> {
    fn open(&mut self, tag: &BytesStart<'_>, place: impl Fn() -> Place) -> Result<(), DataError> {
        let refuse = |found: &str, expected: &str| Err(format_error(self.file, place(), expected, found));
        let name = tag.local_name();
        let name = name.as_ref();
        if self.text.is_some() {
            self.foreign += 1;
            return Ok(());
        }
        match name {
            "hyperedge" | "port" => return refuse(name, "edges between two nodes"),
            "graph" if self.inside != Inside::Nothing => return refuse("a nested graph", "one graph"),
            "graph" if self.graph_done || self.edges.is_some() => {
                return refuse("a second graph", "one graph");
            }
            "graph" => self.graph(tag, &place)?,
            "key" => self.declare(tag, &place)?,
            "default" if self.inside == Inside::Key => self.text = Some(String::new()),
            "node" | "edge" if self.edges.is_none() || self.inside != Inside::Nothing => {
                return refuse(
                    &format!("<{name}> in a place of its own"),
                    "nodes and edges inside of <graph>",
                );
            }
            "node" => {
                self.inside = Inside::Node;
                self.id =
                    self.attribute(tag, "id", &place)?.ok_or_else(|| self.without("id", name, &place))?;
                self.elements += 1;
                self.values.clear();
            }
            "edge" => {
                self.inside = Inside::Edge;
                let source = self.attribute(tag, "source", &place)?;
                let target = self.attribute(tag, "target", &place)?;
                let (Some(source), Some(target)) = (source, target) else {
                    return Err(self.without("source and target", name, &place));
                };
                if let Some(directed) = self.attribute(tag, "directed", &place)?
                    && self.directed != Some(directed == "true" || directed == "1")
                {
                    return refuse(
                        "an edge of the other kind",
                        "edges that are all directed, or all undirected",
                    );
                }
                self.ends = (source, target);
                self.elements += 1;
                self.values.clear();
            }
            "data" => {
                self.key = self.attribute(tag, "key", &place)?;
                self.text = Some(String::new());
            }
            // What others add outside of data means nothing to us.
            _ => {}
        }
        Ok(())
    }

    fn graph(&mut self, tag: &BytesStart<'_>, place: &impl Fn() -> Place) -> Result<(), DataError> {
        self.directed = match self.attribute(tag, "edgedefault", place)?.as_deref() {
            Some("directed") => Some(true),
            Some("undirected") => Some(false),
            other => {
                let found = excerpt(other.unwrap_or("nothing").as_bytes());
                return Err(format_error(
                    self.file,
                    place(),
                    "edgedefault `directed` or `undirected`",
                    found,
                ));
            }
        };
        self.attributes.resize_with(self.node_keys.names.len(), Texts::default);
        self.edges = Some(EdgeBuilder::new(self.file, None));
        self.edge_columns = vec![None; self.edge_keys.names.len()];
        let names: Vec<&str> = self.edge_keys.names.iter().map(String::as_str).collect();
        let find = |name: &str| super::roles::find(self.file, &names, "a key of the edges", name);
        let weight = match &self.columns.weight {
            Some(name) => Some(find(name)?),
            None => names.iter().position(|name| is_weight(name)),
        };
        let mut wanted: Vec<usize> = weight.into_iter().collect();
        for name in &self.columns.edge_values {
            wanted.push(find(name)?);
        }
        for column in wanted {
            if self.edge_columns[column].is_none() {
                self.edge_columns[column] = Some(self.edge_values.len());
                let name = if Some(column) == weight { Dataset::WEIGHT } else { names[column] };
                self.edge_values.push((name.to_owned(), Vec::new()));
            }
        }
        let kept = &self.edge_columns;
        self.edge_keys.defaults.retain(|(column, _)| kept[*column].is_some());
        Ok(())
    }

    fn declare(&mut self, tag: &BytesStart<'_>, place: &impl Fn() -> Place) -> Result<(), DataError> {
        let id = self.attribute(tag, "id", place)?.ok_or_else(|| self.without("id", "key", place))?;
        if self.edges.is_some() {
            return Err(format_error(self.file, place(), "keys before the graph", excerpt(id.as_bytes())));
        }
        let name = self.attribute(tag, "attr.name", place)?.unwrap_or_else(|| id.clone());
        let kind = self.attribute(tag, "attr.type", place)?.unwrap_or_default();
        let domain = self.attribute(tag, "for", place)?.unwrap_or_else(|| "all".to_owned());
        self.inside = Inside::Key;
        self.key = Some(id.clone());
        self.key_is_for_edges = domain == "edge";
        for (keys, own) in [(&mut self.node_keys, "node"), (&mut self.edge_keys, "edge")] {
            if domain == own || domain == "all" {
                let column = keys.names.len();
                keys.names.push(name.clone());
                keys.types.push(kind.clone());
                keys.given.push(0);
                keys.of.insert(id.clone(), Key { column });
            }
        }
        Ok(())
    }

    fn add(&mut self, text: &str) {
        if let Some(own) = &mut self.text
            && self.foreign == 0
        {
            own.push_str(text);
        }
    }

    fn close(&mut self, name: &str, place: impl Fn() -> Place) -> Result<(), DataError> {
        if self.foreign > 0 {
            self.foreign -= 1;
            return Ok(());
        }
        match name {
            "default" => {
                let text = self.text.take();
                for keys in [&mut self.node_keys, &mut self.edge_keys] {
                    if let Some(key) = self.key.as_ref().and_then(|id| keys.of.get(id)) {
                        let column = key.column;
                        // A key that says it twice means the second.
                        keys.defaults.pop_if(|(own, _)| *own == column);
                        keys.defaults.extend(text.clone().map(|text| (column, text)));
                    }
                }
            }
            "key" => self.inside = Inside::Nothing,
            "data" => {
                let (text, id) = (self.text.take(), self.key.take().unwrap_or_default());
                let keys = match self.inside {
                    Inside::Node => &mut self.node_keys,
                    Inside::Edge => &mut self.edge_keys,
                    Inside::Key | Inside::Nothing => return Ok(()),
                };
                let Some(key) = keys.of.get(&id) else {
                    let expected = "a key that is declared before the graph";
                    return Err(format_error(self.file, place(), expected, excerpt(id.as_bytes())));
                };
                // The first value of a key counts.
                if keys.given[key.column] != self.elements {
                    keys.given[key.column] = self.elements;
                    self.values.extend(text.map(|text| (key.column, text)));
                }
            }
            "node" if self.inside == Inside::Node => {
                self.inside = Inside::Nothing;
                let row = self.bytes.len();
                self.ids.push(row, &self.id);
                for (column, text) in &self.values {
                    self.attributes[*column].push(row, text);
                }
                for (column, text) in self.node_keys.missing(self.elements) {
                    self.attributes[column].push(row, text);
                    self.defaults += text.len() as u64 + 1;
                }
                self.check_defaults(&place)?;
                let Place::Byte(byte) = place() else { return Ok(()) };
                self.bytes.push(byte);
            }
            "edge" if self.inside == Inside::Edge => {
                self.inside = Inside::Nothing;
                self.edge(&place)?;
                self.check_defaults(&place)?;
            }
            "graph" => self.graph_done = true,
            _ => {}
        }
        Ok(())
    }

    /// Defaults cost no bytes in the file, so that what they fill must have a limit of its own.
    fn check_defaults(&self, place: &impl Fn() -> Place) -> Result<(), DataError> {
        let Place::Byte(read) = place() else { return Ok(()) };
        if self.defaults > DEFAULTS_PER_BYTE * (read + 65_536) {
            let found = format!("{} bytes of them", self.defaults);
            return Err(format_error(
                self.file,
                place(),
                "fewer values that are left to their default",
                found,
            ));
        }
        Ok(())
    }

    fn edge(&mut self, place: &impl Fn() -> Place) -> Result<(), DataError> {
        let Some(edges) = &mut self.edges else { return Ok(()) };
        edges.push(self.ends.0.as_bytes(), self.ends.1.as_bytes(), place)?;
        if self.edge_values.is_empty() {
            return Ok(());
        }
        let given = self.values.iter().map(|(column, text)| (*column, &text[..]));
        let mut filled = 0;
        for (column, text) in given.chain(self.edge_keys.missing(self.elements)) {
            let Some(kept) = self.edge_columns[column] else { continue };
            let (name, values) = &mut self.edge_values[kept];
            let value = text.trim().parse().map_err(|_| not_a_number(self.file, name, text, place))?;
            if name == Dataset::WEIGHT && !is_weight_value(value) {
                let expected = format!("as `{}` of every edge {WEIGHT}", self.edge_keys.names[column]);
                return Err(format_error(self.file, place(), expected, excerpt(text.as_bytes())));
            }
            values.push(value);
            filled += 1;
        }
        self.defaults += filled;
        let count = edges.len();
        match self.edge_values.iter().find(|(_, values)| values.len() != count) {
            Some((name, _)) => Err(not_a_number(self.file, name, "", place)),
            None => Ok(()),
        }
    }

    /// The nodes as a table. The id is the node's own, whatever its attributes are called.
    fn table(&mut self) -> Table {
        let rows = self.bytes.len();
        let mut columns =
            vec![Column { name: "id".to_owned(), cells: Cells::Text(std::mem::take(&mut self.ids)) }];
        for (name, texts) in self.node_keys.names.iter().zip(std::mem::take(&mut self.attributes)) {
            columns.push(Column { name: name.clone(), cells: Cells::Text(texts) });
        }
        let places = Places::Bytes(std::mem::take(&mut self.bytes));
        Table { file: self.file.to_owned(), rows, columns, places }
    }

    fn edge_reports(&self) -> Vec<ColumnReport> {
        let keys = self.edge_keys.names.iter().zip(&self.edge_keys.types).zip(&self.edge_columns);
        let report = |((name, kind), kept): ((&String, &String), &Option<usize>)| ColumnReport {
            table: TableOf::Edges,
            name: name.clone(),
            role: match kept {
                Some(kept) if self.edge_values[*kept].0 == Dataset::WEIGHT => Role::Weight,
                Some(_) => Role::Value,
                None => Role::Dropped,
            },
            kind: match &kind[..] {
                "int" | "long" | "float" | "double" => Kind::Number,
                "boolean" => Kind::Boolean,
                _ => Kind::Text,
            },
            distinct: None,
            missing: 0.0,
            min: None,
            max: None,
            features: Vec::new(),
            note: if kept.is_none() { "not used".to_owned() } else { String::new() },
        };
        keys.map(report).collect()
    }

    fn finish(mut self, threads: &Threads, request: &Import) -> Result<Parts, DataError> {
        let (Some(edges), true) = (self.edges.take(), self.graph_done) else {
            let found = "a file that ends without";
            return Err(format_error(self.file, Place::Whole, "a whole <graph>", found));
        };
        let columns = self.edge_reports();
        let mut nodes = nodes_of_table(threads, &self.table(), request)?;
        let mut table = edges.finish(None);
        // Edges named their ends in the order of their appearance; the nodes' own numbers count.
        let own = std::mem::replace(&mut nodes.ids, Ids::Numbers { nodes: 0 });
        let names = table.ids.into_names();
        let unknown = |name: &str| {
            format_error(
                self.file,
                Place::Whole,
                "a <node> for every end of an edge",
                excerpt(name.as_bytes()),
            )
        };
        let renumber = |ends: &mut Vec<u32>| -> Result<(), DataError> {
            for end in ends {
                let text = names
                    .as_ref()
                    .map_or_else(|| end.to_string(), |names| names.get(*end as usize).to_owned());
                *end = own.number(text.as_bytes()).ok_or_else(|| unknown(&text))?;
            }
            Ok(())
        };
        renumber(&mut table.sources)?;
        renumber(&mut table.targets)?;
        table.ids = own;
        let mut values = self.edge_values;
        if let Some(position) = values.iter().position(|(name, _)| name == Dataset::WEIGHT) {
            table.weights = Some(values.remove(position).1);
        }
        Ok(Parts { edges: table, values, nodes: Some(nodes), directed: self.directed, columns })
    }

    fn attribute(
        &self,
        tag: &BytesStart<'_>,
        name: &str,
        place: &impl Fn() -> Place,
    ) -> Result<Option<String>, DataError> {
        let wrong = |error: String| format_error(self.file, place(), "a tag with attributes", short(&error));
        let attribute = tag.try_get_attribute(name).map_err(|error| wrong(error.to_string()))?;
        let value =
            attribute.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).map(String::from));
        value.transpose().map_err(|error| wrong(error.to_string()))
    }

    fn without(&self, attribute: &str, tag: &str, place: &impl Fn() -> Place) -> DataError {
        format_error(self.file, place(), format!("<{tag}> with {attribute}"), "one without")
    }
}

fn not_a_number(file: &Path, name: &str, text: &str, place: &impl Fn() -> Place) -> DataError {
    let found = if text.is_empty() { "nothing".to_owned() } else { excerpt(text.as_bytes()) };
    format_error(file, place(), format!("a number as `{name}` of every edge"), found)
}

fn short(text: &str) -> String {
    text.chars().take(120).collect()
}
