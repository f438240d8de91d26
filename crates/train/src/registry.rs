//! Every method by name: what it is called, what can be set, and how it starts.

use std::sync::Arc;

use edgepace_graph::{Refusal, nearest};
use serde::Serialize;
use toml::Table;

use crate::candidates::{Candidates, Experts};
use crate::config::{Keep, RUN_SETTINGS, RunConfig, to_table};
use crate::error::TrainError;
use crate::learner::Recipe;
use crate::methods::vanilla::Vanilla;
use crate::methods::{
    auto, belief, drop_edge, gnn_svd, label_propagation, neural_sparse, nodes, pro_gnn, prune, ptdnet, rcl,
};
use crate::setting::Setting;

/// Checks the settings of a config and makes the method's recipe of them.
type MakeRecipe = fn(&RunConfig) -> Result<Arc<dyn Recipe>, TrainError>;

/// The settings of a config's method where the config sets none, as TOML has them.
type Defaults = fn(&RunConfig) -> Result<Table, TrainError>;

/// What a method chooses among on validation, if the config leaves it the choice.
type ListCandidates = fn(&RunConfig) -> Option<Candidates>;

/// What a method pools.
type ListExperts = fn(&RunConfig) -> Result<Experts, TrainError>;

/// What a method is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// To be used.
    Use,
    /// To be compared with.
    Compare,
    /// One of the above without, or with another, part: to learn what that part is worth.
    Ablation,
}

/// A method by name.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MethodInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub group: Group,
    /// The backbones that it works with.
    pub backbones: &'static [&'static str],
    /// One line on what it does.
    pub summary: &'static str,
    /// The names of its presets, the default first.
    pub presets: &'static [&'static str],
    /// Whether it says of each edge how far it trusts it, so that an audit can take that up.
    pub orders_edges: bool,
    /// Whether the run may leave random edges out of its training steps (`drop_edge`).
    #[serde(skip)]
    pub(crate) drops_edges: bool,
    /// What it keeps by default where it has a warm start: methods to compare with keep what they made themselves.
    #[serde(skip)]
    pub keeps: Keep,
    /// Its settings.
    pub settings: &'static [Setting],
    #[serde(skip)]
    defaults: Defaults,
    /// What to do where it needs more memory than there is.
    #[serde(skip)]
    pub(crate) to_save_memory: &'static str,
    #[serde(skip)]
    candidates: Option<ListCandidates>,
    #[serde(skip)]
    experts: Option<ListExperts>,
    #[serde(skip)]
    recipe: MakeRecipe,
}

impl MethodInfo {
    /// The default of each setting; one that is unset by default is not in it.
    ///
    /// # Errors
    /// A default that TOML cannot write.
    pub fn defaults(&self) -> Result<Table, TrainError> {
        self.defaults_of(&RunConfig { method: self.name.into(), ..RunConfig::default() })
    }

    /// The same beside the preset of a config.
    pub(crate) fn defaults_of(&self, config: &RunConfig) -> Result<Table, TrainError> {
        (self.defaults)(config)
    }

    /// What a config leaves it to choose among on validation; none where there is nothing to choose.
    pub(crate) fn candidates(&self, config: &RunConfig) -> Option<Candidates> {
        (self.candidates?)(config)
    }

    /// What it pools; none where it pools nothing.
    ///
    /// # Errors
    /// As [`MethodInfo::recipe`].
    pub(crate) fn experts(&self, config: &RunConfig) -> Result<Option<Experts>, TrainError> {
        let Some(experts) = self.experts else { return Ok(None) };
        self.check(config)?;
        experts(config).map(Some)
    }

    /// The recipe for the settings of a config, which are checked.
    ///
    /// # Errors
    /// A backbone that it does not work with, a preset that it does not have, or settings out of their range.
    pub(crate) fn recipe(&self, config: &RunConfig) -> Result<Arc<dyn Recipe>, TrainError> {
        self.check(config)?;
        (self.recipe)(config)
    }

    /// Refuses a backbone that it does not work with, a preset or a setting that it does not have.
    fn check(&self, config: &RunConfig) -> Result<(), TrainError> {
        let refuse = |field: &'static str, found: &str, expected: String| {
            Err(TrainError::refused(field, format!("`{found}`"), expected))
        };
        if !self.backbones.contains(&config.backbone.name()) {
            let expected = format!("{} for method {}", self.backbones.join(", "), self.name);
            return refuse("backbone", config.backbone.name(), expected);
        }
        if let Some(preset) = &config.preset
            && !self.presets.contains(&&preset[..])
        {
            if self.presets.is_empty() {
                return refuse("preset", preset, format!("none: method {} has no presets", self.name));
            }
            let what = format!("a preset of method {}", self.name);
            return Err(Refusal::unknown("preset", preset, &what, self.presets.iter().copied()).into());
        }
        let known = |key: &str| self.settings.iter().any(|setting| setting.name == key);
        if let Some(key) = config.settings.keys().find(|key| !known(key)) {
            return Err(self.unknown_setting(key));
        }
        Ok(())
    }
}

impl MethodInfo {
    /// Whoever mistyped a setting of the run must not look for it among the method's alone.
    fn unknown_setting(&self, key: &str) -> TrainError {
        let names = |settings: &'static [Setting]| settings.iter().map(|setting| setting.name);
        let all = names(self.settings).chain(names(RUN_SETTINGS));
        let reason = if let Some(near) = nearest(key, all) {
            format!("method {} and the run have no such setting: did you mean `{near}`?", self.name)
        } else {
            let list = |settings| names(settings).collect::<Vec<_>>().join(", ");
            let own = if self.settings.is_empty() { "none".to_owned() } else { list(self.settings) };
            let (name, run) = (self.name, list(RUN_SETTINGS));
            format!("there is no such setting: those of method {name} are {own}, those of the run {run}")
        };
        TrainError::Settings { field: key.to_owned(), reason }
    }
}

const EVERY_BACKBONE: &[&str] = &["gcn", "gin", "sage", "pna", "mlp"];
const GRAPH_BACKBONES: &[&str] = &["gcn", "gin", "sage", "pna"];

/// Plain training: what every other entry says is where it differs.
const PLAIN: MethodInfo = MethodInfo {
    name: "vanilla",
    group: Group::Compare,
    backbones: EVERY_BACKBONE,
    summary: "plain training on all edges",
    presets: &[],
    orders_edges: false,
    drops_edges: true,
    keeps: Keep::Method,
    settings: &[],
    defaults: |_| Ok(Table::new()),
    to_save_memory: "a smaller `hidden`",
    candidates: None,
    experts: None,
    recipe: |config| Ok(Arc::new(Vanilla::of(config))),
};

/// The curriculum over edges, and the same without one of its parts.
const fn curriculum(name: &'static str, summary: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        group: Group::Ablation,
        backbones: GRAPH_BACKBONES,
        summary,
        presets: rcl::SINGLE_PRESETS,
        orders_edges: true,
        settings: rcl::SETTINGS,
        defaults: rcl::defaults,
        recipe: rcl::recipe,
        ..PLAIN
    }
}

/// A curriculum over training nodes.
const fn node_curriculum(
    name: &'static str,
    summary: &'static str,
    (settings, defaults): (&'static [Setting], Defaults),
    recipe: MakeRecipe,
) -> MethodInfo {
    MethodInfo { name, summary, settings, defaults, recipe, ..PLAIN }
}

/// A method that learns a structure or makes one of its own.
const fn structure_learning(
    name: &'static str,
    summary: &'static str,
    settings: (&'static [Setting], Defaults),
    recipe: MakeRecipe,
) -> MethodInfo {
    let method = node_curriculum(name, summary, settings, recipe);
    MethodInfo { backbones: GRAPH_BACKBONES, orders_edges: true, drops_edges: false, ..method }
}

/// Plain training on the edges that look best.
const fn pruning(name: &'static str, summary: &'static str, recipe: MakeRecipe) -> MethodInfo {
    let settings = (prune::SETTINGS, prune::defaults as Defaults);
    MethodInfo { candidates: Some(prune::candidates), ..structure_learning(name, summary, settings, recipe) }
}

/// Every method.
pub const METHODS: &[MethodInfo] = &[
    PLAIN,
    MethodInfo { name: "mlp", summary: "plain training without any edge", drops_edges: false, ..PLAIN },
    MethodInfo {
        group: Group::Use,
        presets: rcl::PRESETS,
        keeps: Keep::Best,
        candidates: Some(rcl::candidates),
        to_save_memory: "preset `edgepace`, or a smaller `hidden`",
        ..curriculum("rcl", "Relational Curriculum Learning: well-expected edges first")
    },
    MethodInfo {
        name: "auto",
        group: Group::Use,
        backbones: GRAPH_BACKBONES,
        summary: "mlp, plain training, rcl, belief and label propagation as one answer, each trusted as far as validation says",
        orders_edges: true,
        settings: auto::SETTINGS,
        defaults: auto::defaults,
        experts: Some(auto::experts),
        ..PLAIN
    },
    MethodInfo {
        group: Group::Use,
        orders_edges: true,
        to_save_memory: "a method that trains a network, as `vanilla`",
        candidates: Some(belief::candidates),
        ..node_curriculum(
            "belief",
            "belief propagation: what an edge-free model says, told along edges",
            (belief::SETTINGS, belief::defaults),
            belief::recipe,
        )
    },
    MethodInfo {
        to_save_memory: "a method that trains a network, as `vanilla`",
        ..node_curriculum(
            "label-propagation",
            "label propagation: what the labels of training nodes say along edges, without features",
            (label_propagation::SETTINGS, label_propagation::defaults),
            label_propagation::recipe,
        )
    },
    MethodInfo {
        orders_edges: false,
        to_save_memory: "a smaller `rank` or `density`",
        ..structure_learning(
            "gnn-svd",
            "plain training on a low-rank reconstruction of the graph",
            (gnn_svd::SETTINGS, gnn_svd::defaults),
            gnn_svd::recipe,
        )
    },
    MethodInfo {
        backbones: &["gcn", "gin", "sage"],
        to_save_memory: "method `pro-gnn-sparse`",
        ..structure_learning(
            "pro-gnn",
            "Pro-GNN: a sparse, low-rank, smooth matrix of all pairs",
            (pro_gnn::DENSE_SETTINGS, pro_gnn::dense_defaults),
            pro_gnn::dense,
        )
    },
    MethodInfo {
        to_save_memory: "fewer `neighbours`",
        ..structure_learning(
            "pro-gnn-sparse",
            "Pro-GNN on the edges and neighbours by features",
            (pro_gnn::SPARSE_SETTINGS, pro_gnn::sparse_defaults),
            pro_gnn::sparse,
        )
    },
    structure_learning(
        "neural-sparse",
        "NeuralSparse: each node learns which k neighbours to keep",
        (neural_sparse::SETTINGS, |_| to_table(&neural_sparse::Settings::default())),
        neural_sparse::recipe,
    ),
    structure_learning(
        "ptdnet",
        "PTDNet: each layer learns gates on its edges",
        (ptdnet::SETTINGS, |_| to_table(&ptdnet::Settings::default())),
        ptdnet::recipe,
    ),
    node_curriculum(
        "clnode",
        "CLNode: training nodes with clear neighbourhoods first",
        (nodes::CLNODE_SETTINGS, nodes::clnode_defaults),
        nodes::clnode,
    ),
    node_curriculum(
        "node-linear",
        "training nodes of small loss first, their number grows with t",
        (nodes::NODE_SETTINGS, nodes::node_defaults),
        nodes::linear,
    ),
    node_curriculum(
        "node-root",
        "training nodes of small loss first, their number grows with √t",
        (nodes::NODE_SETTINGS, nodes::node_defaults),
        nodes::root,
    ),
    MethodInfo {
        orders_edges: false,
        candidates: Some(drop_edge::candidates),
        ..structure_learning(
            "drop-edge",
            "DropEdge: random edges are left out of each epoch",
            (drop_edge::SETTINGS, drop_edge::defaults),
            drop_edge::recipe,
        )
    },
    pruning("prune-features", "plain training without edges of dissimilar ends", prune::by_features),
    pruning("prune-overlap", "plain training without edges of few common neighbours", prune::by_overlap),
    curriculum("curriculum-linear", "rcl whose edges grow with t"),
    curriculum("curriculum-root", "rcl whose edges grow with √t"),
    curriculum("random", "rcl with edges in random order"),
    curriculum("random-linear", "random order, edges grow with t"),
    curriculum("random-root", "random order, edges grow with √t"),
    curriculum("rcl-no-appearance", "rcl without ψ, how often an edge was in"),
    curriculum("rcl-no-confidence", "rcl without ρ, how sure a node is"),
    curriculum("rcl-no-pretrain", "rcl from isolated nodes, without a warm start"),
];

/// The method of that name.
///
/// # Errors
/// There is none; the name that was probably meant is suggested, or all are listed.
pub fn find(name: &str) -> Result<&'static MethodInfo, TrainError> {
    let names = METHODS.iter().map(|method| method.name);
    let found = METHODS.iter().find(|method| method.name == name);
    found.ok_or_else(|| Refusal::unknown("method", name, "a method", names).into())
}
