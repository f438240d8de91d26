//! Files as others publish them, one reader per layout.

pub(crate) mod npz;
mod parts;
