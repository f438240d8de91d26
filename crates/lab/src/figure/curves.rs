//! Curves of classifiers: how well a score finds what is marked, and whether probabilities are as sure as they are right.

use super::axis::Axis;
use super::chart::{Chart, Series};
use super::frame::Mark;
use super::palette::Colour;
use super::text::number;

/// More points than anybody sees.
const POINTS: usize = 300;

/// Counts of marked and of other values, from the highest score down, after each group of equal scores.
fn counts(scored: &[(f64, bool)]) -> Vec<[usize; 2]> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut found = vec![[0, 0]];
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let marked = tied.iter().filter(|(_, marked)| *marked).count();
        let before = found[found.len() - 1];
        found.push([before[0] + marked, before[1] + tied.len() - marked]);
    }
    found
}

/// At most [`POINTS`] of them, the first and the last included.
fn thinned<T: Copy>(all: &[T]) -> Vec<T> {
    if all.len() <= POINTS {
        return all.to_vec();
    }
    (0..POINTS).map(|place| all[place * (all.len() - 1) / (POINTS - 1)]).collect()
}

/// The receiver operating characteristic of scores with marks: false positive rate and true positive rate. Empty unless there
/// are both marked and other values.
pub fn roc_curve(scored: &[(f64, bool)]) -> Vec<(f64, f64)> {
    let counts = counts(scored);
    let [marked, others] = counts[counts.len() - 1];
    if marked == 0 || others == 0 {
        return Vec::new();
    }
    let share = |[hits, wrong]: [usize; 2]| (wrong as f64 / others as f64, hits as f64 / marked as f64);
    thinned(&counts).into_iter().map(share).collect()
}

/// The share of marked values among the highest scores, by how large a share of all values one looks at.
pub fn precision_curve(scored: &[(f64, bool)]) -> Vec<(f64, f64)> {
    let counts = counts(scored);
    let share = |[hits, wrong]: [usize; 2]| {
        let seen = hits + wrong;
        (seen as f64 / scored.len().max(1) as f64, hits as f64 / seen.max(1) as f64)
    };
    // The first few are all or nothing by chance.
    let least = (scored.len() / 200).max(1);
    let told: Vec<[usize; 2]> = counts.into_iter().filter(|[a, b]| a + b >= least).collect();
    thinned(&told).into_iter().map(share).collect()
}

/// A chart of such characteristics, each with a name and its area, which `roc_auc` gives.
pub fn roc_chart(title: impl Into<String>, curves: Vec<(String, f64, Vec<(f64, f64)>)>) -> Chart {
    let mut chart = Chart::new(title)
        .x(Axis::new("false positive rate").range(0.0, 1.0))
        .y(Axis::new("true positive rate").range(0.0, 1.0));
    for (name, area, points) in curves {
        chart = chart.with(Series::line(format!("{name}, AUC {}", number(area, 3)), points));
    }
    chart.with(Series::line("by chance", [(0.0, 0.0), (1.0, 1.0)]).colour(Colour::Faint).dashed())
}

/// How often predictions are right, by how sure they are: probability of the predicted class and whether it is right, for each
/// node. Ten bins of equal width; the area of a point is no measure, the number of nodes is told with it.
pub fn reliability_diagram(title: impl Into<String>, kinds: Vec<(String, Vec<(f64, bool)>)>) -> Chart {
    const BINS: usize = 10;
    let mut chart = Chart::new(title)
        .x(Axis::new("probability of the predicted class").range(0.0, 1.0))
        .y(Axis::new("share that is right").range(0.0, 1.0));
    for (name, predicted) in kinds {
        let mut bins = [(0_usize, 0.0, 0_usize); BINS];
        for (probability, right) in predicted {
            let bin = ((probability * BINS as f64) as usize).min(BINS - 1);
            bins[bin].0 += 1;
            bins[bin].1 += probability;
            bins[bin].2 += usize::from(right);
        }
        let used = bins.iter().filter(|bin| bin.0 > 0);
        let mean =
            |&(count, sum, right): &(usize, f64, usize)| (sum / count as f64, right as f64 / count as f64);
        chart = chart.with(Series::new(name, Mark::LineAndPoints, used.map(mean)));
    }
    chart.with(Series::line("as sure as right", [(0.0, 0.0), (1.0, 1.0)]).colour(Colour::Faint).dashed())
}
