//! Claims about runs, each checked from outside.
mod audit;
mod config;
mod corners;
mod curriculum;
mod runs;
mod sets;
mod spectral;
