//! Claims about runs, each checked from outside.
mod audit;
mod config;
mod corners;
mod curriculum;
mod learned_edges;
mod runs;
mod sets;
mod spectral;
