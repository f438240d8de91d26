//! The program as its users meet it: what it prints, where, and with which exit code.

mod audit;
mod config;
mod data;
mod demo;
#[path = "../shared/folders.rs"]
mod folders;
mod grammar;
mod help;
mod import;
mod layouts;
mod limit;
mod mistakes;
#[path = "../../../data/tests/shared/parquet_file.rs"]
#[allow(dead_code, reason = "other tests write other types")]
mod parquet_file;
mod predict;
mod program;
mod report;
mod reproduce;
mod resume;
#[path = "../shared/stores.rs"]
mod stores;
mod sweep;
mod train;
mod warnings;
mod weights;
