//! Which edges, when: difficulty, mask, pace, weights, history.
//!
//! A [`Curriculum`] lets the edges of a graph into training from easy to hard (Relational Curriculum Learning, NeurIPS
//! 2023). It knows no neural network: it takes what a model makes of the nodes ([`Feedback`]: embeddings, logits, losses)
//! and gives edge weights. Per edge e = (i, j) and update t:
//!
//! 1. **Difficulty** R_e = (1 − κ_e)²: how far the edge is from being expected, by a [`Kernel`].
//! 2. **Pace**: the age parameter λ grows ([`Pace`]).
//! 3. **Mask** S_e ∈ [0, 1], the exact minimiser of β S R + λ (S − 1)² + γ/2 (S − S_prev)²; the edge is in when S_e ≥ ½.
//! 4. **Weights** π_e = ψ_e ρ_i ρ_j: ψ_e = t(e)/t for t(e) times in, ρ_i = e^(−loss_i) / max for training nodes and 1
//!    elsewhere.
//!
//! An undirected edge is decided about once ([`Pairs`]). Results are the same bits on any number of threads. A graph
//! without edges, of isolated nodes or of one node has empty updates.
//!
//! ```
//! use std::sync::Arc;
//!
//! use edgepace_curriculum::{Curriculum, CurriculumConfig, Feedback};
//! use edgepace_graph::{Graph, Threads};
//!
//! // Two triangles and an edge between them; the model thinks that each triangle is a class.
//! let graph = Arc::new(Graph::undirected(6, &[0, 1, 2, 3, 4, 5, 2], &[1, 2, 0, 4, 5, 3, 3])?);
//! let logits = [2., 0., 2., 0., 1., 0., 0., 1., 0., 2., 0., 2.];
//!
//! let epochs = 100;
//! let config = CurriculumConfig { period: 10, ..CurriculumConfig::posterior() };
//! let threads = Threads::new(2)?;
//! let mut curriculum = Curriculum::new(&threads, Arc::clone(&graph), None, &config, epochs, 0)?;
//! for epoch in 0..epochs {
//!     if curriculum.due(epoch) {
//!         curriculum.update(epoch, &Feedback::new().logits(&logits, 2).losses(&[0, 5], &[0.1, 0.1]))?;
//!     }
//!     let _train_with = curriculum.weights();
//! }
//!
//! // The edge between the triangles came in last, and weighs least.
//! let bridge = graph.edge_id(2, 3).unwrap() as usize;
//! let history = curriculum.history();
//! let pair = curriculum.pairs().pair_of()[bridge] as usize;
//! assert_eq!(history.first_epoch.iter().max(), Some(&history.first_epoch[pair]));
//! assert!(curriculum.weights().iter().all(|&weight| weight >= curriculum.weights()[bridge]));
//! assert_eq!(curriculum.selected(), graph.edges());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod curriculum;
mod each;
mod error;
mod evidence;
mod feedback;
mod footprint;
mod gradient;
mod history;
mod kernel;
mod mask;
mod math;
mod objective;
mod order;
mod pace;
mod pairs;
mod state;
mod weights;

pub use config::{
    Confidence, CurriculumConfig, EmbeddingSource, EvaluationGraph, Kernel, MaskForm, Order, Pace,
    ResidualTerm,
};
pub use curriculum::Curriculum;
pub use error::CurriculumError;
pub use evidence::trust::{Trust, trust};
pub use evidence::{Overlap, feature_similarity, neighbourhood_overlap};
pub use feedback::{Feedback, Outputs, Rows};
pub use history::{History, NEVER, UpdateRecord};
pub use kernel::evidence::EvidenceFit;
pub use mask::Steps;
pub use objective::Objective;
pub use pairs::Pairs;
pub use state::State;
