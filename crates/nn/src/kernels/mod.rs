//! The arithmetic: each kernel is one file with its formula, its cost and its order of summation.
//!
//! Matrices are row-major slices. Kernels allocate nothing, take their thread budget as an argument, and sum
//! each output in one fixed order, whatever the number of threads.

pub(crate) mod belief;
pub(crate) mod columns;
pub(crate) mod dense;
pub(crate) mod finish;
pub(crate) mod loss;
pub(crate) mod sddmm;
pub(crate) mod segment;
pub(crate) mod spmm;
