//! Text in figures: how wide it is, about, and how it is written into SVG.

use std::fmt::Write as _;

/// The width of a text, about: exact widths depend on the font that a reader has.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' | '\u{a0}' | '(' | ')' | 't'
        | 'f' => 0.31,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.86,
        letter if letter.is_ascii_uppercase() => 0.66,
        letter if letter > '\u{2e80}' => 1.0,
        _ => 0.56,
    };
    size * text.chars().map(of).sum::<f64>()
}

/// The text, or its beginning and `…` where it is wider than `most`.
pub(crate) fn shortened(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if width(&kept, size) + width("…", size) + width(&letter.to_string(), size) > most {
            break;
        }
        kept.push(letter);
    }
    kept + "…"
}

/// The text as SVG and HTML have it. Letters that nobody sees, or that change the direction of what follows, become `�`.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            letter if is_hidden(letter) => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// Control letters, marks of direction, and what XML does not allow.
pub(crate) fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(letter, '\u{61c}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

/// A coordinate: at most two decimals, none that say nothing.
pub(crate) fn coordinate(out: &mut String, value: f64) {
    let value = if value.is_finite() { value } else { 0.0 };
    let hundredths = (value * 100.0).round() as i64;
    let sign = if hundredths < 0 { "-" } else { "" };
    let (whole, rest) = (hundredths.abs() / 100, hundredths.abs() % 100);
    // Writing to a string does not fail.
    let _ = match (rest, rest % 10) {
        (0, _) => write!(out, "{sign}{whole}"),
        (_, 0) => write!(out, "{sign}{whole}.{}", rest / 10),
        _ => write!(out, "{sign}{whole}.{rest:02}"),
    };
}

/// A number with so many decimals, thousands apart.
pub(crate) fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_once('.').map_or((&text[..], None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 && whole.len() > 4 {
            out.push('\u{a0}');
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out = out + "." + rest;
    }
    let zero = out.chars().all(|letter| matches!(letter, '0' | '.'));
    if value < 0.0 && !zero { format!("−{out}") } else { out }
}
