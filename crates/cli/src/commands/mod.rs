//! One file per command.

pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod limit;
pub(crate) mod methods;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod runs;
pub(crate) mod sweep;
pub(crate) mod train;
