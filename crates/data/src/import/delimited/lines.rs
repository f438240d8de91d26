//! Edges from the lines of a block whose fields are plain: no quotes.

use edgepace_graph::is_weight;

use super::layout::Layout;
use super::{Trouble, Which};

/// What the lines of a block hold, up to the first that is in trouble.
pub(super) struct Parsed<Id> {
    pub(super) sources: Vec<Id>,
    pub(super) targets: Vec<Id>,
    pub(super) weights: Vec<f32>,
    /// How many lines were read; the one in trouble is the last.
    pub(super) lines: u64,
    pub(super) trouble: Option<Trouble>,
}

/// How ids are read.
pub(super) trait ReadId: Sync {
    type Id: Copy + Send;

    /// The id that stands in `text` at `start..end`, which is not empty.
    fn read(&self, text: &[u8], start: usize, end: usize, which: Which) -> Result<Self::Id, Trouble>;

    /// The same for a plain number; `None` if only [`read`](ReadId::read) can tell.
    fn number(&self, _number: u32) -> Option<Self::Id> {
        None
    }

    /// Whether it is worth while to look for plain numbers.
    const NUMBERS: bool = false;
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Whether a line is a comment, as SNAP (`#`) and Matrix Market (`%`) write them.
pub(super) fn is_comment(line: &[u8]) -> bool {
    matches!(line.first(), Some(b'#' | b'%'))
}

pub(super) fn parse<I: ReadId>(text: &[u8], layout: &Layout, ids: &I) -> Parsed<I::Id> {
    let mut parsed =
        Parsed { sources: Vec::new(), targets: Vec::new(), weights: Vec::new(), lines: 0, trouble: None };
    let mut at = 0;
    while at < text.len() {
        parsed.lines += 1;
        if I::NUMBERS
            && let Some((next, [source, target], weight)) = quick_line(text, at, layout)
            && let (Some(source), Some(target)) = (ids.number(source), ids.number(target))
        {
            parsed.sources.push(source);
            parsed.targets.push(target);
            if layout.weight.is_some() {
                parsed.weights.push(weight);
            }
            at = next;
            continue;
        }
        let end = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |end| at + end);
        match careful_line(text, at, end, layout, ids) {
            Ok(None) => {}
            Ok(Some((source, target, weight))) => {
                parsed.sources.push(source);
                parsed.targets.push(target);
                parsed.weights.extend(weight);
            }
            Err(trouble) => {
                parsed.trouble = Some(trouble);
                break;
            }
        }
        at = end + 1;
    }
    parsed
}

/// Reads a line whose ids are nothing but digits, with nothing around them: where the next line starts, both numbers and
/// the weight. Whatever else there is takes the careful way.
#[inline]
fn quick_line(text: &[u8], mut at: usize, layout: &Layout) -> Option<(usize, [u32; 2], f32)> {
    if is_comment(&text[at..]) {
        return None;
    }
    let (mut ids, mut weight) = ([0; 2], 0.0);
    for column in 0..layout.fields {
        if column == layout.source || column == layout.target {
            let (number, end) = digits(text, at)?;
            ids[usize::from(column == layout.target)] = number;
            at = end;
        } else {
            let start = at;
            if text.get(at) == Some(&b'"') {
                return None;
            }
            while text.get(at).is_some_and(|&byte| byte != layout.delimiter && byte != b'\n') {
                at += 1;
            }
            if Some(column) == layout.weight {
                weight = parse_weight(trimmed(&text[start..at]), layout.any_number).ok()?;
            }
            if column + 1 == layout.fields && at > start && text[at - 1] == b'\r' {
                at -= 1;
            }
        }
        if column + 1 < layout.fields {
            if text.get(at) != Some(&layout.delimiter) {
                return None;
            }
            at += 1;
        }
    }
    match text.get(at) {
        None => Some((at, ids, weight)),
        Some(b'\n') => Some((at + 1, ids, weight)),
        Some(b'\r') if text.get(at + 1) == Some(&b'\n') => Some((at + 2, ids, weight)),
        Some(_) => None,
    }
}

/// The number at `at` and where it ends. Up to nine digits, which always fit, and no leading zero.
#[inline]
fn digits(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let mut number = 0;
    let mut end = at;
    while let Some(&byte) = text.get(end) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        if end - at == 9 {
            return None;
        }
        number = number * 10 + u32::from(digit);
        end += 1;
    }
    let plain = end > at && (text[at] != b'0' || end == at + 1);
    plain.then_some((number, end))
}

type Edge<Id> = (Id, Id, Option<f32>);

/// Reads any line without its line end; `None` if it is empty or a comment.
fn careful_line<I: ReadId>(
    text: &[u8],
    start: usize,
    end: usize,
    layout: &Layout,
    ids: &I,
) -> Result<Option<Edge<I::Id>>, Trouble> {
    let end = if end > start && text[end - 1] == b'\r' { end - 1 } else { end };
    let line = &text[start..end];
    if is_comment(line) || line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let (mut source, mut target, mut weight) = ((0, 0), (0, 0), (0, 0));
    let mut count = 0;
    let mut fields = Fields { text, at: Some(start), end, delimiter: layout.delimiter };
    while let Some((from, to)) = fields.next() {
        if text[from..to].first() == Some(&b'"') {
            return Err(Trouble::Quotes);
        }
        if count == layout.source {
            source = (from, to);
        }
        if count == layout.target {
            target = (from, to);
        }
        if Some(count) == layout.weight {
            weight = (from, to);
        }
        count += 1;
    }
    if count != layout.fields {
        return Err(Trouble::Fields { found: count });
    }
    let read = |(from, to), which| {
        if from == to { Err(Trouble::EmptyId(which)) } else { ids.read(text, from, to, which) }
    };
    let (source, target) = (read(source, Which::Source)?, read(target, Which::Target)?);
    let weight =
        layout.weight.map(|_| parse_weight(&text[weight.0..weight.1], layout.any_number)).transpose()?;
    Ok(Some((source, target, weight)))
}

/// The places of the fields of a line, without the blanks around them.
struct Fields<'a> {
    text: &'a [u8],
    /// Where the next field starts; `None` after the last.
    at: Option<usize>,
    end: usize,
    delimiter: u8,
}

impl Fields<'_> {
    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        let (text, mut from, end) = (self.text, self.at?, self.end);
        while from < end && is_blank(text[from]) && text[from] != self.delimiter {
            from += 1;
        }
        let blanks_delimit = self.delimiter == b' ';
        if blanks_delimit {
            while from < end && is_blank(text[from]) {
                from += 1;
            }
            if from == end {
                return None;
            }
        }
        let mut to = from;
        while to < end && text[to] != self.delimiter && !(blanks_delimit && text[to] == b'\t') {
            to += 1;
        }
        self.at = if to < end { Some(to + 1) } else { None };
        while to > from && is_blank(text[to - 1]) {
            to -= 1;
        }
        Some((from, to))
    }
}

fn trimmed(field: &[u8]) -> &[u8] {
    field.trim_ascii()
}

/// A weight, or any finite number.
pub(super) fn parse_weight(field: &[u8], any_number: bool) -> Result<f32, Trouble> {
    let number = std::str::from_utf8(field).ok().and_then(|text| text.parse::<f32>().ok());
    match number {
        Some(weight) if is_weight(weight) || (any_number && weight.is_finite()) => Ok(weight),
        _ => Err(Trouble::Weight(field.to_vec())),
    }
}
