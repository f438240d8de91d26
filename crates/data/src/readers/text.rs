//! Lines of plain or gzipped text, and numbers in them, for files of many million lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use crate::DataError;
use crate::error::excerpt;
use crate::error::{Place, format_error, io_error};
use crate::expansion::Limited;

/// The longest line that is read, in bytes.
const LONGEST_LINE: u64 = 1 << 20;
const BUFFER: usize = 1 << 17;

/// Lines of a file, one at a time.
pub(crate) struct Lines<R> {
    file: PathBuf,
    data: R,
    line: Vec<u8>,
    number: u64,
}

impl Lines<BufReader<File>> {
    /// Opens a text file.
    pub(crate) fn open(file: &Path) -> Result<Self, DataError> {
        let data = File::open(file).map_err(io_error("read", file))?;
        Ok(Lines::new(file, BufReader::with_capacity(BUFFER, data)))
    }
}

/// Lines of a gzipped text.
pub(crate) type GzLines<R> = Lines<BufReader<Limited<MultiGzDecoder<R>>>>;

impl GzLines<BufReader<File>> {
    /// Opens a gzipped text file.
    pub(crate) fn open_gz(file: &Path) -> Result<Self, DataError> {
        let data = File::open(file).map_err(io_error("read", file))?;
        let packed = data.metadata().map_err(io_error("read", file))?.len();
        Ok(Lines::gz(file, BufReader::with_capacity(BUFFER, data), packed))
    }
}

impl<R: BufRead> GzLines<R> {
    /// Unpacks text of `packed` bytes; `file` is its name in messages.
    pub(crate) fn gz(file: &Path, data: R, packed: u64) -> GzLines<R> {
        let text = Limited::new(MultiGzDecoder::new(data), packed);
        Lines::new(file, BufReader::with_capacity(BUFFER, text))
    }
}

impl<R: BufRead> Lines<R> {
    /// The lines of `data`; `file` is its name in messages.
    pub(crate) fn new(file: &Path, data: R) -> Lines<R> {
        Lines { file: file.to_owned(), data, line: Vec::new(), number: 0 }
    }

    /// The file, for messages.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The next line without its end, and its number, counted from 1. Empty lines at the end of the file are not lines.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, DataError> {
        let mut blank = 0;
        loop {
            self.line.clear();
            let read = (&mut self.data).take(LONGEST_LINE).read_until(b'\n', &mut self.line);
            let size = read.map_err(|error| unreadable(&self.file, self.number, error))?;
            if size == 0 {
                return Ok(None);
            }
            self.number += 1;
            if size as u64 == LONGEST_LINE && self.line.last() != Some(&b'\n') {
                let expected = format!("a line of at most {LONGEST_LINE} bytes");
                return Err(format_error(&self.file, Place::Line(self.number), expected, "a longer one"));
            }
            let end = self.line.trim_ascii_end().len();
            if end == 0 {
                blank = if blank == 0 { self.number } else { blank };
                continue;
            }
            if blank > 0 {
                return Err(format_error(
                    &self.file,
                    Place::Line(blank),
                    "a line with values",
                    "an empty one",
                ));
            }
            // Tabs separate fields, of which the last may be empty.
            let end = end + self.line[end..].iter().take_while(|&&byte| byte == b'\t').count();
            return Ok(Some(Line { file: &self.file, text: &self.line[..end], number: self.number }));
        }
    }
}

fn unreadable(file: &Path, line: u64, error: io::Error) -> DataError {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof) {
        return format_error(file, Place::Line(line + 1), "data that can be unpacked", error.to_string())
            .with_help("the file is damaged or cut short, fetch it again");
    }
    io_error("read", file)(error)
}

/// A line of a file.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    file: &'a Path,
    pub(crate) text: &'a [u8],
    pub(crate) number: u64,
}

impl<'a> Line<'a> {
    /// Says what is wrong with the line.
    pub(crate) fn wrong(&self, expected: impl Into<String>, found: impl Into<String>) -> DataError {
        format_error(self.file, Place::Line(self.number), expected, found)
    }

    /// Says what is wrong with a piece of the line.
    pub(crate) fn wrong_field(&self, expected: impl Into<String>, found: &[u8]) -> DataError {
        self.wrong(expected, excerpt(found))
    }

    /// The fields between separators; exactly `N`.
    pub(crate) fn fields<const N: usize>(&self, separator: u8) -> Result<[&'a [u8]; N], DataError> {
        let mut fields = [&b""[..]; N];
        let mut count = 0;
        for field in self.text.split(|&byte| byte == separator) {
            if count < N {
                fields[count] = field;
            }
            count += 1;
        }
        if count == N { Ok(fields) } else { Err(self.wrong(format!("{N} fields"), count.to_string())) }
    }

    /// A whole number below `limit`; `what` says of what, as in "nodes".
    pub(crate) fn id(&self, field: &[u8], limit: usize, what: &str) -> Result<u32, DataError> {
        match whole(field) {
            Some(id) if (id as usize) < limit => Ok(id),
            _ => Err(self.wrong_field(format!("a whole number below {limit}, the number of {what}"), field)),
        }
    }

    /// A number.
    pub(crate) fn float(&self, field: &[u8]) -> Result<f64, DataError> {
        float(field).ok_or_else(|| self.wrong_field("a finite number", field))
    }
}

/// A whole number below `u32::MAX`, perhaps with `.0` behind it.
pub(crate) fn whole(field: &[u8]) -> Option<u32> {
    let field = field.trim_ascii();
    let digits = field.strip_suffix(b".0").unwrap_or(field);
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    let mut value = 0_u64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    u32::try_from(value).ok().filter(|&value| value != u32::MAX)
}

/// Powers of ten that a double holds exactly.
const TENS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A finite number. Up to 15 digits without exponent, one exact division rounds correctly; the rest goes the slow way.
pub(crate) fn float(field: &[u8]) -> Option<f64> {
    let field = field.trim_ascii();
    let (negative, digits) = match field {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] | rest => (false, rest),
    };
    let (mut value, mut point) = (0_u64, None);
    let simple = !digits.is_empty() && digits.len() <= 16;
    if simple {
        for (place, &byte) in digits.iter().enumerate() {
            match byte {
                b'0'..=b'9' => value = value * 10 + u64::from(byte - b'0'),
                b'.' if point.is_none() => point = Some(place),
                _ => return slow(field),
            }
        }
        let decimals = point.map_or(0, |point| digits.len() - point - 1);
        let count = digits.len() - usize::from(point.is_some());
        if (1..=15).contains(&count) {
            let value = value as f64 / TENS[decimals];
            return Some(if negative { -value } else { value });
        }
    }
    slow(field)
}

#[cold]
fn slow(field: &[u8]) -> Option<f64> {
    str::from_utf8(field).ok()?.parse().ok().filter(|value: &f64| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Result<Vec<(u64, String)>, String> {
        let mut lines = Lines::new(Path::new("x.txt"), text.as_bytes());
        let mut found = Vec::new();
        while let Some(line) = lines.next().map_err(|error| error.to_string())? {
            found.push((line.number, String::from_utf8_lossy(line.text).into_owned()));
        }
        Ok(found)
    }

    #[test]
    fn lines_end_as_they_do_on_any_system_and_blank_ones_may_follow() {
        assert_eq!(all("a\r\nb\t\nc\n\n \n").unwrap(), [(1, "a".into()), (2, "b\t".into()), (3, "c".into())]);
        assert_eq!(
            all("a\n\nb").unwrap_err(),
            "x.txt, line 2: expected a line with values, found an empty one"
        );
        assert_eq!(all(&"a".repeat(1 << 21)).unwrap_err().split(':').next(), Some("x.txt, line 1"));
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for text in [
            "0",
            "-0.0",
            "1",
            "0.1",
            "-0.058943",
            "123456789012345",
            "0.000001234567890123456",
            "1e-3",
            "+2.5",
            ".5",
            "7.",
            "9007199254740993",
            "0.3333333432674408",
            "3.4028235e38",
        ] {
            let parsed = float(text.as_bytes()).unwrap();
            assert_eq!(parsed.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
        for text in ["", "-", ".", "nan", "inf", "1e400", "1.2.3", "1,2", "0x1"] {
            assert_eq!(float(text.as_bytes()), None, "{text}");
        }
        assert_eq!(
            [&b"17"[..], b" 3.0 ", b"4294967294"].map(whole),
            [Some(17), Some(3), Some(4_294_967_294)]
        );
        assert_eq!([&b"-1"[..], b"4294967295", b"", b"1.5", b"99999999999"].map(whole), [None; 5]);
    }
}
