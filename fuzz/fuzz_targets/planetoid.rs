#![no_main]

use edgepace_data::fuzz::TARGETS;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for target in TARGETS.iter().filter(|target| target.name == "planetoid") {
        let _ = (target.read)(bytes);
    }
});
