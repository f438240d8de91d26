//! Which edges come in when, by how hard they are in truth: known on the synthetic graphs alone, and to no method.

use std::sync::atomic::AtomicBool;

use edgepace_data::generate;
use edgepace_graph::{Classes, Labels, Threads};
use edgepace_train::{TrainError, listed};

use crate::error::LabError;
use crate::experiment::{Cell, Experiment};
use crate::plan::{DataSource, Plan};
use crate::sweep::{Options, Outcome, Sweep, Unwatched};

/// What edges are called by the distance of their ends' classes in the circle: none, one, or more.
pub const KINDS: [&str; 3] = ["easy (same class)", "medium (next class)", "hard (other class)"];

/// How hard an edge is in truth: 0 within a class, 1 between neighbouring classes of the circle, 2 otherwise.
pub fn kind_of_edge(classes: &Classes, source: u32, target: u32) -> usize {
    let [a, b] = [source, target].map(|node| classes.of()[node as usize] as usize);
    let apart = a.abs_diff(b);
    apart.min(classes.width() - apart).min(2)
}

/// How edges came into one training.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// What the table calls the graph.
    pub graph: String,
    /// What it calls the method.
    pub method: String,
    /// The seed.
    pub seed: u64,
    /// Training epochs.
    pub epochs: u32,
    /// The epochs at which edges came in, and the share of each of [`KINDS`] that has been in by then.
    pub shares: Vec<(u32, [f64; 3])>,
}

impl Course {
    /// The share of a kind that has been in before an epoch.
    pub fn share_before(&self, epoch: u32, kind: usize) -> f64 {
        self.shares.iter().take_while(|(at, _)| *at < epoch).last().map_or(0.0, |(_, shares)| shares[kind])
    }
}

/// How edges came in, in the first run of each cell. These are trained again, to the same bits, because a record does not keep the
/// epoch of each edge: a second for each.
///
/// # Errors
/// What a run refuses.
pub fn courses(experiment: &Experiment) -> Result<Vec<Course>, LabError> {
    experiment.cells.iter().filter_map(|cell| Some((cell, *cell.seeds.first()?))).map(course).collect()
}

fn course((cell, seed): (&Cell, u64)) -> Result<Course, LabError> {
    let plan = Plan {
        data: DataSource::Name(cell.dataset.clone()),
        noise: cell.noise,
        split: cell.split.clone(),
        config: cell.run.config().clone(),
        seeds: vec![seed],
    };
    let threads = Threads::new(1).map_err(TrainError::from)?;
    let name = plan.first_name().unwrap_or_default();
    let Some(dataset) = generate(&threads, &name)? else {
        let reason = format!("`{}` is no generated graph: how hard its edges are is not known", cell.dataset);
        return Err(LabError::Failed { reason });
    };
    let stop = AtomicBool::new(false);
    let options = Options {
        jobs: 1,
        threads: 1,
        folder: None,
        checkpoint: None,
        deadline: None,
        stop: &stop,
        memory: None,
        watch: &Unwatched,
    };
    let sweep = Sweep::new(plan, cell.run.clone(), dataset);
    let shares = sweep.each(&options, |run| {
        let (Some(report), Labels::Classes(classes)) = (&run.finished.edges, &**run.data.dataset.labels())
        else {
            return Ok(Vec::new());
        };
        let edges: Vec<(usize, u32)> = listed(run.data.dataset.graph())
            .into_iter()
            .map(|(edge, source, target)| (kind_of_edge(classes, source, target), report.first_epoch[edge]))
            .collect();
        Ok::<_, LabError>(shares_of(&edges))
    })?;
    let shares = shares.into_iter().find_map(|outcome| match outcome {
        Outcome::Done(shares) => Some(shares),
        _ => None,
    });
    Ok(Course {
        graph: cell.graph.clone(),
        method: cell.method.clone(),
        seed,
        epochs: cell.run.config().epochs,
        shares: shares.unwrap_or_default(),
    })
}

/// From the kind of each edge and the epoch at which it came in, [`u32::MAX`] for never.
fn shares_of(edges: &[(usize, u32)]) -> Vec<(u32, [f64; 3])> {
    let mut all = [0_usize; 3];
    let mut epochs: Vec<u32> = Vec::new();
    for &(kind, epoch) in edges {
        all[kind] += 1;
        if epoch != u32::MAX {
            epochs.push(epoch);
        }
    }
    epochs.sort_unstable();
    epochs.dedup();
    let at = |epoch: u32| {
        let mut come = [0_usize; 3];
        edges.iter().filter(|edge| edge.1 <= epoch).for_each(|edge| come[edge.0] += 1);
        let share = |kind: usize| come[kind] as f64 / all[kind].max(1) as f64;
        (epoch, [share(0), share(1), share(2)])
    };
    epochs.into_iter().map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_at_the_ends_of_the_list_are_next_to_each_other_in_the_circle() {
        let classes = Classes::new(10, vec![0, 0, 9, 5]).unwrap();
        let kinds = [1, 2, 3].map(|other| kind_of_edge(&classes, 0, other));
        assert_eq!(kinds, [0, 1, 2]);
    }

    #[test]
    fn shares_grow_to_what_ever_came_in() {
        let edges = [(0, 0), (0, 5), (1, 5), (2, u32::MAX), (1, 9)];
        let shares = shares_of(&edges);
        assert_eq!(shares, [(0, [0.5, 0.0, 0.0]), (5, [1.0, 0.5, 0.0]), (9, [1.0, 1.0, 0.0])]);
        let course = Course { graph: String::new(), method: String::new(), seed: 0, epochs: 10, shares };
        assert_eq!([0, 1, 6].map(|epoch| course.share_before(epoch, 0)), [0.0, 0.5, 1.0]);
    }
}
