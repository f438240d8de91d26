//! Claims about graphs and what belongs to them, one module per source file of the same name.

mod build;
mod dataset;
mod edge_lists;
mod features;
mod files;
mod graph;
mod labels;
mod selection;
mod split;
mod stats;
mod threads;
mod traced;
mod weights;
