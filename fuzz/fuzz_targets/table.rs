#![no_main]

use edgepace_data::fuzz::TARGETS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let target = TARGETS.iter().find(|target| target.name == "table").expect("a reader of this name");
    let _ = (target.read)(bytes);
});
