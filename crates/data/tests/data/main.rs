//! What readers, generator, noise and splits promise, on small files and, where they are there, on the real ones.

mod files;
mod native;
mod samples;
