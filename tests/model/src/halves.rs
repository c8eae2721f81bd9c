//! A Tofino switch that frames pass twice, since one pass has room for half of their values.
//!
//! Each pass has slots of its own, and decides by them about the frame: frames may overtake each other in
//! between. A frame leaves as a partial if its slot is complete in both passes. The switch drops a frame that
//! is complete in only one of them or rejected by the second; its sender repeats the frame.

use inart_p4::Outcome;

use crate::config::Config;
use crate::frame::{Contribution, FirstPass};
use crate::mutant::Mutant;
use crate::slot::Slot;
use crate::tofino;

/// Result of a pass.
pub(crate) enum Passed {
    /// Frame forwarded unchanged: no slot has taken it.
    On,
    /// First pass by a slot: the frame passes the switch again.
    Again(FirstPass),
    /// Frame that leaves after the second pass.
    Out(Contribution),
    /// End of the frame.
    Dropped,
}

/// Returns the first pass.
pub(crate) fn first(
    config: &Config,
    mutant: Option<Mutant>,
    switch: u8,
    slot: &mut Slot,
    frame: &Contribution,
) -> (Outcome, Passed) {
    let mutant = mutant.filter(|mutant| *mutant != Mutant::HalvesMixed);
    let (outcome, out) = tofino::ingress(config, mutant, switch, slot, frame);
    let complete = matches!(outcome, Outcome::Completed | Outcome::Repeated);
    if out.is_some() && !complete {
        return (outcome, Passed::On);
    }
    (outcome, Passed::Again(FirstPass { complete, sum: slot.sum, at_limit: slot.sum.is_at_limit() }))
}

/// Runs the second pass up to its egress, which frames lost in between do not reach. Returns the outcome, and
/// the complete or forwarded frame.
pub(crate) fn second(
    config: &Config,
    mutant: Option<Mutant>,
    switch: u8,
    slot: &mut Slot,
    frame: &Contribution,
    before: FirstPass,
) -> (Outcome, Passed) {
    let is = |mistake| mutant == Some(mistake);
    let (outcome, out) = tofino::ingress(config, mutant, switch, slot, frame);
    let mixed = |half: &Contribution| Contribution {
        sum: before.sum.with_other_half(half.sum),
        overflow: half.overflow || half.sum.is_at_limit() || before.at_limit,
        ..*half
    };
    let passed = match (outcome, out) {
        (Outcome::Completed | Outcome::Repeated, Some(partial))
            if before.complete || is(Mutant::OneHalfComplete) =>
        {
            Passed::Out(mixed(&partial))
        }
        (Outcome::Stale | Outcome::FormatMismatch, Some(refused)) if is(Mutant::RefusedForwarded) => {
            Passed::Out(mixed(&refused))
        }
        _ => Passed::Dropped,
    };
    (outcome, passed)
}
