//! Estimates and choices of a coordinator.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use bytes::Bytes;
use inart_peers_agent::{
    Body, Choice, Coordinator, CoordinatorOutput, CoordinatorSetup, Ended, Hello, Ready, Remaining, Roster,
    Sample, Schemes, Seen, Sync, Term, encode,
};
use inart_planner_peers::{Multicast, Reading, Scheme};
use inart_topologies::peers::Ports;
use inart_wire::Rank;

const N: usize = 4;
const SECOND: Duration = Duration::from_secs(1);

fn rank(number: usize) -> Rank {
    Rank::try_from(number).unwrap()
}

fn setup(sync: Sync) -> CoordinatorSetup {
    CoordinatorSetup {
        job: 1.into(),
        names: ["p1", "p2", "p3", "p4"].map(str::to_owned).to_vec(),
        update_values: vec![100; N],
        chunk_values: 10,
        update_bits: vec![1000.0; N],
        receivers: 1,
        sync,
        force_after: None,
        multicast: Multicast::Switch,
        rounds: 5,
        // All incoming ports but peer 0's are slow.
        ports: Ports { up_bps: vec![4000.0; N], down_bps: vec![4000.0, 1000.0, 1000.0, 1000.0] },
        gather: SECOND,
        holder: 7,
    }
}

struct Test {
    coordinator: Coordinator<Schemes>,
    sync: Sync,
}

impl Test {
    fn new(sync: Sync, scheme: Scheme) -> Self {
        let schemes = Schemes::new(scheme, Reading::default(), 1, "job");
        Test { coordinator: Coordinator::new(setup(sync), schemes), sync }
    }

    fn hello(&mut self, from: usize, incarnation: u32, term: Option<Term>, now: Duration) {
        let job = setup(self.sync).fingerprint();
        let hello = Hello { incarnation, term, ended: 0, waits: vec![0; N], job, ..Hello::default() };
        self.send(from, Body::Hello(hello), now);
    }

    fn all(sync: Sync, scheme: Scheme) -> Self {
        let mut test = Test::new(sync, scheme);
        (0..N).for_each(|from| test.hello(from, from as u32 + 1, None, Duration::ZERO));
        test
    }

    fn send(&mut self, from: usize, body: Body, now: Duration) {
        self.coordinator.message(rank(from), encode(body), now);
    }

    fn sent(&mut self) -> Vec<(usize, Body)> {
        let mut sent = Vec::new();
        while let Some(output) = self.coordinator.next_output() {
            match output {
                CoordinatorOutput::Send { to, body } => sent.push((to.index(), body)),
                other => panic!("{other:?}"),
            }
        }
        sent
    }

    fn rosters(&mut self) -> Vec<(usize, Roster)> {
        let sent = self.sent().into_iter();
        sent.filter_map(|(to, body)| if let Body::Roster(roster) = body { Some((to, roster)) } else { None })
            .collect()
    }

    fn choices(&mut self) -> Vec<(usize, Choice)> {
        let sent = self.sent().into_iter();
        sent.filter_map(|(to, body)| if let Body::Choice(choice) = body { Some((to, choice)) } else { None })
            .collect()
    }
}

fn ended(round: u32, complete: Vec<u32>) -> Body {
    Body::Ended(Ended { round, complete, withdrawn: vec![], given_up: vec![], seconds: vec![] })
}

#[test]
fn all_are_chosen_for_once_all_have_ended_the_round_before() {
    let mut test = Test::all(Sync::Bsp, Scheme::Optimized);
    let choices = test.choices();
    assert_eq!(
        choices.iter().map(|(to, choice)| (*to, choice.round)).collect::<Vec<_>>(),
        [0, 1, 2, 3].map(|to| (to, 1))
    );
    // Peer 0's port takes three of the four in 0.75 s; its own update takes 1 s on another port, and all end
    // then.
    let times = |(_, choice): &(usize, Choice)| choice.receivers.iter().filter(|&&to| to == 0).count();
    assert_eq!(choices.iter().map(times).sum::<usize>(), 3);
    let late = choices.iter().map(|(_, choice)| choice.rate_bps).fold(f64::INFINITY, f64::min);
    assert!((late - 1000.0).abs() < 1e-9, "{late}");
    for from in 0..N - 1 {
        test.send(from, ended(1, vec![0]), SECOND);
        assert_eq!(test.sent(), [], "peer {} has not ended the round", N - 1);
    }
    test.send(0, ended(1, vec![1]), SECOND);
    assert_eq!(test.coordinator.counters().late, 1);
    test.send(N - 1, ended(1, vec![0]), SECOND);
    assert!(test.choices().iter().all(|(_, choice)| choice.round == 2));
}

#[test]
fn rounds_start_without_absent_peers() {
    let mut test = Test::new(Sync::Bsp, Scheme::Optimized);
    test.coordinator.tick(Duration::ZERO);
    test.hello(0, 1, None, SECOND / 10);
    test.hello(2, 3, None, SECOND / 10);
    test.coordinator.tick(SECOND / 2);
    assert_eq!((test.sent(), test.coordinator.wake_at()), (vec![], Some(SECOND)));
    test.coordinator.tick(SECOND);
    let sent = test.sent();
    let of = |(to, body): &(usize, Body)| match body {
        Body::Roster(roster) => (*to, roster.incarnations.clone()),
        Body::Choice(choice) => (*to, choice.receivers.clone()),
        other => panic!("{other:?}"),
    };
    let incarnations = vec![1, 0, 3, 0];
    assert_eq!(
        sent.iter().map(of).collect::<Vec<_>>(),
        [(0, incarnations.clone()), (2, incarnations), (0, vec![2]), (2, vec![0])]
    );
    // A late peer takes part from then on.
    test.hello(1, 2, None, 2 * SECOND);
    assert_eq!(test.rosters().iter().map(|(to, _)| *to).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_full_port_is_believed_and_an_idle_one_is_tried() {
    let mut test = Test::all(Sync::Bsp, Scheme::Optimized);
    test.sent();
    let mut sample = |bits: f64, is_full: bool| {
        let sample = Sample { is_up: false, bits, seconds: 0.5, is_full };
        test.send(1, Body::Seen(Seen { samples: vec![sample], gone: vec![] }), SECOND);
        test.coordinator.ports().down_bps[1]
    };
    // 400 bit/s of the capacity of 1000 pass, and the port is full.
    assert_eq!(sample(200.0, true), 700.0);
    assert_eq!(sample(200.0, true), 550.0);
    // A port that is neither full nor busy shows nothing.
    assert_eq!(sample(100.0, false), 550.0);
    // Not full near the estimate: more is tried, up to the capacity.
    assert_eq!(sample(275.0, false), 577.5);
    assert_eq!(sample(400.0, false), 800.0);
    assert_eq!(sample(5000.0, false), 1000.0);
    // The estimate never reaches 0.
    (0..50).for_each(|_| {
        sample(1e-3, true);
    });
    assert_eq!(sample(1e-3, true), 10.0);
    for (bits, seconds) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, -1.0)] {
        let sample = Sample { is_up: true, bits, seconds, is_full: true };
        test.send(1, Body::Seen(Seen { samples: vec![sample], gone: vec![] }), SECOND);
    }
    assert_eq!((test.coordinator.ports().up_bps[1], test.coordinator.counters().useless), (4000.0, 4));
}

#[test]
fn a_ready_peer_gets_a_choice_at_once_and_others_yield() {
    let mut test = Test::all(Sync::Ssp { staleness: 2 }, Scheme::Selmcast);
    assert!(test.choices().is_empty());
    test.send(1, Body::Ready(Ready { round: 1, computed_seconds: 1.0, has_choice: false }), SECOND);
    let first = test.choices();
    let [(1, choice)] = &first[..] else { panic!("{first:?}") };
    assert_eq!((choice.round, choice.receivers.contains(&0)), (1, true));
    // 90 % of the same update are left when others are ready.
    test.send(1, Body::Remaining(Remaining { round: 1, part: 0.9 }), SECOND);
    test.send(1, Body::Remaining(Remaining { round: 9, part: 0.9 }), SECOND);
    assert_eq!(test.coordinator.counters().late, 1);
    let mut receivers = choice.receivers.clone();
    let mut withdrawn = 0;
    for from in [2, 3, 0] {
        test.send(from, Body::Ready(Ready { round: 1, computed_seconds: 1.0, has_choice: false }), SECOND);
        for (to, choice) in test.choices() {
            assert!(!choice.receivers.is_empty() && !choice.receivers.contains(&(to as u32)));
            if to == 1 {
                // An active multicast gets no further receivers.
                assert!(choice.receivers.iter().all(|to| receivers.contains(to)));
                withdrawn += receivers.len() - choice.receivers.len();
                receivers = choice.receivers;
            }
        }
    }
    eprintln!("{withdrawn} withdrawn");
    // When one has ended, the others may send faster.
    test.send(2, ended(1, vec![0]), SECOND);
    assert!(test.choices().iter().all(|(to, _)| *to != 2));
    test.send(2, Body::Ready(Ready { round: 1, computed_seconds: 1.0, has_choice: false }), SECOND);
    assert_eq!(test.coordinator.counters().late, 2);
}

#[test]
fn optimal_plans_whole_rounds_only_and_says_so() {
    let mut test = Test::all(Sync::Ssp { staleness: 2 }, Scheme::Optimal);
    test.sent();
    test.send(1, Body::Ready(Ready { round: 1, computed_seconds: 1.0, has_choice: false }), SECOND);
    let Some(CoordinatorOutput::NotChosen { why }) = test.coordinator.next_output() else { panic!() };
    assert_eq!(
        (why.as_str(), test.coordinator.counters().failed),
        ("scheme optimal plans whole rounds only", 1)
    );
}

#[test]
fn a_peer_is_left_out_when_its_connection_has_ended_and_others_miss_it() {
    let mut test = Test::all(Sync::Bsp, Scheme::Optimized);
    test.choices();
    test.coordinator.down(rank(3), SECOND);
    (0..3).for_each(|from| test.send(from, ended(1, vec![0]), SECOND));
    // The peer may be alive, and the others wait for it.
    assert_eq!(test.choices(), []);
    test.send(0, Body::Seen(Seen { samples: vec![], gone: vec![3] }), SECOND);
    let choices = test.choices();
    assert_eq!(
        choices.iter().map(|(to, choice)| (*to, choice.round)).collect::<Vec<_>>(),
        [(0, 2), (1, 2), (2, 2)]
    );
    assert!(choices.iter().all(|(_, choice)| !choice.receivers.contains(&3)));
    // The peer recovers in another incarnation, and starts where the slowest peers are.
    test.hello(3, 99, None, SECOND);
    let rosters = test.rosters();
    assert_eq!(rosters.len(), 4);
    assert_eq!((rosters[0].1.incarnations[3], rosters[0].1.ended[3]), (99, 1));
}

#[test]
fn the_newer_of_two_is_in_charge_and_the_older_stops() {
    let mut test = Test::all(Sync::Bsp, Scheme::Optimized);
    assert_eq!(test.coordinator.term(), Some(Term { number: 1, holder: 7 }));
    // The returning peer has followed another coordinator: a refused coordinator stops, so this one takes
    // charge again.
    test.hello(1, 2, Some(Term { number: 5, holder: 1 }), SECOND);
    assert_eq!(test.coordinator.term(), Some(Term { number: 6, holder: 7 }));
    test.sent();
    test.send(1, Body::Refused(Term { number: 4, holder: 9 }), SECOND);
    assert_eq!(test.sent(), []);
    let by = Term { number: 6, holder: 8 };
    test.send(1, Body::Refused(by), SECOND);
    assert_eq!(test.coordinator.next_output(), Some(CoordinatorOutput::Superseded { by }));
    (0..N).for_each(|from| test.send(from, ended(1, vec![0]), SECOND));
    test.coordinator.tick(9 * SECOND);
    assert_eq!((test.sent(), test.coordinator.wake_at()), (vec![], None));
}

#[test]
fn invalid_messages_and_peers_of_another_job_are_refused_by_name() {
    let mut test = Test::all(Sync::Bsp, Scheme::Optimized);
    test.sent();
    test.coordinator.message(rank(1), Bytes::from_static(b"\xff\xff"), SECOND);
    test.send(9, ended(1, vec![]), SECOND);
    test.send(1, ended(1, vec![4]), SECOND);
    test.send(1, Body::Choice(Choice::default()), SECOND);
    assert_eq!(test.coordinator.counters().malformed, 4);
    test.hello(1, 2, None, SECOND);
    test.sent();
    let hello =
        Hello { incarnation: 5, term: None, ended: 0, waits: vec![0; N], job: 12345, ..Hello::default() };
    test.send(1, Body::Hello(hello.clone()), SECOND);
    assert_eq!(test.coordinator.next_output(), Some(CoordinatorOutput::OtherJob { peer: rank(1) }));
    assert!(matches!(test.sent()[..], [(1, Body::OtherJob(_))]));
    let of = setup(test.sync);
    let others = [
        // Updates by connections and by frames do not mix, nor do frames of different lengths.
        CoordinatorSetup { multicast: Multicast::Hosts, ..of.clone() },
        CoordinatorSetup { chunk_values: 32, ..of.clone() },
        // The peer would end one round before the others.
        CoordinatorSetup { rounds: of.rounds - 1, ..of.clone() },
        // Two peers would have each other's rank.
        CoordinatorSetup { names: ["p1", "p2", "p4", "p3"].map(str::to_owned).to_vec(), ..of.clone() },
        CoordinatorSetup { receivers: 2, ..of.clone() },
        CoordinatorSetup { force_after: Some(3), ..of.clone() },
        CoordinatorSetup { sync: Sync::Ssp { staleness: 9 }, ..of.clone() },
        CoordinatorSetup { update_values: vec![99; N], ..of.clone() },
    ];
    for other in others {
        test.send(1, Body::Hello(Hello { job: other.fingerprint(), ..hello.clone() }), SECOND);
        assert_eq!(test.coordinator.next_output(), Some(CoordinatorOutput::OtherJob { peer: rank(1) }));
        assert!(matches!(test.sent()[..], [(1, Body::OtherJob(_))]), "{other:?}");
    }
    test.send(1, Body::Hello(Hello { job: of.fingerprint(), ..hello }), SECOND);
    assert!(!matches!(test.coordinator.next_output(), Some(CoordinatorOutput::OtherJob { .. })));
}

/// Two peers have ended no round: one computes its first and one has just started.
#[test]
fn a_peer_in_its_first_round_does_not_count_as_restarted() {
    let mut test = Test::new(Sync::Ssp { staleness: 2 }, Scheme::Optimized);
    let job = setup(test.sync).fingerprint();
    let hellos = [(2, true), (0, true), (0, false), (1, true)];
    for (from, (ended, takes_part)) in hellos.into_iter().enumerate() {
        let hello = Hello {
            incarnation: from as u32 + 1,
            term: None,
            ended,
            waits: vec![0; N],
            job,
            takes_part,
            ..Hello::default()
        };
        test.send(from, Body::Hello(hello), Duration::ZERO);
    }
    let rosters = test.rosters();
    assert_eq!(rosters.len(), N);
    assert!(rosters.iter().all(|(_, roster)| roster.ended == [2, 0, 0, 1]), "{rosters:?}");
}

/// Runs a round of copies by senders on ports that carry `real`. Returns its duration relative to the plan. A
/// copy takes as long as planned, or as its slower port needs for all copies through it.
fn round_on(test: &mut Test, choices: &mut Vec<(usize, Choice)>, real: &Ports) -> f64 {
    let bits = setup(Sync::Bsp).update_bits[0];
    let all: Vec<(usize, usize)> = choices
        .iter()
        .flat_map(|(from, choice)| choice.receivers.iter().map(|&to| (*from, to as usize)))
        .collect();
    let up = |from: usize| bits * all.iter().filter(|pair| pair.0 == from).count() as f64 / real.up_bps[from];
    let down = |to: usize| bits * all.iter().filter(|pair| pair.1 == to).count() as f64 / real.down_bps[to];
    let mut longest: f64 = 0.0;
    for (from, choice) in std::mem::take(choices) {
        let planned_s = bits / choice.rate_bps;
        let time = |&to: &u32| planned_s.max(up(from)).max(down(to as usize));
        let seconds: Vec<f64> = choice.receivers.iter().map(time).collect();
        longest = seconds.iter().map(|seconds| seconds / planned_s).fold(longest, f64::max);
        let (withdrawn, given_up, round) = (vec![], vec![], choice.round);
        let complete = choice.receivers;
        test.send(from, Body::Ended(Ended { round, complete, withdrawn, given_up, seconds }), SECOND);
    }
    *choices = test.choices();
    longest
}

#[test]
fn estimates_from_copy_times_track_a_port_that_others_use() {
    let built = Ports { up_bps: vec![4000.0; N], down_bps: vec![4000.0; N] };
    let setup = CoordinatorSetup {
        multicast: Multicast::Hosts,
        receivers: 2,
        // As many rounds as run below.
        rounds: 1000,
        ports: built.clone(),
        ..setup(Sync::Bsp)
    };
    for is_up in [false, true] {
        let schemes = Schemes::new(Scheme::Optimized, Reading::default(), 1, "job");
        let coordinator = Coordinator::new(setup.clone(), schemes);
        let mut test = Test { coordinator, sync: Sync::Bsp };
        for from in 0..N {
            let job = setup.fingerprint();
            let incarnation = from as u32 + 1;
            let hello =
                Hello { incarnation, term: None, ended: 0, waits: vec![0; N], job, ..Hello::default() };
            test.send(from, Body::Hello(hello), Duration::ZERO);
        }
        let mut choices = test.choices();
        // No port is full beyond its plan: estimates equal capacities.
        assert_eq!(round_on(&mut test, &mut choices, &built), 1.0);
        assert_eq!(test.coordinator.ports(), &built);
        let mut busy = built.clone();
        let rates = if is_up { &mut busy.up_bps } else { &mut busy.down_bps };
        rates[1] = 1500.0;
        let late = round_on(&mut test, &mut choices, &busy);
        assert!(late > 1.5, "{late}");
        let rounds: Vec<f64> = (0..20).map(|_| round_on(&mut test, &mut choices, &busy)).collect();
        // From time to time the coordinator tries one more update, and the port has no room for it.
        let mean = rounds[10..].iter().sum::<f64>() / 10.0;
        assert!(mean < 1.15, "{rounds:?}");
        let ports = test.coordinator.ports().clone();
        for (all, real) in [(ports.up_bps, &busy.up_bps), (ports.down_bps, &busy.down_bps)] {
            for (bps, real) in all.iter().zip(real) {
                // Rates too low for one more update in the same time are not detected.
                assert!((0.75..1.5).contains(&(bps / real)), "{all:?}");
            }
        }
        // The coordinator detects that the other traffic has ended.
        (0..60).for_each(|_| {
            round_on(&mut test, &mut choices, &built);
        });
        let ports = test.coordinator.ports();
        let all = ports.up_bps.iter().chain(&ports.down_bps);
        assert!(all.clone().all(|&bps| bps > 0.85 * 4000.0), "{ports:?}");
    }
}
