//! The memory of a curriculum as part of a saved run: long lists as numbers, the rest as values.

use edgepace_curriculum::{State as CurriculumState, Steps};

use crate::error::TrainError;
use crate::state::State;

pub(super) fn save(mut memory: CurriculumState) -> Result<State, TrainError> {
    let mut state = State::default();
    let flags: Vec<u32> = memory.selected.iter().map(|&is_in| u32::from(is_in)).collect();
    state.put_floats("gaps", &std::mem::take(&mut memory.gaps));
    state.put_floats("residuals", &std::mem::take(&mut memory.residuals));
    state.put_floats("mask", &std::mem::take(&mut memory.mask));
    state.put_floats("confidence", &std::mem::take(&mut memory.confidence));
    state.put_ids("times_in", &std::mem::take(&mut memory.times_in));
    state.put_ids("first_epoch", &std::mem::take(&mut memory.first_epoch));
    state.put_ids("selected", &flags);
    memory.selected.clear();
    let steps = std::mem::take(&mut memory.steps);
    let steps: Vec<f32> = steps.iter().flat_map(|steps| [steps.mask, steps.mean, steps.square]).collect();
    state.put_floats("steps", &steps);
    state.put_value("rest", &memory)?;
    Ok(state)
}

pub(super) fn restore(state: &State) -> Result<CurriculumState, TrainError> {
    let floats = |name: &str| state.all_floats(name).map(<[f32]>::to_vec);
    let (steps, _) = state.all_floats("steps")?.as_chunks::<3>();
    let steps = steps.iter().map(|&[mask, mean, square]| Steps { mask, mean, square }).collect();
    Ok(CurriculumState {
        gaps: floats("gaps")?,
        residuals: floats("residuals")?,
        mask: floats("mask")?,
        confidence: floats("confidence")?,
        times_in: state.ids("times_in")?.to_vec(),
        first_epoch: state.ids("first_epoch")?.to_vec(),
        selected: state.ids("selected")?.iter().map(|&flag| flag != 0).collect(),
        steps,
        ..state.value("rest")?
    })
}
