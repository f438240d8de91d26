//! The files of an experiment: tables as CSV, Markdown and LaTeX, figures as SVG and PNG.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use edgepace_graph::files;
use edgepace_lab::reproduce::{KINDS, Reproduction, drawings, overview, page};
use edgepace_lab::tables::{ResultTable, csv, latex};
use edgepace_lab::{Store, figure};

use super::{ALL, Outcome};

/// Where the files of an experiment go: each has its folder where there are all.
pub(super) fn folder(out: &Path, what: &str, reproduction: &Reproduction) -> PathBuf {
    if what == ALL { out.join(reproduction.name) } else { out.to_owned() }
}

pub(super) fn write(folder: &Path, outcome: &Outcome, store: &Store, command: &str) -> Result<()> {
    files::create_folder(folder)?;
    let Outcome { reproduction, table, courses, .. } = outcome;
    let name = reproduction.name;
    let mut pictures = Vec::new();
    for drawing in drawings(reproduction, table, store, courses)? {
        for ending in ["svg", "png"] {
            figure::write(&*drawing.figure, &folder.join(format!("{}.{ending}", drawing.name)))?;
        }
        pictures.push(format!("{}.svg", drawing.name));
    }
    let text = page(reproduction, table, command, &pictures);
    let mut all = vec![
        (format!("{name}.csv"), csv(table)),
        (format!("{name}.tex"), latex(table)),
        ("README.md".to_owned(), text),
    ];
    if !courses.is_empty() {
        let mut lines = String::from("graph,method,seed,epoch,easy,medium,hard\n");
        debug_assert_eq!(KINDS.len(), 3);
        for course in courses {
            for (epoch, [easy, medium, hard]) in &course.shares {
                let method = &course.method;
                let _ = writeln!(
                    lines,
                    "{},{method},{},{epoch},{easy:.6},{medium:.6},{hard:.6}",
                    course.graph, course.seed
                );
            }
        }
        all.push(("shares.csv".to_owned(), lines));
    }
    for (file, text) in all {
        files::write(&folder.join(file), text.as_bytes())?;
    }
    Ok(())
}

/// The page over all experiments, and all cells in one file.
pub(super) fn write_overview(out: &Path, outcomes: &[Outcome], command: &str) -> Result<()> {
    let tables: Vec<ResultTable> = outcomes.iter().map(|outcome| outcome.table.clone()).collect();
    let text = overview(&tables, command, |name| format!("{name}/README.md"));
    files::write(&out.join("README.md"), text.as_bytes())?;
    let mut cells = String::new();
    for (place, table) in tables.iter().enumerate() {
        let lines = csv(table);
        let head = lines.find('\n').map_or(0, |end| end + 1);
        cells.push_str(if place == 0 { &lines } else { &lines[head..] });
    }
    files::write(&out.join("cells.csv"), cells.as_bytes())?;
    Ok(())
}
