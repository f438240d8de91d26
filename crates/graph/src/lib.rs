//! What a graph is: edges with stable ids, features, labels, splits, and their validation.
