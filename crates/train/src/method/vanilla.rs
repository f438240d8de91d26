//! Plain training: every edge, weight 1, from the first epoch to the last. With the backbone `mlp` it is the edge-free
//! control.

use crate::method::Method;

pub(crate) struct Vanilla;

impl Method for Vanilla {}
