//! Edges by the names of their ends, one after the other.

use std::path::{Path, PathBuf};

use super::Columns;
use super::ids::{Ids, Named, names_or_numbers};
use super::roles::find;
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

/// What is expected where a table of nodes does not have the end of an edge.
pub(crate) const NO_SUCH_NODE: &str = "the id of a node in the nodes table";

/// What tables call the two ends of an edge.
const PAIRS: [(&str, &str); 13] = [
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("head", "tail"),
    ("i", "j"),
    ("start", "end"),
    ("source", "destination"),
    ("origin", "destination"),
    ("citing", "cited"),
    ("subject", "object"),
    ("follower", "followee"),
];
/// The same beside a word that both have, as in `id1` and `id2`.
const ENDINGS: [(&str, &str); 4] = [("1", "2"), ("a", "b"), ("x", "y"), ("0", "1")];
/// Words that say nothing about which end it is.
const EMPTY_WORDS: [&str; 7] = ["id", "ids", "node", "vertex", "name", "key", "idx"];
const WEIGHT_NAMES: [&str; 3] = ["weight", "w", "weights"];
/// Columns among which ends are looked for.
const LOOKED_AT: usize = 64;

/// The words of a name in lower case: between blanks and marks, where capitals start, before digits.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let starts = (letter.is_uppercase() && before.is_lowercase())
            || (letter.is_ascii_digit() != before.is_ascii_digit());
        if starts || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && letter.is_alphanumeric()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether two columns are the source and the target by their names.
fn is_pair(source: &str, target: &str) -> bool {
    let (source, target) = (words(source), words(target));
    let rest = |words: &[String], others: &[String]| {
        let own = words.iter().filter(|word| !EMPTY_WORDS.contains(&&word[..]) && !others.contains(word));
        own.cloned().collect::<String>()
    };
    let pair = (&rest(&source, &target)[..], &rest(&target, &source)[..]);
    let common = source.iter().any(|word| target.contains(word));
    PAIRS.contains(&pair) || (common && ENDINGS.contains(&pair))
}

/// The columns that are the ends of edges by their names.
pub(crate) fn guess_ends(header: &[&str]) -> Option<(usize, usize)> {
    let columns = header.len().min(LOOKED_AT);
    let pairs = (0..columns).flat_map(|source| (0..columns).map(move |target| (source, target)));
    pairs
        .filter(|(source, target)| source != target)
        .find(|&(source, target)| is_pair(header[source], header[target]))
}

pub(crate) fn is_weight(name: &str) -> bool {
    WEIGHT_NAMES.iter().any(|weight| name.eq_ignore_ascii_case(weight))
}

/// The columns of a table of edges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) source: usize,
    pub(crate) target: usize,
    pub(crate) weight: Option<usize>,
}

impl Ends {
    /// As the user says, or by their names; what is left when only the ends are.
    pub(crate) fn of(file: &Path, header: &[&str], columns: &Columns) -> Result<Ends, DataError> {
        let told = |what: &str, name: &Option<String>| {
            name.as_ref().map(|name| find(file, header, what, name)).transpose()
        };
        let mut source = told("the source of the edges", &columns.source)?;
        let mut target = told("the target of the edges", &columns.target)?;
        let weight = match told("the weight of the edges", &columns.weight)? {
            Some(weight) => Some(weight),
            None => header.iter().position(|name| is_weight(name)),
        };
        if source.is_none()
            && target.is_none()
            && let Some(pair) = guess_ends(header)
        {
            (source, target) = (Some(pair.0), Some(pair.1));
        }
        let used = [source, target, weight];
        let is_value = |name: &str| columns.edge_values.iter().any(|value| value == name);
        let mut free = (0..header.len()).filter(|own| !used.contains(&Some(*own)) && !is_value(header[*own]));
        let needed = usize::from(source.is_none()) + usize::from(target.is_none());
        if free.clone().count() == needed {
            source = source.or_else(|| free.next());
            target = target.or_else(|| free.next());
        }
        match (source, target) {
            (Some(source), Some(target)) if source != target => Ok(Ends { source, target, weight }),
            _ => {
                Err(format_error(file, Place::Whole, ENDS_UNCLEAR, format!("the columns {}", listed(header)))
                    .with_help(NAME_THE_ENDS))
            }
        }
    }
}

/// What is expected where the ends of edges cannot be told from the names of columns.
pub(crate) const ENDS_UNCLEAR: &str =
    "two columns that are the ends of edges by their names, as `source` and `target`";
pub(crate) const NAME_THE_ENDS: &str = "set `source=…` and `target=…`";

/// Some names of columns for a message.
pub(crate) fn listed(header: &[&str]) -> String {
    let name = |name: &&str| name.escape_debug().take(40).collect::<String>();
    let some: Vec<String> = header.iter().take(8).map(name).collect();
    format!("{}{}", some.join(", "), if header.len() > 8 { ", …" } else { "" })
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
            format_error(&self.file, place(), NO_SUCH_NODE, excerpt(name))
                .with_help("add the node to the table or remove the edge")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_known_by_their_names_in_many_spellings() {
        for (header, ends) in [
            (&["source", "target"][..], Some((0, 1))),
            (&["w", "dst", "src"], Some((2, 1))),
            (&["from_node_id", "to_node_id", "time"], Some((0, 1))),
            (&["sourceNode", "targetNode"], Some((0, 1))),
            (&["id1", "id2"], Some((0, 1))),
            (&["node_1", "node_2", "x"], Some((0, 1))),
            (&["when", "user_a", "user_b"], Some((1, 2))),
            (&["citing_paper", "cited_paper"], Some((0, 1))),
            (&["i", "j"], Some((0, 1))),
            (&["a", "b"], None),
            (&["customer", "product", "price"], None),
        ] {
            assert_eq!(guess_ends(header), ends, "{header:?}");
        }
    }

    #[test]
    fn what_is_left_beside_the_weight_are_the_ends() {
        let of = |header: &[&str], columns: &Columns| Ends::of(Path::new("e.parquet"), header, columns);
        let plain = Columns::default();
        let ends = of(&["paper", "weight", "cites"], &plain).unwrap();
        assert_eq!((ends.source, ends.target, ends.weight), (0, 2, Some(1)));
        let error = of(&["date", "customer", "product"], &plain).unwrap_err().to_string();
        assert!(error.contains("date, customer, product") && error.contains("source="), "{error}");
        let told =
            Columns { source: Some("product".to_owned()), target: Some("customer".to_owned()), ..plain };
        let ends = of(&["date", "customer", "product"], &told).unwrap();
        assert_eq!((ends.source, ends.target), (2, 1));
    }
}
