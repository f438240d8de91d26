//! The columns of a table as they were read, before anyone decides what they are for, and what their values are.

use std::borrow::Cow;
use std::path::PathBuf;

use rustc_hash::FxHashSet;

use super::dates;
use super::ids::Named;
use super::report::{Bound, Kind};
use crate::Place;
use crate::readers::text::float;

/// A whole number that stands for a missing one.
pub(crate) const NO_WHOLE: i64 = i64::MIN;
/// A truth value that stands for a missing one.
pub(crate) const NO_TRUTH: u8 = 2;
/// The code of a missing text.
pub(crate) const NO_CODE: u32 = u32::MAX;

/// A table, column by column.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) file: PathBuf,
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Column>,
    pub(crate) places: Places,
}

/// Where the rows of a table are in its file.
#[derive(Debug)]
pub(crate) enum Places {
    /// The line of each row, counted from 1.
    Lines(Vec<u64>),
    /// The byte where each row ends.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "GraphML uses it alone"))]
    Bytes(Vec<u64>),
    /// Rows have no place but their number.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "only Parquet has no lines"))]
    Entries,
}

impl Table {
    /// Where a cell is.
    pub(crate) fn place(&self, row: usize, column: usize) -> Place {
        let name = || self.columns[column].name.clone();
        match &self.places {
            Places::Lines(lines) => Place::Field(lines.get(row).copied().unwrap_or(0), name()),
            Places::Bytes(bytes) => Place::Byte(bytes.get(row).copied().unwrap_or(0)),
            Places::Entries => Place::Entry(name(), row as u64),
        }
    }
}

/// A column: its name and a cell for each row.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) cells: Cells,
}

/// The cells of a column.
#[derive(Debug)]
pub(crate) enum Cells {
    /// Text as a file has it.
    Text(Texts),
    /// Text by its position among the distinct ones, or [`NO_CODE`]: a file that repeats a long text a million times costs
    /// no more than one.
    Coded { values: Named, of: Vec<u32> },
    /// Whole numbers, or [`NO_WHOLE`].
    Whole(Vec<i64>),
    /// Numbers; NaN is a missing one.
    Number(Vec<f64>),
    /// 0, 1, or [`NO_TRUTH`].
    Truth(Vec<u8>),
    /// Days since 1970-01-01; NaN is a missing one.
    Date(Vec<f64>),
}

/// The texts of the rows that have one, in order. A column that few rows know costs little.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    rows: Vec<u32>,
    lens: Vec<u32>,
    bytes: Vec<u8>,
}

impl Texts {
    /// Adds the text of a row behind those before. An empty one is none.
    pub(crate) fn push(&mut self, row: usize, text: &str) {
        if !text.is_empty() {
            self.rows.push(row as u32);
            self.lens.push(text.len() as u32);
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &str)> + Clone {
        let mut start = 0;
        self.rows.iter().zip(&self.lens).map(move |(&row, &len)| {
            let end = start + len as usize;
            // Only whole texts were added.
            let text = std::str::from_utf8(&self.bytes[start..end]).unwrap_or_default();
            start = end;
            (row as usize, text)
        })
    }
}

/// A cell that has a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Text(&'a str),
    Whole(i64),
    Number(f64),
    Truth(bool),
    Date(f64),
}

impl<'a> Cell<'a> {
    /// As an id, a class or a category: a whole number is written without a fraction, whatever its column's type.
    pub(crate) fn text(self) -> Cow<'a, str> {
        let whole = |value: f64| value.fract() == 0.0 && value.abs() < 2_f64.powi(53);
        match self {
            Cell::Text(text) => {
                let text = text.trim();
                let looks_whole = text.ends_with(".0")
                    && text.bytes().all(|byte| matches!(byte, b'-' | b'.' | b'0'..=b'9'));
                match text.parse::<f64>() {
                    Ok(value) if looks_whole && whole(value) => Cow::Owned((value as i64).to_string()),
                    _ => Cow::Borrowed(text),
                }
            }
            Cell::Whole(value) => Cow::Owned(value.to_string()),
            Cell::Number(value) if whole(value) => Cow::Owned((value as i64).to_string()),
            Cell::Number(value) => Cow::Owned(value.to_string()),
            Cell::Truth(value) => Cow::Borrowed(if value { "true" } else { "false" }),
            Cell::Date(days) => Cow::Owned(dates::text(days)),
        }
    }
}

/// What marks a missing value in text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Markers<'a>(pub(crate) &'a [String]);

impl Markers<'_> {
    fn is_missing(self, text: &str) -> bool {
        text.is_empty() || self.0.iter().any(|marker| marker.eq_ignore_ascii_case(text))
    }
}

impl Cells {
    /// Hands over every cell that has a value, row by row. Text comes without the blanks around it.
    pub(crate) fn each<E>(
        &self,
        markers: Markers<'_>,
        mut take: impl FnMut(usize, Cell<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Cells::Text(texts) => {
                for (row, text) in texts.iter() {
                    let text = text.trim();
                    if !markers.is_missing(text) {
                        take(row, Cell::Text(text))?;
                    }
                }
            }
            Cells::Coded { values, of } => {
                let texts: Vec<Option<&str>> = coded(values, markers).collect();
                for (row, &code) in of.iter().enumerate() {
                    if let Some(Some(text)) = texts.get(code as usize) {
                        take(row, Cell::Text(text))?;
                    }
                }
            }
            Cells::Whole(values) => {
                for (row, &value) in values.iter().enumerate().filter(|(_, value)| **value != NO_WHOLE) {
                    take(row, Cell::Whole(value))?;
                }
            }
            Cells::Number(values) => {
                for (row, &value) in values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                    take(row, Cell::Number(value))?;
                }
            }
            Cells::Truth(values) => {
                for (row, &value) in values.iter().enumerate().filter(|(_, value)| **value != NO_TRUTH) {
                    take(row, Cell::Truth(value == 1))?;
                }
            }
            Cells::Date(values) => {
                for (row, &value) in values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                    take(row, Cell::Date(value))?;
                }
            }
        }
        Ok(())
    }

    /// The same where nothing can go wrong.
    pub(crate) fn for_each(&self, markers: Markers<'_>, mut take: impl FnMut(usize, Cell<'_>)) {
        let done = self.each(markers, |row, cell| {
            take(row, cell);
            Ok::<(), std::convert::Infallible>(())
        });
        match done {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// Every cell as it stands in the file, with its blanks; empty where there is none.
    pub(crate) fn raw_texts(&self, rows: usize) -> Vec<String> {
        let mut texts = vec![String::new(); rows];
        if let Cells::Text(own) = self {
            own.iter().for_each(|(row, text)| text.clone_into(&mut texts[row]));
        } else {
            self.for_each(Markers(&[]), |row, cell| texts[row] = cell.text().into_owned());
        }
        texts
    }

    /// A number for each row, NaN where there is none: numbers as they are, truth values as 0 and 1, dates as days. `Err`
    /// is the first row with something else.
    pub(crate) fn numbers(
        &self,
        rows: usize,
        markers: Markers<'_>,
    ) -> Result<Cow<'_, [f64]>, (usize, String)> {
        let of_text = |row: usize, text: &str| {
            let value = number(text).or_else(|| truth(text).map(f64::from)).or_else(|| dates::parse(text));
            value.ok_or_else(|| (row, text.to_owned()))
        };
        match self {
            Cells::Number(values) | Cells::Date(values) => return Ok(Cow::Borrowed(values)),
            Cells::Coded { values, of } => {
                let parsed: Vec<Option<&str>> = coded(values, markers).collect();
                let parsed: Vec<Result<f64, (usize, String)>> = parsed
                    .into_iter()
                    .map(|text| text.map_or(Ok(f64::NAN), |text| of_text(0, text)))
                    .collect();
                let mut numbers = Vec::with_capacity(rows);
                for (row, &code) in of.iter().enumerate() {
                    numbers.push(match parsed.get(code as usize) {
                        None => f64::NAN,
                        Some(Ok(value)) => *value,
                        Some(Err((_, text))) => return Err((row, text.clone())),
                    });
                }
                return Ok(Cow::Owned(numbers));
            }
            Cells::Text(_) | Cells::Whole(_) | Cells::Truth(_) => {}
        }
        let mut numbers = vec![f64::NAN; rows];
        self.each(markers, |row, cell| {
            numbers[row] = match cell {
                Cell::Text(text) => of_text(row, text)?,
                Cell::Whole(value) => value as f64,
                Cell::Number(value) | Cell::Date(value) => value,
                Cell::Truth(value) => f64::from(u8::from(value)),
            };
            Ok(())
        })?;
        Ok(Cow::Owned(numbers))
    }

    /// The different texts of the rows that have one, in the order of their first rows, and which each row has;
    /// [`NO_CODE`] for none.
    pub(crate) fn texts(&self, rows: usize, markers: Markers<'_>) -> (Named, Vec<u32>) {
        let mut distinct = Named::default();
        let mut of = vec![NO_CODE; rows];
        let mut intern = |text: &str| distinct.intern(text.as_bytes()).unwrap_or(NO_CODE);
        if let Cells::Coded { values, of: codes } = self {
            let texts: Vec<Option<&str>> = coded(values, markers).collect();
            let mut known = vec![NO_CODE; texts.len()];
            for (own, &code) in of.iter_mut().zip(codes) {
                let Some(Some(text)) = texts.get(code as usize) else { continue };
                let known = &mut known[code as usize];
                if *known == NO_CODE {
                    *known = intern(&Cell::Text(text).text());
                }
                *own = *known;
            }
        } else {
            self.for_each(markers, |row, cell| of[row] = intern(&cell.text()));
        }
        (distinct, of)
    }

    /// The texts of a column in which every row has another one, as they stand there; `None` where that is not so.
    pub(crate) fn all_different(&self) -> Option<&Named> {
        let Cells::Coded { values, of } = self else { return None };
        let counted = of.len() == values.len() && of.iter().zip(0..).all(|(code, row)| *code == row);
        let as_it_is = |value: &[u8]| {
            let text = std::str::from_utf8(value).unwrap_or_default();
            !text.is_empty() && Cell::Text(text).text() == text
        };
        (counted && values.iter().all(as_it_is)).then_some(values)
    }

    /// For each row the position of its text among `values`, which are sorted; [`NO_CODE`] for a missing one, and one more
    /// than there are for a text that is not among them.
    pub(crate) fn codes(&self, rows: usize, markers: Markers<'_>, values: &[String]) -> Vec<u32> {
        let find = |text: &str| {
            values.binary_search_by(|value| value.as_str().cmp(text)).unwrap_or(values.len()) as u32
        };
        if let Cells::Coded { values: own, of } = self {
            let known: Vec<u32> = coded(own, markers)
                .map(|text| text.map_or(NO_CODE, |text| find(&Cell::Text(text).text())))
                .collect();
            return of.iter().map(|&code| known.get(code as usize).copied().unwrap_or(NO_CODE)).collect();
        }
        let mut codes = vec![NO_CODE; rows];
        self.for_each(markers, |row, cell| codes[row] = find(&cell.text()));
        codes
    }
}

/// The distinct texts, `None` for what marks a missing one.
fn coded<'a>(values: &'a Named, markers: Markers<'a>) -> impl Iterator<Item = Option<&'a str>> + Clone {
    values.iter().map(move |value| {
        let text = std::str::from_utf8(value).unwrap_or_default().trim();
        (!markers.is_missing(text)).then_some(text)
    })
}

/// A number as one writes it, infinite ones included.
pub(crate) fn number(text: &str) -> Option<f64> {
    // Most texts that are no numbers are known by their first letter.
    if !text.starts_with(|first: char| matches!(first, '0'..='9' | '+' | '-' | '.' | 'i' | 'I' | 'n' | 'N')) {
        return None;
    }
    float(text.as_bytes()).or_else(|| text.parse().ok())
}

pub(crate) fn truth(text: &str) -> Option<u8> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is("true") { Some(1) } else { is("false").then_some(0) }
}

/// What the values of a column are.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) kind: Kind,
    /// Rows with a value.
    pub(crate) present: usize,
    pub(crate) distinct: usize,
    /// Of numbers and dates.
    pub(crate) range: Option<(f64, f64)>,
    /// Whether all are whole numbers.
    pub(crate) whole: bool,
    /// A text in a column of which at least half are numbers: its row, and how many are no numbers.
    pub(crate) stray: Option<(usize, String, usize)>,
}

impl Profile {
    pub(crate) fn of(cells: &Cells, markers: Markers<'_>) -> Profile {
        match cells {
            Cells::Text(texts) => {
                let present = texts.iter().map(|(row, text)| (row, text.trim(), 1));
                of_texts(present.filter(|(_, text, _)| !markers.is_missing(text)), false)
            }
            Cells::Coded { values, of } => {
                let mut seen = vec![(0, 0); values.len()];
                for (row, &code) in of.iter().enumerate() {
                    if let Some((first, count)) = seen.get_mut(code as usize) {
                        *first = if *count == 0 { row } else { *first };
                        *count += 1;
                    }
                }
                let present =
                    coded(values, markers).zip(seen.iter().copied()).filter(|(_, (_, count))| *count > 0);
                // Without blanks around them, different texts stay different.
                let blank = |value: &[u8]| value.trim_ascii().len() < value.len();
                let different = !values.iter().any(blank);
                of_texts(present.filter_map(|(text, (row, count))| Some((row, text?, count))), different)
            }
            Cells::Whole(values) => {
                let mut profile = Profile::numeric(
                    Kind::Number,
                    values.iter().filter(|value| **value != NO_WHOLE).map(|&value| value as f64),
                );
                // Large ids differ in digits that a double does not have.
                if profile.range.is_some_and(|(min, max)| min < -1e15 || max > 1e15) {
                    let distinct: FxHashSet<i64> = values.iter().copied().collect();
                    profile.distinct = distinct.len() - usize::from(distinct.contains(&NO_WHOLE));
                }
                profile
            }
            Cells::Number(values) => {
                Profile::numeric(Kind::Number, values.iter().copied().filter(|value| !value.is_nan()))
            }
            Cells::Date(values) => {
                Profile::numeric(Kind::Date, values.iter().copied().filter(|value| !value.is_nan()))
            }
            Cells::Truth(values) => Profile {
                range: None,
                ..Profile::numeric(
                    Kind::Boolean,
                    values.iter().filter(|value| **value != NO_TRUTH).map(|&value| f64::from(value)),
                )
            },
        }
    }

    fn numeric(kind: Kind, values: impl Iterator<Item = f64>) -> Profile {
        let mut profile = Profile::empty();
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut all: Vec<u64> = Vec::with_capacity(values.size_hint().1.unwrap_or(0));
        profile.whole = true;
        for value in values {
            profile.present += 1;
            (min, max) = (min.min(value), max.max(value));
            profile.whole = profile.whole && value.fract() == 0.0;
            // Zero has two signs. Values that repeat often do so in a row.
            let bits = (value + 0.0).to_bits();
            if all.last() != Some(&bits) {
                all.push(bits);
            }
        }
        if profile.present > 0 {
            profile.kind = kind;
            profile.range = Some((min, max));
        }
        profile.distinct = distinct(all);
        profile
    }

    fn empty() -> Profile {
        Profile { kind: Kind::Empty, present: 0, distinct: 0, range: None, whole: false, stray: None }
    }

    /// Least and greatest value as a report shows them.
    pub(crate) fn bounds(&self) -> (Option<Bound>, Option<Bound>) {
        let bound = |value: f64| match self.kind {
            Kind::Number => Some(Bound::Number(value)),
            Kind::Date => Some(Bound::Date(dates::text(value))),
            _ => None,
        };
        self.range.map_or((None, None), |(min, max)| (bound(min), bound(max)))
    }
}

/// How many different numbers there are. Small piles by a hash are sorted one by one, which is much faster than a set of as
/// many, and faster than sorting them all.
fn distinct(mut all: Vec<u64>) -> usize {
    const PILE: usize = 256;
    let bits = (all.len() / PILE).checked_ilog2().unwrap_or(0).min(16);
    let count = |pile: &mut [u64]| {
        pile.sort_unstable();
        pile.chunk_by(|a, b| a == b).count()
    };
    if bits == 0 {
        return count(&mut all);
    }
    let pile = |value: u64| (value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
    let mut ends = vec![0_usize; 1 << bits];
    for &value in &all {
        ends[pile(value)] += 1;
    }
    let mut next = 0;
    for end in &mut ends {
        next += std::mem::replace(end, next);
    }
    let mut piles = vec![0; all.len()];
    for &value in &all {
        let end = &mut ends[pile(value)];
        piles[*end] = value;
        *end += 1;
    }
    let mut start = 0;
    let mut sum = 0;
    for end in ends {
        sum += count(&mut piles[start..end]);
        start = end;
    }
    sum
}

/// Texts with their first row and how many there are of each; `different` says that none is there twice.
fn of_texts<'a>(texts: impl Iterator<Item = (usize, &'a str, usize)> + Clone, different: bool) -> Profile {
    let (mut present, mut numbers, mut truths, mut days) = (0, 0, 0, 0);
    let mut stray = None;
    for (row, text, count) in texts.clone() {
        present += count;
        if number(text).is_some() {
            numbers += count;
            continue;
        }
        stray = stray.or(Some((row, text)));
        truths += if truth(text).is_some() { count } else { 0 };
        days += if dates::parse(text).is_some() { count } else { 0 };
    }
    let values = |parse: fn(&str) -> Option<f64>| texts.clone().filter_map(move |(_, text, _)| parse(text));
    let mut profile = match present {
        0 => return Profile::empty(),
        _ if numbers == present => Profile::numeric(Kind::Number, values(number)),
        _ if truths == present => Profile {
            range: None,
            ..Profile::numeric(Kind::Boolean, values(|text| truth(text).map(f64::from)))
        },
        _ if days == present => Profile::numeric(Kind::Date, values(dates::parse)),
        _ if different => Profile { kind: Kind::Text, distinct: texts.clone().count(), ..Profile::empty() },
        _ => {
            let mut distinct = Named::default();
            for (_, text, _) in texts.clone() {
                let _ = distinct.intern(text.as_bytes());
            }
            Profile { kind: Kind::Text, distinct: distinct.len(), ..Profile::empty() }
        }
    };
    profile.present = present;
    if profile.kind == Kind::Text && 2 * numbers >= present {
        profile.stray = stray.map(|(row, text)| (row, text.to_owned(), present - numbers));
    }
    profile
}

/// The distinct texts of a column, sorted; `None` when there are more than `limit`.
pub(crate) fn categories(cells: &Cells, markers: Markers<'_>, limit: usize) -> Option<Vec<String>> {
    let mut distinct = Named::default();
    let mut add = |text: &str| {
        let _ = distinct.intern(text.as_bytes());
        if distinct.len() <= limit { Ok(()) } else { Err(()) }
    };
    let added = match cells {
        Cells::Coded { values, of } => {
            let mut used = vec![false; values.len()];
            for &code in of {
                if let Some(used) = used.get_mut(code as usize) {
                    *used = true;
                }
            }
            let texts = coded(values, markers).zip(used).filter(|(_, used)| *used);
            texts.filter_map(|(text, _)| text).try_for_each(|text| add(&Cell::Text(text).text()))
        }
        _ => cells.each(markers, |_, cell| add(&cell.text())),
    };
    added.ok()?;
    let mut texts: Vec<String> =
        distinct.iter().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
    texts.sort_unstable();
    Some(texts)
}
