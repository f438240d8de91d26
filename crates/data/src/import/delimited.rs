//! Edge lists as delimited text: CSV, TSV, or fields with blanks between them; plain or compressed by gzip.
//!
//! One edge per line. Empty lines and lines that start with `#` or `%` do not count, line ends may be those of Windows, the
//! last one may be missing, and a field in double quotes may hold anything (RFC 4180; `""` is a quote). A tab, a semicolon,
//! a bar, a comma or a run of blanks separates fields, the first of these that the first line has. The first line is a
//! header when it has known names for both ends (as `source` and `target`, `from_id` and `to_id`, `id1` and `id2`), or words
//! where the next line has numbers. Without a header the first two columns are the ends; with one that names neither, two
//! columns must be all there are beside the weight. A column named `weight` or `w` is the weight; a third column without a
//! name is not, it may as well be a time.
//!
//! What ids become is told by [`number_or_name`] and does not depend on threads or blocks.

mod blocks;
mod layout;
mod lines;
mod quoted;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::ops::ControlFlow;
use std::path::Path;

use edgepace_graph::Threads;
use flate2::read::MultiGzDecoder;

use self::blocks::{Blocks, in_order};
use self::layout::Layout;
use self::lines::{Parsed, ReadId, parse, parse_weight};
use self::quoted::{BadQuotes, Record, Records};
use super::WEIGHT;
use super::edges::{EdgeTable, NO_SUCH_NODE};
use super::ids::{Hasher, Ids, NODE_LIMIT, Named, names_or_numbers, number_or_name, parse_number};
use crate::error::io_error;
use crate::expansion::Limited;
use crate::{DataError, Place};

/// How much of a file a thread works on at a time, in bytes.
const BLOCK: usize = 4 << 20;

/// How an edge list is laid out; what is `None` is guessed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delimited {
    /// What separates fields; a space stands for any run of spaces and tabs.
    pub(crate) delimiter: Option<u8>,
    /// Whether the first line names the columns.
    pub(crate) header: Option<bool>,
    /// Where edges start.
    pub(crate) source: Option<Column>,
    /// Where edges end.
    pub(crate) target: Option<Column>,
    /// How strong they are.
    pub(crate) weight: Option<Column>,
    /// Whether that column is of any numbers, and not of weights.
    pub(crate) any_number: bool,
}

impl Delimited {
    fn names_a_column(&self) -> bool {
        [&self.source, &self.target, &self.weight]
            .iter()
            .any(|column| matches!(column, Some(Column::Name(_))))
    }
}

/// One column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Column {
    /// By its name in the header; upper and lower case count only where both are there.
    Name(String),
    /// By its position, counted from 0.
    Position(usize),
}

/// Reads an edge list. With `ids` of a nodes table every other id is an error; otherwise the file's own ids count.
///
/// `progress` hears how many bytes of the file were read so far. It starts anew when names or quotes turn up in a file
/// that began without: the file is then read a second time, by a slower way. All threads take part.
/// Memory: 8 bytes per edge, 4 more for its weight, the names, and a few blocks of text.
pub(crate) fn read_edges(
    threads: &Threads,
    file: &Path,
    options: &Delimited,
    ids: Option<Ids>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<EdgeTable, DataError> {
    let open = || -> io::Result<Box<dyn Read + Send + '_>> {
        Ok(Box::new(Counted { reader: File::open(file)?, bytes: 0, progress }))
    };
    Reader { threads, file, open: &open, block: BLOCK, old_line_ends: false }.read(options, ids)
}

/// The first rows of an edge list, field by field.
#[derive(Debug)]
pub(crate) struct Head {
    /// The names of the fields; their numbers where the file has none.
    pub(crate) names: Vec<String>,
    /// Whether the file names them.
    pub(crate) named: bool,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
}

/// Looks at the first `rows` of an edge list; `None` where it cannot be read.
pub(crate) fn head(file: &Path, options: &Delimited, rows: usize) -> Option<Head> {
    let open = || -> io::Result<Box<dyn Read + Send + '_>> { Ok(Box::new(File::open(file)?)) };
    let mut reader =
        Reader { threads: &Threads::one(), file, open: &open, block: BLOCK, old_line_ends: false };
    reader.old_line_ends = reader.has_old_line_ends().ok()?;
    let layout = Layout::guess(BufReader::new(reader.text(0).ok()?), options).ok()??.ok()?;
    let text = BufReader::new(reader.text(layout.data.bytes).ok()?);
    let mut records = Records::new(text, layout.delimiter, layout.data.lines);
    let mut record = Record::default();
    let mut head = Vec::new();
    while head.len() < rows && matches!(records.next(&mut record), Ok(Ok(true))) {
        let field = |at| String::from_utf8_lossy(record.get(at)).into_owned();
        head.push((0..record.len()).map(field).collect());
    }
    let Layout { fields, source, target, weight, names, .. } = layout;
    let named = names.is_some();
    let names = names.unwrap_or_else(|| (0..fields).map(|field| field.to_string()).collect());
    Some(Head { names, named, rows: head, source, target, weight })
}

/// The same for bytes in memory; `file` is what messages call them.
pub(crate) fn read_edges_from_bytes(
    threads: &Threads,
    file: &Path,
    bytes: &[u8],
    block: usize,
    options: &Delimited,
    ids: Option<Ids>,
) -> Result<EdgeTable, DataError> {
    let open = || -> io::Result<Box<dyn Read + Send + '_>> { Ok(Box::new(bytes)) };
    Reader { threads, file, open: &open, block, old_line_ends: false }.read(options, ids)
}

/// Tells how much was read.
struct Counted<'a> {
    reader: File,
    bytes: u64,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes += read as u64;
        (self.progress)(self.bytes);
        Ok(read)
    }
}

/// Which end of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Source,
    Target,
}

/// Why a line is not an edge, or not one that this way of reading understands.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Trouble {
    /// An id is not a plain number: read names instead.
    Name,
    /// A field has quotes: read records instead.
    Quotes,
    Fields {
        found: usize,
    },
    EmptyId(Which),
    Weight(Vec<u8>),
    UnknownId(Which, Vec<u8>),
    NotText(Which, Vec<u8>),
    TooManyNodes(Which),
    BadQuotes(BadQuotes),
}

/// A line that is in trouble, counted from 1.
struct At {
    line: u64,
    trouble: Trouble,
}

struct Reader<'a> {
    threads: &'a Threads,
    file: &'a Path,
    open: &'a (dyn Fn() -> io::Result<Box<dyn Read + Send + 'a>> + 'a),
    block: usize,
    /// Whether lines end as on the first Macintoshes: with a carriage return alone.
    old_line_ends: bool,
}

/// Carriage returns become line feeds.
struct WithLineFeeds<R>(R);

impl<R: Read> Read for WithLineFeeds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        buffer[..read].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(read)
    }
}

/// How much of a file is looked at for its line ends, in bytes.
const LINE_ENDS: u64 = 1 << 16;

/// Edges whose ends are resolved, and those of the blocks to come.
#[derive(Default)]
struct Edges {
    sources: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f32>,
}

impl Reader<'_> {
    fn read(mut self, options: &Delimited, ids: Option<Ids>) -> Result<EdgeTable, DataError> {
        self.old_line_ends = self.has_old_line_ends()?;
        let layout = Layout::guess(BufReader::new(self.text(0)?), options).map_err(self.io())?;
        let Some(layout) = layout else {
            let ids = ids.unwrap_or(Ids::Numbers { nodes: 0 });
            return Ok(EdgeTable { sources: Vec::new(), targets: Vec::new(), weights: None, ids });
        };
        let layout = layout.map_err(|error| self.in_file(error))?;
        let mut edges = Edges::default();
        let outcome = match ids {
            Some(ids) => self.known(&layout, ids, &mut edges)?,
            None => self.own(&layout, &mut edges)?,
        };
        let ids = outcome.map_err(|at| self.refuse(&layout, at))?;
        let Edges { sources, targets, weights } = edges;
        let weights = layout.weight.is_some().then_some(weights);
        Ok(EdgeTable { sources, targets, weights, ids })
    }

    /// Edges between the nodes of a table.
    fn known(&self, layout: &Layout, ids: Ids, edges: &mut Edges) -> Result<Result<Ids, At>, DataError> {
        let outcome = self.numbered(layout, &Known(&ids), edges)?;
        let outcome = match outcome {
            Err(At { trouble: Trouble::Quotes, .. }) => {
                let known = Known(&ids);
                self.records(layout, edges, |id, which| known.read(id, 0, id.len(), which))?
            }
            other => other,
        };
        Ok(outcome.map(|()| ids))
    }

    /// Edges between nodes that only the edges tell of.
    fn own(&self, layout: &Layout, edges: &mut Edges) -> Result<Result<Ids, At>, DataError> {
        let mut outcome = self.numbered(layout, &Numbers, edges)?;
        if outcome.is_ok() {
            return Ok(Ok(number_or_name(self.threads, &mut edges.sources, &mut edges.targets)));
        }
        let mut named = Named::default();
        if let Err(At { trouble: Trouble::Name, .. }) = outcome {
            outcome = self.named(layout, &mut named, edges)?;
        }
        if let Err(At { trouble: Trouble::Quotes, .. }) = outcome {
            named = Named::default();
            outcome = self.records(layout, edges, |id, which| {
                check_text(id, which)?;
                named.intern(id).ok_or(Trouble::TooManyNodes(which))
            })?;
        }
        Ok(outcome.map(|()| names_or_numbers(named, &mut edges.sources, &mut edges.targets)))
    }

    /// Reads plain lines whose ids can be told one by one.
    fn numbered<I: ReadId<Id = u32>>(
        &self,
        layout: &Layout,
        ids: &I,
        edges: &mut Edges,
    ) -> Result<Result<(), At>, DataError> {
        self.lines(layout, ids, edges, |edges, _, parsed| {
            edges.sources.extend_from_slice(&parsed.sources);
            edges.targets.extend_from_slice(&parsed.targets);
            Ok(())
        })
    }

    /// Reads plain lines whose ids are names, which are numbered in the order of the file.
    fn named(
        &self,
        layout: &Layout,
        named: &mut Named,
        edges: &mut Edges,
    ) -> Result<Result<(), At>, DataError> {
        let hashed = Hashed(named.hasher());
        self.lines(layout, &hashed, edges, |edges, text, parsed| {
            for (line, (source, target)) in parsed.sources.iter().zip(&parsed.targets).enumerate() {
                let mut number = |name: &Span, which| {
                    let bytes = &text[name.start..name.start + name.len as usize];
                    named.intern_hashed(bytes, name.hash).ok_or((line as u64, Trouble::TooManyNodes(which)))
                };
                edges.sources.push(number(source, Which::Source)?);
                edges.targets.push(number(target, Which::Target)?);
            }
            Ok(())
        })
    }

    /// Reads plain lines on all threads; `take` gets the edges of each block in order.
    fn lines<I: ReadId>(
        &self,
        layout: &Layout,
        ids: &I,
        edges: &mut Edges,
        mut take: impl FnMut(&mut Edges, &[u8], &Parsed<I::Id>) -> Result<(), (u64, Trouble)> + Send,
    ) -> Result<Result<(), At>, DataError> {
        *edges = Edges::default();
        let mut lines = layout.data.lines;
        let blocks = Blocks::new(self.text(layout.data.bytes)?, self.block);
        let merge = |text: &[u8], parsed: Parsed<I::Id>| {
            if let Err((line, trouble)) = take(edges, text, &parsed) {
                return ControlFlow::Break(At { line: lines + line + 1, trouble });
            }
            edges.weights.extend_from_slice(&parsed.weights);
            lines += parsed.lines;
            parsed
                .trouble
                .map_or(ControlFlow::Continue(()), |trouble| ControlFlow::Break(At { line: lines, trouble }))
        };
        let end =
            in_order(self.threads, blocks, |text| parse(text, layout, ids), merge).map_err(self.io())?;
        Ok(end.break_value().map_or(Ok(()), Err))
    }

    /// Reads records that may have quotes, one after the other.
    fn records(
        &self,
        layout: &Layout,
        edges: &mut Edges,
        mut number: impl FnMut(&[u8], Which) -> Result<u32, Trouble>,
    ) -> Result<Result<(), At>, DataError> {
        *edges = Edges::default();
        let reader = BufReader::new(self.text(layout.data.bytes)?);
        let mut records = Records::new(reader, layout.delimiter, layout.data.lines);
        let mut record = Record::default();
        loop {
            let next = records.next(&mut record).map_err(self.io())?;
            let edge = match next {
                Ok(false) => return Ok(Ok(())),
                Ok(true) => edges.push(&record, layout, &mut number),
                Err(bad) => Err(Trouble::BadQuotes(bad)),
            };
            if let Err(trouble) = edge {
                return Ok(Err(At { line: record.line, trouble }));
            }
        }
    }

    fn has_old_line_ends(&self) -> Result<bool, DataError> {
        let mut head = Vec::new();
        self.text(0)?.take(LINE_ENDS).read_to_end(&mut head).map_err(self.io())?;
        Ok(head.contains(&b'\r') && !head.contains(&b'\n'))
    }

    /// The text of the file from byte `start` on, out of its compression.
    fn text(&self, start: u64) -> Result<Box<dyn Read + Send + '_>, DataError> {
        let open = || -> io::Result<Box<dyn Read + Send + '_>> {
            let mut raw = (self.open)()?;
            let mut magic = Vec::new();
            raw.by_ref().take(2).read_to_end(&mut magic)?;
            let compressed = magic == [0x1f, 0x8b];
            let raw = Cursor::new(magic).chain(raw);
            let mut text: Box<dyn Read + Send + '_> = if compressed {
                let packed = std::fs::metadata(self.file).map_or(0, |data| data.len());
                Box::new(Limited::new(MultiGzDecoder::new(BufReader::new(raw)), packed))
            } else {
                Box::new(raw)
            };
            io::copy(&mut text.by_ref().take(start), &mut io::sink())?;
            Ok(if self.old_line_ends { Box::new(WithLineFeeds(text)) } else { text })
        };
        open().map_err(self.io())
    }

    fn io(&self) -> impl FnOnce(io::Error) -> DataError {
        io_error("read", self.file)
    }

    /// An option that does not fit names the file that it does not fit.
    fn in_file(&self, error: DataError) -> DataError {
        match error {
            DataError::Request { mut refusal, help } => {
                refusal.field = format!("{} of {}", refusal.field, self.file.display()).into();
                DataError::Request { refusal, help }
            }
            other => other,
        }
    }

    fn refuse(&self, layout: &Layout, at: At) -> DataError {
        let line = Place::Line(at.line);
        let field = |column: usize, usual: &str| {
            let name =
                layout.names.as_ref().map_or(usual.to_owned(), |names| shown(names[column].as_bytes()));
            Place::Field(at.line, name)
        };
        let end = |which| match which {
            Which::Source => field(layout.source, "source"),
            Which::Target => field(layout.target, "target"),
        };
        let (place, expected, found, help) = match at.trouble {
            Trouble::Name | Trouble::Quotes => (line, "plain fields".into(), "others".into(), ""),
            Trouble::Fields { found } => (
                line,
                format!("{} fields, as in line {}", layout.fields, layout.first_line),
                format!("{found}"),
                "complete the line, quote fields that hold the delimiter, or name another delimiter",
            ),
            Trouble::EmptyId(which) => {
                (end(which), "the id of a node".into(), "nothing".into(), "fill in the id or remove the line")
            }
            Trouble::Weight(found) => (
                field(layout.weight.unwrap_or_default(), "weight"),
                if layout.any_number { "a finite number" } else { WEIGHT }.into(),
                format!("`{}`", shown(&found)),
                "write it with a decimal point, remove the edge, or read the file without weights",
            ),
            Trouble::UnknownId(which, found) => (
                end(which),
                NO_SUCH_NODE.into(),
                format!("`{}`", shown(&found)),
                "add the node to the table or remove the edge",
            ),
            Trouble::NotText(which, found) => (
                end(which),
                "text in UTF-8".into(),
                format!("the bytes `{}`", found[..found.len().min(SHOWN)].escape_ascii()),
                "save the file in UTF-8",
            ),
            Trouble::TooManyNodes(which) => (
                end(which),
                format!("at most {NODE_LIMIT} different ids"),
                "one more".into(),
                "ids are 32 bits wide, use a smaller part of the graph",
            ),
            Trouble::BadQuotes(BadQuotes::Open) => (
                line,
                "a quote that closes the field".into(),
                "the end of the file".into(),
                "close the quote, or double it if it belongs to the text",
            ),
            Trouble::BadQuotes(BadQuotes::TextAfter) => (
                line,
                "a delimiter after the closing quote".into(),
                "text".into(),
                "double quotes that belong to the text",
            ),
        };
        DataError::Format { file: self.file.to_owned(), place, expected, found, help: help.into() }
    }
}

impl Edges {
    fn push(
        &mut self,
        record: &Record,
        layout: &Layout,
        number: &mut impl FnMut(&[u8], Which) -> Result<u32, Trouble>,
    ) -> Result<(), Trouble> {
        if record.len() != layout.fields {
            return Err(Trouble::Fields { found: record.len() });
        }
        let mut end = |column, which| match record.get(column) {
            [] => Err(Trouble::EmptyId(which)),
            id => number(id, which),
        };
        let (source, target) = (end(layout.source, Which::Source)?, end(layout.target, Which::Target)?);
        if let Some(column) = layout.weight {
            self.weights.push(parse_weight(record.get(column), layout.any_number)?);
        }
        self.sources.push(source);
        self.targets.push(target);
        Ok(())
    }
}

/// How much of a field a message shows.
const SHOWN: usize = 40;

fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(&field[..field.len().min(4 * SHOWN)]);
    text.chars().take(SHOWN).collect()
}

fn check_text(id: &[u8], which: Which) -> Result<(), Trouble> {
    match std::str::from_utf8(id) {
        Ok(_) => Ok(()),
        Err(_) => Err(Trouble::NotText(which, id.to_vec())),
    }
}

/// Ids that are plain numbers, whatever they mean.
struct Numbers;

impl ReadId for Numbers {
    type Id = u32;
    const NUMBERS: bool = true;

    fn read(&self, text: &[u8], start: usize, end: usize, _: Which) -> Result<u32, Trouble> {
        parse_number(&text[start..end]).ok_or(Trouble::Name)
    }

    fn number(&self, number: u32) -> Option<u32> {
        Some(number)
    }
}

/// Ids of a nodes table.
struct Known<'a>(&'a Ids);

impl ReadId for Known<'_> {
    type Id = u32;
    const NUMBERS: bool = true;

    fn read(&self, text: &[u8], start: usize, end: usize, which: Which) -> Result<u32, Trouble> {
        let id = &text[start..end];
        self.0.number(id).ok_or_else(|| Trouble::UnknownId(which, id.to_vec()))
    }

    fn number(&self, number: u32) -> Option<u32> {
        match self.0 {
            Ids::Numbers { nodes } => ((number as usize) < *nodes).then_some(number),
            Ids::Named(_) => None,
        }
    }
}

/// Ids that are names, told apart later.
struct Hashed(Hasher);

/// Where a name stands in its block.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    len: u32,
    hash: u32,
}

impl ReadId for Hashed {
    type Id = Span;

    fn read(&self, text: &[u8], start: usize, end: usize, which: Which) -> Result<Span, Trouble> {
        let id = &text[start..end];
        check_text(id, which)?;
        let len = u32::try_from(id.len()).map_err(|_| Trouble::NotText(which, id[..SHOWN].to_vec()))?;
        Ok(Span { start, len, hash: self.0.hash(id) })
    }
}
