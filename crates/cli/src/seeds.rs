//! The seed of what there is one of.

use std::str::FromStr;

use edgepace_lab::Seeds;

/// One seed, as a graph file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OneSeed(pub(crate) u64);

impl FromStr for OneSeed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<Seeds>()?.as_slice() {
            [seed] => Ok(Self(*seed)),
            _ => Err("expected one seed: here is one graph to make, not one per seed".to_owned()),
        }
    }
}
