//! The page of one experiment.

use std::fmt::Write as _;

use super::Reproduction;
use crate::tables::{Measure, ResultTable, markdown};

/// The page of an experiment, as Markdown: how it is read, its tables, and pictures that lie beside it.
pub fn page(reproduction: &Reproduction, table: &ResultTable, command: &str, pictures: &[String]) -> String {
    let mut text = format!("# {}\n\n```console slow\n$ {command}\n```\n\n", reproduction.what);
    let _ = writeln!(text, "{}.\n", table.about);
    text.push_str(&legend(table));
    for picture in pictures {
        let _ = writeln!(text, "![{}]({picture})\n", table.about);
    }
    let (known, met) = table.met();
    if known > 0 {
        let _ = writeln!(text, "{met} of {known} cells that the paper has are met.\n");
    }
    text.push_str(&markdown(table, Some(reproduction.ours).filter(|ours| !ours.is_empty())));
    text.trim_end().to_owned() + "\n"
}

/// How the tables of an experiment are read.
pub(super) fn legend(table: &ResultTable) -> String {
    let what = match table.measure {
        Measure::Seconds => "Wall time in seconds, mean ± standard deviation over seeds; one thread per run",
        Measure::Test | Measure::Validation => {
            "Test accuracy in percent (ROC-AUC where nodes have many labels) at the epoch of best validation, mean ± \
             standard deviation over seeds"
        }
    };
    let met = match table.measure {
        Measure::Seconds => "A cell is met when ours is at most the paper's.",
        _ => {
            "A cell is met when our mean is at least the paper's mean less its standard deviation (less nothing where it \
             gives none)."
        }
    };
    format!(
        "{what}; in brackets the paper's figure. Bold: the best of a column, italics: the second. Stars: ahead of the best of the \
         other methods in a paired t test over seeds, adjusted by Holm over all cells of the row in this experiment (\\* p < 0.05, \
         \\*\\* p < 0.01, \\*\\*\\* p < 0.001); forms of one method (RCL, the paper's formulas, auto) are not compared with each \
         other. {met}\n\n"
    )
}
