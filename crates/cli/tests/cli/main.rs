//! The program as its users meet it: what it prints, where, and with which exit code.

mod audit;
mod bench;
mod data;
mod demo;
mod docs;
mod predict;
mod program;
mod train;
