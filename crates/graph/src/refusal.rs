use std::borrow::Cow;
use std::fmt::Display;

use thiserror::Error;

use crate::nearest::nearest;

/// A setting or an input that is not legal: its name, what was given, and what is legal.
///
/// The errors of all crates carry it, so that a refusal reads the same wherever it comes from.
///
/// ```
/// use edgepace_graph::Refusal;
///
/// let refusal = Refusal::new("dropout", 1.5, "in [0, 1)");
/// assert_eq!(refusal.to_string(), "`dropout` is 1.5, expected in [0, 1)");
///
/// let refusal = Refusal::size("labels", 5, 14, "one per node");
/// assert_eq!(refusal.to_string(), "`labels` is of size 5, expected 14: one per node");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{field}` is {found}, expected {expected}")]
#[non_exhaustive]
pub struct Refusal {
    /// The setting or input.
    pub field: Cow<'static, str>,
    /// What was given.
    pub found: String,
    /// What is legal, and why where that is not plain.
    pub expected: Cow<'static, str>,
}

impl Refusal {
    /// A refusal of `found` as the value of `field`.
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        found: impl Display,
        expected: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { field: field.into(), found: found.to_string(), expected: expected.into() }
    }

    /// A refusal of a name that is not there. `what` says what it should name, as in "a method"; the name that was
    /// probably meant is suggested, and where none is near all are listed.
    ///
    /// ```
    /// use edgepace_graph::Refusal;
    ///
    /// let refusal = Refusal::unknown("colour", "rde", "a colour", ["red", "blue"]);
    /// assert_eq!(refusal.to_string(), "`colour` is `rde`, expected a colour: did you mean `red`?");
    /// ```
    pub fn unknown<'a>(
        field: impl Into<Cow<'static, str>>,
        found: &str,
        what: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let expected = match nearest(found, names.iter().copied()) {
            Some(near) => format!("{what}: did you mean `{near}`?"),
            None => format!("{what}: {}", names.join(", ")),
        };
        Self::new(field, format_args!("`{found}`"), expected)
    }

    /// A refusal of an input that does not fit another in size. `reason` says where the expected size comes from, as in
    /// "one per node".
    pub fn size(field: impl Into<Cow<'static, str>>, found: usize, expected: usize, reason: &str) -> Self {
        Self::new(field, format_args!("of size {found}"), format!("{expected}: {reason}"))
    }
}
