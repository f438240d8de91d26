//! What many runs came to, as tables: collected from a store, compared, and written as CSV, Markdown and LaTeX.

mod collect;
mod compare;
mod csv;
mod grid;
mod latex;
mod markdown;
mod text;

pub use collect::{CellResult, Measure, Results, SeedValue};
pub(crate) use compare::is_met;
pub use compare::{PaperValue, ResultTable, TableCell};
pub use csv::csv;
pub use grid::grid_markdown;
pub use latex::latex;
pub use markdown::markdown;
pub use text::{cell_text, mark, number};
