#![no_main]

use std::sync::Once;

use edgepace_data::fuzz::TARGETS;
use libfuzzer_sys::fuzz_target;

/// The reader catches what the Parquet library panics at. The hook of libFuzzer would end the search before that; a panic
/// that nobody catches still ends it.
static CATCH: Once = Once::new();

fuzz_target!(|bytes: &[u8]| {
    CATCH.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    let target = TARGETS.iter().find(|target| target.name == "parquet").expect("a reader of this name");
    let _ = (target.read)(bytes);
});
