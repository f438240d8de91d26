//! Dates as numbers: days since 1970-01-01, with the time of day as a fraction, in the proleptic Gregorian calendar.

const DAY_SECONDS: f64 = 86_400.0;

/// A date as ISO 8601 writes it: `2019-03-05`, perhaps with a time (`T` or a blank between, seconds and their fraction if
/// any) and an offset (`Z`, `+01:00`).
pub(super) fn parse(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| {
        let digits = bytes.get(from..to).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        Some(digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    };
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    if !is(4, b'-') || !is(7, b'-') || !(1..=12).contains(&month) || !(1..=length(year, month)).contains(&day)
    {
        return None;
    }
    let days = days_of(year, month, day) as f64;
    if bytes.len() == 10 {
        return Some(days);
    }
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    if !(is(10, b'T') || is(10, b' ')) || !is(13, b':') || hour > 23 || minute > 59 {
        return None;
    }
    let mut seconds = (hour * 3600 + minute * 60) as f64;
    let mut rest = &bytes[16..];
    if let [b':', tens @ b'0'..=b'9', ones @ b'0'..=b'9', after @ ..] = rest {
        seconds += f64::from((tens - b'0') * 10 + ones - b'0');
        rest = after;
        if let [b'.', after @ ..] = rest {
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let fraction = std::str::from_utf8(&after[..digits]).ok()?;
            seconds += format!("0.{fraction}").parse::<f64>().ok()?;
            rest = &after[digits..];
        }
    }
    let offset = match rest {
        [] | [b'Z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] | [sign @ (b'+' | b'-'), h1, h2, m1, m2] => {
            let digits = [h1, h2, m1, m2].map(|byte| i64::from(byte.wrapping_sub(b'0')));
            if digits.iter().any(|digit| !(0..=9).contains(digit)) {
                return None;
            }
            let minutes = (digits[0] * 10 + digits[1]) * 60 + digits[2] * 10 + digits[3];
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    Some(days + (seconds - (offset * 60) as f64) / DAY_SECONDS)
}

/// The date of a number of days, without the time of day.
pub(super) fn text(days: f64) -> String {
    let (year, month, day) = date_of(days.floor() as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The year with the part of it that has passed as a fraction.
pub(super) fn year(days: f64) -> f64 {
    year_of(days.floor() as i64) as f64 + share_of_year(days)
}

/// The part of the year that has passed, in [0, 1).
fn share_of_year(days: f64) -> f64 {
    let year = year_of(days.floor() as i64);
    let (start, end) = (days_of(year, 1, 1), days_of(year + 1, 1, 1));
    (days - start as f64) / (end - start) as f64
}

/// Where in the year and where in the week (from Monday on): sine and cosine of either.
pub(super) fn cycles(days: f64) -> [f64; 4] {
    // 1970-01-01 was a Thursday.
    let week = (days + 3.0).rem_euclid(7.0) / 7.0;
    let turn = |share: f64| share * std::f64::consts::TAU;
    let (year, week) = (turn(share_of_year(days)), turn(week));
    [libm::sin(year), libm::cos(year), libm::sin(week), libm::cos(week)]
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days before a year, counted from the year 0.
fn days_before(year: i64) -> i64 {
    let past = year - 1;
    year * 365 + past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400) + 1
}

fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let months: i64 = (1..month).map(|month| length(year, month)).sum();
    days_before(year) - days_before(1970) + months + day - 1
}

/// Days that are dates: those of a few million years.
fn clamped(days: i64) -> i64 {
    days.clamp(-1_000_000_000, 1_000_000_000)
}

fn year_of(days: i64) -> i64 {
    // 146 097 days are 400 years. The guess is at most a year off.
    let days = clamped(days);
    let mut year = 1970 + days * 400 / 146_097;
    while days_of(year, 1, 1) > days {
        year -= 1;
    }
    while days_of(year + 1, 1, 1) <= days {
        year += 1;
    }
    year
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = clamped(days);
    let year = year_of(days);
    let mut left = days - days_of(year, 1, 1);
    let mut month = 1;
    while left >= length(year, month) {
        left -= length(year, month);
        month += 1;
    }
    (year, month, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_since_1970_and_back() {
        for (date, days) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-02-29", 11_016.0),
            ("2024-12-31", 20_088.0),
            ("0001-01-01", -719_162.0),
            ("9999-12-31", 2_932_896.0),
        ] {
            assert_eq!(parse(date), Some(days), "{date}");
            assert_eq!(text(days), date);
        }
        assert_eq!(parse("1970-01-02T12:00:00Z"), Some(1.5));
        assert_eq!(parse("1970-01-02 00:30:00.500+00:30"), Some(1.0 + 0.5 / 86_400.0));
        for wrong in
            ["2019-02-29", "2019-13-01", "2019-1-1", "20190101", "2019-01-01x", "2019", "12-01-2019", ""]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_year_is_a_number_and_a_circle() {
        assert_eq!(year(parse("2019-01-01").unwrap()), 2019.0);
        assert_eq!(year(parse("2020-07-02").unwrap()), 2020.5);
        let [sin, cos, monday_sin, monday_cos] = cycles(parse("2018-01-01").unwrap());
        assert_eq!((sin, cos, monday_sin, monday_cos), (0.0, 1.0, 0.0, 1.0));
    }
}
