//! Claims about statistics and tables of many runs.
mod statistics;
mod tables;
