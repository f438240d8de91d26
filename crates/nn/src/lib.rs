//! How a GNN learns: kernels, layers with exact gradients, losses, optimiser.
//!
//! A [`Model`] is two graph convolutions and a decoder on one graph. It is trained step by step, takes new edge weights
//! at any time, and gives gradients by parameters, inputs and edge weights. Results are the same bits for any number of
//! [`Threads`], and after the first epoch nothing is allocated.
//!
//! ```
//! use std::sync::Arc;
//! use edgepace_graph::{Classes, DenseFeatures, Features, Graph, Labels};
//! use edgepace_nn::{Adam, AdamConfig, Backbone, Metric, Model, ModelConfig, Task, Threads};
//!
//! // Two triangles that one edge joins; a node's class is its triangle.
//! let graph = Arc::new(Graph::undirected(6, &[0, 1, 2, 3, 4, 5, 2], &[1, 2, 0, 4, 5, 3, 3])?);
//! let features = Arc::new(Features::from(DenseFeatures::new(6, 1, vec![1.0, 0.2, 0.1, -0.1, -0.2, -1.0])?));
//! let labels = Arc::new(Labels::from(Classes::new(2, vec![0, 0, 0, 1, 1, 1])?));
//! let task = Task::new(Arc::clone(&labels), &[0, 5])?;
//!
//! let threads = Threads::new(1)?;
//! let config = ModelConfig::new(Backbone::Gcn);
//! let mut model = Model::<f32>::new(Arc::clone(&graph), features, 2, config, 0, &threads)?;
//! let mut adam = Adam::new(AdamConfig::default(), model.parameter_count())?;
//!
//! // Take the edge between the triangles out: weight 0 means that it is not there.
//! let joins = |edge: usize, target: u32| (graph.sources()[edge] < 3) != (target < 3);
//! let weights: Vec<f32> =
//!     graph.targets().iter().enumerate().map(|(e, &t)| if joins(e, t) { 0.0 } else { 1.0 }).collect();
//! model.set_edge_weights(&weights)?;
//! for epoch in 0..50 {
//!     model.train(&task, &mut adam, epoch)?;
//! }
//! assert_eq!(model.score(Metric::Accuracy, &labels, &[1, 2, 3, 4])?, Some(1.0));
//! # Ok::<(), edgepace_nn::NnError>(())
//! ```

// Shared with the other crates, and known here as if they were our own.
use edgepace_graph::{meter, simd, threads};

mod adam;
mod belief;
mod config;
mod dropout;
mod edge_matrix;
mod edge_network;
mod error;
mod evaluation;
mod fold;
mod footprint;
mod inputs;
mod kernels;
mod layer_norm;
mod layers;
mod memory;
mod metric;
mod model;
mod outputs;
mod parameters;
mod real;
mod structure;
mod tall;
mod task;

pub use edgepace_graph::meter::{KernelKind, Meter, Work};
pub use edgepace_graph::{Threads, with_simd};

pub use adam::{Adam, AdamConfig, Decay};
pub use belief::Beliefs;
pub use config::{Backbone, ModelConfig};
pub use edge_matrix::EdgeMatrix;
pub use edge_network::EdgeNetwork;
pub use error::NnError;
pub use evaluation::Evaluation;
pub use footprint::{Extent, Footprint, edge_matrix_bytes, edge_network_bytes};
pub use inputs::Input;
pub use metric::{CALIBRATION_BINS, Logits, Metric, expected_calibration_error, fit_temperature, roc_auc};
pub use model::{Extra, Layers, Model, StructureId, mean_log_degree};
pub use outputs::{argmax, sigmoid, softmax};
pub use parameters::Parameter;
pub use real::Real;
pub use tall::{Packed, add_product, gram, tall_product};
pub use task::Task;
