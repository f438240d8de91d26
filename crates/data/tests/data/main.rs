//! What readers, generator, noise and splits promise, on small files and, where they are there, on the real ones.

mod export;
mod files;
mod import;
mod native;
mod samples;
