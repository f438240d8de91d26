//! Where graphs come from: readers, downloads, import, generator, noise, splits.
//!
//! [`load`] takes the name of a set of the [`registry`], of a [generator](mod@generate) or of a [graph file](native).
//! [`import`](import::import) reads tables of one's own, [`export`](export::export) writes them, and [`fetch`] downloads. What
//! is wrong with a file is told by a [`DataError`] that says where.
//!
//! ```
//! use edgepace_data::{Cache, Noise, SplitRule, load, splits};
//! use edgepace_graph::{Dataset, Threads};
//!
//! // A graph that is made; files of a set such as `cora` would be looked for in the cache.
//! let threads = Threads::new(2)?;
//! let dataset = load(&threads, "synthetic:homophily=0.3,nodes=300,edges=1800", &Cache::at("data"))?;
//! assert_eq!(dataset.graph().edges(), 3600, "both directions count");
//!
//! // Half of the nodes to learn from, a quarter to choose by, the rest to report on.
//! let rule: SplitRule = "fraction:0.5:0.25".parse()?;
//! let split = splits::make(&threads, &rule, &dataset, 0)?;
//! assert_eq!([split.train().len(), split.validation().len(), split.test().len()], [150, 75, 75]);
//!
//! // One fake edge for each true one. They are marked, so that one can see who finds them.
//! let noise: Noise = "fake=1".parse()?;
//! let noisy = noise.apply(&threads, dataset, None, 0)?;
//! let marks = noisy.edge_column(Dataset::FAKE).expect("the mark of fake edges");
//! assert_eq!(marks.iter().filter(|&&mark| mark == 1.0).count(), 3600);
//! # Ok::<(), edgepace_data::DataError>(())
//! ```

mod cache;
mod draw;
mod error;
mod expansion;
pub mod export;
pub mod fetch;
#[doc(hidden)]
pub mod fuzz;
pub mod generate;
pub mod import;
mod load;
pub mod native;
pub mod noise;
mod pairs;
mod readers;
pub mod registry;
mod spec;
pub mod splits;

#[cfg(test)]
#[path = "../tests/data/npz_files.rs"]
mod npz_files;
#[cfg(test)]
#[path = "../tests/data/pickles.rs"]
mod pickles;

pub use cache::{Cache, DATA_VARIABLE};
pub use error::{DataError, Place};
pub use expansion::set_max_expansion;
pub use generate::{Generator, generate};
pub use load::{Source, is_graph_file, load};
pub use native::Native;
pub use noise::Noise;
pub use splits::SplitRule;
