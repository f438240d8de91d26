//! Event files for TensorBoard: what a run says while it works, as curves to look at.
//!
//! ```text
//! DIR/seed-3/events.out.tfevents.edgepace    loss, validation and edges of each epoch, the objective of each update of the
//!                                            edges, and the settings as a text
//! ```
//!
//! A tag is what is measured and where: `loss/training`, `loss/warm start`, or `loss/2 rcl` for one of several that a run
//! chooses among. Its step is the epoch.

mod messages;
mod records;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use edgepace_graph::files::{self, FileError};
use edgepace_train::{Event, Phase};
use serde::Deserialize;

use crate::error::LabError;
use crate::plan::{Plan, PlanFile};
use crate::sweep::Watch;

/// TensorBoard reads files with `tfevents` in their name.
const NAME: &str = "events.out.tfevents.edgepace";
const SEED: &str = "seed-";

/// Writes an event file for each seed, as its run goes. Nothing of it changes what comes out.
///
/// A run that goes on from a checkpoint goes on in its file: events after the checkpoint are forgotten, because they will
/// happen again, and what the file lacks is taken from the history in the run folder.
#[derive(Debug)]
pub struct TensorBoard {
    folder: PathBuf,
    /// What every file begins with.
    begin: Vec<Vec<u8>>,
    overwrite: bool,
    runs: Mutex<Runs>,
}

#[derive(Debug, Default)]
struct Runs {
    files: BTreeMap<u64, EventFile>,
    /// The first error; nothing is written after it.
    failed: Option<LabError>,
}

impl TensorBoard {
    /// Takes a folder for the runs of a plan; it is made if it is not there. `resume` says that the runs may have been in it
    /// before; `overwrite` removes the event files of earlier runs, once there is something to write.
    ///
    /// # Errors
    /// A folder that has events of other runs in it, or that cannot be written.
    pub fn new(folder: &Path, plan: &Plan, resume: bool, overwrite: bool) -> Result<Self, LabError> {
        files::create_folder(folder)?;
        let failed = |source| FileError { action: "write", path: folder.join(NAME), source };
        let settings = PlanFile::from(plan.resolved()?).to_toml();
        let settings = settings.map_err(|error| failed(io::Error::other(error)))?;
        // In this order: readers expect times that do not go back.
        let version = messages::version();
        let settings = messages::text("settings", &format!("```toml\n{settings}```\n"));
        let begin = vec![version, settings];
        let own = Self { folder: folder.to_owned(), begin, overwrite, runs: Mutex::default() };
        let same = |path: &PathBuf| fs::read(path).is_ok_and(|file| own.is_beginning_of(&file));
        let found = if overwrite { Vec::new() } else { event_files(folder)? };
        match found.into_iter().find(|path| !resume || !same(path)) {
            Some(path) => Err(LabError::Used { folder: path.parent().unwrap_or(folder).to_owned() }),
            None => Ok(own),
        }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends writing, and says what went wrong on the way. A folder in which nothing was written is removed.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub fn finish(self) -> Result<(), LabError> {
        let runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        if runs.files.is_empty() {
            let _ = fs::remove_dir(&self.folder);
        }
        runs.failed.map_or(Ok(()), Err)
    }

    /// Whether a file is of these runs, and whole at its beginning.
    fn is_beginning_of(&self, file: &[u8]) -> bool {
        let begin = self.begin.iter().fold(Vec::new(), framed);
        // A file that was cut before its settings says nothing of any run.
        file.len() < begin.len() || in_common(file, &begin) == begin.len()
    }

    /// The file of a seed, with what is in its history so far.
    fn open(&self, seed: u64, history: &str) -> Result<EventFile, LabError> {
        let folder = self.folder.join(format!("{SEED}{seed}"));
        files::create_folder(&folder)?;
        let path = folder.join(NAME);
        let mut candidate = None;
        let mut bytes = self.begin.iter().fold(Vec::new(), framed);
        // A line that is not whole is none of those that the checkpoint counts.
        for happened in history.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            bytes = happened_event(happened, &mut candidate).iter().fold(bytes, framed);
        }
        let put = || -> io::Result<File> {
            let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            // What is there already keeps its times.
            let there = in_common(&fs::read(&path)?, &bytes);
            file.seek(SeekFrom::Start(there as u64))?;
            file.write_all(&bytes[there..])?;
            file.set_len(bytes.len() as u64)?;
            Ok(file)
        };
        let file = put().map_err(|source| FileError { action: "write", path: path.clone(), source })?;
        Ok(EventFile { path, file, candidate })
    }

    /// Does something to the file of a seed, which is opened with a history if it is not open.
    fn with(&self, seed: u64, history: &str, act: impl FnOnce(&mut EventFile) -> Result<(), LabError>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.failed.is_some() {
            return;
        }
        let done = || -> Result<(), LabError> {
            if runs.files.is_empty() && self.overwrite {
                for path in event_files(&self.folder)? {
                    fs::remove_file(&path).map_err(|source| FileError { action: "remove", path, source })?;
                }
            }
            let file = match runs.files.entry(seed) {
                Entry::Occupied(open) => open.into_mut(),
                Entry::Vacant(place) => place.insert(self.open(seed, history)?),
            };
            act(file)
        };
        runs.failed = done().err();
    }
}

impl Watch for TensorBoard {
    fn goes_on(&self, seed: u64, history: &Path) {
        // Without it there is nothing to go on from, and the file begins anew.
        let history = fs::read_to_string(history).unwrap_or_default();
        self.with(seed, &history, |_| Ok(()));
    }

    fn on(&self, seed: u64, events: &[Event], _: u64, _: u64) {
        self.with(seed, "", |file| file.append(events));
    }

    fn over(&self, _: u64) {}
}

/// The event files of all seeds in a folder.
fn event_files(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let failed = |source| FileError { action: "list", path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path().join(NAME);
        if entry.file_name().to_string_lossy().starts_with(SEED) && path.is_file() {
            found.push(path);
        }
    }
    Ok(found)
}

#[derive(Debug)]
struct EventFile {
    path: PathBuf,
    file: File,
    /// Which of several is trained.
    candidate: Option<String>,
}

impl EventFile {
    fn append(&mut self, events: &[Event]) -> Result<(), LabError> {
        let mut bytes = Vec::new();
        for event in events {
            bytes = happened_event((*event).into(), &mut self.candidate).iter().fold(bytes, framed);
        }
        let written = self.file.write_all(&bytes);
        written.map_err(|source| FileError { action: "write", path: self.path.clone(), source }.into())
    }
}

fn framed(mut file: Vec<u8>, event: impl AsRef<[u8]>) -> Vec<u8> {
    records::append(&mut file, event.as_ref());
    file
}

/// How many bytes of a file are the events that are expected, whenever they were written.
fn in_common(mut file: &[u8], mut expected: &[u8]) -> usize {
    let whole = expected.len();
    while let (Some((found, later)), Some((event, rest))) =
        (records::split_first(file), records::split_first(expected))
    {
        if found.len() != event.len()
            || found.get(messages::AFTER_TIME..) != event.get(messages::AFTER_TIME..)
        {
            break;
        }
        (file, expected) = (later, rest);
    }
    whole - expected.len()
}

/// An event, or a line of a history.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", tag = "event")]
enum Happened {
    Candidate { name: String, number: usize, of: usize },
    Epoch { phase: Phase, epoch: u32, loss: Option<f64>, validation: Option<f64>, edges: usize },
    Update { epoch: u32, objective: Option<[f64; 2]> },
}

impl From<Event> for Happened {
    fn from(event: Event) -> Self {
        match event {
            Event::Candidate { name, number, of } => Self::Candidate { name: name.to_owned(), number, of },
            Event::Epoch { phase, epoch, loss, validation, edges, .. } => {
                Self::Epoch { phase, epoch, loss: Some(loss), validation, edges }
            }
            Event::Update { epoch, objective, .. } => Self::Update { epoch, objective },
        }
    }
}

/// What TensorBoard is told of it, if anything; takes up which of several is trained.
fn happened_event(happened: Happened, candidate: &mut Option<String>) -> Option<Vec<u8>> {
    let of = |what: &str, phase: Phase| {
        let place = match (&candidate, phase) {
            (None, Phase::Training) => "training".to_owned(),
            (None, Phase::WarmStart) => "warm start".to_owned(),
            (Some(name), Phase::Training) => name.clone(),
            (Some(name), Phase::WarmStart) => format!("{name}, warm start"),
        };
        format!("{what}/{place}")
    };
    match happened {
        Happened::Candidate { name, number, of } => {
            // As many digits for each, so that they are in order.
            let digits = of.saturating_sub(1).to_string().len();
            *candidate = Some(format!("{number:0digits$} {name}"));
            None
        }
        Happened::Epoch { phase, epoch, loss, validation, edges } => {
            let mut values = vec![(of("loss", phase), loss.unwrap_or(f64::NAN))];
            values.extend(validation.map(|score| (of("validation", phase), score)));
            values.push((of("edges", phase), edges as f64));
            Some(messages::scalars(epoch, &values))
        }
        Happened::Update { epoch, objective } => {
            let [_, after] = objective?;
            Some(messages::scalars(epoch, &[(of("objective", Phase::Training), after)]))
        }
    }
}

#[cfg(test)]
mod tests {
    use edgepace_train::RunConfig;

    use super::*;
    use crate::plan::DataSource;

    const SEED_OF_ALL: u64 = 4;

    fn plan(epochs: u32) -> Plan {
        Plan {
            data: DataSource::Name("synthetic:nodes=200,edges=800".to_owned()),
            noise: edgepace_data::Noise::default(),
            split: None,
            config: RunConfig { epochs, ..RunConfig::default() },
            seeds: vec![SEED_OF_ALL],
        }
    }

    fn events() -> Vec<Event> {
        let mut events = vec![Event::Candidate { name: "rcl", number: 3, of: 11 }];
        for epoch in 0..6 {
            let phase = if epoch < 3 { Phase::WarmStart } else { Phase::Training };
            let validation = (epoch != 1).then_some(50.0 + f64::from(epoch));
            let (loss, edges) = (1.0 / f64::from(epoch + 1), 100 * epoch as usize);
            events.push(Event::Epoch { phase, epoch: epoch % 3, epochs: 3, loss, validation, edges });
        }
        events.push(Event::Update { epoch: 2, edges: 600, objective: Some([2.0, 1.5]) });
        events
    }

    fn file(folder: &Path) -> Vec<u8> {
        fs::read(folder.join(format!("{SEED}{SEED_OF_ALL}")).join(NAME)).expect("an event file")
    }

    /// Its events without their times.
    fn told(folder: &Path) -> Vec<Vec<u8>> {
        let (file, mut told) = (file(folder), Vec::new());
        let mut rest = &file[..];
        while let Some((event, later)) = records::split_first(rest) {
            told.push(event[messages::AFTER_TIME..].to_vec());
            rest = later;
        }
        assert!(rest.is_empty(), "whole to its end");
        told
    }

    /// The file of a run that was never stopped.
    fn whole(folder: &Path) -> Vec<Vec<u8>> {
        let own = TensorBoard::new(folder, &plan(6), false, false).expect("a folder");
        for event in events() {
            own.on(SEED_OF_ALL, &[event], 0, 0);
        }
        own.finish().expect("written");
        told(folder)
    }

    fn history(folder: &Path, events: &[Event]) -> PathBuf {
        let lines: Vec<String> =
            events.iter().map(|event| serde_json::to_string(event).expect("JSON")).collect();
        let path = folder.join("history.jsonl");
        fs::write(&path, lines.join("\n") + "\n").expect("a file");
        path
    }

    #[test]
    fn every_epoch_is_one_record_and_says_which_candidate_it_is_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let told = whole(folder.path());
        // The version, the settings, six epochs and an update; naming a candidate is none.
        assert_eq!(told.len(), 2 + 6 + 1);
        let has = |event: &[u8], tag: &str| event.windows(tag.len()).any(|found| found == tag.as_bytes());
        assert!(has(&told[2], "loss/03 rcl, warm start") && has(&told[2], "edges/03 rcl, warm start"));
        assert!(has(&told[2], "validation/") && !has(&told[3], "validation/"), "none without a score");
        assert!(has(&told[8], "objective/03 rcl"));
    }

    #[test]
    fn a_run_that_goes_on_leaves_the_file_of_one_that_was_never_stopped() {
        let folder = tempfile::tempdir().expect("a folder");
        let expected = whole(&folder.path().join("whole"));
        let all = events();
        // Killed with so many events in the file, of which the checkpoint knows so many.
        for (written, saved) in [(8, 8), (6, 3), (3, 1), (0, 4)] {
            let parts = folder.path().join(format!("{written}-{saved}"));
            let first = TensorBoard::new(&parts, &plan(6), false, false).expect("a folder");
            first.on(SEED_OF_ALL, &all[..written], 0, 0);
            drop(first);
            let before = file(&parts);
            let then = TensorBoard::new(&parts, &plan(6), true, false).expect("the same folder");
            then.goes_on(SEED_OF_ALL, &history(folder.path(), &all[..saved]));
            if saved <= written {
                assert!(before.starts_with(&file(&parts)), "what is kept keeps its times");
            }
            then.on(SEED_OF_ALL, &all[saved..], 0, 0);
            then.finish().expect("written");
            assert_eq!(told(&parts), expected, "{written} written, {saved} saved");
        }
    }

    #[test]
    fn a_damaged_or_missing_file_is_made_anew_from_the_history() {
        let folder = tempfile::tempdir().expect("a folder");
        let expected = whole(folder.path());
        let path = folder.path().join(format!("{SEED}{SEED_OF_ALL}")).join(NAME);
        let mut bytes = file(folder.path());
        let middle = bytes.len() - 40;
        bytes[middle] ^= 1;
        for damaged in [Some(bytes), None] {
            match damaged {
                Some(bytes) => fs::write(&path, bytes).expect("written"),
                None => fs::remove_file(&path).expect("removed"),
            }
            let then = TensorBoard::new(folder.path(), &plan(6), true, false).expect("the same folder");
            then.goes_on(SEED_OF_ALL, &history(folder.path(), &events()));
            then.finish().expect("written");
            assert_eq!(told(folder.path()), expected);
        }
    }

    #[test]
    fn events_of_another_run_are_refused_unless_told_to_replace_them() {
        let folder = tempfile::tempdir().expect("a folder");
        whole(folder.path());
        let used = |run| matches!(run, Err(LabError::Used { .. }));
        assert!(used(TensorBoard::new(folder.path(), &plan(6), false, false)), "a run that begins");
        assert!(used(TensorBoard::new(folder.path(), &plan(7), true, false)), "other settings");
        let own = TensorBoard::new(folder.path(), &plan(7), false, true).expect("told so");
        own.on(SEED_OF_ALL, &events()[..2], 0, 0);
        assert_eq!(told(folder.path()).len(), 3);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told_at_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = TensorBoard::new(folder.path(), &plan(6), false, false).expect("a folder");
        fs::write(folder.path().join(format!("{SEED}{SEED_OF_ALL}")), "no folder").expect("written");
        own.on(SEED_OF_ALL, &events(), 0, 0);
        own.on(SEED_OF_ALL, &events(), 0, 0);
        assert!(matches!(own.finish(), Err(LabError::File(_))));
    }
}
