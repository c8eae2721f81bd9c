//! A switch: the slot rules of docs/protocol/switch-rules.md in their order, as `p4/include/aggregate.p4` has
//! them.

use inart_p4::Outcome;

use crate::config::{Config, Entry};
use crate::frame::Contribution;
use crate::mutant::Mutant;
use crate::node::Ranks;
use crate::run::Run;
use crate::scale::Exponent;
use crate::slot::{Registers, Slot, Slots, slot_of};
use crate::sum::Sum;
use crate::tofino;

/// Handles a gradient or partial at the switch. Returns the counted outcome and the frame that leaves.
pub fn step(
    config: &Config,
    mutant: Option<Mutant>,
    switch: u8,
    slots: &mut Slots,
    frame: &Contribution,
) -> (Outcome, Option<Contribution>) {
    let Entry::Add { expected } = config.entry(frame.run, switch, frame.worker) else {
        return (Outcome::Forwarded, Some(*frame));
    };
    let is = |mistake| mutant == Some(mistake);
    let range = if is(Mutant::NoPlanVersionInTag) { Run::First } else { frame.run };
    let slot = &mut slots[slot_of(config, range, frame.sequence)];
    if config.tofino.is_some() {
        return match tofino::ingress(config, mutant, switch, slot, frame) {
            (outcome @ (Outcome::Completed | Outcome::Repeated), Some(partial)) => {
                tofino::egress(mutant, slot, outcome, partial)
            }
            done => done,
        };
    }
    if frame.bypass && !is(Mutant::BypassAdded) {
        return (Outcome::Bypassed, Some(*frame));
    }
    let outcome = outcome(is, slot, frame, expected);
    match outcome {
        Outcome::SlotClaimed => {
            let kept = if is(Mutant::TakeoverAdds) { slot.sum } else { Sum::default() };
            *slot = Slot {
                run: frame.run,
                sequence: frame.sequence,
                exponent: frame.exponent,
                last: frame.last,
                seen: frame.contributors,
                asked: 0,
                overflow: frame.overflow,
                sum: kept + frame.sum,
                tofino: Registers::default(),
            };
        }
        Outcome::Added => {
            let sum = slot.plus(mutant, frame, false);
            let is_sum = !matches!(slot.exponent, Exponent::Maxima | Exponent::Floats);
            let saturated = is_sum && sum != slot.sum + frame.sum;
            slot.seen |= frame.contributors;
            slot.overflow |= frame.overflow || saturated;
            slot.sum = sum;
        }
        Outcome::Repeated if is(Mutant::CompleteRepeatAbsorbed) => return (Outcome::DuplicateIgnored, None),
        Outcome::Repeated => return (outcome, Some(partial(frame, slot))),
        Outcome::Stale if is(Mutant::OlderAbsorbed) => return (outcome, None),
        Outcome::DuplicateIgnored => return (outcome, None),
        _ => return (outcome, Some(*frame)),
    }
    if slot.seen != expected {
        return (outcome, None);
    }
    // Completed by a repeat: the others' repeats of that wave are in flight.
    slot.asked = if frame.resend { frame.contributors } else { 0 };
    let complete = partial(frame, slot);
    if is(Mutant::SlotFreedEarly) {
        *slot = Slot::default();
    }
    (Outcome::Completed, Some(complete))
}

/// Returns the outcome of the frame for the slot.
fn outcome(is: impl Fn(Mutant) -> bool, slot: &mut Slot, frame: &Contribution, expected: Ranks) -> Outcome {
    let is_old = |run| run == Run::OldPlanVersion;
    let ours = slot.run == frame.run
        || is(Mutant::NoTagCheck)
        || is(Mutant::NoPlanVersionInTag)
        || is(Mutant::NoRunInTag) && is_old(slot.run) == is_old(frame.run);
    let (newer, older) = match is(Mutant::NoSequenceCheck) {
        true => (false, false),
        false => (frame.sequence > slot.sequence, frame.sequence < slot.sequence),
    };
    if slot.seen == 0 || !ours || newer && !is(Mutant::NewerPasses) || older && is(Mutant::OlderTakesOver) {
        Outcome::SlotClaimed
    } else if older || newer {
        Outcome::Stale
    } else if slot.exponent != frame.exponent || slot.last != frame.last && !is(Mutant::LastNotInShape) {
        Outcome::FormatMismatch
    } else if frame.contributors & slot.seen == 0 || is(Mutant::NoBitmap) {
        Outcome::Added
    } else if frame.contributors & !slot.seen != 0 {
        Outcome::PartialOverlap
    } else if slot.seen != expected {
        if is(Mutant::IncompleteRepeatAdds) { Outcome::Added } else { Outcome::DuplicateIgnored }
    } else if ask(&mut slot.asked, frame.contributors, is(Mutant::WaveWithoutEnd)) {
        Outcome::Repeated
    } else {
        Outcome::DuplicateIgnored
    }
}

/// Handles a repeat for a complete chunk. Returns whether it is answered: once per wave of repeats, to the
/// first worker and to any that repeats again, unless waves do not end.
pub(crate) fn ask(asked: &mut Ranks, contributors: Ranks, without_end: bool) -> bool {
    let answer = *asked == 0 || *asked & contributors != 0 && !without_end;
    *asked = if answer { contributors } else { *asked | contributors };
    answer
}

/// Returns the slot's sum in the frame that completed it, or asked for it again.
fn partial(frame: &Contribution, slot: &Slot) -> Contribution {
    Contribution {
        partial: true,
        contributors: slot.seen,
        overflow: frame.overflow || slot.overflow,
        sum: slot.sum,
        ..*frame
    }
}
