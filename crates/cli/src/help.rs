//! Help that is made of the tables that the program itself goes by.

use edgepace_train::{RUN_SETTINGS, RunConfig, Setting};
use toml::Value;

/// The columns of a terminal that everything fits.
pub(crate) const WIDTH: usize = 80;

/// What a setting of the run means, with its default, as the help of its flag.
pub(crate) fn flag(name: &str) -> String {
    let Some(setting) = RUN_SETTINGS.iter().find(|setting| setting.name == name) else {
        return String::new();
    };
    let mut letters = setting.meaning.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}{}", letters.as_str(), default_of(setting))
}

/// All settings of the run, for the end of a command's help.
pub(crate) fn run_settings() -> String {
    let widest = RUN_SETTINGS.iter().map(|setting| setting.name.len()).max().unwrap_or(0);
    let mut lines = vec!["Settings of the run, for `--set KEY=VALUE` and config files:".to_owned()];
    for setting in RUN_SETTINGS {
        let text = format!("{}{}", setting.meaning, default_of(setting));
        let begin = format!("  {:widest$}  ", setting.name);
        lines.extend(hanging(&begin, &text, WIDTH));
    }
    lines.push("Those of a method: `edgepace methods NAME`.".to_owned());
    lines.join("\n")
}

fn default_of(setting: &Setting) -> String {
    let defaults = RunConfig::defaults().unwrap_or_default();
    match defaults.get(setting.name) {
        None => String::new(),
        Some(value) => format!(" [default: {}]", shown(value)),
    }
}

/// A value as one types it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => short(*number),
        other => other.to_string(),
    }
}

/// A number with as many digits as tell it to a thousandth of itself: two thirds are 0.667.
fn short(number: f64) -> String {
    let told =
        |text: &String| text.parse().is_ok_and(|told: f64| (told - number).abs() <= 1e-3 * number.abs());
    let texts = (0..=9).map(|digits| format!("{number:.digits$}"));
    texts.into_iter().find(told).unwrap_or_else(|| number.to_string())
}

/// Text behind a begin, broken between words so that no line is wider; later lines begin below the text.
pub(crate) fn hanging(begin: &str, text: &str, width: usize) -> Vec<String> {
    let indent = begin.chars().count();
    let mut lines = vec![begin.to_owned()];
    let mut used = 0;
    for word in units(text) {
        let length = word.chars().count();
        let line = lines.last_mut().map_or(0, |line| line.chars().count());
        if used > 0 && line + 1 + length > width {
            lines.push(" ".repeat(indent));
            used = 0;
        }
        if let Some(last) = lines.last_mut() {
            if used > 0 {
                last.push(' ');
            }
            last.push_str(&word);
            used += 1;
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The words of a text; what stands in brackets, as a range or a default, is one.
fn units(text: &str) -> Vec<String> {
    const LONGEST: usize = 40;
    let mut units: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let open = |unit: &String| {
            let closed = unit.contains([']', ')']);
            unit.starts_with(['[', '(']) && !closed && unit.len() + word.len() < LONGEST
        };
        match units.last_mut().filter(|unit| open(unit)) {
            Some(unit) => {
                unit.push(' ');
                unit.push_str(word);
            }
            None => units.push(word.to_owned()),
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use edgepace_train::METHODS;

    use super::*;

    #[test]
    fn long_text_is_broken_between_words_and_hangs() {
        let lines = hanging("  a  ", "one two three four", 12);
        assert_eq!(lines, ["  a  one two", "     three", "     four"]);
        assert_eq!(
            hanging("", "a share in (0, 1] [default: 0.5]", 18),
            ["a share in (0, 1]", "[default: 0.5]"]
        );
        assert!(run_settings().lines().all(|line| line.chars().count() <= WIDTH));
    }

    #[test]
    fn numbers_are_short_and_never_another() {
        for (number, text) in [
            (0.0005, "0.0005"),
            (2.0 / 3.0, "0.667"),
            (1.0, "1"),
            (0.0, "0"),
            (1e-12, "0.000000000001"),
            (8192.0, "8192"),
        ] {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn every_default_is_shown_as_it_is() {
        for method in METHODS {
            for (name, default) in method.defaults().unwrap() {
                let Some(number) = default.as_float() else { continue };
                let told: f64 = shown(&default).parse().unwrap();
                assert!((told - number).abs() <= 1e-3 * number.abs(), "{} {name}: {told}", method.name);
            }
        }
    }
}
