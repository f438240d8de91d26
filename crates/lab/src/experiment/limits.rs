//! Exceptions: cells that have fewer seeds than the others, or none.

use edgepace_graph::nearest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ExperimentFile, schema};
use crate::error::LabError;
use crate::seeds::Seeds;
use crate::toml_text::Step;

/// Cells that have fewer seeds, or none; what is not named may be anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Names or datasets of graphs.
    #[serde(default)]
    pub graph: OneOrMany,
    /// Noise, as the list of noise has it.
    #[serde(default)]
    pub noise: OneOrMany,
    /// Splits, as the list of splits has them.
    #[serde(default)]
    pub split: OneOrMany,
    /// Backbones.
    #[serde(default)]
    pub backbone: OneOrMany,
    /// Names of methods, as tables or as `edgepace methods` have them.
    #[serde(default)]
    pub method: OneOrMany,
    /// Names of configs.
    #[serde(default)]
    pub config: OneOrMany,
    /// The seeds that these cells have.
    #[serde(default)]
    #[schemars(schema_with = "schema::seeds")]
    pub seeds: Option<Seeds>,
    /// Why these cells are left out.
    #[serde(default)]
    pub skip: Option<String>,
}

/// A name, or several; none: any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl OneOrMany {
    fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }

    /// Leaves what is known; false where there were names and none is left.
    pub(crate) fn keep(&mut self, known: &[String]) -> bool {
        let any = self.names().is_empty();
        *self = Self::Many(self.names().iter().filter(|name| known.contains(name)).cloned().collect());
        any || !self.names().is_empty()
    }

    /// Whether one of these is among them, or anything is.
    fn fits(&self, these: &[&str]) -> bool {
        let names = self.names();
        names.is_empty() || names.iter().any(|name| these.contains(&&name[..]))
    }
}

/// What a cell is called, in each way that a limit may name it.
pub(crate) struct CellNames<'a> {
    pub(crate) graph: [&'a str; 2],
    pub(crate) noise: &'a str,
    pub(crate) split: &'a str,
    pub(crate) backbone: &'a str,
    pub(crate) method: [&'a str; 2],
    pub(crate) config: &'a str,
}

impl Limit {
    /// Whether it is about that cell.
    pub(crate) fn fits(&self, cell: &CellNames<'_>) -> bool {
        self.graph.fits(&cell.graph)
            && self.noise.fits(&[cell.noise])
            && self.split.fits(&[cell.split])
            && self.backbone.fits(&[cell.backbone])
            && self.method.fits(&cell.method)
            && self.config.fits(&[cell.config])
    }
}

/// Refuses limits on what the experiment does not have, and those that say neither how many seeds nor why none.
pub(crate) fn check(file: &ExperimentFile) -> Result<(), LabError> {
    let graphs = file.graphs.iter().flat_map(|graph| [graph.name.clone(), graph.dataset.clone()]);
    let methods = file.methods.iter().flat_map(|method| [method.label(), method.method.clone()]);
    let own_splits = file.graphs.iter().filter_map(|graph| graph.split.as_ref());
    let known = [
        ("graph", graphs.collect::<Vec<String>>()),
        ("noise", file.noise.iter().map(|noise| noise.0.to_string()).collect()),
        ("split", file.splits.iter().chain(own_splits).map(|split| split.0.to_string()).collect()),
        ("backbone", file.backbones.iter().map(|backbone| backbone.0.to_string()).collect()),
        ("method", methods.collect()),
        ("config", file.configs.iter().map(|config| config.name.clone()).collect()),
    ];
    for (number, limit) in file.limits.iter().enumerate() {
        let at = |field: &str| format!("limits[{number}].{field}");
        if limit.seeds.is_some() == limit.skip.is_some() {
            let reason = "expected either `seeds`, or `skip` with the reason".to_owned();
            let way = [Step::Key("limits"), Step::Item(number)];
            return Err(file.wrong(&way, &at("seeds"), reason));
        }
        let lists = [&limit.graph, &limit.noise, &limit.split, &limit.backbone, &limit.method, &limit.config];
        for ((field, known), list) in known.iter().zip(lists) {
            let Some(name) = list.names().iter().find(|name| !known.contains(name)) else { continue };
            let named: Vec<&str> =
                known.iter().map(|name| &name[..]).filter(|name| !name.is_empty()).collect();
            let reason = match nearest(name, named.iter().copied()) {
                Some(near) => format!("this experiment has no {field} `{name}`: did you mean `{near}`?"),
                None => format!("this experiment has no {field} `{name}`, but {}", named.join(", ")),
            };
            let way = [Step::Key("limits"), Step::Item(number), Step::Key(field)];
            return Err(file.wrong(&way, &at(field), reason));
        }
    }
    Ok(())
}
