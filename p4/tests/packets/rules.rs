//! Cases for the rules that are others on Tofino, beyond those that other cases meet.

use inart_p4::Outcome::*;
use inart_p4::Reason::{NoResultRoute, WrongSize};
use inart_wire::ValuesPerFrame;

use super::case::{Case, case, consumed, dropped, leaves, passes, switched};
use super::frame::{CONGESTION, Inart, LAST, OVERFLOW, RESEND};
use super::mark;
use super::rule::Rule;

const RESULT: u8 = 3;

pub fn cases(n: ValuesPerFrame) -> Vec<Case> {
    vec![
        two_tags_with_one_mark(n),
        a_tag_whose_mark_is_zero(n),
        lengths_of_results(n),
        an_overflow_of_one_worker(n),
        flags_of_repeats(n),
    ]
}

/// Plan versions 1 and 2 share slots, and a worker in another run may have the mark of the first.
fn two_tags_with_one_mark(n: ValuesPerFrame) -> Case {
    let first = |worker, sequence| Inart::gradient(n, 0, worker, sequence);
    let same = mark::of(&first(0, 5));
    let second = |worker, sequence| mark::with(&first(worker, sequence).with(|f| f.plan_version = 2), same);
    assert!(mark::of(&second(0, 5)) == same && second(0, 5).incarnation != first(0, 5).incarnation);
    let refused = |step: super::case::Step, worker: u16, frame: &Inart| {
        step.unless(Rule::Marks, passes(worker + 1, frame, FormatMismatch))
    };
    case(
        "two tags with one mark are never summed",
        [
            consumed(1, &first(0, 5), SlotClaimed),
            // On Tofino it does not take the slot over, as its sequence is not newer.
            refused(consumed(2, &second(1, 5), SlotClaimed), 1, &second(1, 5)),
            passes(2, &second(1, 1), Stale),
            consumed(2, &first(1, 5), SlotClaimed).unless(Rule::Marks, consumed(2, &first(1, 5), Added)),
            consumed(2, &second(1, 9), SlotClaimed),
            refused(consumed(1, &first(0, 9), SlotClaimed), 0, &first(0, 9)),
            consumed(3, &second(2, 9), SlotClaimed).unless(Rule::Marks, consumed(3, &second(2, 9), Added)),
            consumed(1, &second(0, 9), Added).unless(
                Rule::Marks,
                leaves(1, &second(0, 9), Completed, 5, &second(0, 9).completing(&[0, 1, 2])),
            ),
        ],
    )
}

/// Tests a tag whose mark is zero: an unused slot holds zeros.
fn a_tag_whose_mark_is_zero(n: ValuesPerFrame) -> Case {
    let of_zero = |worker, sequence| mark::with(&Inart::gradient(n, 0, worker, sequence), 0);
    assert_eq!(mark::of(&of_zero(0, 0)), 0);
    case(
        "a tag whose mark is zero has a slot from its first sequence above zero on",
        [
            consumed(1, &of_zero(0, 0), SlotClaimed)
                .unless(Rule::Marks, passes(1, &of_zero(0, 0), FormatMismatch)),
            consumed(2, &of_zero(1, 0), Added).unless(Rule::Marks, passes(2, &of_zero(1, 0), FormatMismatch)),
            consumed(1, &of_zero(0, 4), SlotClaimed),
            consumed(2, &of_zero(1, 4), Added),
            leaves(3, &of_zero(2, 4), Completed, 5, &of_zero(2, 4).completing(&[0, 1, 2])),
        ],
    )
}

/// Ingress first looks up their ports, and egress checks every copy; one of them is for the ingress port.
fn lengths_of_results(n: ValuesPerFrame) -> Case {
    let result = Inart::gradient(n, 0, 0, 5).with(|f| (f.kind, f.flags) = (RESULT, LAST));
    let (sound, no_way) = (result.bytes(), result.with(|f| f.shard = 1).bytes());
    let lengths = |frame: &[u8]| [frame[..frame.len() - 4].to_vec(), [frame, &[0]].concat()];
    let steps = lengths(&sound).into_iter().map(|frame| {
        let once = dropped(5, frame, WrongSize);
        let copies = dropped(5, once.frame.clone(), WrongSize).times(4);
        once.unless(Rule::Copies, copies)
    });
    let nowhere = lengths(&no_way).into_iter().map(|frame| {
        let size = dropped(5, frame.clone(), WrongSize);
        size.unless(Rule::Size, dropped(5, frame, NoResultRoute))
    });
    case(
        "results of the wrong size go nowhere",
        steps.chain(nowhere).chain([switched(5, sound.clone(), &[1, 2, 3])]),
    )
}

/// Tests that a worker's own value at a limit is not an overflow of a sum.
fn an_overflow_of_one_worker(n: ValuesPerFrame) -> Case {
    let steps = [i32::MAX, i32::MIN, i32::MAX - 1].into_iter().zip(0..).map(|(value, sequence)| {
        let alone = Inart::gradient(n, 3, 0, sequence).with(|f| f.values[1] = value);
        let whole = alone.completing(&[0]).with(|f| f.values[1] = value);
        let sum = |flags| leaves(1, &alone, Completed, 1, &whole.clone().with(|f| f.flags = flags));
        if value == i32::MAX - 1 { sum(0) } else { sum(0).unless(Rule::Limits, sum(OVERFLOW)) }
    });
    case("a lone worker's values at the limits", steps)
}

/// Tests a congestion mark of a repeat, and the frame that answers it.
fn flags_of_repeats(n: ValuesPerFrame) -> Case {
    let gradient = |worker, flags| Inart::gradient(n, 0, worker, 5).with(|f| f.flags = flags);
    let whole = |last: &Inart, flags| last.completing(&[0, 1, 2]).with(|f| f.flags = flags);
    let (third, again) = (gradient(2, 0), gradient(0, RESEND));
    case(
        "a congestion mark of a repeat",
        [
            consumed(1, &gradient(0, 0), SlotClaimed),
            consumed(1, &gradient(0, RESEND | CONGESTION), DuplicateIgnored),
            consumed(2, &gradient(1, 0), Added),
            leaves(3, &third, Completed, 5, &whole(&third, 0))
                .unless(Rule::Flags, leaves(3, &third, Completed, 5, &whole(&third, CONGESTION))),
            leaves(1, &again, Repeated, 5, &whole(&again, RESEND))
                .unless(Rule::Flags, leaves(1, &again, Repeated, 5, &whole(&again, RESEND | CONGESTION))),
        ],
    )
}
