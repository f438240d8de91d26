//! What readers, generator, noise and splits promise, on small files; `../real.rs` has the real ones.

#![allow(clippy::disallowed_methods, reason = "a test may compare with the system's library")]

mod columns;
mod export;
mod fetch;
mod generate;
mod import;
mod layouts;
mod lies;
mod native;
mod noise;
#[cfg(feature = "parquet")]
#[path = "../shared/parquet_file.rs"]
mod parquet_file;
mod registry;
mod samples;
mod splits;
