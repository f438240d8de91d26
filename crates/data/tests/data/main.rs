//! What readers, generator, noise and splits promise, on small files and, where they are there, on the real ones.

mod fetch;
#![allow(
    clippy::result_large_err,
    reason = "an error names file, place, expected, found and help; it is rare"
)]

mod files;
mod generate;
mod native;
mod noise;
mod registry;
mod samples;
mod splits;
