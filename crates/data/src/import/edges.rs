//! Edges by the names of their ends, one after the other.

use std::path::{Path, PathBuf};

use super::ids::{Ids, Named, names_or_numbers};
use crate::error::{excerpt, format_error};
use crate::{DataError, Place};

/// Edges between numbered nodes, as a file lists them.
#[derive(Debug)]
pub(crate) struct EdgeTable {
    pub(crate) sources: Vec<u32>,
    pub(crate) targets: Vec<u32>,
    /// One per edge, if the file has weights.
    pub(crate) weights: Option<Vec<f32>>,
    /// What the file calls the nodes.
    pub(crate) ids: Ids,
}

/// Collects edges whose ends are names, for readers that meet them one by one.
pub(crate) struct EdgeBuilder {
    file: PathBuf,
    /// The nodes, when a table of nodes says which there are.
    known: Option<Ids>,
    named: Named,
    sources: Vec<u32>,
    targets: Vec<u32>,
}

impl EdgeBuilder {
    pub(crate) fn new(file: &Path, known: Option<Ids>) -> EdgeBuilder {
        let (sources, targets) = (Vec::new(), Vec::new());
        EdgeBuilder { file: file.to_owned(), known, named: Named::default(), sources, targets }
    }

    /// Adds an edge; `place` says where a name that is no node's was found.
    pub(crate) fn push(
        &mut self,
        source: &[u8],
        target: &[u8],
        place: impl Fn() -> Place,
    ) -> Result<(), DataError> {
        let source = self.number(source, &place)?;
        let target = self.number(target, &place)?;
        self.sources.push(source);
        self.targets.push(target);
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.sources.len()
    }

    fn number(&mut self, name: &[u8], place: impl Fn() -> Place) -> Result<u32, DataError> {
        if std::str::from_utf8(name).is_err() {
            return Err(format_error(&self.file, place(), "a node id in UTF-8", excerpt(name)));
        }
        let number = match &self.known {
            Some(known) => known.number(name),
            None => self.named.intern(name),
        };
        number.ok_or_else(|| {
            format_error(&self.file, place(), "the id of a node", excerpt(name)).with_help(
                "every end of an edge must be in the table of nodes: add it there, or remove the edge",
            )
        })
    }

    /// The edges. Ids that are numbers keep their number (see [`names_or_numbers`]).
    pub(crate) fn finish(mut self, weights: Option<Vec<f32>>) -> EdgeTable {
        let ids = match self.known {
            Some(known) => known,
            None => names_or_numbers(self.named, &mut self.sources, &mut self.targets),
        };
        EdgeTable { sources: self.sources, targets: self.targets, weights, ids }
    }
}
