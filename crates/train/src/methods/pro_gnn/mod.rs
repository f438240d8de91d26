//! Pro-GNN (Jin et al., «Graph Structure Learning for Robust Graph Neural Networks», KDD 2020): a graph S is learned together
//! with the model. Over S and θ it minimises
//!
//!   γ · L_GNN(S, X; θ) + δ ‖S − A‖_F² + α ‖S‖₁ + β ‖S‖_* + λ · ½ Σ_ij S_ij ‖x_i/√d_i − x_j/√d_j‖²,
//!
//! S symmetric with entries in [0, 1], d_i = 1 + Σ_j S_ij. A holds what edges weigh, from 0 to 1 as the entries of S; of two
//! directions that weigh differently the heavier. Every epoch is a step on θ; every `inner` epochs S takes one too:
//! along the gradient of the smooth terms, then the proximal steps of ‖·‖_* (singular values shrink) and ‖·‖₁ (entries
//! shrink), then the clamp. The gradient of L_GNN by S is that of the step on θ: one backward pass serves both.
//!
//! - [`dense`]: S is a whole matrix, as in the paper. - [`sparse`]: S lives on the edges and the nearest neighbours by features.

mod dense;
mod neighbours;
mod proximal;
mod settings;
mod smoothness;
mod sparse;
mod terms;
#[cfg(test)]
mod tests;

pub(crate) use dense::{SETTINGS as DENSE_SETTINGS, defaults as dense_defaults, recipe as dense};
pub(crate) use sparse::{SETTINGS as SPARSE_SETTINGS, defaults as sparse_defaults, recipe as sparse};
