//! What the program says beside its result: progress, warnings, notes and errors. All of it goes to standard error.
//!
//! Under `--json` each of them is a JSON object on a line of its own: `{"warning": {"message": …}}`, `{"note": {"message": …}}`,
//! `{"error": {"message": …, "causes": […], "help": …}}`. Standard output has the result or nothing.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;
use std::sync::{LazyLock, OnceLock};

use clap::Args;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};
use serde_json::json;

use crate::table::shown_lines;

/// How much is said, and to whom.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Voice {
    /// Print the result as JSON; errors and warnings are JSON objects as well, on standard error
    #[arg(long, global = true)]
    json: bool,
    /// Nothing but the result and errors: no progress, no warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say what is being done
    #[arg(short, long, global = true)]
    verbose: bool,
}

static VOICE: OnceLock<Voice> = OnceLock::new();
/// All bars, so that a message does not end up within one.
static BARS: LazyLock<MultiProgress> = LazyLock::new(|| {
    let target = if voice().quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    MultiProgress::with_draw_target(target)
});

/// Holds for the rest of the process; only the first call counts.
pub(crate) fn speak_as(voice: Voice) {
    let _ = VOICE.set(voice);
}

fn voice() -> Voice {
    VOICE.get().copied().unwrap_or_default()
}

/// Whether results are for programs.
pub(crate) fn json() -> bool {
    voice().json
}

/// What a user should know about a result; not said under `--quiet`.
pub(crate) fn warn(message: impl fmt::Display) {
    if !voice().quiet {
        speak("warning", &message);
    }
}

/// What is being done; said under `--verbose` alone.
pub(crate) fn note(message: impl fmt::Display) {
    if voice().verbose {
        speak("note", &message);
    }
}

/// What a user has to do next; not said under `--quiet`.
pub(crate) fn tell(message: impl fmt::Display) {
    match voice() {
        Voice { quiet: true, .. } => {}
        Voice { json: true, .. } => speak("note", &message),
        _ => BARS.suspend(|| eprintln!("{}", shown_lines(&message.to_string()))),
    }
}

fn speak(kind: &str, message: &dyn fmt::Display) {
    BARS.suspend(|| {
        if json() {
            eprintln!("{}", json!({ kind: { "message": message.to_string() } }));
        } else {
            eprintln!("{kind}: {}", shown_lines(&message.to_string()));
        }
    });
}

/// A bar, which is not drawn under `--quiet` or where there is no terminal.
pub(crate) fn bar(bar: ProgressBar) -> ProgressBar {
    BARS.add(bar)
}

/// An error with a word on what to do about it.
#[derive(Debug)]
struct Helped {
    cause: anyhow::Error,
    help: String,
}

impl fmt::Display for Helped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = format!("{:#}", self.cause);
        let between = if cause.ends_with('?') { " " } else { ": " };
        write!(f, "{cause}{between}{}", self.help)
    }
}

impl Error for Helped {}

/// Adds what to do about an error, in the words of the command line.
pub(crate) fn with_help(cause: anyhow::Error, help: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Helped { cause, help: help.into() })
}

/// Says why the job could not be done.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    if json() {
        let (cause, help) = match error.downcast_ref::<Helped>() {
            Some(helped) => (&helped.cause, Some(&helped.help)),
            None => (error, None),
        };
        let causes: Vec<String> = cause.chain().skip(1).map(ToString::to_string).collect();
        eprintln!("{}", error_object(&cause.to_string(), &causes, help.map(String::as_str)));
    } else {
        eprintln!("error: {}", shown_lines(&format!("{error:#}")));
    }
    ExitCode::from(2)
}

fn error_object(message: &str, causes: &[String], help: Option<&str>) -> serde_json::Value {
    let mut error = json!({ "message": message, "causes": causes });
    if let (Some(object), Some(help)) = (error.as_object_mut(), help) {
        object.insert("help".to_owned(), help.into());
    }
    json!({ "error": error })
}

/// Says what is wrong with the command line, or prints the help or version that was asked for.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Nothing could be read, so that whether JSON was asked for is seen in the words themselves.
    let json = crate::words().iter().take_while(|word| *word != "--").any(|word| word == "--json");
    if error.use_stderr() && json {
        let (message, help) = parts(&error.render().to_string());
        eprintln!("{}", error_object(&message, &[], Some(&help)));
    } else {
        // Who reads the output has seen enough, as `head` does.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// A message of the argument parser as what is wrong and what to do: its tips, its usage and where the help is.
fn parts(rendered: &str) -> (String, String) {
    let text = rendered.trim().strip_prefix("error: ").unwrap_or(rendered.trim());
    let mut paragraphs = text.split("\n\n").map(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        words.join(" ")
    });
    (paragraphs.next().unwrap_or_default(), paragraphs.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_stands_behind_the_chain_of_causes() {
        let error = anyhow::anyhow!("no space").context("cannot write x");
        assert_eq!(
            with_help(error, "choose another disk").to_string(),
            "cannot write x: no space: choose another disk"
        );
    }

    #[test]
    fn a_message_of_the_parser_has_its_tips_as_help() {
        let rendered = "error: unexpected argument '--epoch' found\n\n  tip: a similar argument exists: '--epochs'\n\nUsage: edgepace train\n";
        let (message, help) = parts(rendered);
        assert_eq!(message, "unexpected argument '--epoch' found");
        assert_eq!(help, "tip: a similar argument exists: '--epochs'; Usage: edgepace train");
    }
}
