//! Chunks of a sender: their order, their rate, and the end of the multicast.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::time::Duration;

use inart_protocol_peers::{
    Copies, Message, Outcome, Ranges, Receivers, Sender, SenderOptions, SenderOutput, Task, TaskError,
    Transmission,
};
use inart_wire::Rank;

const MS: Duration = Duration::from_millis(1);
const SWITCH: Copies = Copies::Switch { frame_bytes: 1000 };

fn rank(number: u16) -> Rank {
    Rank::try_from(number).unwrap()
}

fn ranks(numbers: impl IntoIterator<Item = u16>) -> Receivers {
    numbers.into_iter().map(rank).collect()
}

fn chunks(numbers: impl IntoIterator<Item = u32>) -> Ranges {
    let mut chunks = Ranges::default();
    numbers.into_iter().for_each(|number| {
        chunks.insert(number..number + 1);
    });
    chunks
}

fn task(round: u32, chunks: u32, receivers: impl IntoIterator<Item = u16>) -> Task {
    Task { round, chunks, receivers: ranks(receivers), rate_bps: 8e6 }
}

fn sender(copies: Copies) -> Sender {
    Sender::new(rank(0), 200, SenderOptions::new(copies))
}

/// Returns everything that leaves from `from` on until nothing may leave without a message, or `most` chunks
/// have.
fn drain(sender: &mut Sender, from: Duration, most: usize) -> Vec<(Duration, Transmission)> {
    let (mut now, mut sent) = (from, Vec::new());
    while sent.len() < most {
        match sender.next_transmission(now) {
            Some(transmission) => sent.push((now, transmission)),
            None => match (sender.tick(now), sender.wake_at()).1 {
                // An action that is not due soon is a poll, or an end of patience.
                Some(at) if at <= now + 10 * MS && at > now => now = at,
                _ => break,
            },
        }
    }
    sent
}

fn reported(sender: &mut Sender) -> (Vec<(u16, Message)>, Option<Outcome>) {
    let (mut messages, mut outcome) = (Vec::new(), None);
    while let Some(output) = sender.next_output() {
        match output {
            SenderOutput::Send { to, message } => messages.push((to.get(), message)),
            SenderOutput::Ended(ended) => outcome = Some(ended),
        }
    }
    (messages, outcome)
}

fn complete(sender: &mut Sender, round: u32, from: u16, now: Duration) {
    sender.message(rank(from), &Message::Complete { round }, now);
}

#[test]
fn every_chunk_leaves_once_for_all_and_at_the_rate() {
    let mut sender = sender(SWITCH);
    sender.begin(&task(1, 500, [1, 2, 70]), Duration::ZERO).unwrap();
    let sent = drain(&mut sender, Duration::ZERO, 10_000);
    let numbers: Vec<u32> = sent.iter().map(|(_, sent)| sent.chunk).collect();
    assert_eq!(numbers, (0..500).collect::<Vec<_>>());
    assert!(sent.iter().all(|(_, sent)| sent.to == ranks([1, 2, 70]) && !sent.is_repair));
    // At 8 Mbit/s a frame of 1000 bytes takes 1 ms. The rate is the update's: receivers are in two blocks, so
    // two frames leave in that time.
    let took = sent.last().unwrap().0;
    assert!((498 * MS..=500 * MS).contains(&took), "{took:?}");
    assert_eq!(sender.counters().chunks, 500);
}

#[test]
fn another_rate_holds_from_the_next_frame_on() {
    let mut sender = sender(SWITCH);
    sender.begin(&Task { rate_bps: 1e-6, ..task(1, 101, [1]) }, Duration::ZERO).unwrap();
    assert_eq!(drain(&mut sender, Duration::ZERO, 10).len(), 1);
    sender.set_rate(0.0, Duration::ZERO);
    sender.set_rate(8e6, Duration::ZERO);
    let sent = drain(&mut sender, Duration::ZERO, 1000);
    assert_eq!(sent.len(), 100);
    assert!((99 * MS..=101 * MS).contains(&sent[99].0), "{:?}", sent[99].0);
}

#[test]
fn losses_of_others_do_not_delay_a_receiver() {
    let mut without_repeats = sender(SWITCH);
    let mut lossy = sender(SWITCH);
    without_repeats.begin(&task(1, 100, [1, 2]), Duration::ZERO).unwrap();
    lossy.begin(&task(1, 100, [1, 2]), Duration::ZERO).unwrap();
    let before = drain(&mut lossy, Duration::ZERO, 60);
    let at = before.last().unwrap().0;
    // Peer 2 has received nothing at all.
    lossy.message(rank(2), &Message::Missing { round: 1, chunks: Ranges::of(0..100) }, at);
    let all: Vec<_> = before.into_iter().chain(drain(&mut lossy, at, 40)).collect();
    assert_eq!(all, drain(&mut without_repeats, Duration::ZERO, 100));
    // Then it gets the chunks that were sent before its request; the others will still leave for the first
    // time.
    let repairs = drain(&mut lossy, all[99].0, 1000);
    assert_eq!(repairs.iter().map(|(_, sent)| sent.chunk).collect::<Vec<_>>(), (0..60).collect::<Vec<_>>());
    assert!(repairs.iter().all(|(_, sent)| sent.to == ranks([2]) && sent.is_repair));
}

#[test]
fn retransmissions_take_turns_and_go_to_all_requesters_at_once() {
    let mut sender = sender(SWITCH);
    sender.begin(&task(1, 10, [1, 2, 3]), Duration::ZERO).unwrap();
    let now = drain(&mut sender, Duration::ZERO, 10).last().unwrap().0;
    let asks = |sender: &mut Sender, from, lacks| {
        sender.message(rank(from), &Message::Missing { round: 1, chunks: lacks }, now);
    };
    asks(&mut sender, 1, Ranges::of(0..8));
    asks(&mut sender, 1, Ranges::of(0..8));
    asks(&mut sender, 2, chunks([9]));
    asks(&mut sender, 3, chunks([1, 5]));
    let repairs = drain(&mut sender, now, 1000);
    let seen: Vec<_> = repairs.iter().map(|(_, sent)| (sent.chunk, sent.to.to_string())).collect();
    let expected = [(0, "{1}"), (9, "{2}"), (1, "{1,3}"), (2, "{1}"), (5, "{1,3}"), (3, "{1}"), (4, "{1}")];
    let (first, rest) = seen.split_at(expected.len());
    assert_eq!(first, expected.map(|(chunk, to)| (chunk, to.to_owned())));
    assert_eq!(rest.iter().map(|at| at.0).collect::<Vec<_>>(), [6, 7]);
    // At the task's rate, like all chunks.
    let took = repairs.last().unwrap().0 - now;
    assert!((8 * MS..=10 * MS).contains(&took), "{took:?}");
}

#[test]
fn silent_receivers_are_polled_at_growing_intervals_and_then_time_out() {
    let options = SenderOptions { patience: 700 * MS, ..SenderOptions::new(SWITCH) };
    let mut sender = Sender::new(rank(0), 4, options);
    sender.begin(&task(7, 5, [1, 2, 3]), Duration::ZERO).unwrap();
    let last = drain(&mut sender, Duration::ZERO, 5).last().unwrap().0;
    complete(&mut sender, 7, 1, last + MS);
    let (mut polls, mut outcome) = (Vec::new(), None);
    while outcome.is_none() {
        let now = sender.wake_at().unwrap();
        if now >= last + 100 * MS {
            // Peer 3 is alive, and knows of no missing chunk: slow is not silent.
            sender.message(rank(3), &Message::Missing { round: 7, chunks: chunks([4]) }, now);
            while sender.next_transmission(now).is_some() {}
            complete(&mut sender, 7, 3, now);
        }
        sender.tick(now);
        let (messages, ended) = reported(&mut sender);
        let of =
            |(to, message)| (message == Message::Poll { round: 7 } && to == 2).then_some((now - last) / 20);
        polls.extend(messages.iter().cloned().filter_map(of));
        outcome = ended;
        if outcome.is_some() {
            assert_eq!(messages, [(2, Message::Withdrawn { round: 7 })]);
            assert_eq!(now - last, 700 * MS);
        }
    }
    assert_eq!(polls, [1, 3, 7, 15, 23, 31].map(|at| at * MS));
    let outcome = outcome.unwrap();
    assert_eq!((outcome.complete, outcome.given_up), (ranks([1, 3]), ranks([2])));
    assert!(outcome.withdrawn.is_empty());
    assert_eq!(sender.counters().given_up, 1);
}

#[test]
fn a_limit_ends_the_multicast_for_slow_receivers() {
    let options = SenderOptions { limit: Some(300 * MS), ..SenderOptions::new(SWITCH) };
    let mut sender = Sender::new(rank(0), 4, options);
    sender.begin(&task(1, 5, [1]), Duration::ZERO).unwrap();
    drain(&mut sender, Duration::ZERO, 5);
    for at in 1..=6 {
        sender.message(rank(1), &Message::Missing { round: 1, chunks: chunks([4]) }, at * 50 * MS);
        sender.tick(at * 50 * MS);
        assert_eq!(sender.open_round(), (at < 6).then_some(1), "after {} ms", at * 50);
    }
}

#[test]
fn a_withdrawn_receiver_gets_no_more_chunks_and_is_notified() {
    let mut sender = sender(SWITCH);
    sender.begin(&task(1, 10, [1, 2, 3]), Duration::ZERO).unwrap();
    let now = drain(&mut sender, Duration::ZERO, 4).last().unwrap().0;
    // Peer 5 was never a receiver, and does not become one.
    assert_eq!(sender.retain(&ranks([1, 3, 5]), now), ranks([5]));
    assert_eq!(reported(&mut sender).0, [(2, Message::Withdrawn { round: 1 })]);
    assert!(drain(&mut sender, now, 100).iter().all(|(_, sent)| sent.to == ranks([1, 3])));
    sender.message(rank(2), &Message::Missing { round: 1, chunks: chunks([3]) }, now);
    assert_eq!(reported(&mut sender).0, [(2, Message::Withdrawn { round: 1 })]);
    assert_eq!(sender.counters().late, 1);
    // A withdrawn receiver that has the update counts as complete.
    complete(&mut sender, 1, 2, now);
    complete(&mut sender, 1, 1, now);
    sender.peer_failed(rank(3), now);
    let outcome = reported(&mut sender).1.unwrap();
    assert_eq!((outcome.complete, outcome.given_up), (ranks([1, 2]), ranks([3])));
    assert!(outcome.withdrawn.is_empty());
}

#[test]
fn messages_about_other_rounds_or_from_non_receivers_are_dropped_and_counted() {
    let mut sender = sender(SWITCH);
    sender.begin(&task(5, 10, [1, 2]), Duration::ZERO).unwrap();
    drain(&mut sender, Duration::ZERO, 10);
    complete(&mut sender, 4, 1, MS);
    complete(&mut sender, 6, 1, MS);
    complete(&mut sender, 5, 9, MS);
    assert_eq!((sender.counters().late, sender.waited()), (3, ranks([1, 2])));
    sender.message(rank(1), &Message::Missing { round: 5, chunks: Ranges::of(9..11) }, MS);
    sender.message(rank(1), &Message::Poll { round: 5 }, MS);
    assert_eq!(sender.counters().misfits, 2);
    assert_eq!(drain(&mut sender, MS, 100), []);
    assert!(reported(&mut sender).0.is_empty());
}

#[test]
fn tasks_that_cannot_be_are_refused_by_name() {
    let mut sender = sender(SWITCH);
    let mut refused = |task: Task| sender.begin(&task, MS).map_err(|error| error.to_string()).unwrap_err();
    assert_eq!(refused(task(3, 5, [])), "the update of round 3 has no receiver; choose at least one");
    assert!(refused(task(3, 5, [0, 1])).contains("peer 0 is the sender"));
    assert!(
        refused(task(3, 5, [1, 200])).contains("receiver 200 is not in the job, whose ranks are 0 to 199")
    );
    assert_eq!(refused(task(3, 0, [1])), "the update of round 3 has no chunk");
    assert!(refused(Task { rate_bps: f64::NAN, ..task(3, 5, [1]) }).contains("NaN bit/s is not a rate"));
    sender.begin(&task(3, 5, [1]), MS).unwrap();
    assert_eq!(sender.begin(&task(4, 5, [1]), MS), Err(TaskError::GoesOn { round: 3 }));
    sender.peer_failed(rank(1), MS);
    assert_eq!(sender.begin(&task(3, 5, [1]), MS), Err(TaskError::Round { asked: 3, newest: 3 }));
    sender.begin(&task(4, 5, [1]), MS).unwrap();
}

#[test]
fn a_slow_connection_holds_up_its_own_receiver_only() {
    let mut sender = sender(Copies::Sender { window: 2, chunk_bytes: 0 });
    sender.begin(&task(1, 20, [1, 2]), Duration::ZERO).unwrap();
    // Peer 2's connection accepts nothing after its window; peer 1's accepts everything at once.
    let (mut fast, mut slow) = (Vec::new(), Vec::new());
    while let Some(sent) = sender.next_transmission(MS) {
        if sent.to == ranks([1]) {
            fast.push(sent.chunk);
            sender.delivered(1, rank(1), MS);
        } else {
            slow.push(sent.chunk);
        }
    }
    assert_eq!((fast, slow), ((0..20).collect(), vec![0, 1]));
    assert_eq!(sender.chunks_left(), 18);
    complete(&mut sender, 1, 1, MS);
    // A failed chunk is retransmitted after a while.
    sender.failed(1, rank(2), 0, MS);
    assert_eq!(sender.next_transmission(MS), None);
    let again = sender.wake_at().unwrap();
    assert_eq!(again, 21 * MS);
    assert_eq!(sender.next_transmission(again).map(|sent| sent.chunk), Some(0));
    assert_eq!((sender.next_transmission(again), sender.counters().failed), (None, 1));
    // A receiver whose connection accepts nothing for as long as the patience lasts times out.
    sender.tick(2600 * MS);
    assert_eq!(reported(&mut sender).1.unwrap().given_up, ranks([2]));
}

/// Returns when chunks leave to each receiver, if connections accept them at once, or none before `stall`.
fn departures(copies: Copies, task: &Task, stall: Duration) -> BTreeMap<u16, Vec<Duration>> {
    let mut sender = sender(copies);
    sender.begin(task, Duration::ZERO).unwrap();
    let (mut now, mut times, mut held) = (Duration::ZERO, BTreeMap::<u16, Vec<Duration>>::new(), Vec::new());
    while sender.chunks_left() > 0 {
        while let Some(sent) = sender.next_transmission(now) {
            let [to] = sent.to.iter().collect::<Vec<_>>()[..] else { panic!("{sent:?}") };
            times.entry(to.get()).or_default().push(now);
            held.push(to);
        }
        if now >= stall {
            held.drain(..).for_each(|to| sender.delivered(task.round, to, now));
        }
        let next = sender.wake_at().unwrap();
        now = if now < stall { next.min(stall).max(now + MS / 100) } else { next.max(now + MS / 1000) };
    }
    times
}

#[test]
fn copies_by_the_sender_leave_at_the_tasks_rate_to_each_receiver() {
    for (receivers, count, rate_bps) in [(1, 7, 1e6), (3, 20, 8e6), (8, 49, 1.5e6), (15, 13, 40e9)] {
        let (bytes, window) = (8192, 16);
        let copies = Copies::Sender { window, chunk_bytes: bytes };
        let task = Task { rate_bps, ..task(1, count, 1..=receivers) };
        let copy_s = 8.0 * bytes as f64 / rate_bps;
        let sent = departures(copies, &task, Duration::ZERO);
        assert_eq!(sent.len(), usize::from(receivers));
        for (to, times) in &sent {
            assert_eq!(times.len(), count as usize, "to {to}");
            for (number, at) in times.iter().enumerate() {
                // The last one has a chunk's time left, minus its turn's distance from the first receiver's.
                let (at_s, slack_s) = (at.as_secs_f64(), 20e-6);
                let place = f64::from(to - 1) / f64::from(receivers);
                let expected_s = (number as f64 + place) * copy_s;
                assert!((at_s - expected_s).abs() < slack_s, "to {to}: {number} at {at_s}, not {expected_s}");
            }
        }
    }
}

#[test]
fn copies_that_were_held_up_are_made_good_by_a_window_at_most() {
    let (count, window) = (100, 4);
    let copies = Copies::Sender { window, chunk_bytes: 1000 };
    // A chunk takes a millisecond; no chunk is accepted for 50 ms.
    let sent = departures(copies, &task(1, count, [1]), 50 * MS);
    let times = &sent[&1];
    let within = |from: Duration, to: Duration| times.iter().filter(|&&at| at >= from && at < to).count();
    assert_eq!(within(Duration::ZERO, 50 * MS), window);
    assert!(within(50 * MS, 51 * MS) <= window + 2, "{times:?}");
    // From then on as before: 96 chunks at a millisecond each, minus those that were compensated.
    let last = times.last().unwrap().as_secs_f64();
    assert!((0.138..0.147).contains(&last), "{last}");
}

#[test]
fn a_new_rate_holds_for_copies_by_the_sender() {
    let mut sender = sender(Copies::Sender { window: 100, chunk_bytes: 1000 });
    sender.begin(&task(1, 20, [1]), Duration::ZERO).unwrap();
    assert_eq!(drain(&mut sender, Duration::ZERO, 5).last().unwrap().0, 4 * MS);
    sender.set_rate(4e6, 4 * MS);
    assert_eq!(drain(&mut sender, 4 * MS, 5).last().unwrap().0, 13 * MS);
    sender.set_rate(80e6, 13 * MS);
    let rest = drain(&mut sender, 13 * MS, 20);
    assert_eq!(rest.len(), 10);
    assert!(rest.last().unwrap().0 <= 15 * MS, "{rest:?}");
}

#[test]
fn senders_start_with_different_receivers() {
    for me in 0..4 {
        let options = SenderOptions::new(Copies::Sender { window: 2, chunk_bytes: 1000 });
        let mut sender = Sender::new(rank(me), 4, options);
        let others = (0..4).filter(|&other| other != me);
        sender.begin(&task(1, 3, others), Duration::ZERO).unwrap();
        assert_eq!(sender.next_transmission(Duration::ZERO).unwrap().to, ranks([(me + 1) % 4]));
    }
}
