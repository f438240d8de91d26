//! The program as its users meet it: what it prints, where, and with which exit code.

mod docs;
#[path = "../../../cli/tests/docs/documents.rs"]
mod documents;
mod measure;
mod program;
