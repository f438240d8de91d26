//! What readers have in common.

pub(crate) use crate::error::excerpt;
