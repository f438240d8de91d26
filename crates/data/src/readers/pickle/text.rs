//! Text as protocol 0 escapes it, and as Python 3 hides bytes in it.

use std::borrow::Cow;

/// The longest piece of a file that is shown in a message, in characters.
const EXCERPT: usize = 60;

/// The start of some bytes in a form that can be printed.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    // A character has at most 4 bytes.
    let start = &bytes[..bytes.len().min(4 * EXCERPT)];
    let text: String =
        String::from_utf8_lossy(start).chars().take(EXCERPT).flat_map(char::escape_debug).collect();
    if text.len() < bytes.len() && bytes.len() > EXCERPT { text + "…" } else { text }
}

/// The bytes of a quoted Python 2 string literal, or none if it is not one.
pub(super) fn from_literal(literal: &[u8]) -> Option<Cow<'_, [u8]>> {
    let inner = match literal {
        [first @ (b'\'' | b'"'), inner @ .., last] if first == last => inner,
        _ => return None,
    };
    if !inner.contains(&b'\\') {
        return Some(Cow::Borrowed(inner));
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        bytes.push(match escape {
            b'\\' | b'\'' | b'"' => escape,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'a' => 7,
            b'b' => 8,
            b'v' => 11,
            b'f' => 12,
            b'x' => number(&mut rest, 2, 16)? as u8,
            b'0'..=b'7' => {
                let digits = after.iter().take(2).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
                let low = if digits == 0 { 0 } else { number(&mut rest, digits, 8)? };
                ((u32::from(escape - b'0') << (3 * digits)) | low) as u8
            }
            _ => return None,
        });
    }
    Some(bytes.into())
}

/// The UTF-8 of a raw-unicode-escape text (Latin-1, with `\u` and `\U` for the rest), or none if it is not one.
pub(super) fn from_raw_unicode(raw: &[u8]) -> Option<Cow<'_, [u8]>> {
    if raw.is_ascii() && !raw.contains(&b'\\') {
        return Some(Cow::Borrowed(raw));
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let digits = match (byte, after.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                text.push(char::from(byte));
                continue;
            }
        };
        rest = &after[1..];
        text.push(char::from_u32(number(&mut rest, digits, 16)?)?);
    }
    Some(text.into_bytes().into())
}

/// One byte per character of a UTF-8 text, or none if a character is beyond Latin-1 or the text is not UTF-8.
pub(super) fn to_latin1(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    if text.is_ascii() {
        return Some(Cow::Borrowed(text));
    }
    let text = std::str::from_utf8(text).ok()?;
    text.chars()
        .map(|character| u8::try_from(u32::from(character)).ok())
        .collect::<Option<Vec<u8>>>()
        .map(Cow::Owned)
}

/// Takes `digits` digits off the front.
fn number(rest: &mut &[u8], digits: usize, radix: u32) -> Option<u32> {
    let (front, after) = rest.split_at_checked(digits)?;
    *rest = after;
    front.iter().try_fold(0_u32, |number, &digit| {
        let digit = char::from(digit).to_digit(radix)?;
        number.checked_mul(radix)?.checked_add(digit)
    })
}
