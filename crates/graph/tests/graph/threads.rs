//! What a thread budget promises.

use std::sync::atomic::{AtomicUsize, Ordering};

use edgepace_graph::{GraphError, Refusal, Threads};

const LEN: usize = 50_000;

#[test]
fn a_budget_has_at_least_one_thread() {
    assert_eq!(Threads::new(0).unwrap_err(), GraphError::Refused(Refusal::new("threads", 0, "at least 1")));
    assert_eq!(Threads::one().count(), 1);
    assert_eq!(Threads::new(3).unwrap().count(), 3);
}

#[test]
fn a_budget_of_one_stays_on_the_calling_thread() {
    let (threads, own) = (Threads::one(), std::thread::current().id());
    let is_own = || assert_eq!(std::thread::current().id(), own);
    let (mut a, mut b) = (vec![0; LEN], vec![0; 2 * LEN]);
    threads.run(is_own);
    threads.on_each(is_own);
    threads.rows(&mut a, 1, 64, |_, _| is_own());
    threads.rows_of_two((&mut a, 1), (&mut b, 2), 64, |_, _, _| is_own());
    threads.columns((&mut a[..], &mut b[..LEN]), 64, |_, _| is_own());
    threads.nodes(&[0, 4, 9], |node| node, &mut a, |_, _| is_own());
    threads.map(LEN, |_| is_own());
    assert!(threads.all(&a, &a, |_, _| {
        is_own();
        true
    }));
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let scrambled = |i: usize| (i * 7919) % LEN;
    for count in [1, 2, 8] {
        let threads = Threads::new(count).unwrap();
        assert_eq!(threads.map(LEN, scrambled), (0..LEN).map(scrambled).collect::<Vec<_>>());
        let mut sorted = threads.map(LEN, scrambled);
        threads.sort(&mut sorted);
        assert_eq!(sorted, (0..LEN).collect::<Vec<_>>());
        let pieces = threads.map_pieces(LEN, 999, |piece| piece);
        assert_eq!(pieces.iter().map(ExactSizeIterator::len).sum::<usize>(), LEN);
        assert!(pieces.windows(2).all(|next| next[0].end == next[1].start));
        for odd in [None, Some(0), Some(LEN / 2), Some(LEN - 1)] {
            assert_eq!(threads.all(&sorted, &sorted, |&a, _| Some(a) != odd), odd.is_none());
            assert_eq!(
                threads.all_pieces(LEN, |piece| odd.is_none_or(|odd| !piece.contains(&odd))),
                odd.is_none()
            );
        }
        let calls = AtomicUsize::new(0);
        threads.on_each(|| _ = calls.fetch_add(1, Ordering::Relaxed));
        assert_eq!(calls.into_inner(), count);
        assert_eq!(threads.map(0, scrambled), []);
        assert!(threads.all_pieces(0, |_| false));
    }
}

#[test]
fn columns_are_cut_at_multiples_of_the_block_whatever_the_number_of_threads() {
    const BLOCK: usize = 64;
    for (count, len) in [1, 2, 8].into_iter().flat_map(|count| [0, 1, 64, 65, 5000].map(|len| (count, len))) {
        let threads = Threads::new(count).unwrap();
        let (mut places, mut calls, mut sizes) = (vec![0; len], vec![0_u8; len], vec![0; len]);
        let columns = ((&mut places[..], &mut calls[..]), &mut sizes[..]);
        threads.columns(columns, BLOCK, |first, ((places, calls), sizes)| {
            assert!(first % BLOCK == 0 && places.len() == calls.len());
            sizes.fill(places.len());
            for (at, (place, calls)) in places.iter_mut().zip(calls).enumerate() {
                (*place, *calls) = (first + at, *calls + 1);
            }
        });
        assert_eq!(places, (0..len).collect::<Vec<_>>());
        assert!(calls.iter().all(|&calls| calls == 1));
        let whole = len / BLOCK * BLOCK;
        assert!(
            sizes.iter().enumerate().all(|(at, &size)| size == if at < whole { BLOCK } else { len % BLOCK })
        );
    }
}
