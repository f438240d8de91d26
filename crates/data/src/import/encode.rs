//! How the columns of a table become features, and the same once more for another table.
//!
//! | kind | becomes |
//! | --- | --- |
//! | number, boolean | one column: the value, 0 and 1 |
//! | category | one column of 0 and 1 per value, `NAME=VALUE`; a value that was not there before is 0 in all of them |
//! | date | nothing, or one to four columns by [`Dates`] |
//! | any with missing values | what [`Fill`] says, and one more column `NAME:missing` of 0 and 1 |
//!
//! Everything is computed in `f64` and rounded to `f32` once, whatever format the table is of.

use std::borrow::Cow;
use std::collections::HashSet;

use edgepace_graph::{DenseFeatures, Features, SparseFeatures, Threads};
use serde::{Deserialize, Serialize};

use super::column::{Cells, Markers, NO_CODE, Profile, Table, categories};
use super::dates;
use super::report::{Kind, Role};
use crate::DataError;
use crate::error::{excerpt, format_error, graph_error, request_error};

/// A column of text with at most this many different values is a category by itself.
pub const ONE_HOT_AUTO: usize = 100;
/// All categories by themselves take at most this many columns together.
pub const ONE_HOT_AUTO_SUM: usize = 1000;
/// A column that was asked for by name may have at most this many different values.
pub const ONE_HOT_LIMIT: usize = 1000;
/// A column with values in a smaller share of the rows is left out.
const LEAST_PRESENT: f64 = 0.05;
/// Features of at least this many values are stored sparse when most of them are 0.
const SPARSE_FROM: usize = 1 << 22;
/// … that is, when this share or less is not.
const SPARSE_SHARE: f64 = 0.25;
/// Rows that a thread puts together at a time.
const BLOCK: usize = 4096;
/// The version of the encoding that is written.
const VERSION: u32 = 1;

/// What the user decided about the features of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Encode {
    /// Which columns become one column per value.
    pub one_hot: OneHot,
    /// What stands for a missing value.
    pub fill: Fill,
    /// What becomes of dates.
    pub dates: Dates,
}

/// Which columns become one column per value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OneHot {
    /// Columns of text with few different values: at most [`ONE_HOT_AUTO`], each at least twice on average.
    #[default]
    Auto,
    /// None.
    None,
    /// These, whatever their kind, and no others: at most [`ONE_HOT_LIMIT`] values each.
    Columns(Vec<String>),
}

/// What stands for a missing number. A column `NAME:missing` tells where it does; a category without a value is 0 in all
/// of its columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fill {
    /// The mean of those that are there.
    #[default]
    Mean,
    /// Their median.
    Median,
    /// 0.
    Zero,
    /// Nothing is made up: missing is a category of its own, 1 in its column and 0 in all others.
    Category,
}

/// What becomes of dates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dates {
    /// They are left out: most are about when a row was written, and as numbers they dwarf all others.
    #[default]
    Drop,
    /// Days since 1970-01-01, with the time of day as a fraction.
    Days,
    /// The year, with the part that has passed as a fraction.
    Year,
    /// Sine and cosine of the time of the year, and of the day of the week.
    Cyclic,
}

/// How the columns of a table became features: all that it takes to do the same to another table. As text it is kept by
/// [`Dataset::encoding`](edgepace_graph::Dataset::encoding).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    version: u32,
    /// Every column of the table, in its order.
    pub columns: Vec<EncodedColumn>,
    /// The names of the classes in order, if the table had labels.
    pub classes: Option<Vec<String>>,
}

/// One column of an [`Encoding`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodedColumn {
    /// What the table calls it.
    pub name: String,
    /// What it was used for.
    pub role: Role,
    /// How it became features, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
    /// Whether a column of features tells where values are missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub indicator: bool,
}

/// How a column becomes features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Way {
    /// The number, or `fill`.
    Number {
        /// What stands for a missing one.
        fill: f64,
    },
    /// 0 or 1, or `fill`.
    Boolean {
        /// What stands for a missing one.
        fill: f64,
    },
    /// One column per value, sorted.
    OneHot {
        /// The values.
        values: Vec<String>,
    },
    /// The date in one of the ways of [`Dates`], or `fill`.
    Date {
        /// Which way.
        as_: Dates,
        /// What stands for the numbers of a missing one.
        fill: Vec<f64>,
    },
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Encoding {
    pub(crate) fn new(columns: Vec<EncodedColumn>, classes: Option<Vec<String>>) -> Encoding {
        Encoding { version: VERSION, columns, classes }
    }

    /// Reads what [`text`](Encoding::text) wrote.
    ///
    /// # Errors
    /// Text that is no encoding, or one of a newer version.
    pub fn parse(text: &str) -> Result<Encoding, DataError> {
        let wrong = |found: String| request_error("encoding", found, "what an import of tables wrote");
        let encoding: Encoding = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if encoding.version != VERSION {
            return Err(wrong(format!("version {}", encoding.version)));
        }
        Ok(encoding)
    }

    /// The encoding as text (JSON).
    pub fn text(&self) -> String {
        // Plain data with texts as keys always is JSON; numbers in it are finite.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The names of the features, in order.
    pub fn feature_names(&self) -> Vec<String> {
        self.columns.iter().flat_map(EncodedColumn::feature_names).collect()
    }
}

impl EncodedColumn {
    /// The names of the features that the column becomes.
    pub fn feature_names(&self) -> Vec<String> {
        let name = &self.name;
        let mut names = match &self.way {
            None => return Vec::new(),
            Some(Way::Number { .. } | Way::Boolean { .. }) => vec![name.clone()],
            Some(Way::OneHot { values }) => values.iter().map(|value| format!("{name}={value}")).collect(),
            Some(Way::Date { as_, .. }) => match as_ {
                Dates::Drop => Vec::new(),
                Dates::Days => vec![format!("{name}:days")],
                Dates::Year => vec![format!("{name}:year")],
                Dates::Cyclic => ["year-sin", "year-cos", "week-sin", "week-cos"]
                    .map(|part| format!("{name}:{part}"))
                    .to_vec(),
            },
        };
        if self.indicator {
            names.push(format!("{name}:missing"));
        }
        names
    }
}

/// What was decided about a column that may be a feature.
pub(crate) enum Decision {
    Use { way: Way, indicator: bool, note: String },
    Drop(String),
}

/// Whether a column of text is a category by itself: few values, each at least twice on average.
pub(crate) fn is_category(profile: &Profile) -> bool {
    profile.kind == Kind::Text && profile.distinct <= ONE_HOT_AUTO && 2 * profile.distinct <= profile.present
}

/// Decides about the columns of one table.
pub(crate) struct Decider<'a> {
    pub(crate) table: &'a Table,
    pub(crate) markers: Markers<'a>,
    pub(crate) encode: &'a Encode,
}

impl Decider<'_> {
    /// What becomes of a column. `asked` says that the user named it as a feature; otherwise it must look like one.
    pub(crate) fn decide(
        &self,
        column: usize,
        profile: &Profile,
        asked: bool,
    ) -> Result<Decision, DataError> {
        let Table { rows, columns, .. } = self.table;
        let (name, cells) = (&columns[column].name, &columns[column].cells);
        let one_hot = matches!(&self.encode.one_hot, OneHot::Columns(names) if names.contains(name));
        let present = profile.present as f64 / (*rows).max(1) as f64;
        if profile.present == 0 {
            // A table without rows has its columns all the same.
            return Ok(if asked && *rows == 0 {
                Decision::Use { way: Way::Number { fill: 0.0 }, indicator: false, note: String::new() }
            } else {
                Decision::Drop("no row has a value".to_owned())
            });
        }
        if !asked && !one_hot {
            if present < LEAST_PRESENT {
                let share = 100.0 * (1.0 - present);
                return Ok(Decision::Drop(format!(
                    "missing in {share:.1} % of the rows: set `feature_columns=…` to use it"
                )));
            }
            if let Some(why) = looks_like_an_id(name, profile, *rows) {
                return Ok(Decision::Drop(why));
            }
        }
        if one_hot {
            return self.one_hot(column, profile, name);
        }
        if let Some((row, text, others)) = &profile.stray {
            let place = self.table.place(*row, column);
            let help = format!(
                "{} of {} values are numbers; correct the others, or set `missing={text}`, `drop={name}` or `one_hot={name}`",
                profile.present - others,
                profile.present
            );
            return Err(
                format_error(&self.table.file, place, "a number", excerpt(text.as_bytes())).with_help(help)
            );
        }
        let indicator = profile.present < *rows;
        let filled = |values: &[f64]| self.fill(values);
        let noted = |note: &str| if indicator { self.note_of_fill(note) } else { note.to_owned() };
        match profile.kind {
            Kind::Number | Kind::Boolean => {
                let values = self.numbers(column)?;
                if let Some(row) = values.iter().position(|value| value.is_infinite() || is_too_large(*value))
                {
                    return Err(self.not_finite(column, row, values[row], asked));
                }
                let fill = filled(&values);
                if profile.kind == Kind::Boolean {
                    return Ok(Decision::Use {
                        way: Way::Boolean { fill },
                        indicator,
                        note: noted("0 and 1"),
                    });
                }
                let constant = if profile.distinct == 1 { "always the same number" } else { "" };
                Ok(Decision::Use { way: Way::Number { fill }, indicator, note: noted(constant) })
            }
            Kind::Date if self.encode.dates == Dates::Drop => {
                let why = "a date: set `dates=days`, `dates=year` or `dates=cyclic` to use it".to_owned();
                if asked {
                    let (expected, found) = ("numbers or categories", "dates");
                    return Err(format_error(&self.table.file, self.table.place(0, column), expected, found)
                        .with_help(why));
                }
                Ok(Decision::Drop(why))
            }
            Kind::Date => {
                let as_ = self.encode.dates;
                let parts = date_parts(as_, self.numbers(column)?);
                let fill = parts.iter().map(|values| filled(values)).collect();
                let note = match as_ {
                    Dates::Days => "days since 1970-01-01",
                    Dates::Year => "the year, with a fraction",
                    Dates::Cyclic | Dates::Drop => "sine and cosine of year and week",
                };
                Ok(Decision::Use { way: Way::Date { as_, fill }, indicator, note: noted(note) })
            }
            Kind::Text | Kind::Category if asked => self.one_hot(column, profile, name),
            Kind::Text | Kind::Category => Ok(self.text(cells, profile, name, indicator)),
            Kind::Empty => Ok(Decision::Drop("no row has a value".to_owned())),
        }
    }

    /// Text that nobody asked for: a category if it looks like one.
    fn text(&self, cells: &Cells, profile: &Profile, name: &str, indicator: bool) -> Decision {
        let (distinct, present) = (profile.distinct, profile.present);
        let ask = format!("set `one_hot={name}` to use it");
        if self.encode.one_hot != OneHot::Auto {
            return Decision::Drop(format!("text with {distinct} different values: {ask}"));
        }
        if distinct == 1 && !indicator {
            return Decision::Drop("always the same text".to_owned());
        }
        if 2 * distinct > present {
            return Decision::Drop(format!(
                "text: {distinct} different values in {present} rows, as ids have"
            ));
        }
        match categories(cells, self.markers, ONE_HOT_AUTO) {
            Some(values) if is_category(profile) => {
                let note = one_hot_note(&values, indicator);
                Decision::Use { way: Way::OneHot { values }, indicator, note }
            }
            _ => Decision::Drop(format!(
                "text with {distinct} different values, more than {ONE_HOT_AUTO}: {ask}"
            )),
        }
    }

    /// A category that was asked for.
    fn one_hot(&self, column: usize, profile: &Profile, name: &str) -> Result<Decision, DataError> {
        let indicator = profile.present < self.table.rows;
        let cells = &self.table.columns[column].cells;
        let Some(values) = categories(cells, self.markers, ONE_HOT_LIMIT) else {
            let expected =
                format!("at most {ONE_HOT_LIMIT} different values in a column that becomes one-hot");
            let found = format!("{} in `{name}`", profile.distinct);
            let help = "join rare values, or leave the column out";
            let place = crate::Place::Whole;
            return Err(format_error(&self.table.file, place, expected, found).with_help(help));
        };
        let note = one_hot_note(&values, indicator);
        Ok(Decision::Use { way: Way::OneHot { values }, indicator, note })
    }

    fn numbers(&self, column: usize) -> Result<Cow<'_, [f64]>, DataError> {
        let table = self.table;
        table.columns[column].cells.numbers(table.rows, self.markers).map_err(|(row, text)| {
            format_error(&table.file, table.place(row, column), "a number", excerpt(text.as_bytes()))
        })
    }

    fn not_finite(&self, column: usize, row: usize, value: f64, asked: bool) -> DataError {
        let found = if value.is_infinite() { format!("{value} (infinite)") } else { format!("{value:e}") };
        let expected = "a finite number that single precision can hold";
        let name = &self.table.columns[column].name;
        let out = if asked { String::new() } else { format!(", or set `drop={name}`") };
        format_error(&self.table.file, self.table.place(row, column), expected, found)
            .with_help(format!("correct it, or leave the cell empty{out}"))
    }

    fn fill(&self, values: &[f64]) -> f64 {
        let present = values.iter().copied().filter(|value| !value.is_nan());
        match self.encode.fill {
            Fill::Mean => {
                let (count, sum) =
                    present.fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value));
                sum / count.max(1) as f64
            }
            Fill::Median => {
                let mut present: Vec<f64> = present.collect();
                if present.is_empty() {
                    return 0.0;
                }
                let middle = present.len() / 2;
                let odd = present.len() % 2 == 1;
                let (below, &mut upper, _) = present.select_nth_unstable_by(middle, f64::total_cmp);
                if odd {
                    upper
                } else {
                    f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper)
                }
            }
            Fill::Zero | Fill::Category => 0.0,
        }
    }

    fn note_of_fill(&self, note: &str) -> String {
        let fill = match self.encode.fill {
            Fill::Mean => "the mean",
            Fill::Median => "the median",
            Fill::Zero | Fill::Category => "0",
        };
        let filled = format!("missing ones are {fill}, and a column tells where");
        if note.is_empty() { filled } else { format!("{note}; {filled}") }
    }
}

fn one_hot_note(values: &[String], indicator: bool) -> String {
    let tells = if indicator { "; a column tells where it is missing" } else { "" };
    format!("one-hot, {} values{tells}", values.len())
}

fn is_too_large(value: f64) -> bool {
    value.is_finite() && (value as f32).is_infinite()
}

/// Names of columns that number the rows, in lower case and without what is no letter.
const ID_NAMES: [&str; 10] =
    ["id", "ids", "index", "idx", "key", "row", "rownumber", "unnamed", "node", "nodeid"];
/// From so many rows on the numbers 0, 1, 2, … in any order are no accident, whatever their name.
const NO_ACCIDENT: usize = 20;

/// Why a column is taken for an id: whole numbers, all different, in a column that is called so or that numbers the rows.
fn looks_like_an_id(name: &str, profile: &Profile, rows: usize) -> Option<String> {
    let (min, max) = profile.range?;
    let all_different = profile.distinct == rows && profile.present == rows && rows > 1;
    if profile.kind != Kind::Number || !profile.whole || !all_different {
        return None;
    }
    let letters: String = name.chars().filter(char::is_ascii_alphabetic).collect();
    let named = ID_NAMES.contains(&&letters.to_ascii_lowercase()[..])
        || ["_id", "-id", " id", "Id", "ID"].iter().any(|end| name.ends_with(end));
    let counts = (min == 0.0 || min == 1.0) && max - min + 1.0 == rows as f64;
    let ask = "set `feature_columns=…` to use it";
    match (counts, named) {
        (true, _) if named || rows >= NO_ACCIDENT => Some(format!("numbers the rows: {ask}")),
        (_, true) => Some(format!("looks like an id, a different number in each row: {ask}")),
        _ => None,
    }
}

/// The numbers that dates become, NaN where they are missing.
fn date_parts(as_: Dates, days: Cow<'_, [f64]>) -> Vec<Cow<'_, [f64]>> {
    match as_ {
        Dates::Drop => Vec::new(),
        Dates::Days => vec![days],
        Dates::Year => vec![of_days(&days, dates::year).into()],
        Dates::Cyclic => {
            let cycles = of_days(&days, dates::cycles);
            (0..4).map(|part| cycles.iter().map(|cycles| cycles[part]).collect()).collect()
        }
    }
}

/// A function of days for each of them. Most are whole days of a few years, and what becomes of these is computed once.
fn of_days<T: Copy>(days: &[f64], value: fn(f64) -> T) -> Vec<T> {
    const MOST: f64 = 65536.0;
    let known = days.iter().filter(|day| !day.is_nan());
    let (low, high) =
        known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &day| (low.min(day), high.max(day)));
    let low = low.floor();
    // Without a date the span is negative.
    let span = (high - low).clamp(-1.0, MOST);
    if span == MOST || (days.len() as f64) < span {
        return days.iter().map(|&day| value(day)).collect();
    }
    let table: Vec<T> = (0..=span as i64).map(|day| value(low + day as f64)).collect();
    let of = |&day: &f64| {
        let at = day - low;
        // What is missing is no whole number either.
        if at.fract() == 0.0 { table[at as usize] } else { value(day) }
    };
    days.iter().map(of).collect()
}

/// Some columns of the features, row by row of the table.
enum Piece {
    Numbers(Vec<f32>),
    /// The position of the 1 among so many columns, if it is one.
    OneHot(Vec<u32>, usize),
    Missing(Vec<bool>),
}

impl Piece {
    fn width(&self) -> usize {
        if let Piece::OneHot(_, width) = self { *width } else { 1 }
    }

    fn non_zero(&self) -> usize {
        match self {
            Piece::Numbers(values) => values.iter().filter(|value| value.to_bits() != 0).count(),
            Piece::OneHot(codes, width) => codes.iter().filter(|code| (**code as usize) < *width).count(),
            Piece::Missing(missing) => missing.iter().filter(|missing| **missing).count(),
        }
    }

    /// Hands over what is not 0 in a row.
    fn each(&self, row: usize, mut take: impl FnMut(usize, f32)) {
        match self {
            // Zero with a sign is kept as it is.
            Piece::Numbers(values) if values[row].to_bits() != 0 => take(0, values[row]),
            Piece::OneHot(codes, width) if (codes[row] as usize) < *width => take(codes[row] as usize, 1.0),
            Piece::Missing(missing) if missing[row] => take(0, 1.0),
            _ => {}
        }
    }
}

/// Makes the features of a table. `columns` are positions in the table with how each becomes features; row `r` of the
/// table is the node `r`, or the one whose entry in `row_of` is `r`.
pub(crate) fn features(
    threads: &Threads,
    table: &Table,
    profiles: &[Profile],
    markers: Markers<'_>,
    columns: &[(usize, &EncodedColumn)],
    row_of: Option<&[u32]>,
) -> Result<Features, DataError> {
    let made = threads.map(columns.len(), |position| {
        let (column, encoded) = columns[position];
        pieces(table, profiles[column].kind, markers, column, encoded)
    });
    let mut all = Vec::new();
    for pieces in made {
        all.extend(pieces?);
    }
    let width: usize = all.iter().map(Piece::width).sum();
    let wrong = |error| graph_error(&table.file)(error);
    let row = |node: usize| row_of.map_or(node, |rows| rows[node] as usize);
    let cells = table.rows.saturating_mul(width);
    let one_hot = all.iter().any(|piece| matches!(piece, Piece::OneHot(..)));
    let stored = if one_hot && cells >= SPARSE_FROM { all.iter().map(Piece::non_zero).sum() } else { cells };
    if stored as f64 <= SPARSE_SHARE * cells as f64 && stored < cells {
        return sparse(&all, table.rows, width, row).map_err(wrong);
    }
    let mut values = vec![0.0; cells];
    threads.rows(&mut values, width.max(1), BLOCK, |first, rows| {
        for (node, out) in rows.chunks_exact_mut(width.max(1)).enumerate() {
            let row = row(first + node);
            let mut start = 0;
            for piece in &all {
                piece.each(row, |within, value| out[start + within] = value);
                start += piece.width();
            }
        }
    });
    Ok(DenseFeatures::new(table.rows, width, values).map_err(wrong)?.into())
}

fn sparse(
    pieces: &[Piece],
    rows: usize,
    width: usize,
    row: impl Fn(usize) -> usize,
) -> Result<Features, edgepace_graph::GraphError> {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for node in 0..rows {
        let mut start = 0;
        for piece in pieces {
            piece.each(row(node), |within, value| {
                columns.push((start + within) as u32);
                values.push(value);
            });
            start += piece.width();
        }
        offsets.push(columns.len());
    }
    Ok(SparseFeatures::new(rows, width, offsets, columns, values)?.into())
}

/// The features of one column.
fn pieces(
    table: &Table,
    kind: Kind,
    markers: Markers<'_>,
    column: usize,
    encoded: &EncodedColumn,
) -> Result<Vec<Piece>, DataError> {
    let (file, cells) = (&table.file, &table.columns[column].cells);
    let wrong = |row: usize, expected: &str, found: String| {
        Err(format_error(file, table.place(row, column), expected, found))
    };
    let mut missing: Vec<bool> = Vec::new();
    let mut pieces = match &encoded.way {
        None => return Ok(Vec::new()),
        Some(Way::OneHot { values }) => {
            let codes = cells.codes(table.rows, markers, values);
            if encoded.indicator {
                missing.extend(codes.iter().map(|&code| code == NO_CODE));
            }
            vec![Piece::OneHot(codes, values.len())]
        }
        Some(way) => {
            let expected = match way {
                Way::Boolean { .. } => "true or false",
                Way::Date { .. } => "a date as 2019-03-05",
                Way::Number { .. } | Way::OneHot { .. } => "a number",
            };
            let fits = match way {
                Way::Date { .. } => matches!(kind, Kind::Date | Kind::Empty),
                _ => kind != Kind::Date,
            };
            let numbers = match cells.numbers(table.rows, markers) {
                Ok(numbers) if fits => numbers,
                Ok(_) => return wrong(0, expected, format!("a column of kind {}", kind.as_str())),
                Err((row, text)) => return wrong(row, expected, excerpt(text.as_bytes())),
            };
            if encoded.indicator {
                missing.extend(numbers.iter().map(|value| value.is_nan()));
            }
            let (parts, fills) = match way {
                Way::Date { as_, fill } => (date_parts(*as_, numbers), fill.clone()),
                Way::Number { fill } | Way::Boolean { fill } => (vec![numbers], vec![*fill]),
                Way::OneHot { .. } => (Vec::new(), Vec::new()),
            };
            let mut pieces = Vec::new();
            for (values, fill) in parts.into_iter().zip(fills) {
                let filled = values.iter().map(|&value| if value.is_nan() { fill } else { value } as f32);
                let filled: Vec<f32> = filled.collect();
                if let Some(row) = filled.iter().position(|value| !value.is_finite()) {
                    let found = format!("{}", values[row]);
                    return wrong(row, "a finite number that single precision can hold", found);
                }
                pieces.push(Piece::Numbers(filled));
            }
            pieces
        }
    };
    if encoded.indicator {
        pieces.push(Piece::Missing(missing));
    }
    Ok(pieces)
}

/// Leaves out categories that nobody asked for by name, from the one on that takes too much room.
pub(crate) fn limit_sum(decisions: &mut [Option<Decision>], by_itself: &HashSet<usize>) {
    let mut sum = 0;
    for (_, decision) in decisions.iter_mut().enumerate().filter(|(column, _)| by_itself.contains(column)) {
        let Some(Decision::Use { way: Way::OneHot { values }, .. }) = decision else { continue };
        if sum + values.len() > ONE_HOT_AUTO_SUM {
            *decision = Some(Decision::Drop(format!(
                "a category too many: those before it take {sum} of {ONE_HOT_AUTO_SUM} columns; set `one_hot=…` to choose"
            )));
        } else {
            sum += values.len();
        }
    }
}
