//! How a GNN learns: kernels, layers with exact gradients, losses, optimiser.
