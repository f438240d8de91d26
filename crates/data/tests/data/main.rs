//! What readers, generator, noise and splits promise, on small files and, where they are there, on the real ones.

mod export;
mod fetch;
mod files;
mod generate;
mod import;
mod native;
mod noise;
mod real;
mod registry;
mod samples;
mod splits;
