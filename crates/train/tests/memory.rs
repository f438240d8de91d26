//! What a method says that it needs is what it takes.

#![allow(unsafe_code, reason = "counting bytes takes an allocator, and `GlobalAlloc` is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use edgepace_data::{Cache, SplitRule, load, splits};
use edgepace_nn::Threads;
use edgepace_train::{RunConfig, Silent, memory_estimate, run};

/// The system's allocator with a count of the bytes in use.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above; the pointer came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn estimates_are_within_a_quarter_of_what_is_allocated() {
    let dataset = load("synthetic:nodes=1200,edges=4000,seed=1", &Cache::at("unused")).unwrap();
    let split = splits::make(&SplitRule::standard(&dataset, 1), &dataset, 1).unwrap();
    let threads = Threads::new(1).unwrap();
    let peak = |config: &RunConfig| {
        let before = LIVE.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        run(&dataset, &split, config, 1, &threads, &mut Silent).unwrap();
        PEAK.load(Ordering::Relaxed) - before
    };
    let config = |settings: &str| {
        let mut config = RunConfig { epochs: 2, hidden: 16, ..RunConfig::default() };
        for setting in settings.split(' ') {
            let (key, value) = setting.split_once('=').unwrap();
            config.set(key, value).unwrap();
        }
        config
    };
    let plain = peak(&config("method=vanilla"));
    // For each method the part that can grow beyond what there is.
    let mut off = Vec::new();
    for settings in [
        "method=pro-gnn nuclear_every=1 rank=8",
        "method=pro-gnn nuclear_every=1 rank=8 exact=true",
        "method=pro-gnn nuclear_every=1 rank=8 search=true",
        "method=pro-gnn-sparse neighbours=100 inner=1 nuclear_every=1",
        "method=pro-gnn-sparse neighbours=0 rank=300 inner=1 nuclear_every=1",
        "method=gnn-svd density=1 rank=300",
        "method=gnn-svd density=60 rank=10",
    ] {
        let config = config(settings);
        let taken = (peak(&config) - plain) as f64;
        let estimate = memory_estimate(&dataset, &config).unwrap().unwrap() as f64;
        if !(0.75..1.25).contains(&(estimate / taken)) {
            off.push(format!("{settings}: estimate {estimate:e}, taken {taken:e}"));
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}
