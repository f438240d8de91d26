//! Claims about runs, each checked from outside.
mod audit;
mod config;
mod corners;
mod curriculum;
mod pro_gnn;
mod runs;
mod sets;
mod spectral;
