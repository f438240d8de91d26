//! Claims about curricula, through the public interface.

#![allow(clippy::disallowed_methods, reason = "a test may compare with the system's library")]

mod cases;
mod edge_cases;
mod evidence;
mod formulas;
mod gradients;
mod paces;
mod repeat;
mod settings;
