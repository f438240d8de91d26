//! What both forms have to set, and what each setting means.

use crate::setting::Setting;

pub(super) const INNER: Setting = Setting::fixed("inner", "steps of the model for each of S, 1 to 1000000");
pub(super) const STRUCTURE_LR: Setting = Setting::fixed("structure_lr", "step size of S, at least 0");
pub(super) const GNN: Setting =
    Setting::fixed("gnn", "γ, weight of the model's loss in the steps of S, at least 0");
pub(super) const DISTANCE: Setting = Setting::fixed("distance", "δ, weight of ‖S − A‖², at least 0");
pub(super) const L1: Setting = Setting::fixed("l1", "α, weight of ‖S‖₁, at least 0");
pub(super) const NUCLEAR: Setting =
    Setting { name: "nuclear", meaning: "β, weight of the nuclear norm, at least 0", search: &["0", "1.5"] };
pub(super) const SMOOTHNESS: Setting = Setting {
    name: "smoothness",
    meaning: "λ, weight of the smoothness of features, at least 0",
    search: &["0", "1", "3", "10"],
};
pub(super) const NUCLEAR_EVERY: Setting = Setting::fixed(
    "nuclear_every",
    "steps of S for one proximal step of the nuclear norm, which then goes so much further, 1 to 1000000",
);
