//! The program as its users meet it: what it prints, where, and with which exit code.

mod bench;
mod data;
mod docs;
mod program;
