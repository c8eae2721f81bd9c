//! A Tofino switch: the slot rules of `p4/tofino/`, register after register in the order of its
//! stages.
//!
//! Ingress and egress are separate steps, since the traffic manager in between may lose a frame: [`ingress`]
//! has the slot, [`egress`] the repeats.

use inart_p4::Outcome;

use crate::config::{Config, Entry};
use crate::frame::Contribution;
use crate::mutant::Mutant;
use crate::node::{Ranks, one};
use crate::slot::Slot;

/// Runs the ingress for a frame and its slot. Returns the outcome, and the frame for the egress.
pub(crate) fn ingress(
    config: &Config,
    mutant: Option<Mutant>,
    switch: u8,
    slot: &mut Slot,
    frame: &Contribution,
) -> (Outcome, Option<Contribution>) {
    let is = |mistake| mutant == Some(mistake);
    let Entry::Add { expected } = config.entry(frame.run, switch, frame.worker) else {
        return (Outcome::Forwarded, Some(*frame));
    };
    if frame.bypass {
        return (Outcome::Bypassed, Some(*frame));
    }
    // All bitmap indices of an entry, or none of them: contributors are equal or disjoint.
    let is_part = frame.contributors != config.unit(frame.run, switch, frame.worker);
    if is_part && !is(Mutant::PartsAdded) && !is(Mutant::PartsMark) {
        return (Outcome::PartialOverlap, Some(*frame));
    }
    let took = takes(config, mutant, slot, frame);
    if is_part && !is(Mutant::PartsAdded) {
        return (Outcome::PartialOverlap, Some(*frame));
    }
    if took {
        (slot.run, slot.sequence) = (frame.run, frame.sequence);
        (slot.exponent, slot.last) = (frame.exponent, frame.last);
    } else if let Some(outcome) = refused(is, slot, frame) {
        return (outcome, Some(*frame));
    }
    let (outcome, complete) = add(mutant, slot, frame, expected, took);
    let outcome = match outcome {
        Outcome::DuplicateIgnored if complete => Outcome::Repeated,
        _ if complete => Outcome::Completed,
        _ => outcome,
    };
    let partial = Contribution {
        partial: true,
        contributors: expected,
        overflow: frame.overflow || slot.overflow,
        sum: slot.sum,
        ..*frame
    };
    (outcome, complete.then_some(partial))
}

/// Runs the first stage. Returns whether the frame takes the slot over, as far as mark and sequence show.
fn takes(config: &Config, mutant: Option<Mutant>, slot: &mut Slot, frame: &Contribution) -> bool {
    let mark = config.tofino.map_or(0, |marks| marks.of(frame.run));
    let registers = &mut slot.tofino;
    let newer = frame.sequence > registers.marked && mutant != Some(Mutant::TakenByMark);
    let takes = registers.mark != mark || newer;
    if takes {
        (registers.mark, registers.marked) = (mark, frame.sequence);
    }
    takes
}

/// Checks exactly a frame that does not take the slot over: it may have another's mark.
fn refused(is: impl Fn(Mutant) -> bool, slot: &Slot, frame: &Contribution) -> Option<Outcome> {
    // An unused slot has an owner that no frame has.
    let owned = slot.seen != 0 && slot.run == frame.run || is(Mutant::MarkTrusted);
    if is(Mutant::HalvesMixed) {
        None
    } else if slot.sequence != frame.sequence {
        Some(Outcome::Stale)
    } else if !owned || (slot.exponent, slot.last) != (frame.exponent, frame.last) {
        Some(Outcome::FormatMismatch)
    } else {
        None
    }
}

/// Stores or adds the frame, or finds it a repeat. Returns the outcome, and whether the slot is complete
/// then.
fn add(
    mutant: Option<Mutant>,
    slot: &mut Slot,
    frame: &Contribution,
    expected: Ranks,
    took: bool,
) -> (Outcome, bool) {
    if took {
        let kept = Slot { seen: frame.contributors, overflow: frame.overflow, sum: frame.sum, ..*slot };
        *slot = kept;
        return (Outcome::SlotClaimed, expected & !frame.contributors == 0);
    }
    let missing = slot.seen ^ expected;
    slot.seen |= frame.contributors;
    slot.overflow |= frame.overflow;
    if missing & one(frame.worker) == 0 {
        return (Outcome::DuplicateIgnored, missing == 0);
    }
    slot.sum = slot.plus(mutant, frame, mutant != Some(Mutant::LimitLeft));
    (Outcome::Added, missing == frame.contributors)
}

/// Runs the egress for a complete partial: it answers once per wave of repeats, and of two repeats of one
/// worker with no partial in between the second.
pub(crate) fn egress(
    mutant: Option<Mutant>,
    slot: &mut Slot,
    outcome: Outcome,
    partial: Contribution,
) -> (Outcome, Option<Contribution>) {
    let is = |mistake| mutant == Some(mistake);
    let own = one(partial.worker);
    if outcome == Outcome::Completed {
        // Completed by a repeat: the others' repeats of that wave are in flight.
        slot.asked = if partial.resend { own } else { 0 };
        slot.tofino.parity = partial.resend;
    } else {
        let bit = slot.asked & own != 0;
        let answers = bit == slot.tofino.parity;
        if answers || !is(Mutant::AskForgotten) {
            slot.asked ^= own;
        }
        if !answers {
            slot.tofino.owed |= own;
            if is(Mutant::ClearedByAbsorbed) {
                slot.asked = 0;
            }
            return (Outcome::DuplicateIgnored, None);
        }
        slot.tofino.parity ^= !is(Mutant::ParityStays);
    }
    slot.tofino.owed = 0;
    // An addition that left the range left the value at a limit.
    let overflow = partial.overflow || partial.sum.is_at_limit();
    (outcome, Some(Contribution { overflow, ..partial }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;

    fn partial(worker: u8, resend: bool) -> Contribution {
        Contribution { resend, worker, ..Contribution::before(Run::First, &Config::default(), worker, 0) }
    }

    /// Returns how many partials a wave of repeats causes, one from each of three workers, in that order.
    fn wave(mutant: Option<Mutant>, slot: &mut Slot, order: [u8; 3]) -> usize {
        let asks = order.map(|worker| egress(mutant, slot, Outcome::Repeated, partial(worker, true)));
        asks.iter().filter(|(outcome, out)| *outcome == Outcome::Repeated && out.is_some()).count()
    }

    const ORDERS: [[u8; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

    #[test]
    fn a_wave_of_repeats_causes_one_partial() {
        let waves = |mutant| -> Vec<_> {
            let orders = ORDERS.into_iter().flat_map(|first| ORDERS.map(|second| [first, second, first]));
            let counts = orders.map(|orders| {
                let mut slot = Slot::default();
                egress(mutant, &mut slot, Outcome::Completed, partial(0, false));
                orders.map(|order| wave(mutant, &mut slot, order))
            });
            counts.collect()
        };
        assert!(waves(None).iter().all(|counts| *counts == [1; 3]));
        // A mistake that breaks no invariant: a worker that repeats twice is answered, and one that repeats
        // once as often.
        assert!(waves(Some(Mutant::ParityStays)).iter().all(|counts| *counts == [3, 0, 3]));
    }

    #[test]
    fn a_wave_that_completes_the_slot_causes_no_second_partial() {
        let mut slot = Slot::default();
        egress(None, &mut slot, Outcome::Completed, partial(1, true));
        for worker in [0, 2] {
            assert_eq!(egress(None, &mut slot, Outcome::Repeated, partial(worker, true)).1, None);
        }
        assert!(
            egress(None, &mut slot, Outcome::Repeated, partial(1, true)).1.is_some(),
            "the second repeat is answered"
        );
    }

    /// Whatever the registers hold: those of an earlier chunk, if the partial that clears them was lost.
    #[test]
    fn of_two_repeats_of_one_worker_the_second_is_answered_from_any_state() {
        for (asked, parity, worker) in (0..8)
            .flat_map(|asked| [false, true].map(|parity| (asked, parity)))
            .flat_map(|(asked, parity)| (0..3).map(move |worker| (asked, parity, worker)))
        {
            let mut slot = Slot { asked, ..Slot::default() };
            slot.tofino.parity = parity;
            let answers = [(); 2]
                .map(|()| egress(None, &mut slot, Outcome::Repeated, partial(worker, true)).1.is_some());
            assert!(answers.contains(&true), "{asked:03b} {parity} {worker}: {answers:?}");
        }
    }
}
