//! What was predicted, held against the truth: classes, probabilities, and fake edges.

use edgepace_graph::{Labels, UNLABELLED};
use edgepace_nn::{argmax, roc_auc};
use edgepace_train::{EdgeRow, class_name};

use super::{PageTable, Report, Section};
use crate::figure::{
    Axis, Chart, HeatMap, Series, precision_curve, reliability_diagram, roc_chart, roc_curve,
};

/// More classes than a table of them can show.
const CLASSES: usize = 50;

/// The confusion matrix and the reliability diagram of the test nodes.
pub(super) fn predictions(report: &Report) -> Section {
    let mut section = Section::new(
        "predictions",
        "Predictions",
        "Test nodes of the run that is shown. In the matrix, lines are true classes and shades the share of each line. In the \
         diagram, a line above the dashed one means that predictions are right more often than they are sure.",
    );
    let Some(graph) = &report.graph else { return section };
    let (Labels::Classes(classes), Some(split)) = (&**graph.dataset.labels(), &graph.split) else {
        return section;
    };
    let width = classes.width();
    if width == 0 || graph.probabilities.len() != width * graph.dataset.graph().nodes() {
        return section;
    }
    let mut counts = vec![0.0; width * width];
    let mut sure = [Vec::new(), Vec::new()];
    for &node in split.test() {
        let truth = classes.of()[node as usize];
        if truth == UNLABELLED {
            continue;
        }
        for (place, all) in [&graph.probabilities, &graph.raw_probabilities].into_iter().enumerate() {
            let Some(own) = all.get(node as usize * width..(node as usize + 1) * width) else { continue };
            let predicted = argmax(own);
            sure[place].push((f64::from(own[predicted]), predicted == truth as usize));
            if place == 0 {
                counts[truth as usize * width + predicted] += 1.0;
            }
        }
    }
    if sure[0].is_empty() {
        return section;
    }
    let names: Vec<String> = (0..width).map(|class| class_name(&graph.dataset, class)).collect();
    if width <= CLASSES {
        section.figure(&HeatMap::confusion("Confusion matrix", &names, counts));
    }
    let [calibrated, raw] = sure;
    let mut kinds = vec![("calibrated".to_owned(), calibrated)];
    if !raw.is_empty() {
        kinds.push(("as the model gives them".to_owned(), raw));
    }
    section.figure(&reliability_diagram("Reliability diagram", kinds));
    let metrics = report.main_run().map(|run| &run.record.result.metrics);
    let cell = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
    let rows: Vec<Vec<String>> = metrics
        .into_iter()
        .flatten()
        .map(|(name, scores)| vec![name.clone(), cell(scores.validation), cell(scores.test)])
        .collect();
    if !rows.is_empty() {
        let head = ["metric (% but for log-loss, in nats)", "validation", "test"].map(String::from).to_vec();
        section.tables.push(PageTable { words: 1, head, rows, ..PageTable::default() });
    }
    section
}

/// How well fake edges are found, where it is known which are.
pub(super) fn detection(report: &Report) -> Section {
    let mut section = Section::new(
        "fakes",
        "Fake edges found",
        "Which edges are fake is known here, not to the method. AUC: how often a fake edge is more suspicious than a genuine one. \
         Precision: the share of fakes among the most suspicious edges; the dashed line is what chance would give.",
    );
    let Some(graph) = &report.graph else { return section };
    let marked: Vec<(&EdgeRow, bool)> =
        graph.edges.iter().filter_map(|edge| Some((edge, edge.fake?))).collect();
    let scored =
        |of: fn(&EdgeRow) -> f64| marked.iter().map(|(edge, fake)| (of(edge), *fake)).collect::<Vec<_>>();
    let scores: [(&str, fn(&EdgeRow) -> f64); 3] = [
        ("suspicion", |edge| f64::from(edge.suspicion)),
        ("features alone", |edge| -f64::from(edge.feature_similarity)),
        ("neighbourhoods alone", |edge| -f64::from(edge.jaccard)),
    ];
    let mut curves = Vec::new();
    for (name, of) in scores {
        let mut all = scored(of);
        let Some(area) = roc_auc(&mut all) else { return section };
        curves.push((name.to_owned(), area, roc_curve(&all)));
    }
    section.figure(&roc_chart("Receiver operating characteristic", curves));
    let all = scored(scores[0].1);
    let share = all.iter().filter(|(_, fake)| *fake).count() as f64 / all.len() as f64;
    let percent =
        |points: Vec<(f64, f64)>| points.into_iter().map(|(x, y)| (100.0 * x, 100.0 * y)).collect::<Vec<_>>();
    let chart = Chart::new("Precision")
        .x(Axis::new("most suspicious edges looked at / %").range(0.0, 100.0))
        .y(Axis::new("fakes among them / %").range(0.0, 100.0))
        .with(Series::line("suspicion", percent(precision_curve(&all))))
        .with(
            Series::line("by chance", [(0.0, 100.0 * share), (100.0, 100.0 * share)])
                .colour(crate::figure::Colour::Faint)
                .dashed(),
        );
    section.figure(&chart);
    section
}
