//! The program as its users meet it: what it prints, where, and with which exit code.

mod audit;
mod data;
mod demo;
#[path = "../shared/folders.rs"]
mod folders;
mod grammar;
mod predict;
mod program;
mod resume;
mod train;
mod warnings;
