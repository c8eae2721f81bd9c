//! Byte-exact cases for every outcome and every drop reason, on every switch there is.

mod bmv2;
mod case;
mod congestion;
mod embedded;
mod forged;
mod frame;
mod hostile;
mod mark;
mod messages;
mod model;
mod network;
mod program;
mod refused;
mod rule;
mod rules;
mod run;
mod scripts;
mod slots;
mod tofino_model;
mod updates;
mod wired;

use inart_p4::{Outcome, Reason};
use inart_wire::ValuesPerFrame;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use self::case::Counted;
use self::embedded::Embedded;
use self::program::Built;
use self::rule::Rule;
use self::run::{Switch, cases, cases_of, run, run_all};

/// Cases of jumbo frames on bmv2: every register is written, added to, saturated and read, and frames of
/// other sizes are rejected. Loading such a program takes seconds, so not every case runs.
const OF_JUMBO_FRAMES: [&str; 4] = [
    "three gradients become one partial",
    "repeats for a complete slot get the partial again once per wave, again and again",
    "a sum above the highest number saturates",
    "malformed frames of worker 1, between sound ones, are not summed",
];

#[test]
fn every_reason_and_outcome_has_a_case() {
    for program in [Built::N32].into_iter().chain(Built::on_tofino()) {
        let steps: Vec<_> = cases_of(program).into_iter().flat_map(|case| case.steps).collect();
        let counted: Vec<_> = steps.iter().map(|step| step.answer(program).counted).collect();
        for &reason in Reason::ALL.iter().filter(|reason| !program.is_tofino() || reason.is_on_tofino()) {
            assert!(counted.contains(&Counted::Drop(reason)), "{program}: no case is dropped as {reason}");
        }
        for &outcome in Outcome::ALL {
            assert!(counted.contains(&Counted::Outcome(outcome)), "{program}: no case is {outcome}");
        }
    }
}

/// Each rule that is another one on Tofino is documented, and changes the answer to a frame.
#[test]
fn every_rule_of_tofino_has_a_case() {
    let document =
        include_str!("../../../docs/protocol/tofino.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let steps: Vec<_> = cases(ValuesPerFrame::N32).into_iter().flat_map(|case| case.steps).collect();
    for rule in Rule::ALL {
        assert!(document.contains(rule.words()), "docs/protocol/tofino.md lacks: {}", rule.words());
        let met = steps.iter().filter_map(|step| step.on_tofino.as_ref()).any(|(named, _)| *named == rule);
        assert!(met, "no case has another answer by {rule:?}");
    }
}

#[tokio::test]
async fn bmv2_agrees() {
    let Some(mut switch) = bmv2::Bmv2::start().await else {
        eprintln!("skipped: simple_switch_grpc is not on the PATH");
        return;
    };
    for program in Built::on_v1model().filter(|program| program.values() <= ValuesPerFrame::N256) {
        run_all(&mut switch, program).await;
    }
    let mut runner = TestRunner::deterministic();
    for _ in 0..4 {
        let case = model::cases(ValuesPerFrame::N32).new_tree(&mut runner).expect("no filter").current();
        run(&mut switch, Built::N32, &case).await;
    }
}

#[tokio::test]
async fn bmv2_agrees_on_jumbo_frames() {
    let Some(mut switch) = bmv2::Bmv2::start().await else {
        eprintln!("skipped: simple_switch_grpc is not on the PATH");
        return;
    };
    for n in [ValuesPerFrame::N1024, ValuesPerFrame::N2048] {
        let all = cases(n);
        for name in OF_JUMBO_FRAMES {
            let case = all.iter().find(|case| case.name == name).expect("a case of that name");
            run(&mut switch, Built::V1model(n), case).await;
        }
    }
}

#[tokio::test]
async fn the_embedded_switch_agrees() {
    for program in Built::on_v1model() {
        run_all(&mut Embedded::new(), program).await;
    }
}

#[tokio::test]
async fn the_programs_for_tofino_agree() {
    for program in Built::on_tofino() {
        run_all(&mut Embedded::new(), program).await;
    }
}

#[tokio::test]
async fn a_copy_of_an_update_without_a_receiver_is_counted_where_it_is_dropped() {
    let mut switch = Embedded::new();
    switch.load(Built::N32).await;
    let update = updates::update(ValuesPerFrame::N32, 0, 0b110);
    assert_eq!(switch.send(1, &update.bytes()).await.len(), 2);
    let counted = |cells: Vec<u64>| -> Vec<(usize, u64)> {
        cells.into_iter().enumerate().filter(|(_, packets)| *packets > 0).collect()
    };
    assert_eq!(counted(switch.counter("unwanted").await), [(4, 1), (5, 1)]);
    assert_eq!(counted(switch.counter("pruned").await), [(1, 1)]);
}

fn block_on(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().build().expect("no resources needed").block_on(work);
}

fn tofino_case() -> impl Strategy<Value = (Built, case::Case)> {
    let programs: Vec<_> = Built::on_tofino().collect();
    prop::sample::select(programs)
        .prop_flat_map(|program| (Just(program), tofino_model::cases(program.values())))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_embedded_switch_follows_the_slot_rules(case in model::cases(ValuesPerFrame::N32)) {
        block_on(run(&mut Embedded::new(), Built::N32, &case));
    }

    #[test]
    fn the_programs_for_tofino_follow_their_rules((program, case) in tofino_case()) {
        block_on(run(&mut Embedded::new(), program, &case));
    }

    #[test]
    fn whatever_a_hostile_host_sends_is_dropped_and_changes_nothing(
        case in model::cases(ValuesPerFrame::N32),
        forged in prop::collection::vec(forged::frame(ValuesPerFrame::N32), 1..60),
    ) {
        block_on(forged::between(&mut Embedded::new(), Built::N32, &case, &forged));
    }

    #[test]
    fn nor_does_it_on_tofino(
        (program, case, forged) in tofino_case().prop_flat_map(|(program, case)| {
            let forged = prop::collection::vec(forged::frame(program.values()), 1..60);
            (Just(program), Just(std::rc::Rc::new(case)), forged)
        }),
    ) {
        block_on(forged::between(&mut Embedded::new(), program, &case, &forged));
    }
}
