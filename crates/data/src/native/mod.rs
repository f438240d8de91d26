//! A dataset in one file of our own (`.graph`), which opens in no time at any size.
//!
//! The layout is that of [safetensors](https://github.com/huggingface/safetensors): 8 bytes with the length of the
//! header, the header as JSON padded to a multiple of 8, then the sections one after the other, those of 8-byte numbers
//! first, then of 4, then of 1: every section is aligned for its numbers and is used where it lies, without a copy. Any
//! program that reads safetensors reads the sections:
//!
//! | section | numbers | |
//! | --- | --- | --- |
//! | `graph.offsets`, `graph.sources`, `graph.twins` | U64, U32, U32 | as [`Graph`](edgepace_graph::Graph) has them; twins only if there are any |
//! | `features.values` | F32, rows × columns | dense features |
//! | `features.offsets`, `features.columns`, `features.values` | U64, U32, F32 | sparse features |
//! | `labels` | U32 or U8, nodes × labels | one class per node, or many binary labels |
//! | `split.0.train`, `split.0.validation`, `split.0.test`, … | U32 | one triple per split |
//! | `edge.0`, … | F32 | one per edge column |
//! | `node_names.offsets`, `node_names.bytes`, `class_names.…`, `feature_names.…` | U64, U8 | [`Names`](edgepace_graph::Names) |
//! | `encoding` | U8 | how columns of a table became the features: text in UTF-8 |
//!
//! `__metadata__` holds `format` (`edgepace-graph`), `version`, `info` ([`Info`] as JSON), `sections` (a digest per
//! section, as JSON) and `header_sha256` (SHA-256 of the whole header with these 64 digits as zeros). The digest of a
//! section is the SHA-256 of the SHA-256s of its blocks of 16 MiB, so that several threads can share the work.
//!
//! Files are little endian with 64-bit offsets; machines of another kind refuse them.

mod guard;
mod header;
mod open;
mod save;

pub use guard::{check_unchanged, mapped_file_at};
pub use header::{FeatureInfo, Info, LabelInfo, SplitInfo};
pub use open::{Native, READ_WHOLE};
pub use save::{save, save_with_record};

/// The version that this program writes; it reads this one and those before.
pub(crate) const VERSION: u32 = 1;
