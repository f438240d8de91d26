//! How training went, epoch by epoch.

use super::compare::unit;
use super::{Report, ReportRun, Section};
use crate::figure::{Axis, Chart, Series};

/// Mean over runs at each epoch, with the lowest and the highest, as far as all of them went.
fn over_runs(
    runs: &[&ReportRun],
    of: impl Fn(&ReportRun) -> Vec<Option<f64>>,
) -> (Vec<(f64, f64)>, Vec<(f64, f64)>) {
    let all: Vec<Vec<Option<f64>>> = runs.iter().map(|run| of(run)).collect();
    let epochs = all.iter().map(Vec::len).max().unwrap_or(0);
    let (mut points, mut band) = (Vec::new(), Vec::new());
    for epoch in 0..epochs {
        let values: Vec<f64> = all.iter().filter_map(|run| run.get(epoch).copied().flatten()).collect();
        if values.is_empty() {
            continue;
        }
        points.push((epoch as f64, values.iter().sum::<f64>() / values.len() as f64));
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        band.push((low, high));
    }
    (points, band)
}

/// Loss and validation score by epoch, of the run that is shown and those that differ from it by their seed.
pub(super) fn learning_curves(report: &Report) -> Section {
    let runs = report.siblings();
    let (Some(main), several) = (report.main_run(), runs.len() > 1) else { return Section::default() };
    let over = if several {
        format!("Mean over {} seeds; the band is from the lowest to the highest.", runs.len())
    } else {
        format!("Seed {}.", main.record.result.seed)
    };
    let kept = &main.record.result;
    let text = format!(
        "The training of what was kept. {over} The dashed line is the epoch that was kept for seed {}: {}, which had the best validation score.",
        kept.seed, kept.best_epoch
    );
    let mut section = Section::new("learning", "Learning curves", text);
    let draw = |title: &str, axis: Axis, of: &dyn Fn(&ReportRun) -> Vec<Option<f64>>| {
        let (points, band) = over_runs(&runs, of);
        let finite = points.iter().filter(|point| point.1.is_finite()).count();
        let line = Series::line(title, points);
        let line = if several { line.band(band) } else { line };
        let chart = Chart::new(title).x(Axis::new("epoch")).y(axis).with(line);
        (finite > 1).then(|| chart.upright(f64::from(kept.best_epoch), "kept"))
    };
    let loss = draw("Training loss", Axis::new("loss / nats"), &|run| {
        run.record.history.loss.iter().copied().map(Some).collect()
    });
    let axis = Axis::new(unit("validation", &kept.metric));
    let validation = draw("Validation score", axis, &|run| run.record.history.validation.clone());
    for chart in [loss, validation].into_iter().flatten() {
        section.figure(&chart);
    }
    section
}
