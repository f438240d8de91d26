//! One file per format: each turns files as their authors wrote them into a dataset.

pub(crate) mod pickle;
pub(crate) mod planetoid;
