//! One file per format: each turns files as their authors wrote them into a dataset.

pub(crate) mod pickle;
pub(crate) mod planetoid;

#[cfg(test)]
#[path = "../../tests/common/pickles.rs"]
mod pickles;
