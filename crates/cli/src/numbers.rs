//! Numbers as one types them after a flag. What is no such number is answered with what is.

use std::str::FromStr;
use std::time::Duration;

/// A whole number from `low` to `high`.
pub(crate) fn whole<T>(low: T, high: T) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + std::fmt::Display + Copy + Send + Sync,
{
    move |text| match text.trim().parse::<T>() {
        Ok(number) if low <= number && number <= high => Ok(number),
        _ => Err(format!("expected a whole number from {low} to {high}")),
    }
}

/// A finite number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

/// A number of bytes: `4GB`, `500MB`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let units = [("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1.0)];
    let upper = text.trim().to_ascii_uppercase();
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((upper.strip_suffix(name)?, *unit)))
        .unwrap_or((&upper, 1.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * unit) as u64),
        _ => Err("expected a size as `4GB`, `500MB` or a number of bytes".to_owned()),
    }
}

/// A time span: seconds, or `90s`, `15m`, `2h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let units = [("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let (number, unit) =
        units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit))).unwrap_or((text, 1.0));
    match number.trim().parse::<f64>() {
        Ok(number) if number >= 0.0 && number * unit < 1e9 => Ok(Duration::from_secs_f64(number * unit)),
        _ => Err("expected a time as `90`, `90s`, `15m` or `2h`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read_as_one_types_them() {
        assert_eq!(bytes("4GB"), Ok(4_000_000_000));
        assert_eq!(bytes("1.5 mb"), Ok(1_500_000));
        assert_eq!(bytes("77"), Ok(77));
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_hours(2)));
        for wrong in ["", "x", "-1", "1d"] {
            assert!(bytes(wrong).is_err() && duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_out_of_their_range_are_answered_with_it() {
        let epochs = whole(1_u32, 1000);
        assert_eq!(epochs("1000"), Ok(1000));
        for wrong in ["0", "-5", "1001", "1.5", "many", ""] {
            assert_eq!(epochs(wrong), Err("expected a whole number from 1 to 1000".to_owned()), "{wrong}");
        }
        for wrong in ["0", "-1", "nan", "inf", "x"] {
            assert!(positive(wrong).is_err(), "{wrong}");
        }
    }
}
