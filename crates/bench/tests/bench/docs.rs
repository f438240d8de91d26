//! The documents keep their word: commands of this program work, slow ones at least parse.

use crate::documents::{COMMAND_OF_BENCH, blocks, documents};
use crate::program::bench;

#[test]
fn every_documented_measurement_works() {
    let mut seen = 0;
    for (file, text) in documents() {
        for (language, lines) in blocks(&text) {
            let arguments =
                lines.iter().filter_map(|line| line.strip_prefix("$ ")?.strip_prefix(COMMAND_OF_BENCH));
            for arguments in arguments {
                // `--help` after arguments that are not known is an error, and otherwise the end.
                let help = (language == "console slow").then_some("--help");
                let run = bench(arguments.split_whitespace().chain(help));
                assert_eq!(run.code, Some(0), "{}: {arguments}: {}", file.display(), run.stderr);
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "the documents have measurements");
}
