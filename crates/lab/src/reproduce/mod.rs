//! Every table and figure of the paper (Zhang et al.: Relational Curriculum Learning for Graph Neural Networks, NeurIPS 2023) as an experiment
//! of ours, beside the paper's figures.

mod curriculum;
mod drawings;
mod overview;
mod page;
mod paper;

use std::path::Path;

use crate::error::LabError;
use crate::experiment::{AsText, Experiment, ExperimentFile};
use crate::seeds::Seeds;
use crate::tables::{Measure, ResultTable, Results};

pub use curriculum::{Course, KINDS, courses, kind_of_edge};
pub use drawings::{Drawing, drawings};
pub use overview::overview;
pub use page::page;

/// A table or figure of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Reproduction {
    /// What `edgepace reproduce` calls it.
    pub name: &'static str,
    /// What of the paper it is.
    pub what: &'static str,
    /// The experiment file.
    plan: &'static str,
    /// What is measured.
    pub measure: Measure,
    /// The row that the paper is about.
    pub ours: &'static str,
    /// What a first look leaves in.
    quick: Quick,
}

/// A part of an experiment that takes minutes; what is empty is not restricted.
#[derive(Clone, Copy, Debug)]
struct Quick {
    seeds: &'static str,
    graphs: &'static [&'static str],
    backbones: &'static [&'static str],
    noise: &'static [&'static str],
}

const FEW: Quick = Quick { seeds: "0..2", graphs: &[], backbones: &[], noise: &[] };
const SMALL: &[&str] =
    &["synthetic-0.3", "synthetic-0.6", "synthetic-0.5", "synthetic-0.7", "Cora", "Citeseer"];

/// Methods that a first look leaves out: one training takes 100 times as long as plain training.
const SLOW: &[&str] = &["pro-gnn"];

/// Rows that are forms of one method; they are not compared with each other.
const FORMS: &[&str] = &["RCL", "Full", "RCL (paper's formulas)", "RCL (cosine)", "Auto"];

macro_rules! plan {
    ($name:literal) => {
        include_str!(concat!("../../plans/", $name, ".toml"))
    };
}

/// Every experiment, in the order of the paper.
pub const REPRODUCTIONS: &[Reproduction] = &[
    Reproduction {
        name: "table1",
        what: "Table 1: nine synthetic graphs, three backbones, seven methods",
        plan: plan!("table1"),
        measure: Measure::Test,
        ours: "RCL",
        quick: Quick { graphs: &["synthetic-0.3", "synthetic-0.5", "synthetic-0.7"], ..FEW },
    },
    Reproduction {
        name: "table2",
        what: "Table 2: nine real datasets, three backbones, seven methods",
        plan: plan!("table2"),
        measure: Measure::Test,
        ours: "RCL",
        quick: Quick { graphs: SMALL, ..FEW },
    },
    Reproduction {
        name: "robustness",
        what: "Figure: accuracy as fake edges are added; GCN, GIN, PNA",
        plan: plan!("robustness"),
        measure: Measure::Test,
        ours: "RCL",
        quick: Quick { backbones: &["gcn", "gin"], noise: &["", "fake=0.5", "fake=1"], ..FEW },
    },
    Reproduction {
        name: "ablation",
        what: "Table: the curriculum without, or with another, part",
        plan: plan!("ablation"),
        measure: Measure::Test,
        ours: "Full",
        quick: Quick { graphs: SMALL, ..FEW },
    },
    Reproduction {
        name: "curriculum",
        what: "Figure: share of easy, medium and hard edges over time",
        plan: plan!("curriculum"),
        measure: Measure::Test,
        ours: "RCL",
        quick: FEW,
    },
    Reproduction {
        name: "synthetic-data",
        what: "Figure: a drawing of the synthetic graph",
        plan: plan!("synthetic-data"),
        measure: Measure::Test,
        ours: "Vanilla",
        quick: FEW,
    },
    Reproduction {
        name: "heterophily",
        what: "Appendix: six heterophilic datasets; GCN, GIN",
        plan: plan!("heterophily"),
        measure: Measure::Test,
        ours: "RCL",
        quick: Quick { graphs: &["Texas", "Cornell", "Wisconsin", "Chameleon"], ..FEW },
    },
    Reproduction {
        name: "pna",
        what: "Appendix: the backbone PNA, and curricula over nodes",
        plan: plan!("pna"),
        measure: Measure::Test,
        ours: "RCL",
        quick: Quick { graphs: &["synthetic-0.3", "synthetic-0.5", "synthetic-0.7"], ..FEW },
    },
    Reproduction {
        name: "pna-robustness",
        what: "Appendix: PNA as fake edges are added",
        plan: plan!("pna-robustness"),
        measure: Measure::Test,
        ours: "RCL",
        quick: Quick { graphs: &["Cora"], noise: &["", "fake=0.9"], ..FEW },
    },
    Reproduction {
        name: "time",
        what: "Appendix: running time",
        plan: plan!("time"),
        measure: Measure::Seconds,
        ours: "RCL",
        quick: Quick { seeds: "100", graphs: &["synthetic", "Citeseer"], ..FEW },
    },
    Reproduction {
        name: "sensitivity",
        what: "Appendix: how fast edges come in, knob 1 to 5",
        plan: plan!("sensitivity"),
        measure: Measure::Test,
        ours: "",
        quick: FEW,
    },
    Reproduction {
        name: "smoothing",
        what: "Appendix: training loss with and without smoothing",
        plan: plan!("smoothing"),
        measure: Measure::Test,
        ours: "with smoothing",
        quick: FEW,
    },
];

/// The one of that name.
pub fn find_reproduction(name: &str) -> Option<&'static Reproduction> {
    REPRODUCTIONS.iter().find(|reproduction| reproduction.name == name)
}

impl Reproduction {
    /// The file that says what is run.
    ///
    /// # Errors
    /// A file that cannot be read, which its test rules out.
    pub fn file(&self) -> Result<ExperimentFile, LabError> {
        ExperimentFile::parse(Path::new(&format!("plans/{}.toml", self.name)), self.plan)
    }

    /// What is run. A first look (`quick`) is a part of it that takes minutes. Given seeds are counted from the first seed of
    /// the plan; cells that the plan limits have none beside those of their limit.
    ///
    /// # Errors
    /// A plan that no program of this version can run.
    pub fn experiment(&self, quick: bool, seeds: Option<&Seeds>) -> Result<Experiment, LabError> {
        let mut file = self.file()?;
        let first = file.seeds.as_slice().first().copied().unwrap_or(0);
        if quick {
            restrict(&mut file, &self.quick);
        }
        let experiment = file.check()?;
        let own: Option<Seeds> = self.quick.seeds.parse().ok();
        Ok(match (seeds, own.filter(|_| quick)) {
            (Some(seeds), _) => {
                let shifted = seeds.as_slice().iter().map(|seed| seed.saturating_add(first)).collect();
                Seeds::new(shifted).map_or(experiment.clone(), |seeds| experiment.with_seeds(&seeds))
            }
            (None, Some(few)) => experiment.with_seeds(&few),
            (None, None) => experiment,
        })
    }

    /// The table of what its runs came to, beside the paper's figures.
    pub fn table(&self, results: &Results) -> ResultTable {
        let of =
            |backbone: &str, method: &str, dataset: &str| paper::figure(self.name, backbone, method, dataset);
        let form = |name: &str| FORMS.contains(&name);
        ResultTable::new(results, of, |one, other| form(one) && form(other))
    }
}

fn restrict(file: &mut ExperimentFile, quick: &Quick) {
    let within = |list: &[&str], name: &str| list.is_empty() || list.contains(&name);
    file.graphs.retain(|graph| within(quick.graphs, &graph.name));
    file.methods.retain(|method| !SLOW.contains(&&method.method[..]));
    file.backbones.retain(|AsText(backbone)| within(quick.backbones, backbone.0.name()));
    file.noise.retain(|AsText(noise)| within(quick.noise, &noise.to_string()));
    // Limits on what is gone would be refused.
    let (graphs, methods): (Vec<String>, Vec<String>) = (
        file.graphs.iter().map(|graph| graph.name.clone()).collect(),
        file.methods.iter().map(|method| method.name.clone()).collect(),
    );
    let noise: Vec<String> = file.noise.iter().map(|noise| noise.0.to_string()).collect();
    let backbones: Vec<String> =
        file.backbones.iter().map(|backbone| backbone.0.0.name().to_owned()).collect();
    file.limits.retain_mut(|limit| {
        limit.graph.keep(&graphs)
            && limit.method.keep(&methods)
            && limit.noise.keep(&noise)
            && limit.backbone.keep(&backbones)
    });
}

#[cfg(test)]
mod tests;
