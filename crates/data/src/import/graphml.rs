//! GraphML, as NetworkX's `write_graphml` writes it: keys with names, then nodes, then edges, each with its data.
//!
//! Read as a stream. There are no entities beside the five of XML itself, and no document type is read. Hyperedges,
//! ports and nested graphs are refused.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::edges::EdgeBuilder;
use super::ids::Ids;
use super::nodes::{Cell, NodesBuilder};
use super::{Columns, Parts};
use crate::DataError;
use crate::error::{Place, excerpt, format_error, io_error};

/// Values that may be left to their default per byte of a file, at most.
const DEFAULTS_PER_BYTE: u64 = 8;

pub(crate) fn read(file: &Path, columns: &Columns) -> Result<Parts, DataError> {
    let data = File::open(file).map_err(io_error("read", file))?;
    read_xml(file, BufReader::new(data), columns)
}

/// A file that is already in memory.
pub(crate) fn read_bytes(file: &Path, bytes: &[u8]) -> Result<(), DataError> {
    read_xml(file, bytes, &Columns::default()).map(drop)
}

/// A declared attribute: its column, and its value where an element does not give one.
struct Key {
    column: usize,
    default: Option<String>,
}

/// The attributes of nodes, or of edges.
#[derive(Default)]
struct Keys {
    names: Vec<String>,
    of: HashMap<String, Key>,
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
    values: Vec<Option<String>>,
    directed: Option<bool>,
    graph_done: bool,
    nodes: Option<NodesBuilder<'a>>,
    edges: Option<EdgeBuilder>,
    edge_values: Vec<(String, Vec<f32>)>,
    /// Elements inside `data` that are not GraphML's own.
    foreign: usize,
    /// Values that were left to their default.
    defaults: u64,
}

fn read_xml(file: &Path, data: impl BufRead, columns: &Columns) -> Result<Parts, DataError> {
    let mut reader = Reader::from_reader(data);
    let mut buffer = Vec::new();
    let mut state = State {
        file,
        columns,
        node_keys: Keys::default(),
        edge_keys: Keys::default(),
        inside: Inside::Nothing,
        key: None,
        key_is_for_edges: false,
        text: None,
        id: String::new(),
        ends: Default::default(),
        values: Vec::new(),
        directed: None,
        graph_done: false,
        nodes: None,
        edges: None,
        edge_values: Vec::new(),
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
    state.finish()
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
                self.values = vec![None; self.node_keys.names.len()];
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
                self.values = vec![None; self.edge_keys.names.len()];
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
        let header: Vec<&str> =
            std::iter::once("id").chain(self.node_keys.names.iter().map(String::as_str)).collect();
        // The id is the node's own, whatever its attributes are called.
        self.nodes = Some(NodesBuilder::new(self.file, &header, self.columns)?);
        self.edges = Some(EdgeBuilder::new(self.file, None));
        let weight = self.columns.weight.as_deref().unwrap_or("weight");
        let wanted = std::iter::once(weight).chain(self.columns.edge_values.iter().map(String::as_str));
        for name in wanted {
            if self.edge_keys.names.iter().any(|own| own == name) {
                self.edge_values.push((name.to_owned(), Vec::new()));
            } else if name != "weight" {
                return Err(format_error(self.file, place(), format!("a key `{name}` for edges"), "none"));
            }
        }
        Ok(())
    }

    fn declare(&mut self, tag: &BytesStart<'_>, place: &impl Fn() -> Place) -> Result<(), DataError> {
        let id = self.attribute(tag, "id", place)?.ok_or_else(|| self.without("id", "key", place))?;
        if self.edges.is_some() {
            return Err(format_error(self.file, place(), "keys before the graph", excerpt(id.as_bytes())));
        }
        let name = self.attribute(tag, "attr.name", place)?.unwrap_or_else(|| id.clone());
        let domain = self.attribute(tag, "for", place)?.unwrap_or_else(|| "all".to_owned());
        self.inside = Inside::Key;
        self.key = Some(id.clone());
        self.key_is_for_edges = domain == "edge";
        for (keys, own) in [(&mut self.node_keys, "node"), (&mut self.edge_keys, "edge")] {
            if domain == own || domain == "all" {
                let column = keys.names.len();
                keys.names.push(name.clone());
                keys.of.insert(id.clone(), Key { column, default: None });
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
                    if let Some(key) = self.key.as_ref().and_then(|id| keys.of.get_mut(id)) {
                        key.default.clone_from(&text);
                    }
                }
            }
            "key" => self.inside = Inside::Nothing,
            "data" => {
                let (text, id) = (self.text.take(), self.key.take().unwrap_or_default());
                let keys = match self.inside {
                    Inside::Node => &self.node_keys,
                    Inside::Edge => &self.edge_keys,
                    Inside::Key | Inside::Nothing => return Ok(()),
                };
                let Some(key) = keys.of.get(&id) else {
                    let expected = "a key that is declared before the graph";
                    return Err(format_error(self.file, place(), expected, excerpt(id.as_bytes())));
                };
                self.values[key.column] = text;
            }
            "node" if self.inside == Inside::Node => {
                self.fill_defaults(false, &place)?;
                self.inside = Inside::Nothing;
                let cells =
                    self.values.iter().map(|value| value.as_deref().map_or(Cell::Missing, Cell::Text));
                if let Some(nodes) = &mut self.nodes {
                    nodes.push(std::iter::once(Cell::Text(&self.id)).chain(cells), |_| place())?;
                }
            }
            "edge" if self.inside == Inside::Edge => {
                self.fill_defaults(true, &place)?;
                self.inside = Inside::Nothing;
                self.edge(&place)?;
            }
            "graph" => self.graph_done = true,
            _ => {}
        }
        Ok(())
    }

    /// Gives attributes that an element leaves out their default. Defaults cost no bytes in the file, so that their number
    /// must have a limit of its own.
    fn fill_defaults(&mut self, edge: bool, place: &impl Fn() -> Place) -> Result<(), DataError> {
        let keys = if edge { &self.edge_keys } else { &self.node_keys };
        #[allow(clippy::iter_over_hash_type, reason = "each key fills a place of its own")]
        for key in keys.of.values() {
            if self.values[key.column].is_none() && key.default.is_some() {
                self.values[key.column].clone_from(&key.default);
                self.defaults += 1;
            }
        }
        let Place::Byte(read) = place() else { return Ok(()) };
        if self.defaults > DEFAULTS_PER_BYTE * (read + 65_536) {
            let found = format!("{} of them", self.defaults);
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
        for (name, values) in &mut self.edge_values {
            let column = self.edge_keys.names.iter().position(|own| own == name);
            let text = column.and_then(|column| self.values[column].as_deref()).unwrap_or_default();
            let value = text.trim().parse().map_err(|_| {
                format_error(
                    self.file,
                    place(),
                    format!("a number as `{name}` of every edge"),
                    excerpt(text.as_bytes()),
                )
            })?;
            values.push(value);
        }
        Ok(())
    }

    fn finish(self) -> Result<Parts, DataError> {
        let (Some(nodes), Some(edges), true) = (self.nodes, self.edges, self.graph_done) else {
            let found = "a file that ends without";
            return Err(format_error(self.file, Place::Whole, "a whole <graph>", found));
        };
        let mut nodes = nodes.finish()?;
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
        let weight = self.columns.weight.as_deref().unwrap_or("weight");
        if let Some(position) = values.iter().position(|(name, _)| name == weight) {
            table.weights = Some(values.remove(position).1);
        }
        Ok(Parts { edges: table, values, nodes: Some(nodes), directed: self.directed })
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

fn short(text: &str) -> String {
    text.chars().take(120).collect()
}
