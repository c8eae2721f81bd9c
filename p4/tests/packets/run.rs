//! Runs cases, and compares the output and the counters.

use inart_p4::{Outcome, Reason};
use inart_wire::ValuesPerFrame;

use super::case::{Case, Counted};
use super::program::Built;
use super::{hostile, messages, network, refused, rules, slots, updates};

/// A switch that the cases run on.
pub trait Switch {
    /// Starts the program afresh with the tables of [`network`].
    async fn load(&mut self, program: Built);
    /// Returns all output of one frame, in any order.
    async fn send(&mut self, port: u16, frame: &[u8]) -> Vec<(u16, Vec<u8>)>;
    /// Returns the packets of every cell.
    async fn counter(&mut self, name: &str) -> Vec<u64>;
    /// Returns whether the switch forwards markers, which show when all output has left.
    fn sends_markers(&self) -> bool {
        false
    }
    /// Returns whether a frame like that can reach the switch.
    fn takes(&self, _frame: &[u8]) -> bool {
        true
    }
    /// Reads the registers of [`network::SLOTS`]; bmv2 does not show them over P4Runtime.
    async fn slots(&mut self) -> Option<Vec<Vec<u8>>>;
}

pub fn cases(n: ValuesPerFrame) -> Vec<Case> {
    let more = refused::cases(n).into_iter().chain(messages::cases(n)).chain(hostile::cases(n));
    slots::cases(n).into_iter().chain(more).chain(rules::cases(n)).collect()
}

/// Returns the cases of all programs, and those of this one.
pub fn cases_of(program: Built) -> Vec<Case> {
    let values = program.values();
    let of_updates = if program.is_tofino() { updates::refused(values) } else { updates::cases(values) };
    cases(values).into_iter().chain(of_updates).collect()
}

pub async fn run_all(switch: &mut impl Switch, program: Built) {
    for case in cases_of(program) {
        run(switch, program, &case).await;
    }
}

/// Ports that the switch program counts at.
const PORTS: usize = 512;

/// Recirculation port of a chip; frames of a second pass are its own.
const RECIRCULATED: usize = 68;

/// Frames by port.
struct Crossed {
    came: Vec<u64>,
    left: Vec<u64>,
}

pub async fn run(switch: &mut impl Switch, program: Built, case: &Case) {
    switch.load(program).await;
    let reasons = Reason::ALL.iter().filter(|reason| !program.is_tofino() || reason.is_on_tofino());
    let mut drops = vec![0; reasons.count() + 1];
    let mut outcomes = vec![0; Outcome::ALL.len()];
    let mut crossed = Crossed { came: vec![0; PORTS], left: vec![0; PORTS] };
    for (index, step) in case.steps.iter().enumerate() {
        if !switch.takes(&step.frame) {
            continue;
        }
        let answer = step.answer(program);
        let at = format!("{program}, {}, step {}", case.name, index + 1);
        // Reading those of larger frames takes long, and shows no more.
        let untouched = program.values() == ValuesPerFrame::N32
            && (step.port == network::HOSTILE || matches!(answer.counted, Counted::Drop(_)));
        let before = if untouched { switch.slots().await } else { None };
        let mut out = switch.send(step.port, &step.frame).await;
        if untouched {
            assert!(before == switch.slots().await, "{at}: a register has changed");
        }
        out.sort();
        crossed.came[usize::from(step.port)] += 1;
        out.iter().for_each(|(port, _)| crossed.left[usize::from(*port)] += 1);
        let shown = |frames: &[(u16, Vec<u8>)]| frames.iter().map(show).collect::<Vec<_>>().join("\n");
        assert!(out == answer.out, "{at}: expected\n{}\nbut got\n{}", shown(&answer.out), shown(&out));
        match answer.counted {
            Counted::Drop(reason) => drops[reason.index()] += answer.times,
            Counted::Outcome(outcome) => outcomes[outcome.index()] += answer.times,
            Counted::Neither => {}
        }
        assert_eq!(switch.counter("drops").await, drops, "{at}: drops, {:?} expected", answer.counted);
        assert_eq!(
            switch.counter("outcomes").await,
            outcomes,
            "{at}: outcomes, {:?} expected",
            answer.counted
        );
    }
    compare_ports(switch, program, case, &crossed).await;
}

/// Checks that every frame is counted once at ingress and once at egress, as INART's or another.
async fn compare_ports(switch: &mut impl Switch, program: Built, case: &Case, crossed: &Crossed) {
    for (way, frames) in [("ingress", &crossed.came), ("egress", &crossed.left)] {
        let (ours, others) =
            (switch.counter(&format!("{way}_inart")).await, switch.counter(&format!("{way}_others")).await);
        let is_summed =
            |step: &super::case::Step| matches!(step.answer(program).counted, Counted::Outcome(_));
        let sound = case.steps.iter().all(is_summed);
        // Markers are other frames.
        let marked = switch.sends_markers();
        let counted = |port: usize| match (ours.get(port), others.get(port)) {
            (Some(ours), Some(others)) => ours + if marked { 0 } else { *others },
            _ => 0,
        };
        let mut ports = (0..PORTS).filter(|port| *port != RECIRCULATED);
        let wrong = ports.find(|&port| (sound || !marked) && counted(port) != frames[port]);
        let found = wrong.map(|port| (port, frames[port], ours.get(port), others.get(port)));
        assert_eq!(found, None, "{program}, {}: {way}: port, frames, counted ours, others", case.name);
        let none = !sound || marked || others.iter().all(|frames| *frames == 0);
        assert!(none, "{program}, {}: {way}, others", case.name);
    }
}

fn show((port, frame): &(u16, Vec<u8>)) -> String {
    let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("port {port}: {hex}")
}
