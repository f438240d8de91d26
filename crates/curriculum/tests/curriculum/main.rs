//! Claims about curricula, through the public interface.

mod cases;
mod edge_cases;
mod evidence;
mod formulas;
mod gradients;
mod paces;
mod repeat;
mod settings;
