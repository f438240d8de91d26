//! Files as others publish them, one reader per layout.

pub(crate) mod geom_gcn;
pub(crate) mod gnn_benchmark;
pub(crate) mod heterophilous;
pub(crate) mod mat;
pub(crate) mod npz;
pub(crate) mod ogb;
pub(crate) mod parts;
pub(crate) mod pickle;
pub(crate) mod planetoid;
pub(crate) mod recognise;
pub(crate) mod text;
