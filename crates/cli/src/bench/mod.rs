//! What `edgepace bench` is made of: shapes of real graphs, what the machine can do, and the measurement.

pub(crate) mod export;
pub(crate) mod machine;
pub(crate) mod measure;
pub(crate) mod report;
pub(crate) mod shape;
