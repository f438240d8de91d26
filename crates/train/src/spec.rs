//! From what a person writes to what runs: a [`RunConfig`] is checked once, before any data is read; with the material and a
//! seed it becomes a [`RunSpec`], which is complete and has an id.

use std::sync::Arc;

use edgepace_graph::bytes::{array, total};
use edgepace_graph::{ContentHasher, Labels};
use edgepace_nn::{Backbone, Metric};
use serde::Serialize;
use serde_json::Value;

use crate::candidates::{Candidate, Experts};
use crate::config::{Keep, RunConfig};
use crate::error::TrainError;
use crate::features_from::FeaturesFrom;
use crate::ground::{Ground, Situation};
use crate::learner::{Recipe, WarmStart};
use crate::material::Material;
use crate::memory::available_bytes;
use crate::methods::auto::WITH_LABELS;
use crate::methods::rcl;
use crate::methods::vanilla::Vanilla;
use crate::network::{NetworkBytes, snapshot_bytes};
use crate::pool::POOLING;
use crate::prepare::{Preparation, Profile};
use crate::registry::{self, MethodInfo};
use crate::search;
use crate::search_kind::Search;
use crate::space::Space;

/// Goes up with every change that moves a bit of a result; part of a run's id. The table in `tests/fixtures/bits.txt` notices.
/// 2: exponentials and logarithms are those of `libm` on every machine, which moved the confidence of edge curricula.
/// 3: means and deviations of features are of single precision, as model files keep them.
/// 4: what is done to features, and how they are stored, follows from their numbers; words get rows of length 1.
pub const NUMERICS: u32 = 4;

/// Settings that a run can take, found before any data is read.
#[derive(Clone, Debug)]
pub struct CheckedConfig {
    /// As it was written.
    asked: RunConfig,
    config: RunConfig,
    course: Course<CheckedConfig>,
}

/// What a run trains: settings of one recipe, or several.
#[derive(Clone, Debug)]
pub(crate) enum Course<T> {
    /// One recipe.
    One(Arc<dyn Recipe>),
    /// Several, of which the best on validation is kept, or one alone where there are no validation nodes.
    Best { candidates: Vec<(&'static str, T)>, alone: usize },
    /// Several, which answer together, or the best of which is picked.
    Pool { experts: Vec<(&'static str, T)>, pick: bool },
    /// What the settings' kind of search names.
    Search,
}

impl<T: Clone> Course<T> {
    /// The same with what `of` makes of each of several.
    fn map(&self, of: impl Fn(&T) -> T) -> Self {
        let each = |list: &[(&'static str, T)]| list.iter().map(|(label, one)| (*label, of(one))).collect();
        match self {
            Course::Best { candidates, alone } => {
                Course::Best { candidates: each(candidates), alone: *alone }
            }
            Course::Pool { experts, pick } => Course::Pool { experts: each(experts), pick: *pick },
            other => other.clone(),
        }
    }
}

impl RunConfig {
    /// Refuses what no run can do: settings out of range, an unknown method, one that the backbone does not support, or
    /// settings that the method does not have.
    ///
    /// # Errors
    /// Names the setting and what is legal.
    pub fn check(&self) -> Result<CheckedConfig, TrainError> {
        self.check_ranges()?;
        let config = as_meant(self);
        let method = registry::find(&config.method)?;
        if let Some(rate) = config.drop_edge.filter(|&rate| rate > 0.0 && !drops_edges(&config, method)) {
            let expected = format!(
                "0: method {} on {} decides on edges itself, or has none",
                method.name,
                config.backbone.name()
            );
            return Err(TrainError::refused("drop_edge", rate, expected));
        }
        if let Some(share) = config.pseudo_labels.filter(|&share| share > 0.0) {
            let chooses = method.experts(&config)?.is_some() || method.candidates(&config).is_some();
            if chooses || !learns_from_beliefs(&config, &*method.recipe(&config)?) {
                let expected = "0: they are for plain training on edges, by itself or where rcl with the preset trust may keep it";
                return Err(TrainError::refused("pseudo_labels", share, expected));
            }
        }
        if let Some(Experts { list, pick }) = method.experts(&config)? {
            if config.search.is_on() {
                let expected = "false: the method chooses by itself";
                return Err(TrainError::refused("search", config.search, expected));
            }
            let checked = |Candidate { label, config }| Ok((label, CheckedConfig::of_one(config)?));
            let experts = list.into_iter().map(checked).collect::<Result<_, TrainError>>()?;
            let course = Course::Pool { experts, pick };
            return Ok(CheckedConfig { asked: self.clone(), config, course });
        }
        let course = match method.candidates(&config) {
            Some(_) if config.search.is_on() => {
                let expected = "false: the method chooses by itself";
                return Err(TrainError::refused("search", config.search, expected));
            }
            Some(candidates) => {
                let checked = |Candidate { label, config }| Ok((label, CheckedConfig::of_one(config)?));
                let list = candidates.list.into_iter().map(checked).collect::<Result<_, TrainError>>()?;
                Course::Best { candidates: list, alone: candidates.alone }
            }
            None if config.search.is_on() => {
                if config.search == Search::Settings && !search::has_trials(method, &config)? {
                    let expected = "false: nothing that is worth trying is left to try";
                    return Err(TrainError::refused("search", config.search, expected));
                }
                if config.search != Search::Settings {
                    Space::of(config.search, method, &config).first(config.search, method, 0)?;
                }
                method.recipe(&config)?;
                Course::Search
            }
            None => Course::One(method.recipe(&config)?),
        };
        Ok(CheckedConfig { asked: self.clone(), config, course })
    }
}

impl CheckedConfig {
    /// A config whose method has nothing to choose.
    fn of_one(config: RunConfig) -> Result<Self, TrainError> {
        let recipe = registry::find(&config.method)?.recipe(&config)?;
        Ok(Self { asked: config.clone(), config, course: Course::One(recipe) })
    }

    /// The settings, as the method means them: the method `mlp` has a backbone of its own.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The settings as they were written.
    pub fn asked(&self) -> &RunConfig {
        &self.asked
    }

    /// The settings as they were written, with all that the method has where it does not choose among several: what it then
    /// has is what gives the same result again. Where it chooses, what is left open stays so.
    ///
    /// # Errors
    /// A setting that TOML cannot write.
    pub fn resolved(&self) -> Result<RunConfig, TrainError> {
        let settings = match &self.course {
            Course::One(recipe) => recipe.settings()?,
            Course::Best { .. } | Course::Pool { .. } | Course::Search => self.asked.settings.clone(),
        };
        let ground = Some(self.config.stands_on());
        Ok(RunConfig { backbone: self.config.backbone, ground, settings, ..self.asked.clone() })
    }

    /// The preset that runs; none for a method without presets.
    pub fn preset(&self) -> Option<&str> {
        let method = registry::find(&self.asked.method).ok()?;
        let default = || (!method.presets.is_empty()).then(|| rcl::default_preset(&self.asked));
        self.asked.preset.as_deref().or_else(default)
    }

    /// What runs on this material with this seed: everything that was left open is decided.
    ///
    /// # Errors
    /// A setting that cannot be written.
    pub fn spec(&self, material: &Material, seed: u64) -> Result<RunSpec, TrainError> {
        let profile = material.profile();
        let from = self.config.features_from.resolved(profile, self.config.backbone)?;
        let labels = material.labels();
        let metric = self.config.metric.unwrap_or_else(|| Metric::default_for(labels));
        if !metric.fits(labels) {
            return Err(TrainError::refused(
                "metric",
                metric.name(),
                "one that fits the labels: there is one class",
            ));
        }
        if let (Labels::Many(_), Some(share)) =
            (&**labels, self.config.pseudo_labels.filter(|&share| share > 0.0))
        {
            let expected = "0: nodes have many labels, of which there are no beliefs";
            return Err(TrainError::refused("pseudo_labels", share, expected));
        }
        let is_bag = profile.is_bag() && matches!(from, FeaturesFrom::Given | FeaturesFrom::Filled);
        let words = is_bag.then_some(profile.columns);
        let train = material.split().train().len();
        let one_class = matches!(**labels, Labels::Classes(_));
        self.decided((from, profile), (words, train), metric, one_class).complete(material, seed)
    }

    /// The same with what the material decides.
    fn decided(
        &self,
        features: (FeaturesFrom, &Profile),
        (words, train): (Option<usize>, usize),
        metric: Metric,
        one_class: bool,
    ) -> Self {
        let course = self.course.map(|one| one.decided(features, (words, train), metric, one_class));
        let (features_from, profile) = features;
        let features = match preparation(&self.config, features_from, profile) {
            // Not all experts have them.
            Preparation::Counts if matches!(course, Course::Pool { .. }) => self.config.features,
            step => step,
        };
        let (metric, keep) = (Some(metric), self.keep());
        let drops_edges =
            registry::find(&self.config.method).is_ok_and(|method| drops_edges(&self.config, method));
        let grounded = if let Course::Pool { .. } = &self.course {
            // Each expert stands on its own ground.
            RunConfig { ground: Some(self.config.stands_on()), ..self.config.clone() }
        } else {
            let layer_norm = self.config.layer_norm;
            self.config.grounded(Situation { words, train, layer_norm, drops_edges })
        };
        let pseudo_labels = match &self.course {
            // Where nodes have many labels, there are no beliefs to learn from.
            _ if !one_class => Some(0.0),
            Course::One(recipe) => Some(pseudo_labels(&self.config, &**recipe)),
            // Each trial sees for itself.
            Course::Search => {
                let recipe =
                    registry::find(&self.config.method).and_then(|method| method.recipe(&self.config));
                recipe.ok().map(|recipe| pseudo_labels(&self.config, &*recipe))
            }
            Course::Best { .. } | Course::Pool { .. } => Some(0.0),
        };
        let config = RunConfig { pseudo_labels, features, features_from, metric, keep, ..grounded };
        Self { asked: self.asked.clone(), config, course }
    }

    /// What is kept where there is a warm start; none where there is none, and nothing to decide.
    fn keep(&self) -> Option<Keep> {
        let default = || registry::find(&self.config.method).map_or(Keep::default(), |method| method.keeps);
        let has_warm_start = match &self.course {
            // Plain training starts from another network for its pseudo-labels, and is never kept in its own place.
            Course::One(recipe) => {
                recipe.wants_warm_start().is_some() && self.config.method != WarmStart::Plain.method()
            }
            Course::Search => true,
            Course::Best { .. } | Course::Pool { .. } => false,
        };
        has_warm_start.then(|| self.config.keep.unwrap_or_else(default))
    }

    fn complete(&self, material: &Material, seed: u64) -> Result<RunSpec, TrainError> {
        let mut config = self.config.clone();
        let course = match &self.course {
            Course::One(recipe) => {
                recipe.check_material(material)?;
                config.settings = recipe.settings()?;
                Course::One(Arc::clone(recipe))
            }
            Course::Search => {
                registry::find(&config.method)?.recipe(&config)?.check_material(material)?;
                Course::Search
            }
            Course::Best { candidates, alone } => {
                let complete =
                    |(label, one): &(&'static str, Self)| Ok((*label, one.complete(material, seed)?));
                let candidates = candidates.iter().map(complete).collect::<Result<_, TrainError>>()?;
                Course::Best { candidates, alone: *alone }
            }
            Course::Pool { experts, pick } => {
                // An expert that cannot learn from this material is not asked.
                let can = |(_, one): &&(&'static str, Self)| match &one.course {
                    Course::One(recipe) => recipe.check_material(material).is_ok(),
                    _ => false,
                };
                let complete =
                    |(label, one): &(&'static str, Self)| Ok((*label, one.complete(material, seed)?));
                let experts = experts.iter().filter(can).map(complete).collect::<Result<_, TrainError>>()?;
                Course::Pool { experts, pick: *pick }
            }
        };
        let (data, split) = (material.checksum().to_owned(), material.split().hash().to_owned());
        RunSpec { config, course, seed, data, split, id: String::new() }.identified()
    }
}

/// All that determines a result, typed and complete. Only this can run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    config: RunConfig,
    course: Course<RunSpec>,
    seed: u64,
    data: String,
    split: String,
    id: String,
}

/// What a run's id is the hash of. Presets are not in it: their settings are.
#[derive(Serialize)]
struct Identity<'a> {
    numerics: u32,
    data: &'a str,
    split: &'a str,
    seed: u64,
    config: RunConfig,
    candidates: Vec<&'a str>,
    /// How experts are pooled; it is part of the settings of no one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pooling: Option<u32>,
}

impl RunSpec {
    /// What the id is the hash of.
    pub(crate) fn identity(&self) -> Result<Value, TrainError> {
        let candidates = match &self.course {
            Course::Best { candidates: several, .. } | Course::Pool { experts: several, .. } => {
                several.iter().map(|(_, spec)| spec.id()).collect()
            }
            Course::One(_) if self.kinds_of_warm_starts().any(|kind| kind == WarmStart::PlainOfPaper) => {
                vec!["plain on paper"]
            }
            // What it tries is compared in the same way.
            Course::Search if self.compares_grounds() => vec!["plain on paper"],
            _ => Vec::new(),
        };
        // What a search tries depends on whether a preset is set.
        let preset = self.config.preset.clone().filter(|_| matches!(self.course, Course::Search));
        let identity = Identity {
            numerics: NUMERICS,
            data: &self.data,
            split: &self.split,
            seed: self.seed,
            config: RunConfig {
                preset,
                // A pool leaves them to its experts, whose ids tell.
                lr: Some(self.config.step_size()),
                hidden: Some(self.config.units()),
                ..self.config.clone()
            },
            candidates,
            pooling: matches!(self.course, Course::Pool { .. }).then_some(POOLING),
        };
        let mut identity = serde_json::to_value(&identity)
            .map_err(|error| TrainError::refused("config", error.to_string(), "one that JSON can write"))?;
        if let Some(config) = identity.get_mut("config").and_then(Value::as_object_mut) {
            for setting in self.config.without_effect() {
                config.remove(setting);
            }
            if let Course::Pool { .. } = self.course
                && let Some(settings) = config.get_mut("settings").and_then(Value::as_object_mut)
            {
                // Which experts there are, their ids say.
                settings.remove(WITH_LABELS);
            }
        }
        Ok(identity)
    }

    /// The same with its id.
    fn identified(self) -> Result<Self, TrainError> {
        let text = self.identity()?.to_string();
        let mut hasher = ContentHasher::default();
        hasher.bytes(text.as_bytes());
        let mut id = hasher.hex();
        id.truncate(ID_DIGITS);
        Ok(Self { id, ..self })
    }

    /// The hash of all that determines the result: numerics version, data, split, settings, seed. Same id, same bits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The settings, complete.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// What validation is judged by.
    pub fn metric(&self) -> Metric {
        self.config.metric.unwrap_or(Metric::Accuracy)
    }

    /// Whether plain training, which is the warm start, may be kept in place of what the method makes.
    pub(crate) fn keeps_best(&self) -> bool {
        self.config.keep == Some(Keep::Best)
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The bytes that it has in use at most, beside the dataset itself: prepared features, model, optimiser, what the method
    /// adds, and what is kept of the best epoch. Of several candidates that of the one that needs most, and of a search that
    /// of what it begins with, both with what is kept of the best before.
    ///
    /// Estimated from sizes alone, before anything is made; within 15 % of what is allocated (`tests/memory.rs`).
    pub fn needed_bytes(&self, material: &Material) -> u64 {
        match &self.course {
            Course::One(recipe) => self.needed_by(&**recipe, material, 0),
            Course::Best { candidates, .. } => {
                let kept = self.kept_bytes(material);
                let needed = |(_, spec): &(_, RunSpec)| match &spec.course {
                    Course::One(recipe) => spec.needed_by(&**recipe, material, kept),
                    _ => total([spec.needed_bytes(material), kept]),
                };
                candidates.iter().map(needed).max().unwrap_or(0)
            }
            Course::Pool { experts, .. } => {
                // Each with what is kept of those before it; networks that others start from are kept twice.
                let (mut kept, mut most) = (0, 0);
                for (_, spec) in experts {
                    let logits = material.footprint(spec.config()).logits();
                    let (needed, snapshot) = match &spec.course {
                        // Its network is one of the experts before it.
                        Course::One(recipe) if !recipe.is_network() => {
                            let features = NetworkBytes::of(material, spec.config()).features;
                            let own = recipe.extra_bytes(material, spec.config());
                            (total([features, own, logits.saturating_mul(2)]), logits)
                        }
                        _ => {
                            // What it starts from is an expert too, and is kept already.
                            let needed =
                                spec.needed_bytes(material).saturating_sub(spec.warm_start_bytes(material));
                            (needed, snapshot_bytes(material, spec.config()))
                        }
                    };
                    most = total([kept, needed]).max(most);
                    // What others start from is kept twice, but for the earlier epochs of a window.
                    let starts = spec.config().backbone == Backbone::Mlp && spec.config().method == "mlp";
                    let again = total([material.footprint(spec.config()).parameters(), logits]);
                    let edges = if spec.config().method == "rcl" { KEPT_PER_EDGE } else { 0 };
                    let edges = array::<f32>(&[edges, material.graph().edges()]);
                    kept = total([kept, snapshot, if starts { again } else { 0 }, edges]);
                }
                most
            }
            Course::Search => {
                let recipe =
                    registry::find(&self.config.method).and_then(|method| method.recipe(&self.config));
                recipe.map_or(0, |recipe| self.needed_by(&*recipe, material, self.kept_bytes(material)))
            }
        }
    }

    /// The larger of what it needs while it starts and while it trains; a warm start is kept for both, and so is what is `kept`
    /// of the best before. Where only the warm start is a network, that one is gone before anything is kept.
    fn needed_by(&self, recipe: &dyn Recipe, material: &Material, kept: u64) -> u64 {
        let config = &self.config;
        let network = NetworkBytes::of(material, config);
        if !recipe.is_network() && recipe.wants_warm_start().is_none() {
            // Features are looked at when it is over, for what the record says of them.
            let logits = material.footprint(config).logits();
            let learning = total([recipe.extra_bytes(material, config), logits.saturating_mul(2), kept]);
            return learning.max(total([network.features, logits.saturating_mul(3), kept]));
        }
        if !recipe.is_network() {
            let own = total([
                network.features,
                recipe.extra_bytes(material, config),
                snapshot_bytes(material, config).saturating_mul(2),
                kept,
            ]);
            return network.training.max(own);
        }
        let starting = total([network.made, recipe.starting_bytes(material, config)]);
        let training = total([network.training, recipe.extra_bytes(material, config)]);
        total([starting.max(training), self.warm_start_bytes(material), kept])
    }

    /// What is kept of the trainings that came first.
    fn warm_start_bytes(&self, material: &Material) -> u64 {
        let of_one = |first: &Self| snapshot_bytes(material, first.config());
        self.warm_starts().map_or(0, |firsts| total(firsts.iter().map(of_one)))
    }

    /// What is kept of the best training while the next one runs: a snapshot, and twice a report of the edges.
    fn kept_bytes(&self, material: &Material) -> u64 {
        let orders_edges = registry::find(&self.config.method).is_ok_and(|method| method.orders_edges);
        let numbers = if orders_edges { KEPT_PER_EDGE } else { 0 };
        total([snapshot_bytes(material, &self.config), array::<f32>(&[numbers, material.graph().edges()])])
    }

    /// Refuses so many runs at once that need more memory than the limit, or else than there is, before anything is made for
    /// them.
    ///
    /// # Errors
    /// Says how much they need, how much there is, and what to do instead.
    pub fn check_memory(
        &self,
        material: &Material,
        runs: usize,
        limit: Option<u64>,
    ) -> Result<(), TrainError> {
        let of_one = self.needed_bytes(material);
        let needed = of_one.saturating_mul(runs as u64);
        match limit.or_else(available_bytes) {
            Some(available) if needed > available => Err(TrainError::Memory {
                method: self.config.method.clone(),
                nodes: material.graph().nodes(),
                runs,
                runs_that_fit: (available / of_one.max(1)) as usize,
                needed,
                available,
                instead: registry::find(&self.config.method)
                    .map_or("a smaller graph", |method| method.to_save_memory),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses material that it was not made for.
    pub(crate) fn check_data(&self, material: &Material) -> Result<(), TrainError> {
        for (field, found, expected) in
            [("dataset", material.checksum(), &self.data), ("split", material.split().hash(), &self.split)]
        {
            if found != expected {
                let of = |hash: &str| format!("one with content {hash}");
                return Err(TrainError::refused(field, of(found), of(expected)));
            }
        }
        Ok(())
    }

    pub(crate) fn course(&self) -> &Course<RunSpec> {
        &self.course
    }

    /// A run of a recipe of one's own, which need not be in the registry. The config names it and holds the settings that all
    /// methods share; the recipe's own settings are part of the id.
    ///
    /// # Errors
    /// A setting out of its range, or one that cannot be written.
    pub fn of_recipe(
        recipe: Arc<dyn Recipe>,
        config: &RunConfig,
        material: &Material,
        seed: u64,
    ) -> Result<Self, TrainError> {
        config.check_ranges()?;
        let checked =
            CheckedConfig { asked: config.clone(), config: config.clone(), course: Course::One(recipe) };
        checked.spec(material, seed)
    }

    /// A spec of the same data and seed with another config of one recipe.
    pub(crate) fn sibling(&self, mut config: RunConfig) -> Result<Self, TrainError> {
        let recipe = registry::find(&config.method)?.recipe(&config)?;
        config.pseudo_labels = Some(pseudo_labels(&config, &*recipe));
        self.with_recipe(config, recipe)
    }

    fn with_recipe(&self, mut config: RunConfig, recipe: Arc<dyn Recipe>) -> Result<Self, TrainError> {
        config.settings = recipe.settings()?;
        Self { config, course: Course::One(recipe), ..self.clone() }.identified()
    }

    /// What is trained before a training, in this order: what may be kept in its place, and what it starts from. Some graphs
    /// must be learned by heart, which the strong ground forbids, so that plain training on the paper's may be kept as well.
    pub(crate) fn kinds_of_warm_starts(&self) -> impl Iterator<Item = WarmStart> {
        let recipe = match &self.course {
            Course::One(recipe) => Some(recipe),
            _ => None,
        };
        let start = recipe.and_then(|recipe| recipe.wants_warm_start());
        let other = recipe.and_then(|recipe| recipe.compared_with()).filter(|_| self.keeps_best());
        let of_paper = other.or(start) == Some(WarmStart::Plain) && self.compares_grounds();
        let of_paper = of_paper.then_some(WarmStart::PlainOfPaper);
        // What it starts from may be what the other one starts from, too.
        [of_paper, start, other].into_iter().flatten()
    }

    /// Whether plain training on another ground than the run's may be kept.
    fn compares_grounds(&self) -> bool {
        self.keeps_best() && self.config.stands_on() == Ground::Strong
    }

    /// The same as specs.
    pub(crate) fn warm_starts(&self) -> Result<Vec<Self>, TrainError> {
        self.kinds_of_warm_starts().map(|kind| self.warm_start(kind)).collect()
    }

    /// What it starts from, if it starts from another training.
    pub(crate) fn starts_from(&self) -> Result<Option<Self>, TrainError> {
        let Course::One(recipe) = &self.course else { return Ok(None) };
        recipe.wants_warm_start().map(|kind| self.warm_start(kind)).transpose()
    }

    /// Plain training with the same settings: what a warm start is the snapshot of.
    pub(crate) fn warm_start(&self, kind: WarmStart) -> Result<Self, TrainError> {
        let config = RunConfig {
            method: kind.method().into(),
            preset: None,
            keep: None,
            search: Search::Off,
            settings: toml::Table::new(),
            ..self.config.clone()
        };
        let config = match kind {
            WarmStart::Plain => config,
            WarmStart::PlainOfPaper => config.on_paper(),
            WarmStart::EdgeFree => RunConfig {
                backbone: Backbone::Mlp,
                drop_edge: config.drop_edge.map(|_| 0.0),
                pseudo_labels: config.pseudo_labels.map(|_| 0.0),
                ..config
            },
        };
        let recipe = Arc::new(Vanilla::of(&config));
        self.with_recipe(config, recipe)
    }
}

/// Numbers per edge that are kept of a training: a weight, and two reports of three numbers.
const KEPT_PER_EDGE: usize = 7;

/// Digits of an id: more than enough for any number of runs.
const ID_DIGITS: usize = 32;

/// How much a node without a label counts in plain training that the curriculum by trust is compared with (`docs/research.md`).
const PSEUDO_LABELS: f64 = 0.5;

/// Whether a recipe may learn from what is believed of nodes without a label: plain training on edges, or what is compared with it.
fn learns_from_beliefs(config: &RunConfig, recipe: &dyn Recipe) -> bool {
    let is_plain = config.method == WarmStart::Plain.method();
    let is_compared = recipe.compared_with() == Some(WarmStart::Plain) && config.keep != Some(Keep::Method);
    (is_plain || is_compared) && config.backbone != Backbone::Mlp
}

/// How much such a node counts: as much as is set, or else as plain training has it where another recipe on the strong ground is
/// compared with that.
fn pseudo_labels(config: &RunConfig, recipe: &dyn Recipe) -> f64 {
    if !learns_from_beliefs(config, recipe) {
        return 0.0;
    }
    let is_plain = config.method == WarmStart::Plain.method();
    let usual = if config.stands_on() == Ground::Strong && !is_plain { PSEUDO_LABELS } else { 0.0 };
    config.pseudo_labels.unwrap_or(usual)
}

/// Whether the run may leave edges out of training steps: the method lets it, and the backbone reads some.
fn drops_edges(config: &RunConfig, method: &MethodInfo) -> bool {
    method.drops_edges && config.backbone != Backbone::Mlp
}

/// What is done to these features; never `auto`. The authors' code divides bags of words by their rows and leaves
/// measurements as they are, and so does its preset unless told otherwise. The strong ground tells how many words there are where
/// these are few.
fn preparation(config: &RunConfig, from: FeaturesFrom, profile: &Profile) -> Preparation {
    let official = config.preset.as_deref() == Some("official") && from == FeaturesFrom::Given;
    let strong = config.stands_on() == Ground::Strong;
    let tells_counts = strong && from == FeaturesFrom::Given && profile.has_few_words();
    match config.features {
        Preparation::Auto if official && profile.is_bag() => Preparation::Rows,
        Preparation::Auto if official => Preparation::None,
        Preparation::Auto if tells_counts => Preparation::Counts,
        asked => from.preparation(asked, profile),
    }
}

/// Methods none of whose networks sees an edge.
fn is_edge_free(method: &str) -> bool {
    matches!(method, "mlp" | "belief" | "label-propagation")
}

/// The config as the method means it: an edge-free network is a backbone of its own.
fn as_meant(config: &RunConfig) -> RunConfig {
    let backbone = if is_edge_free(&config.method) { Backbone::Mlp } else { config.backbone };
    RunConfig { backbone, ..config.clone() }
}
