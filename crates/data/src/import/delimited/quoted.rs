//! Records with quoted fields (RFC 4180), which may hold delimiters, line ends and doubled quotes. One byte after the other:
//! slower than [`lines`](super::lines), which only knows plain fields.

use std::io::{self, BufRead};

use super::lines::{is_blank, is_comment};

/// The fields of one record, without their quotes.
#[derive(Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The line it starts in, counted from 1.
    pub(super) line: u64,
}

impl Record {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, field: usize) -> &[u8] {
        let start = if field == 0 { 0 } else { self.ends[field - 1] };
        &self.bytes[start..self.ends[field]]
    }

    fn close_field(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Drops blanks at the end of the field that is being read.
    fn trim(&mut self) {
        let start = self.ends.last().copied().unwrap_or(0);
        while self.bytes.len() > start && self.bytes.last().is_some_and(|&byte| is_blank(byte)) {
            self.bytes.pop();
        }
    }
}

/// What is wrong with the quotes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadQuotes {
    /// The file ends inside of quotes.
    Open,
    /// Text follows a closing quote.
    TextAfter,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    Plain,
    Quoted,
    /// A quote inside of quotes: the end of the field, or the first half of a doubled quote.
    Quote,
    /// Blanks after a closing quote.
    After,
}

/// Reads records from whatever comes next.
pub(super) struct Records<R> {
    reader: R,
    delimiter: u8,
    /// Line ends so far.
    lines: u64,
    line: Vec<u8>,
}

impl<R: BufRead> Records<R> {
    /// `lines` is how many lines the reader has behind it.
    pub(super) fn new(reader: R, delimiter: u8, lines: u64) -> Records<R> {
        Records { reader, delimiter, lines, line: Vec::new() }
    }

    /// Reads the next record that is neither empty nor a comment; false at the end of the file.
    pub(super) fn next(&mut self, record: &mut Record) -> io::Result<Result<bool, BadQuotes>> {
        record.bytes.clear();
        record.ends.clear();
        let mut state = State::Start;
        loop {
            self.line.clear();
            if self.reader.read_until(b'\n', &mut self.line)? == 0 {
                let open = state == State::Quoted;
                return Ok(if open { Err(BadQuotes::Open) } else { Ok(false) });
            }
            self.lines += 1;
            if state != State::Quoted {
                if is_comment(&self.line) || self.line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                record.line = self.lines;
            }
            match feed(&self.line, self.delimiter, &mut state, record) {
                Err(bad) => return Ok(Err(bad)),
                Ok(true) => return Ok(Ok(true)),
                Ok(false) => {}
            }
        }
    }
}

/// Adds a line to the record; true when the record ends with it.
fn feed(line: &[u8], delimiter: u8, state: &mut State, record: &mut Record) -> Result<bool, BadQuotes> {
    let blanks_delimit = delimiter == b' ';
    for (at, &byte) in line.iter().enumerate() {
        let ends_line = byte == b'\n' || (byte == b'\r' && line[at + 1..] == *b"\n");
        let delimits = byte == delimiter || (blanks_delimit && is_blank(byte));
        *state = match *state {
            State::Quoted if byte == b'"' => State::Quote,
            State::Quoted => {
                record.bytes.push(byte);
                State::Quoted
            }
            State::Quote if byte == b'"' => {
                record.bytes.push(b'"');
                State::Quoted
            }
            _ if ends_line => break,
            State::Start if delimits && blanks_delimit => State::Start,
            State::Plain if delimits => {
                record.trim();
                record.close_field();
                State::Start
            }
            _ if delimits => {
                record.close_field();
                State::Start
            }
            State::Start if is_blank(byte) => State::Start,
            State::Start if byte == b'"' => State::Quoted,
            State::Start | State::Plain => {
                record.bytes.push(byte);
                State::Plain
            }
            State::Quote | State::After if is_blank(byte) => State::After,
            State::Quote | State::After => return Err(BadQuotes::TextAfter),
        };
    }
    if *state == State::Quoted {
        return Ok(false);
    }
    if *state == State::Plain {
        record.trim();
    }
    // Blanks at the end of a line delimit nothing.
    if *state != State::Start || !blanks_delimit {
        record.close_field();
    }
    Ok(true)
}

/// The fields of a single line, as far as its quotes allow.
pub(super) fn split(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut record = Record::default();
    let mut state = State::Start;
    if !matches!(feed(line, delimiter, &mut state, &mut record), Ok(true)) {
        record.close_field();
    }
    (0..record.len()).map(|field| String::from_utf8_lossy(record.get(field)).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str, delimiter: u8) -> Result<Vec<Vec<String>>, BadQuotes> {
        let mut records = Records::new(text.as_bytes(), delimiter, 0);
        let (mut record, mut found) = (Record::default(), Vec::new());
        while records.next(&mut record).unwrap()? {
            let field = |field| String::from_utf8(record.get(field).to_vec()).unwrap();
            found.push((0..record.len()).map(field).collect());
        }
        Ok(found)
    }

    #[test]
    fn quotes_keep_delimiters_line_ends_blanks_and_quotes() {
        assert_eq!(
            all("\"a,b\",c\r\n# note \"\n\n \" d \" , e f \n\"x\"\"y\n\r\nz\",\"#1\"\n", b',').unwrap(),
            [["a,b", "c"], [" d ", "e f"], ["x\"y\n\r\nz", "#1"]]
        );
        assert_eq!(all("  \"a b\" \t c  \n5\" d\n", b' ').unwrap(), [["a b", "c"], ["5\"", "d"]]);
        assert_eq!(all("a,\n", b',').unwrap(), [["a", ""]]);
    }

    #[test]
    fn broken_quotes_are_told() {
        assert_eq!(all("a,\"b\nc\n", b','), Err(BadQuotes::Open));
        assert_eq!(all("\"a\"b,c\n", b','), Err(BadQuotes::TextAfter));
    }

    proptest! {
        #[test]
        fn what_the_csv_crate_writes_is_read_back(
            rows in prop::collection::vec(prop::array::uniform3("[a,\"\n\r#% ]{1,6}"), 0..8)
        ) {
            let mut writer = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            prop_assert_eq!(all(&text, b',').unwrap(), rows);
        }
    }
}
