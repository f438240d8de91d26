//! Claims about runs, each checked from outside.
mod audit;
mod bits;
mod config;
mod corners;
mod curriculum;
mod files;
mod house;
mod learned_edges;
mod limits;
mod methods;
mod no_network;
mod pro_gnn;
mod pruning;
mod resume;
mod runs;
mod sets;
mod spectral;
