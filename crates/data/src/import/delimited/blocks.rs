//! A file in blocks of whole lines, worked on by all threads and put together in order.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use edgepace_graph::Threads;

/// Cuts what a reader gives into blocks of whole lines, about `size` bytes each. Only the last may lack its line end.
pub(super) struct Blocks<R> {
    reader: R,
    size: usize,
    /// The start of a line whose end was not read yet.
    rest: Vec<u8>,
    next: usize,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(reader: R, size: usize) -> Blocks<R> {
        Blocks { reader, size, rest: Vec::new(), next: 0 }
    }

    /// The next block with its position among the blocks.
    fn next(&mut self) -> io::Result<Option<(usize, Vec<u8>)>> {
        let mut text = std::mem::take(&mut self.rest);
        loop {
            let known = text.len();
            text.reserve(self.size);
            let read = self.reader.by_ref().take(self.size as u64).read_to_end(&mut text)?;
            if read == 0 {
                break;
            }
            if let Some(end) = text[known..].iter().rposition(|&byte| byte == b'\n') {
                self.rest.extend_from_slice(&text[known + end + 1..]);
                text.truncate(known + end + 1);
                break;
            }
        }
        if text.is_empty() {
            return Ok(None);
        }
        self.next += 1;
        Ok(Some((self.next - 1, text)))
    }
}

/// Calls `parse` on every block, on all threads, and `merge` on the outcomes in the order of the file, until
/// it breaks. Blocks that wait for their turn are few, however slow `merge` is.
pub(super) fn in_order<R: Read + Send, P: Send, B: Send>(
    threads: &Threads,
    blocks: Blocks<R>,
    parse: impl Fn(&[u8]) -> P + Sync,
    merge: impl FnMut(&[u8], P) -> ControlFlow<B> + Send,
) -> io::Result<ControlFlow<B>> {
    let work = Work {
        blocks: Mutex::new(blocks),
        waiting: Mutex::new(BTreeMap::new()),
        merger: Mutex::new(Merger { merge, next: 0, end: None }),
        stop: AtomicBool::new(false),
        limit: 2 * threads.count(),
    };
    threads.on_each(|| work.run(&parse));
    let mut merger = lock(&work.merger);
    work.drain(&mut merger);
    match merger.end.take() {
        None => Ok(ControlFlow::Continue(())),
        Some(Ok(value)) => Ok(ControlFlow::Break(value)),
        Some(Err(error)) => Err(error),
    }
}

struct Work<R, P, M, B> {
    blocks: Mutex<Blocks<R>>,
    /// Outcomes whose turn has not come, by the position of their block.
    waiting: Mutex<BTreeMap<usize, Outcome<P>>>,
    merger: Mutex<Merger<M, B>>,
    stop: AtomicBool,
    limit: usize,
}

/// A block with what was made of it, or why there is none.
type Outcome<P> = io::Result<(Vec<u8>, P)>;

struct Merger<M, B> {
    merge: M,
    next: usize,
    /// Why the rest of the file does not matter any more.
    end: Option<io::Result<B>>,
}

impl<R: Read, P, M: FnMut(&[u8], P) -> ControlFlow<B>, B> Work<R, P, M, B> {
    fn run(&self, parse: &impl Fn(&[u8]) -> P) {
        while !self.stop.load(Ordering::Relaxed) {
            let (position, outcome) = {
                let mut blocks = lock(&self.blocks);
                match blocks.next() {
                    Ok(None) => return,
                    Ok(Some((position, text))) => (position, Ok(text)),
                    Err(error) => (blocks.next, Err(error)),
                }
            };
            let failed = outcome.is_err();
            let outcome = outcome.map(|text| {
                let parsed = parse(&text);
                (text, parsed)
            });
            let crowded = {
                let mut waiting = lock(&self.waiting);
                waiting.insert(position, outcome);
                waiting.len() > self.limit
            };
            // Whoever finds the merger free does its work; with many outcomes waiting, threads queue up for it instead
            // of making more.
            if crowded {
                self.drain(&mut lock(&self.merger));
            } else if let Ok(mut merger) = self.merger.try_lock() {
                self.drain(&mut merger);
            }
            if failed {
                return;
            }
        }
    }

    fn drain(&self, merger: &mut Merger<M, B>) {
        while merger.end.is_none() {
            let Some(outcome) = lock(&self.waiting).remove(&merger.next) else { return };
            merger.next += 1;
            merger.end = match outcome {
                Err(error) => Some(Err(error)),
                Ok((text, parsed)) => (merger.merge)(&text, parsed).break_value().map(Ok),
            };
        }
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A thread that panicked takes all of them down with it, so that what it left behind is never looked at.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_whole_lines_and_join_to_the_file_whatever_their_size() {
        let text = b"one\n\ntwo two two\nthree\r\n4";
        for size in 1..40 {
            let mut blocks = Blocks::new(&text[..], size);
            let mut joined = Vec::new();
            while let Some((_, block)) = blocks.next().unwrap() {
                joined.extend_from_slice(&block);
                assert!(block.ends_with(b"\n") || joined.len() == text.len());
            }
            assert_eq!(joined, text);
        }
    }

    #[test]
    fn outcomes_are_merged_in_order_and_nothing_after_the_first_break() {
        let text = "12345\n".repeat(500);
        for (threads, size) in [(1, 6), (2, 7), (8, 20)] {
            let mut merged = 0;
            let blocks = Blocks::new(text.as_bytes(), size);
            let end = in_order(&Threads::new(threads).unwrap(), blocks, <[u8]>::len, |block, len| {
                assert_eq!(block.len(), len);
                merged += len;
                if merged >= 600 { ControlFlow::Break(merged) } else { ControlFlow::Continue(()) }
            });
            let ControlFlow::Break(end) = end.unwrap() else { panic!("no break") };
            assert_eq!((end, merged), (end, end));
            assert!((600..600 + size + 6).contains(&end));
        }
    }
}
