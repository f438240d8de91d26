//! What is left of the curriculum without one of its parts: the ablations of the paper, and `random`.
//!
//! Each is the curriculum with the settings of its preset but for those that its name states.

use edgepace_curriculum::{Confidence, CurriculumConfig, MaskForm, Order, Pace, ResidualTerm};

/// The settings that the method of that name makes of those of a preset.
pub(super) fn changed(method: &str, settings: CurriculumConfig) -> CurriculumConfig {
    match method {
        "random" => in_random_order(settings),
        "random-linear" => in_random_order(at_pace(Pace::Linear, settings)),
        "random-root" => in_random_order(at_pace(Pace::Root, settings)),
        "curriculum-linear" => at_pace(Pace::Linear, settings),
        "curriculum-root" => at_pace(Pace::Root, settings),
        "rcl-no-appearance" => CurriculumConfig { smooth: false, ..settings },
        "rcl-no-confidence" => CurriculumConfig { confidence: Confidence::Off, ..settings },
        "rcl-no-pretrain" => CurriculumConfig { warm_start: false, ..settings },
        _ => settings,
    }
}

/// A random rank has no gradient that could join the loss, and no edge weighs by it.
fn in_random_order(settings: CurriculumConfig) -> CurriculumConfig {
    CurriculumConfig { order: Order::Random, residual_term: ResidualTerm::Off, sharpness: None, ..settings }
}

/// A stated share of edges needs the exact minimiser of the form that the steps of Adam approach.
fn at_pace(pace: Pace, settings: CurriculumConfig) -> CurriculumConfig {
    let mask = match settings.mask {
        MaskForm::Adam => MaskForm::Linear,
        exact => exact,
    };
    CurriculumConfig { pace, mask, ..settings }
}
