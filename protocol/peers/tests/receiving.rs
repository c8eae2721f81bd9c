//! Accepted, requested and dropped chunks of a receiver.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use inart_protocol_peers::{Cut, Message, Ranges, Receiver, ReceiverOptions, ReceiverOutput};
use inart_wire::Rank;
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn rank(number: u16) -> Rank {
    Rank::try_from(number).unwrap()
}

/// Returns peer 2 of 4: updates of 10 words in chunks of 4, so 3 chunks of 4, 4 and 2.
fn receiver() -> Receiver {
    let cut = Cut::new(10, 4);
    Receiver::new(vec![cut, cut, None, cut], ReceiverOptions::frames(64))
}

fn update(from: u16, round: u32) -> Vec<u32> {
    (0..10).map(|at| u32::from(from) << 24 | round << 8 | at).collect()
}

fn give(receiver: &mut Receiver, from: u16, round: u32, chunk: u32, now: Duration) {
    let update = update(from, round);
    let words = update[Cut::new(10, 4).unwrap().range(chunk)].to_vec();
    receiver.chunk(rank(from), round, chunk, words.into_iter(), now);
}

fn outputs(receiver: &mut Receiver) -> Vec<ReceiverOutput> {
    std::iter::from_fn(|| receiver.next_output()).collect()
}

fn whole(from: u16, round: u32) -> [ReceiverOutput; 2] {
    let (to, message) = (rank(from), Message::Complete { round });
    let words = update(from, round);
    [ReceiverOutput::Received { from: to, round, words }, ReceiverOutput::Send { to, message }]
}

fn asks(from: u16, round: u32, chunks: Ranges) -> ReceiverOutput {
    ReceiverOutput::Send { to: rank(from), message: Message::Missing { round, chunks } }
}

proptest! {
    #[test]
    fn updates_of_many_senders_are_complete_in_any_order(
        order in Just([0u16, 1, 3].iter().flat_map(|&from| (0..3u32).map(move |chunk| (from, chunk)))
            .cycle().take(18).collect::<Vec<_>>()).prop_shuffle()
    ) {
        let mut receiver = receiver();
        let mut all = Vec::new();
        for (from, chunk) in order {
            give(&mut receiver, from, 7, chunk, MS);
            all.extend(outputs(&mut receiver));
        }
        prop_assert_eq!(all.len(), 6);
        for from in [0, 1, 3] {
            let at = all.iter().position(|output| *output == whole(from, 7)[0]).unwrap();
            prop_assert_eq!(&all[at..at + 2], &whole(from, 7));
        }
        prop_assert_eq!((receiver.counters().repeated, receiver.counters().complete), (9, 3));
        prop_assert_eq!(receiver.wake_at(), None);
    }
}

#[test]
fn missing_chunks_are_requested_after_the_last_chunk_and_after_the_requested_ones() {
    let options = ReceiverOptions { asks_at_once: 1, ranges_per_ask: 1, ..ReceiverOptions::frames(64) };
    let cut = Cut::new(10, 2);
    let mut receiver = Receiver::new(vec![cut], options);
    let give =
        |receiver: &mut Receiver, chunk: u32| receiver.chunk(rank(0), 1, chunk, [9, 9].into_iter(), MS);
    give(&mut receiver, 1);
    assert_eq!(receiver.wake_at(), Some(51 * MS));
    give(&mut receiver, 4);
    assert_eq!(receiver.wake_at(), Some(2 * MS));
    receiver.tick(2 * MS);
    assert_eq!(outputs(&mut receiver), [asks(0, 1, Ranges::of(0..1))]);
    // A second range did not fit: it is requested as soon as the first has arrived.
    give(&mut receiver, 0);
    assert_eq!(receiver.wake_at(), Some(2 * MS));
    receiver.tick(2 * MS);
    assert_eq!(outputs(&mut receiver), [asks(0, 1, Ranges::of(2..4))]);
    // No chunk arrives: the receiver requests again, at growing intervals.
    let mut waits = Vec::new();
    let mut now = 2 * MS;
    for _ in 0..7 {
        let at = receiver.wake_at().unwrap();
        waits.push((at - now).as_millis());
        now = at;
        receiver.tick(now);
        assert_eq!(outputs(&mut receiver), [asks(0, 1, Ranges::of(2..4))]);
    }
    assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 1600]);
    assert_eq!(receiver.counters().asks, 9);
}

#[test]
fn a_poll_announces_an_update_of_which_nothing_has_come() {
    let mut receiver = receiver();
    receiver.message(rank(1), &Message::Poll { round: 3 }, MS);
    assert_eq!(outputs(&mut receiver), [asks(1, 3, Ranges::of(0..3))]);
    (0..3).for_each(|chunk| give(&mut receiver, 1, 3, chunk, MS));
    assert_eq!(outputs(&mut receiver), whole(1, 3));
    // The sender did not receive the report.
    receiver.message(rank(1), &Message::Poll { round: 3 }, MS);
    assert_eq!(outputs(&mut receiver), whole(1, 3)[1..]);
}

#[test]
fn a_newer_round_ends_the_previous_one_and_late_chunks_are_dropped() {
    let mut receiver = receiver();
    give(&mut receiver, 1, 5, 0, MS);
    give(&mut receiver, 1, 6, 0, MS);
    assert_eq!(outputs(&mut receiver), [ReceiverOutput::Abandoned { from: rank(1), round: 5 }]);
    give(&mut receiver, 1, 5, 1, MS);
    receiver.message(rank(1), &Message::Poll { round: 5 }, MS);
    receiver.message(rank(1), &Message::Withdrawn { round: 5 }, MS);
    assert_eq!((receiver.counters().late, receiver.counters().abandoned), (3, 1));
    receiver.message(rank(1), &Message::Withdrawn { round: 6 }, MS);
    assert_eq!(outputs(&mut receiver), [ReceiverOutput::Abandoned { from: rank(1), round: 6 }]);
    give(&mut receiver, 1, 6, 1, MS);
    assert_eq!((receiver.counters().late, receiver.wake_at()), (4, None));
    // Withdrawn before any chunk arrived: nothing was started, and nothing may start.
    receiver.message(rank(1), &Message::Withdrawn { round: 8 }, MS);
    give(&mut receiver, 1, 8, 1, MS);
    assert_eq!((receiver.counters().late, outputs(&mut receiver)), (5, vec![]));
}

#[test]
fn strangers_and_misfits_are_dropped_and_counted() {
    let mut receiver = receiver();
    give(&mut receiver, 2, 1, 0, MS);
    give(&mut receiver, 9, 1, 0, MS);
    receiver.message(rank(9), &Message::Poll { round: 1 }, MS);
    assert_eq!(receiver.counters().unknown_senders, 3);
    receiver.chunk(rank(1), 1, 0, [1, 2, 3].into_iter(), MS);
    receiver.chunk(rank(1), 1, 3, [1, 2].into_iter(), MS);
    receiver.chunk(rank(1), 1, u32::MAX, [].into_iter(), MS);
    receiver.message(rank(1), &Message::Complete { round: 1 }, MS);
    assert_eq!(receiver.counters().misfits, 4);
    assert_eq!((outputs(&mut receiver), receiver.wake_at()), (vec![], None));
}

#[test]
fn chunks_of_a_failed_sender_are_dropped_until_it_returns() {
    let mut receiver = receiver();
    give(&mut receiver, 1, 70_000, 0, MS);
    receiver.peer_failed(rank(1));
    assert_eq!(outputs(&mut receiver), [ReceiverOutput::Abandoned { from: rank(1), round: 70_000 }]);
    give(&mut receiver, 1, 70_001, 0, MS);
    receiver.message(rank(1), &Message::Poll { round: 70_001 }, MS);
    receiver.message(rank(1), &Message::Withdrawn { round: 70_001 }, MS);
    assert_eq!((receiver.counters().late, outputs(&mut receiver)), (3, vec![]));
    // The next incarnation repeats the round. Frames have 16 bits of it.
    receiver.peer_returned(rank(1), 70_000);
    let words = update(1, 70_000);
    for chunk in 0..3 {
        let words = words[Cut::new(10, 4).unwrap().range(chunk)].iter().copied();
        receiver.frame(rank(1), 70_000u32 as u16, chunk, words, MS);
    }
    assert_eq!(outputs(&mut receiver), whole(1, 70_000));
}
