//! Byte-exact cases for every outcome and every drop reason, on every switch there is.

mod bmv2;
mod case;
mod congestion;
mod embedded;
mod frame;
mod hostile;
mod messages;
mod model;
mod network;
mod refused;
mod scripts;
mod slots;

use inart_p4::{Artifact, Outcome, Reason, artifact};
use inart_wire::ValuesPerPacket;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::case::{Case, Counted};
use crate::embedded::Embedded;

/// A switch that the cases run on.
trait Switch {
    /// Starts the program afresh with the tables of [`network`].
    async fn load(&mut self, artifact: &Artifact);
    /// Everything that comes out because of one frame, in any order.
    async fn send(&mut self, port: u16, frame: &[u8]) -> Vec<(u16, Vec<u8>)>;
    /// The packets of every cell.
    async fn counter(&mut self, name: &str) -> Vec<u64>;
    /// Whether frames of its own go through it, to tell when all is out.
    fn sends_markers(&self) -> bool {
        false
    }
    /// The registers of [`network::SLOTS`]; bmv2 shows them to nobody over P4Runtime.
    async fn slots(&mut self) -> Option<Vec<Vec<u8>>>;
}

fn cases(n: ValuesPerPacket) -> Vec<Case> {
    let more = refused::cases(n).into_iter().chain(messages::cases(n)).chain(hostile::cases(n));
    slots::cases(n).into_iter().chain(more).collect()
}

async fn run_all(switch: &mut impl Switch, n: ValuesPerPacket) {
    for case in cases(n) {
        run(switch, n, &case).await;
    }
}

/// What bmv2 is shown of jumbo frames: every register is written, added to, saturated and read, and frames of
/// other sizes are refused. It takes seconds to load such a program, so not every case.
const OF_JUMBO_FRAMES: [&str; 4] = [
    "three gradients become one partial",
    "repeats for a complete slot get the partial again once per wave, again and again",
    "a sum above the highest number saturates",
    "malformed frames of worker 1, between sound ones, are not summed",
];

/// Ports that the switch program counts at.
const PORTS: usize = 512;

async fn run(switch: &mut impl Switch, n: ValuesPerPacket, case: &Case) {
    switch.load(&artifact(n)).await;
    let mut drops = vec![0; Reason::ALL.len() + 1];
    let mut outcomes = vec![0; Outcome::ALL.len()];
    let (mut came, mut left) = (vec![0; PORTS], vec![0; PORTS]);
    for (index, step) in case.steps.iter().enumerate() {
        let at = format!("N = {n}, {}, step {}", case.name, index + 1);
        // To read those of larger frames takes long, and tells no more.
        let untouched = n == ValuesPerPacket::N32
            && (step.port == network::HOSTILE || matches!(step.counted, Counted::Drop(_)));
        let before = if untouched { switch.slots().await } else { None };
        let mut out = switch.send(step.port, &step.frame).await;
        if untouched {
            assert!(before == switch.slots().await, "{at}: a register has changed");
        }
        out.sort();
        came[usize::from(step.port)] += 1;
        out.iter().for_each(|(port, _)| left[usize::from(*port)] += 1);
        let shown = |frames: &[(u16, Vec<u8>)]| frames.iter().map(show).collect::<Vec<_>>().join("\n");
        assert!(out == step.out, "{at}: expected\n{}\nbut got\n{}", shown(&step.out), shown(&out));
        match step.counted {
            Counted::Drop(reason) => drops[reason.index()] += 1,
            Counted::Outcome(outcome) => outcomes[outcome.index()] += 1,
            Counted::Neither => {}
        }
        assert_eq!(switch.counter("drops").await, drops, "{at}: drops, {:?} expected", step.counted);
        assert_eq!(switch.counter("outcomes").await, outcomes, "{at}: outcomes, {:?} expected", step.counted);
    }
    // Every frame is counted once where it comes in and once where it goes out, as INART's or another.
    for (way, frames) in [("ingress", came), ("egress", left)] {
        let (ours, others) =
            (switch.counter(&format!("{way}_inart")).await, switch.counter(&format!("{way}_others")).await);
        let sound = case.steps.iter().all(|step| matches!(step.counted, Counted::Outcome(_)));
        // Markers are other frames.
        let marked = switch.sends_markers();
        let counted = |port: usize| match (ours.get(port), others.get(port)) {
            (Some(ours), Some(others)) => ours + if marked { 0 } else { *others },
            _ => 0,
        };
        let wrong = (0..PORTS).find(|&port| (sound || !marked) && counted(port) != frames[port]);
        let found = wrong.map(|port| (port, frames[port], ours.get(port), others.get(port)));
        assert_eq!(found, None, "N = {n}, {}: {way}: port, frames, counted ours, others", case.name);
        let none = !sound || marked || others.iter().all(|frames| *frames == 0);
        assert!(none, "N = {n}, {}: {way}, others", case.name);
    }
}

fn show((port, frame): &(u16, Vec<u8>)) -> String {
    let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("port {port}: {hex}")
}

#[test]
fn every_reason_and_outcome_has_a_case() {
    let counted: Vec<_> =
        cases(ValuesPerPacket::N32).into_iter().flat_map(|c| c.steps).map(|s| s.counted).collect();
    for &reason in Reason::ALL {
        assert!(counted.contains(&Counted::Drop(reason)), "no case is dropped as {reason}");
    }
    for &outcome in Outcome::ALL {
        assert!(counted.contains(&Counted::Outcome(outcome)), "no case is {outcome}");
    }
}

#[tokio::test]
async fn bmv2_agrees() {
    let Some(mut switch) = bmv2::Bmv2::start().await else {
        eprintln!("skipped: simple_switch_grpc is not on the PATH");
        return;
    };
    for n in ValuesPerPacket::ALL.into_iter().filter(|n| *n <= ValuesPerPacket::N256) {
        run_all(&mut switch, n).await;
    }
    let mut runner = TestRunner::deterministic();
    for _ in 0..4 {
        let case = model::cases(ValuesPerPacket::N32).new_tree(&mut runner).expect("no filter").current();
        run(&mut switch, ValuesPerPacket::N32, &case).await;
    }
}

#[tokio::test]
#[ignore = "on a busy machine it takes longer to load such a program than bmv2 bears the client's pings"]
async fn bmv2_agrees_on_jumbo_frames() {
    let Some(mut switch) = bmv2::Bmv2::start().await else {
        eprintln!("skipped: simple_switch_grpc is not on the PATH");
        return;
    };
    for n in [ValuesPerPacket::N1024, ValuesPerPacket::N2048] {
        let all = cases(n);
        for name in OF_JUMBO_FRAMES {
            let case = all.iter().find(|case| case.name == name).expect("a case of that name");
            run(&mut switch, n, case).await;
        }
    }
}

#[tokio::test]
async fn the_embedded_switch_agrees() {
    for n in ValuesPerPacket::ALL {
        run_all(&mut Embedded::new(), n).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_embedded_switch_follows_the_slot_rules(case in model::cases(ValuesPerPacket::N32)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("no resources needed");
        runtime.block_on(run(&mut Embedded::new(), ValuesPerPacket::N32, &case));
    }

    #[test]
    fn whatever_a_hostile_host_sends_is_dropped_and_changes_nothing(
        case in model::cases(ValuesPerPacket::N32),
        forged in prop::collection::vec(hostile::frame(ValuesPerPacket::N32), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("no resources needed");
        runtime.block_on(hostile::between(&mut Embedded::new(), &case, &forged));
    }
}
