//! What readers, generator, noise and splits promise, on small files and, where they are there, on the real ones.

#![allow(clippy::result_large_err, reason = "as in the crate itself")]

mod export;
mod files;
mod import;
mod native;
mod samples;
