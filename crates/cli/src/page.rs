//! Reports as commands write them: from run folders, or from runs that are just over.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use edgepace_graph::{Threads, files};
use edgepace_lab::report::{GraphOfRun, Report, ReportRun, objective_of, runs_of_store};
use edgepace_lab::{
    DataSource, FinishedRun, FinishedRuns, FinishedSeed, RunRow, SeedFolder, Store, as_trained, source_of,
};
use edgepace_train::{Audit, EdgeFile, EdgeRow, EdgeTable, SavedModel};

use crate::dataset::{DataFolder, spinner};
use crate::messages;
use crate::output::check_file;
use crate::own_files;
use crate::runs::with_remedy;
use crate::table::shown;

/// Refuses a name that is no page's, and a file that is there unless it may be replaced.
pub(crate) fn check(flag: &str, file: &Path, overwrite: bool) -> Result<()> {
    if !file.extension().is_some_and(|ending| ending == "html" || ending == "htm") {
        bail!("`{flag}` is `{}`, expected a name that ends in `.html`", file.display());
    }
    check_file(flag, file, overwrite)
}

/// Writes the page, whole or not at all.
pub(crate) fn write(report: &Report, file: &Path, threads: &Threads) -> Result<()> {
    let bar = spinner("drawing the report".to_owned());
    let page = report.to_html(threads);
    bar.finish_and_clear();
    files::write(file, page?.as_bytes())?;
    Ok(())
}

/// The command line, as the page tells it.
pub(crate) fn command() -> String {
    let quoted = |word: String| {
        let plain = |letter: char| letter.is_alphanumeric() || "-_=.,:/@+%".contains(letter);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    let words = crate::words().iter().map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("edgepace".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// What a report of runs is called unless it is told.
pub(crate) fn title(runs: &[ReportRun]) -> String {
    let mut graphs: Vec<&str> = runs.iter().map(|run| &run.record.data.name[..]).collect();
    let methods = runs.iter().map(|run| &run.record.config.method[..]);
    let mut methods: Vec<&str> = methods.collect();
    graphs.sort_unstable();
    graphs.dedup();
    methods.sort_unstable();
    methods.dedup();
    match (&graphs[..], &methods[..]) {
        ([graph], [method]) => format!("{method} on {}", short(graph)),
        ([graph], [first, second]) => format!("{first} and {second} on {}", short(graph)),
        ([graph], methods) => format!("{} methods on {}", methods.len(), short(graph)),
        (graphs, _) => format!("{} runs on {} graphs", runs.len(), graphs.len()),
    }
}

/// A file without its folder, a generator without its settings.
fn short(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.split(':').next().unwrap_or(name).to_owned()
}

/// The report of folders of runs, the first run that orders edges being shown in detail.
pub(crate) fn of_folders(
    folders: &[PathBuf],
    seeds: Option<&[u64]>,
    data: &DataFolder,
    threads: &Threads,
) -> Result<Report> {
    let (mut runs, mut notes) = (Vec::new(), Vec::new());
    for folder in folders {
        let found = FinishedRuns::open(folder, seeds).map_err(|error| with_remedy(error.into()))?;
        if !found.unfinished.is_empty() {
            let left: Vec<String> = found.unfinished.iter().map(ToString::to_string).collect();
            notes.push(format!(
                "{}: runs that are not over are left out: seeds {}",
                folder.display(),
                left.join(", ")
            ));
        }
        for run in found.runs {
            let FinishedSeed { folder, record } = run;
            let objective = objective_of(&folder.history());
            let folder = Some(folder.path().to_owned());
            runs.push(ReportRun { folder, objective, ..ReportRun::new(record) });
        }
    }
    Ok(with_graph(runs, notes, data, threads))
}

/// The report of a store, the first run that orders edges and whose files were kept being shown in detail.
pub(crate) fn of_store(
    store: &Store,
    rows: &[RunRow],
    data: &DataFolder,
    threads: &Threads,
) -> Result<Report> {
    let (runs, failed) = runs_of_store(store, rows)?;
    if runs.is_empty() {
        bail!("{} has no run to report on that is over", store.path().display());
    }
    let mut notes = Vec::new();
    if failed > 0 {
        notes.push(format!("Runs that failed are left out: {failed}."));
    }
    let report = with_graph(runs, notes, data, threads);
    Ok(report)
}

/// The report of runs, with the graph of one whose files are there.
fn with_graph(runs: Vec<ReportRun>, mut notes: Vec<String>, data: &DataFolder, threads: &Threads) -> Report {
    let files = |run: &ReportRun| {
        let folder = SeedFolder::at(run.folder.as_deref()?);
        Some((folder.model(), folder.edges())).filter(|(model, _)| model.is_file())
    };
    let files: Vec<_> = runs.iter().map(files).collect();
    let with_edges = files.iter().position(|files| files.as_ref().is_some_and(|(_, edges)| edges.is_file()));
    let main = with_edges.or_else(|| files.iter().position(Option::is_some));
    let main = main.and_then(|place| Some((place, files[place].as_ref()?)));
    let graph = main.map(|(place, files)| graph_of_files(place, files, data, threads));
    let graph = match graph.transpose() {
        Ok(graph) => graph,
        Err(error) => {
            let note =
                format!("The graph and the predictions are not shown: {}", shown(&format!("{error:#}")));
            messages::warn(&note);
            notes.push(note);
            None
        }
    };
    Report { title: title(&runs), command: command(), runs, graph, notes }
}

/// A run with its graph, from its files.
fn graph_of_files(
    place: usize,
    (model, edges): &(PathBuf, PathBuf),
    data: &DataFolder,
    threads: &Threads,
) -> Result<GraphOfRun> {
    let model = SavedModel::open(model)?;
    let header = model.header();
    let source = source_of(header).context("the model does not say where its data came from")?;
    let dataset = match &source {
        DataSource::Name(name) => data.load(threads, name),
        DataSource::Files(request) => own_files::read(threads, request),
    };
    let dataset = dataset.context("cannot read the data of the run")?;
    let trained = as_trained(threads, &dataset, header)?.with_context(|| {
        let (found, expected) = (dataset.checksum(), &header.checksum);
        format!(
            "the data of the run has changed: `{}` has content {found}, expected {expected}",
            dataset.name()
        )
    })?;
    let logits = model.logits(&trained.dataset)?;
    let rows = if edges.is_file() { EdgeFile::open(edges)?.rows()? } else { Vec::new() };
    check_rows(&rows, trained.dataset.graph().nodes(), edges)?;
    Ok(GraphOfRun::new(place, (trained.dataset, trained.split), (&logits, header.temperature), rows))
}

/// Refuses a table of edges that names nodes which the graph does not have.
fn check_rows(rows: &[EdgeRow], nodes: usize, file: &Path) -> Result<()> {
    if let Some(row) = rows.iter().find(|row| row.source.max(row.target) as usize >= nodes) {
        let (found, file) = (row.source.max(row.target), file.display());
        bail!("{file}: there is node {found}, expected numbers below {nodes}: it is of another graph");
    }
    Ok(())
}

/// Runs that are just over, kept for a report.
#[derive(Default)]
pub(crate) struct Collected {
    runs: Mutex<Vec<(usize, ReportRun)>>,
    graph: Mutex<Option<GraphOfRun>>,
}

impl Collected {
    /// Keeps a run at its place; `detailed`, with its graph.
    pub(crate) fn keep(
        &self,
        place: usize,
        run: &FinishedRun,
        detailed: bool,
        threads: &Threads,
    ) -> Result<()> {
        let (finished, data) = (&run.finished, &run.data);
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push((place, ReportRun::new(finished.record.clone())));
        drop(runs);
        if detailed {
            let rows = match &finished.edges {
                None => Vec::new(),
                Some(report) => {
                    let audit = Audit::new(threads, &data.dataset, report)?;
                    EdgeTable::new(&data.dataset, report, &finished.snapshot.logits, &audit).rows().collect()
                }
            };
            let on = (data.dataset.clone(), Some(data.material.split().clone()));
            let logits = (&finished.snapshot.logits[..], finished.record.result.temperature);
            let graph = GraphOfRun::new(place, on, logits, rows);
            *self.graph.lock().unwrap_or_else(PoisonError::into_inner) = Some(graph);
        }
        Ok(())
    }

    /// The report of all that was kept.
    pub(crate) fn report(self) -> Report {
        let mut runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        runs.sort_by_key(|(place, _)| *place);
        let mut graph = self.graph.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(graph) = &mut graph {
            graph.run = runs.iter().position(|(place, _)| *place == graph.run).unwrap_or(0);
        }
        let runs: Vec<ReportRun> = runs.into_iter().map(|(_, run)| run).collect();
        Report { title: title(&runs), command: command(), runs, graph, notes: Vec::new() }
    }
}
