//! Trains graph neural networks that learn *which edges to trust*, on the CPU, with the same bits on any number of threads.
//!
//! This crate has what most programs need, from loading through training to the audit of edges:
//!
//! ```
#![doc = include_str!("../examples/quick.rs")]
//! ```
//!
//! [`train()`] does the part from the split to [`Finished`] in one call. [`import`] reads files of one's own, and a
//! [`Dataset`] can be made of a [`Graph`], [`Features`] and [`Labels`] in memory. [`Finished::write_model`] keeps what was
//! trained, [`SavedModel`] predicts with it later.
//!
//! # All of it
//!
//! Everything else is in the crates that this one stands on:
//!
//! | module | what it is about |
//! | --- | --- |
//! | [`graph`] | what a graph is: edges with stable ids, features, labels, splits |
//! | [`data`] | where graphs come from: readers, downloads, import, generators, noise, splits |
//! | [`nn`] | how a GNN learns: layers with exact gradients, optimiser, metrics |
//! | [`curriculum`] | which edges, when |
//! | [`mod@train`] | one run: methods, checkpoints, records, model files, edge tables |
//! | [`lab`] | many runs: plans, folders that are safe to kill, statistics |

#[doc(no_inline)]
pub use edgepace_curriculum as curriculum;
#[doc(no_inline)]
pub use edgepace_data as data;
#[doc(no_inline)]
pub use edgepace_graph as graph;
#[doc(no_inline)]
pub use edgepace_lab as lab;
#[doc(no_inline)]
pub use edgepace_nn as nn;
#[doc(no_inline)]
pub use edgepace_train as train;

#[doc(inline)]
pub use edgepace_data::{Cache, Noise, SplitRule, import, load, splits};
#[doc(inline)]
pub use edgepace_graph::{
    Classes, Dataset, DenseFeatures, Features, Graph, Labels, SparseFeatures, Split, Threads,
};
#[doc(inline)]
pub use edgepace_nn::{Backbone, Metric};
#[doc(inline)]
pub use edgepace_train::{
    Audit, EdgeTable, Event, Finished, Judge, Material, Run, RunConfig, RunRecord, RunSpec, SavedModel,
    Shelf, listed, train,
};
