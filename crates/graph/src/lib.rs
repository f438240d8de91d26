//! What a graph is: edges with stable ids, features, labels, splits, and their validation.
//!
//! Every type here is checked when it is made and cannot change afterwards: a [`Graph`], [`Features`],
//! [`Labels`], [`Split`] or [`Dataset`] that exists is correct. What is wrong with an input is told by a
//! [`GraphError`] that says where it was found and what to do about it.
//!
//! ```
//! use edgepace_graph::{Classes, Graph, check_weights, edge_homophily};
//!
//! // A triangle with a tail: 0 - 1 - 2 - 0 and 2 - 3.
//! let graph = Graph::undirected(4, &[0, 1, 2, 2], &[1, 2, 0, 3])?;
//! assert_eq!(graph.edges(), 8);
//!
//! // An edge's id is its position in the order by target and then source.
//! let edge = graph.edge_id(2, 3).expect("2 → 3 is an edge");
//! let twins = graph.twins().expect("every edge has its reverse");
//! assert_eq!(Some(twins[edge as usize]), graph.edge_id(3, 2));
//!
//! // Per-edge values are slices by edge id; a selection of edges is a smaller graph with a map back.
//! let mut weights = vec![1.0_f32; graph.edges()];
//! weights[edge as usize] = 0.0;
//! check_weights(&graph, &weights)?;
//! let kept = graph.select(|edge| weights[edge] > 0.0);
//! assert_eq!(kept.graph.edges(), 7);
//! assert!(!kept.edge_of.contains(&edge));
//!
//! let classes = Classes::new(2, vec![0, 0, 0, 1])?;
//! assert_eq!(edge_homophily(&graph, &classes), Some(0.75));
//! # Ok::<(), edgepace_graph::GraphError>(())
//! ```

mod buffer;
mod build;
pub mod bytes;
mod check;
mod dataset;
mod digest;
mod error;
mod features;
pub mod files;
mod graph;
mod labels;
pub mod meter;
mod names;
mod nearest;
pub mod random;
mod refusal;
mod scatter;
mod selection;
pub mod simd;
mod split;
mod stats;
pub mod threads;
mod traced;
mod weights;

pub use buffer::{Buffer, Keeper};
pub use check::check_edge_values;
pub use dataset::Dataset;
pub use digest::ContentHasher;
pub use error::GraphError;
pub use features::{DenseFeatures, Features, SparseFeatures};
pub use graph::{Dropped, Graph, Transpose};
pub use labels::{Classes, Labels, ManyLabels, UNLABELLED};
pub use names::Names;
pub use nearest::nearest;
pub use refusal::Refusal;
pub use selection::Compacted;
pub use simd::with_simd;
pub use split::Split;
pub use stats::{DegreeStats, GraphStats, edge_homophily};
pub use threads::{Columns, Threads};
pub use traced::{DROPPED, TracedGraph};
pub use weights::{MAX_EDGE_WEIGHT, WeightedGraph, check_weights, is_weight};
