//! Random trials of controllers: `inart simulate --trials` runs one for each of its seeds.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use crate::support;

use std::sync::OnceLock;
use std::time::Duration;

use inart_simulator_aggregation::Tally;
use inart_simulator_aggregation::controllers::{Event, Fault, Trial};
use inart_topologies::switched::Node;
use inart_topologies::switched::NodeKind;
use support::dataplane;

#[test]
fn random_controllers_end_with_one_in_charge_and_its_plans_on_all_switches() {
    end_in_order(300);
}

#[test]
#[ignore = "soak: about two minutes"]
fn ten_thousand_random_trials_of_controllers_end_in_order() {
    end_in_order(10_000);
}

fn end_in_order(trials: u64) {
    let (mut tally, mut sums, mut failed) = (Tally::default(), 0, Vec::new());
    for seed in 1..=trials {
        let trial = Trial::of_seed(seed);
        let outcome = trial.run(dataplane()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        if let Some(failure) = outcome.failure {
            failed.push(format!("{failure}\n{trial}"));
        }
        tally.add(&outcome.tally);
        sums += outcome.sums_checked;
    }
    let happened = tally.by_name();
    println!("{sums} sums checked; {happened:?}");
    for what in [
        "controller restarted",
        "controller restarted with other plans",
        "two controllers at once",
        "controller replaced",
        "deposed controller at a reconnected switch",
        "switch serving another controller",
        "switch released",
        "controller killed in the middle of an update",
        "clock set back",
        "machines with separate records",
        "controller started without a switch",
        "late switch installed",
        "switch restarted empty",
        "update refused midway",
        "install rolled back",
        "switch hung",
        "rows lost",
    ] {
        assert!(happened.contains_key(what), "{what}: {happened:?}");
    }
    assert!(failed.is_empty(), "{} of {trials}:\n{}", failed.len(), failed.join("\n"));
    assert!(sums > trials);
}

#[test]
fn a_seed_gives_the_same_trial_again() {
    for seed in 1..=60 {
        let run = || {
            let outcome = Trial::of_seed(seed).run(dataplane()).unwrap();
            (outcome.failure, outcome.tally, outcome.packet_hops)
        };
        assert_eq!(run(), run(), "seed {seed}");
    }
}

/// A start that waits for the last switch does not repair the others.
#[test]
fn a_failing_trial_of_controllers_is_shrunk_to_its_cause() {
    let mut trial = (1..).map(Trial::of_seed).find(|trial| trial.events.len() > 5).unwrap();
    let is_switch = |node: &&Node| node.kind == NodeKind::Switch;
    let switch = trial.topology.nodes().iter().find(is_switch).unwrap().name.clone();
    let start = Fault::Start { machine: 0, other_plans: false, clock_back: false };
    let away = Fault::Away { switch: switch.clone(), of: None, lasts: None };
    trial.events = [away, start].map(|fault| Event { at: Duration::ZERO, fault }).into();
    trial.switches_within = Duration::from_secs(3600);
    let failure = |trial: &Trial| trial.run(dataplane()).unwrap().failure.unwrap();
    assert!(failure(&trial).contains("has not installed its plans"), "{}", failure(&trial));
    let more = Fault::Lose { switch, percent: 50 };
    let mut larger = trial.clone();
    larger.events.push(Event { at: Duration::from_secs(1), fault: more });
    assert_eq!(larger.shrink(dataplane()).events, trial.events);
}

/// Creates a trial of two leaves and two spines with two sets of plans, without drawn events.
fn trial(first_come: bool, events: Vec<(u64, Fault)>) -> Trial {
    static SEED: OnceLock<u64> = OnceLock::new();
    let of_seed = |seed: u64, events: Vec<(u64, Fault)>| {
        let event = |(ms, fault)| Event { at: Duration::from_millis(ms), fault };
        let events = events.into_iter().map(event).collect();
        let (check_every, switches_within) = (Duration::from_secs(1), Duration::from_millis(500));
        let one_folder = true;
        Trial { first_come, one_folder, check_every, switches_within, events, ..Trial::of_seed(seed) }
    };
    let seed = SEED.get_or_init(|| {
        let fits = |seed: &u64| {
            let trial = of_seed(*seed, vec![(0, start(0, false)), (3000, start(0, true))]);
            let is_large = trial.topology.name() == "leaf-spine-2x2";
            is_large && trial.run(dataplane()).unwrap().tally.controllers_replanned > 0
        };
        (1..).find(fits).unwrap()
    });
    of_seed(*seed, events)
}

fn start(machine: usize, other_plans: bool) -> Fault {
    Fault::Start { machine, other_plans, clock_back: false }
}

fn away(switch: &str, of: usize, ms: u64) -> Fault {
    Fault::Away { switch: switch.to_owned(), of: Some(of), lasts: Some(Duration::from_millis(ms)) }
}

fn gone(switch: &str) -> Fault {
    Fault::Away { switch: switch.to_owned(), of: None, lasts: None }
}

/// Outcome of a trial, which must end in order.
fn assert_in_order(trial: &Trial) -> Tally {
    let outcome = trial.run(dataplane()).unwrap();
    assert_eq!(outcome.failure, None, "{trial}");
    assert!(outcome.sums_checked > 0);
    outcome.tally
}

/// Both changed the records; the older one was replaced at the switches, and the newer one aborted.
#[test]
fn of_two_controllers_that_start_at_once_on_the_same_records_one_stays() {
    for ms in 0..60 {
        assert_in_order(&trial(false, vec![(0, start(0, false)), (ms, start(1, true))]));
    }
}

/// Hosts started with the plans of the controller whose records the other overwrote.
#[test]
fn of_two_controllers_on_the_same_records_only_one_has_its_push_noted() {
    let (mut replaced, moment) = (0, Fault::Stand { switch: "C0".to_owned(), lasts: Duration::ZERO });
    for ms in (0..=60).step_by(5) {
        for later in (10..=100).step_by(10) {
            // Hosts start at each event.
            let events = [(0, start(0, false)), (ms, start(1, true)), (ms + later, moment.clone())];
            let trial = trial(false, events.into());
            replaced += assert_in_order(&trial).controllers_replaced;
        }
    }
    assert!(replaced > 3, "{replaced}");
}

#[test]
fn of_several_pushes_switches_hold_the_last_and_the_one_before() {
    for first_come in [false, true] {
        let starts = [(0, false), (3000, true), (6000, false), (9000, true)];
        let restart = |(ms, other_plans): (u64, bool)| {
            [(ms.saturating_sub(100), Fault::Kill { machine: 0 }), (ms, start(0, other_plans))]
        };
        let trial = trial(first_come, starts.into_iter().flat_map(restart).collect());
        let tally = assert_in_order(&trial);
        assert!(tally.controllers_replanned >= 3, "{tally:?}");
    }
}

/// The reconnected switch lost the rows of the previous plan version, which hosts use.
#[test]
fn a_switch_that_was_away_when_plans_changed_keeps_the_rows_that_hosts_use() {
    let events = vec![(0, start(0, false)), (3000, gone("T0")), (4000, start(0, true))];
    assert_in_order(&trial(false, events));
}

/// The records forgot a plan version of which only the switch that was away has rows, so these stayed for
/// good.
#[test]
fn plan_versions_of_a_switch_that_is_away_are_not_forgotten() {
    let starts = [(0, false), (4000, true), (6000, false), (8000, false)];
    let starts = starts.map(|(ms, other_plans)| (ms, start(0, other_plans)));
    let mut events: Vec<_> = starts.into_iter().chain([(3000, gone("T0"))]).collect();
    events.sort_by_key(|event| event.0);
    assert_in_order(&trial(false, events));
}

/// The next controller removes what the killed one has left, and changes nothing else.
#[test]
fn a_controller_killed_in_the_middle_of_an_update_leaves_the_plan_in_force() {
    let mut writing = 0;
    for ms in (20..=90).step_by(2) {
        let kill = Fault::Kill { machine: 0 };
        let events = [(0, start(0, false)), (3000, kill.clone()), (3100, start(0, true))];
        let trial =
            trial(false, events.into_iter().chain([(3100 + ms, kill), (3600, start(0, false))]).collect());
        writing += assert_in_order(&trial).controllers_killed_writing;
    }
    assert!(writing > 3, "{writing}");
}

/// A switch without ids was free for a moment, and the disconnected controller took it back.
#[test]
fn a_disconnected_controller_takes_no_switch_of_its_successor() {
    let switches = ["C0", "C1", "T0", "T1"];
    let cut_off = switches.map(|switch| (1000, away(switch, 0, 5000)));
    let moment = switches.map(|switch| (5900, away(switch, 1, 600)));
    let events = [(0, start(0, false))].into_iter().chain(cut_off).chain([(2000, start(1, true))]);
    // Faults end with the last event.
    let last = (9000, Fault::Stand { switch: "C0".to_owned(), lasts: Duration::ZERO });
    assert_in_order(&trial(true, events.chain(moment).chain([last]).collect()));
}

/// A controller that was killed had started to write another plan under the number on the unreachable switch.
#[test]
fn a_plan_version_that_an_unreachable_switch_may_hold_is_not_reused() {
    let mut writing = 0;
    for switch in ["C0", "C1", "T0", "T1"] {
        for ms in (44..=84).step_by(4) {
            let events = [(0, start(0, false)), (ms, Fault::Kill { machine: 0 }), (ms + 30, gone(switch))];
            let last = Fault::Stand { switch: switch.to_owned(), lasts: Duration::ZERO };
            let trial =
                trial(false, events.into_iter().chain([(700, start(0, true)), (2500, last)]).collect());
            writing += assert_in_order(&trial).controllers_killed_writing;
        }
    }
    assert!(writing > 3, "{writing}");
}

/// One switch was lost while its updates were undone, and the next attempt, without it, was refused: it was
/// reported as undone.
#[test]
fn a_refused_install_names_switches_that_were_lost_before_it_was_undone() {
    let mut refused = 0;
    for ms in (50..=110).step_by(2) {
        let lost = Fault::Away { switch: "C0".to_owned(), of: None, lasts: Some(Duration::from_millis(700)) };
        let refuse = Fault::Refuse { switch: "T1".to_owned(), after: 0, stops: true };
        let events = vec![(0, start(0, false)), (ms - 41, gone("T0")), (ms, lost), (ms + 33, refuse)];
        let trial = trial(false, events);
        refused += assert_in_order(&trial).installs_rolled_back;
    }
    assert!(refused > 3, "{refused}");
}

/// The switches that obeyed another controller were unreachable before they could report it again: the first
/// controller ended as if its plan could not be installed.
#[test]
fn a_replaced_controller_reports_it_although_the_switches_are_unreachable() {
    let mut replaced = 0;
    for ms in (30..=62).step_by(4) {
        for later in (30..=75).step_by(5) {
            let lasts = Some(Duration::from_millis(900));
            let away = |switch: &str| Fault::Away { switch: switch.to_owned(), of: None, lasts };
            let away = ["C0", "C1", "T0", "T1"].map(|switch| (ms + later, away(switch)));
            let starts = [(0, start(0, false)), (ms, start(0, false))];
            let trial = trial(false, starts.into_iter().chain(away).collect());
            replaced += assert_in_order(&trial).controllers_replaced;
        }
    }
    assert!(replaced > 3, "{replaced}");
}
