//! A thread budget works in a child process, too. The only test of this binary, because a fork copies the calling thread
//! alone, and no other test should be in the middle of something then.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "a fork is a system call, and the child must end without unwinding")]

use std::time::{Duration, Instant};

use edgepace_graph::Threads;

/// How long the child may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(20);

/// Squares that took both threads.
fn squares(threads: &Threads) -> bool {
    let found = threads.map(100_000, |i| i * i);
    let mut filled = vec![0; 100_000];
    threads.rows(&mut filled, 1, 100, |first, rows| {
        rows.iter_mut().enumerate().for_each(|(i, row)| *row = (first + i) * (first + i));
    });
    found == filled && found.iter().enumerate().all(|(i, &square)| square == i * i)
}

/// Threads of this process.
fn running() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Runs `child` in a fork of this process and gives its answer; `None` if it hangs or dies.
fn in_a_fork(child: impl FnOnce() -> bool) -> Option<bool> {
    // SAFETY: the child runs the closure on its only thread and ends by `_exit`. It allocates, which the system's C
    // library allows after a fork.
    let process = unsafe { libc::fork() };
    assert!(process >= 0, "the system refuses to fork");
    if process == 0 {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(false);
        // SAFETY: ends the child at once, without the parent's handlers.
        unsafe { libc::_exit(i32::from(!answer)) };
    }
    let begin = Instant::now();
    loop {
        let mut status = 0;
        // SAFETY: asks for the state of the child that was just made.
        let ended = unsafe { libc::waitpid(process, &raw mut status, libc::WNOHANG) };
        if ended == process {
            return libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status) == 0);
        }
        if begin.elapsed() > PATIENCE {
            // SAFETY: ends the child and takes note of its end.
            unsafe {
                libc::kill(process, libc::SIGKILL);
                libc::waitpid(process, &raw mut status, 0);
            }
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_child_starts_threads_of_its_own_and_so_does_its_child() {
    let before = running();
    let (threads, unused) = (Threads::new(2).unwrap(), Threads::new(2).unwrap());
    assert_eq!(running(), before, "a budget starts nothing until it is used");
    assert!(squares(&threads));
    assert_eq!(running(), before + 2);
    for _ in 0..20 {
        let answer = in_a_fork(|| {
            let clone = threads.clone();
            let alone = running();
            let right = squares(&clone) && squares(&unused);
            let own = running();
            let grandchild = in_a_fork(|| squares(&threads));
            drop((clone, threads.clone()));
            alone == 1 && right && own == 5 && grandchild == Some(true)
        });
        assert_eq!(answer, Some(true), "none: the child hangs");
    }
    assert!(squares(&threads), "the parent's threads are as they were");
    // To drop a budget in a child does not wait for the threads of its parent.
    let mut threads = Some(threads);
    assert_eq!(in_a_fork(|| threads.take().is_some()), Some(true));
}
