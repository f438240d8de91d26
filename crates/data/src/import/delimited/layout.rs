//! How a file is laid out: what separates its fields, whether its first line names them, and which of them matter.

use std::io::{self, BufRead};

use super::lines::is_comment;
use super::{Column, Delimited, quoted};
use crate::DataError;
use crate::error::{excerpt, request_error};
use crate::import::edges::{ENDS_UNCLEAR, NAME_THE_ENDS, guess_ends, is_weight, listed};
use crate::import::roles::meant;

/// What can separate fields, the surest sign first: a tab, a semicolon or a bar is rare inside of a field, a decimal comma
/// is not.
const DELIMITERS: [u8; 5] = [b'\t', b';', b'|', b',', b' '];

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) delimiter: u8,
    /// How many fields every line has.
    pub(super) fields: usize,
    /// The line that says how many, counted from 1.
    pub(super) first_line: u64,
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) weight: Option<usize>,
    /// Whether that field is any number, and not a weight.
    pub(super) any_number: bool,
    /// The names of the fields, if the file has a header.
    pub(super) names: Option<Vec<String>>,
    /// Where the edges start, in bytes and in lines.
    pub(super) data: Start,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) bytes: u64,
    pub(super) lines: u64,
}

impl Layout {
    /// What the first lines tell, as far as `options` leave it open; `None` if there are only comments and empty lines.
    pub(super) fn guess(
        mut reader: impl BufRead,
        options: &Delimited,
    ) -> io::Result<Option<Result<Layout, DataError>>> {
        let mut start = Start::default();
        if reader.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
            reader.consume(BYTE_ORDER_MARK.len());
            start.bytes = BYTE_ORDER_MARK.len() as u64;
        }
        let Some((first, before, after)) = next_line(&mut reader, start)? else { return Ok(None) };
        let second = next_line(&mut reader, after)?.map(|(line, ..)| line);
        Ok(Some(Layout::of_lines(&first, second.as_deref(), before, after, options)))
    }

    fn of_lines(
        first: &[u8],
        second: Option<&[u8]>,
        before: Start,
        after: Start,
        options: &Delimited,
    ) -> Result<Layout, DataError> {
        let delimiter = match options.delimiter {
            Some(delimiter @ (b'"' | b'\n' | b'\r' | b'#' | b'%')) => {
                return Err(request_error(
                    "delimiter",
                    delimiter.escape_ascii().to_string(),
                    "a byte that separates fields",
                ));
            }
            Some(delimiter) => delimiter,
            None => guess_delimiter(first),
        };
        let fields = quoted::split(first, delimiter);
        let next = second.map(|line| quoted::split(line, delimiter));
        let header = match options.header {
            Some(header) => header,
            None => options.names_a_column() || is_header(&fields, next.as_deref(), options),
        };
        let mut columns = Columns { fields: &fields, header, used: Vec::new() };
        let mut source = columns.choose("source", options.source.as_ref())?;
        let mut target = columns.choose("target", options.target.as_ref())?;
        let weight = columns.choose("weight", options.weight.as_ref())?;
        let names: Vec<&str> = fields.iter().map(String::as_str).collect();
        if header
            && source.is_none()
            && target.is_none()
            && let Some(ends) = guess_ends(&names).filter(|ends| columns.are_free(&[ends.0, ends.1]))
        {
            columns.used.extend([ends.0, ends.1]);
            (source, target) = (Some(ends.0), Some(ends.1));
        }
        let weight = weight.or_else(|| {
            let usual = names.iter().position(|name| header && is_weight(name));
            let usual = usual.filter(|&own| columns.are_free(&[own]));
            columns.used.extend(usual);
            usual
        });
        let free = fields.len() - columns.used.len().min(fields.len());
        let needed = usize::from(source.is_none()) + usize::from(target.is_none());
        if needed > 0 && header && free > needed && fields.len() > 2 {
            let lines: Vec<String> = [Some(first), second]
                .into_iter()
                .flatten()
                .map(|line| excerpt(line.trim_ascii_end()))
                .collect();
            let help = format!("{NAME_THE_ENDS}; the file begins with {}", lines.join(", "));
            return Err(request_error("source and target", listed(&names), ENDS_UNCLEAR).with_help(help));
        }
        source = source.or_else(|| columns.first_free());
        target = target.or_else(|| columns.first_free());
        let (Some(source), Some(target)) = (source, target) else {
            return Err(request_error(
                "source and target",
                format!("{} column(s)", fields.len()),
                "two columns beside that of the weight",
            )
            .with_help(format!(
                "each line holds one edge: check the delimiter; the file begins with {}",
                excerpt(first.trim_ascii_end())
            )));
        };
        Ok(Layout {
            delimiter,
            fields: fields.len(),
            first_line: before.lines + 1,
            source,
            target,
            weight,
            any_number: options.any_number,
            names: header.then_some(fields),
            data: if header { after } else { before },
        })
    }
}

/// The next line that is neither empty nor a comment, where it starts and where it ends.
fn next_line(reader: &mut impl BufRead, mut at: Start) -> io::Result<Option<(Vec<u8>, Start, Start)>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        let end = Start { bytes: at.bytes + read as u64, lines: at.lines + 1 };
        if !is_comment(&line) && !line.iter().all(u8::is_ascii_whitespace) {
            return Ok(Some((line, at, end)));
        }
        at = end;
    }
}

/// The surest delimiter that stands outside of quotes and between two other things.
fn guess_delimiter(line: &[u8]) -> u8 {
    let line = line.trim_ascii();
    let mut inside = false;
    let mut plain = line.to_vec();
    plain.retain(|&byte| {
        inside ^= byte == b'"';
        !inside
    });
    DELIMITERS.into_iter().find(|delimiter| plain.contains(delimiter)).unwrap_or(b',')
}

/// Whether the first line names the columns: it holds known names of both ends, or words where the next one has numbers:
/// in both ends, or in another column.
fn is_header(first: &[String], second: Option<&[String]>, options: &Delimited) -> bool {
    let names: Vec<&str> = first.iter().map(String::as_str).collect();
    if guess_ends(&names).is_some() {
        return true;
    }
    let place = |column: &Option<Column>, usual| match column {
        Some(Column::Position(position)) => *position,
        _ => usual,
    };
    let ends = [place(&options.source, 0), place(&options.target, 1)];
    let is_number = |field: &String| field.parse::<f64>().is_ok_and(f64::is_finite);
    let names_numbers = |column: usize| {
        let numbers = [Some(first), second].map(|line| line.and_then(|line| line.get(column)).map(is_number));
        numbers == [Some(false), Some(true)] && !first[column].is_empty()
    };
    ends.iter().all(|&end| names_numbers(end))
        || (0..first.len()).any(|column| !ends.contains(&column) && names_numbers(column))
}

struct Columns<'a> {
    fields: &'a [String],
    header: bool,
    used: Vec<usize>,
}

impl Columns<'_> {
    fn are_free(&self, positions: &[usize]) -> bool {
        positions.iter().all(|position| !self.used.contains(position))
    }

    /// The column that the caller asked for.
    fn choose(&mut self, what: &str, asked: Option<&Column>) -> Result<Option<usize>, DataError> {
        let Some(column) = asked else { return Ok(None) };
        let position = self.find(what, column)?;
        if !self.are_free(&[position]) {
            let expected = "a column that is not used for something else";
            return Err(request_error(what, format!("column {position}"), expected));
        }
        self.used.push(position);
        Ok(Some(position))
    }

    fn find(&self, what: &str, column: &Column) -> Result<usize, DataError> {
        match column {
            Column::Position(position) if *position < self.fields.len() => Ok(*position),
            Column::Position(position) => Err(request_error(
                what,
                format!("column {position}"),
                format!("a column below {}, counted from 0", self.fields.len()),
            )),
            Column::Name(name) if !self.header => {
                Err(request_error(what, name, "a column by its position, because the file has no header"))
            }
            Column::Name(name) => {
                let exact = self.fields.iter().position(|field| field == name);
                let alike = || self.fields.iter().position(|field| field.eq_ignore_ascii_case(name));
                exact.or_else(alike).ok_or_else(|| {
                    // A file with very many columns gets no endless message.
                    let some: Vec<String> =
                        self.fields.iter().take(10).map(|field| field.chars().take(40).collect()).collect();
                    let error = request_error(what, name, format!("one of the columns {}", some.join(", ")));
                    match meant(name, self.fields.iter().map(String::as_str)) {
                        Some(meant) => error.with_help(format!("did you mean `{meant}`?")),
                        None => error,
                    }
                })
            }
        }
    }

    fn first_free(&mut self) -> Option<usize> {
        let free = (0..self.fields.len()).find(|position| !self.used.contains(position))?;
        self.used.push(free);
        Some(free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str, options: &Delimited) -> Layout {
        Layout::guess(text.as_bytes(), options).unwrap().unwrap().unwrap()
    }

    fn guess(text: &str) -> Layout {
        layout(text, &Delimited::default())
    }

    #[test]
    fn delimiters_are_guessed_from_the_first_line_that_counts() {
        for (text, delimiter) in [
            ("# a\tb\n\n1,2\n", b','),
            ("1\t2\n", b'\t'),
            ("1;2;0,5\n", b';'),
            ("1|2\n", b'|'),
            ("1 2\n", b' '),
            ("\"a;b\",c\n", b','),
            ("a b,c\n", b','),
            ("1,2 \n", b','),
        ] {
            assert_eq!(guess(text).delimiter, delimiter, "{text:?}");
        }
    }

    #[test]
    fn a_header_is_known_by_its_names_or_by_numbers_below_words() {
        for (text, header) in [
            ("source,target\na,b\n", true),
            ("id,Src,DST\n1,a,b\n", true),
            ("\"from\" \"to\"\na b\n", true),
            ("paper,cites\n1,2\n", true),
            ("paper,cites\n1,b\n", false),
            ("a,b\nc,d\n", false),
            ("source,b\nc,d\n", false),
            ("1,2\n3,4\n", false),
            ("nan,inf\n1,2\n", true),
            ("who,whom,weight\na,b,3\n", true),
            ("id1,id2\na,b\n", true),
            ("a,b\n", false),
        ] {
            assert_eq!(guess(text).names.is_some(), header, "{text:?}");
        }
        let told = |header| Delimited { header: Some(header), ..Delimited::default() };
        assert!(layout("a,b\nc,d\n", &told(true)).names.is_some());
        assert!(layout("source,target\n1,2\n", &told(false)).names.is_none());
    }

    #[test]
    fn columns_are_taken_by_name_and_otherwise_in_order() {
        let columns = |layout: Layout| (layout.source, layout.target, layout.weight);
        assert_eq!(columns(guess("w,to,from\n1,2,3\n")), (2, 1, Some(0)));
        assert_eq!(columns(guess("1,2,3\n")), (0, 1, None));
        let name = |name: &str| Some(Column::Name(name.into()));
        let options = Delimited { source: name("b"), weight: name("A"), ..Delimited::default() };
        assert_eq!(columns(layout("a,b,c\n1,2,3\n", &options)), (1, 2, Some(0)));
        let options = Delimited { source: Some(Column::Position(1)), ..Delimited::default() };
        assert_eq!(columns(layout("1,2,3\n", &options)), (1, 0, None));
    }

    #[test]
    fn columns_that_are_not_there_or_used_twice_are_refused() {
        let refused = |text: &str, options: &Delimited| {
            Layout::guess(text.as_bytes(), options).unwrap().unwrap().unwrap_err().to_string()
        };
        let source = |column| Delimited { source: Some(column), ..Delimited::default() };
        assert_eq!(
            refused("a,b\n1,2\n", &source(Column::Name("c".into()))),
            "`source` is `c`, expected one of the columns a, b"
        );
        assert_eq!(
            refused("1,2\n", &source(Column::Position(2))),
            "`source` is `column 2`, expected a column below 2, counted from 0"
        );
        let same = Delimited { target: Some(Column::Position(0)), ..source(Column::Position(0)) };
        assert_eq!(
            refused("1,2\n", &same),
            "`target` is `column 0`, expected a column that is not used for something else"
        );
        let unnamed = Delimited { header: Some(false), ..source(Column::Name("a".into())) };
        assert!(refused("a,b\n", &unnamed).contains("because the file has no header"));
        assert!(refused("alone\n", &Delimited::default()).contains("check the delimiter"));
        let unclear = refused("date,customer,product,price\nx,a,b,3\n", &Delimited::default());
        assert!(
            unclear.contains("`source=…`") && unclear.contains("date,customer,product,price"),
            "{unclear}"
        );
        assert!(
            refused("person,whom,n\na,b,3\n", &source(Column::Name("persn".into())))
                .ends_with("did you mean `person`?")
        );
    }

    #[test]
    fn edges_start_after_the_header_and_a_byte_order_mark() {
        let text = "\u{feff}# note\nsource,target\n1,2\n";
        assert_eq!(guess(text).data, Start { bytes: 3 + 7 + 14, lines: 2 });
        assert_eq!(guess("\u{feff}# note\n1,2\n").data, Start { bytes: 3 + 7, lines: 1 });
        assert!(Layout::guess(&b"# only\n\n"[..], &Delimited::default()).unwrap().is_none());
    }
}
