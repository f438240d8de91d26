//! `auto`: the best on validation of no edges, all edges, and presets of the curriculum.
//!
//! The order is that of simplicity, and among equals the earlier one counts. So the user never does worse than plain
//! training, with or without edges, by more than chance. The vanilla candidate is the warm start of those after it.
//! The presets `paper` and `official` are not among them: over 19 graphs they raised the best validation by 0.14 points at most,
//! for two more trainings. Settings are those of the curriculum's presets. Without validation nodes nothing can be chosen, and the preset `edgepace`
//! runs alone.

use edgepace_curriculum::CurriculumConfig;
use edgepace_nn::Backbone;

use crate::candidates::{Candidate, Candidates};
use crate::config::{Keep, RunConfig};
use crate::methods::rcl::SINGLE_PRESETS;
use crate::methods::rcl::settings::unread;

/// The preset's name.
pub(crate) const AUTO: &str = "auto";

/// Label, method and preset, the simplest first.
const CANDIDATES: [(&str, &str, Option<&str>); 5] = [
    ("mlp", "mlp", None),
    ("vanilla", "vanilla", None),
    ("rcl cosine", "rcl", Some("cosine")),
    ("rcl posterior", "rcl", Some("posterior")),
    ("rcl edgepace", "rcl", Some("edgepace")),
];

/// The candidates of a config that asks for `auto`; none for any other preset.
pub(crate) fn candidates(config: &RunConfig) -> Option<Candidates> {
    if config.preset.as_deref() != Some(AUTO) {
        return None;
    }
    let candidate = |(label, method, preset): (&'static str, &str, Option<&str>)| {
        let mut config =
            RunConfig { method: method.into(), preset: preset.map(Into::into), ..config.clone() };
        // Their warm start is a candidate itself.
        config.keep = Some(Keep::Method);
        if method == "mlp" {
            config.backbone = Backbone::Mlp;
        }
        match preset.map(CurriculumConfig::preset) {
            None => config.settings.clear(),
            // What only the kernel of another preset reads is for that one.
            Some(Ok(settings)) if preset != Some(SINGLE_PRESETS[0]) => {
                for (key, _) in unread(&settings) {
                    config.settings.remove(key);
                }
            }
            Some(_) => {}
        }
        Candidate { label, config }
    };
    let list: Vec<Candidate> = CANDIDATES.into_iter().map(candidate).collect();
    Some(Candidates { alone: list.len() - 1, list })
}
