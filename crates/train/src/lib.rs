//! One run: spec → run → record; the methods, the loop, what it leaves behind.
//!
//! A [`RunConfig`] is what a person writes. [Checked](RunConfig::check), and with data and a seed, it is a [`RunSpec`], whose
//! id stands for the result to the last bit. A [`Run`] advances epoch by epoch and can be saved and resumed; [`train`]
//! does all of it in one call. What is [`Finished`] has a [`RunRecord`], a model that can be
//! [written](Finished::write_model), and what was learned about each edge, for an [`Audit`] or an [`EdgeTable`]. The labels
//! of test nodes are the [`Judge`]'s alone, who is asked once, at the end.
//!
//! ```
//! use edgepace_graph::{Classes, Dataset, DenseFeatures, Features, Graph, Labels, Split, Threads};
//! use edgepace_train::{Audit, RunConfig, Silent, train};
//!
//! // Two triangles that one edge joins; a node's class is its triangle.
//! let graph = Graph::undirected(6, &[0, 1, 2, 3, 4, 5, 2], &[1, 2, 0, 4, 5, 3, 3])?;
//! let features = Features::from(DenseFeatures::new(6, 1, vec![1.0, 0.8, 0.6, -0.6, -0.8, -1.0])?);
//! let labels = Labels::from(Classes::new(2, vec![0, 0, 0, 1, 1, 1])?);
//! let split = Split::new("ends", 6, vec![0, 5], vec![1, 4], vec![2, 3])?;
//! let dataset = Dataset::new("triangles", graph, features, labels, vec![split.clone()])?;
//!
//! // The curriculum on a GCN, seed 0, with nobody listening.
//! let threads = Threads::new(1)?;
//! let config = RunConfig::parse("method = 'rcl'\nbackbone = 'gcn'\nepochs = 50")?;
//! let finished = train(&dataset, &split, &config, 0, &threads, &mut Silent)?;
//! assert_eq!(finished.record.result.test, Some(100.0), "percent");
//!
//! // The edge between the triangles has least to support it.
//! let report = finished.edges.expect("the curriculum knows each edge");
//! let audit = Audit::new(&threads, &dataset, &report)?;
//! let bridge = dataset.graph().edge_id(2, 3).expect("an edge") as usize;
//! assert_eq!(audit.suspicion[bridge], 1.0);
//! # Ok::<(), edgepace_train::TrainError>(())
//! ```

// Each module uses those above it alone; `tests/train/house.rs` holds that.
mod advice;
mod audit;
mod calibration;
mod candidates;
mod checkpoint;
mod choose;
mod compare;
mod config;
mod dropping;
mod edge_table;
mod error;
mod event;
mod features_from;
mod fit;
mod ground;
mod learner;
mod linalg;
mod loss;
mod material;
mod memory;
mod methods;
mod model_file;
mod network;
mod pool;
mod predict;
mod prepare;
mod record;
mod registry;
mod restart;
mod run;
mod scoring;
mod search;
mod search_kind;
mod setting;
mod shelf;
mod snapshot;
mod space;
mod spec;
mod state;
mod table_file;
mod tensor_file;
mod trained;
mod warning;
mod window;
mod word_counts;

pub use audit::{Audit, Detection, Reasons};
pub use calibration::Calibration;
pub use checkpoint::{read_checkpoint, write_checkpoint};
pub use choose::Trial;
pub use config::{Keep, RUN_SETTINGS, RunConfig};
pub use edge_table::{EdgeFile, EdgeRow, EdgeTable, class_name, listed};
pub use error::TrainError;
pub use event::{Event, Listener, Phase, Silent};
pub use features_from::{FeaturesFrom, UsedFeatures};
pub use fit::Curve;
pub use ground::{DecayOn, EpochRule, Ground, WINDOW};
pub use learner::{Epoch, Evaluated, Learner, Recipe, Start, StructureChange, WarmStart};
pub use linalg::{Operator, Svd, SvdConfig, truncated_svd};
pub use loss::node_losses;
pub use material::{Judge, Material};
pub use memory::{available_bytes, peak_bytes};
pub use model_file::{Beginning, ExpertHeader, ModelHeader, SavedModel};
pub use pool::{Expert, PooledExpert};
pub use predict::probabilities;
pub use prepare::{Fitted, Preparation};
pub use record::{DataRecord, Kept, RECORD_SCHEMA, RunRecord, RunResult, SearchCost, SplitSizes};
pub use registry::{Group, METHODS, MethodInfo, find as find_method};
pub use run::{Finished, Run, train};
pub use scoring::Scores;
pub use search_kind::Search;
pub use setting::Setting;
pub use shelf::Shelf;
pub use snapshot::{EdgeReport, SavedBeliefs, SavedStructure, Snapshot};
pub use spec::{CheckedConfig, NUMERICS, RunSpec};
pub use state::{Numbers, State};
pub use table_file::{Cells, Column, TableFormat, write_table, write_table_to};
pub use warning::Warning;
