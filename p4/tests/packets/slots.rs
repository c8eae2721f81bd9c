//! Every outcome of the slot rules.

use inart_p4::Outcome::*;
use inart_wire::ValuesPerFrame;

use super::case::{Case, case, consumed, leaves, passes};
use super::frame::{BYPASS, CONGESTION, Inart, LAST, MAXIMA, OVERFLOW, RESEND};
use super::rule::Rule;

#[expect(clippy::too_many_lines, reason = "a table of cases")]
pub fn cases(n: ValuesPerFrame) -> Vec<Case> {
    let gradient = |worker, sequence| Inart::gradient(n, 0, worker, sequence);
    let whole = |worker, sequence| gradient(worker, sequence).completing(&[0, 1, 2]);
    let first = gradient(0, 5);
    let second = gradient(1, 5);
    let third = gradient(2, 5);
    let fill = || {
        [
            consumed(1, &first, SlotClaimed),
            consumed(2, &second, Added),
            leaves(3, &third, Completed, 5, &third.completing(&[0, 1, 2])),
        ]
    };
    let partial_34 = Inart::gradient(n, 1, 4, 6).completing(&[3, 4]);
    let all_034 = |last: &Inart| last.completing(&[0, 3, 4]);

    let again = |repeat: Inart, answered| {
        let repeat = repeat.with(|f| f.flags = RESEND);
        match answered {
            true => leaves(repeat.worker + 1, &repeat, Repeated, 5, &repeat.completing(&[0, 1, 2])),
            false => consumed(repeat.worker + 1, &repeat, DuplicateIgnored),
        }
    };
    // On Tofino in the other order.
    let turned = |repeat: Inart, answered| {
        again(repeat.clone(), answered).unless(Rule::Parity, again(repeat, !answered))
    };

    vec![
        case("three gradients become one partial", fill()),
        case(
            "the order of arrival only decides the completing worker",
            [
                consumed(3, &third, SlotClaimed),
                consumed(1, &first, Added),
                leaves(2, &second, Completed, 5, &second.completing(&[0, 1, 2])),
            ],
        ),
        case(
            "repeats for a complete slot get the partial again once per wave, again and again",
            fill().into_iter().chain(
                // The first, and any that repeats again; a new wave forgets the workers that asked in the one
                // before. Tofino's bits do not forget.
                [
                    again(gradient(0, 5), true),
                    again(gradient(0, 5), true),
                    turned(gradient(1, 5), false),
                    again(gradient(2, 5), false),
                    again(gradient(1, 5), true),
                    turned(gradient(0, 5), false),
                    turned(gradient(2, 5), false),
                    turned(gradient(0, 5), true),
                ],
            ),
        ),
        case(
            "a slot that a repeat completes answers the workers that repeated with it",
            [
                consumed(1, &first, SlotClaimed),
                consumed(2, &second.clone().with(|f| f.flags = RESEND), Added),
                consumed(1, &first.clone().with(|f| f.flags = RESEND), DuplicateIgnored),
                leaves(3, &third.clone().with(|f| f.flags = RESEND), Completed, 5, &{
                    third.clone().with(|f| f.flags = RESEND).completing(&[0, 1, 2])
                }),
                again(gradient(1, 5), false),
                again(gradient(2, 5), true),
                again(gradient(1, 5), false),
                turned(gradient(0, 5), false),
                turned(gradient(1, 5), true),
                // The next chunk in the slot starts without contributors.
                consumed(1, &gradient(0, 9), SlotClaimed),
                consumed(2, &gradient(1, 9), Added),
                leaves(3, &gradient(2, 9), Completed, 5, &whole(2, 9)),
                again(gradient(1, 9), true),
            ],
        ),
        case(
            "a repeat for an incomplete slot changes nothing",
            [
                consumed(1, &first, SlotClaimed),
                consumed(1, &first.clone().with(|f| f.flags = RESEND), DuplicateIgnored),
                consumed(2, &second, Added),
                consumed(1, &first, DuplicateIgnored),
                leaves(3, &third, Completed, 5, &third.completing(&[0, 1, 2])),
            ],
        ),
        case(
            "the window's slots do not mix",
            (0..4)
                .map(|sequence| consumed(1, &gradient(0, sequence), SlotClaimed))
                .chain((0..4).map(|sequence| consumed(2, &gradient(1, sequence), Added)))
                .chain((0..4).map(|s| leaves(3, &gradient(2, s), Completed, 5, &whole(2, s)))),
        ),
        case(
            "a newer sequence takes the slot over, an older one passes",
            [
                consumed(1, &first, SlotClaimed),
                consumed(2, &gradient(1, 9), SlotClaimed),
                passes(3, &third, Stale),
                consumed(1, &gradient(0, 9), Added),
                leaves(3, &gradient(2, 9), Completed, 5, &whole(2, 9)),
                passes(1, &first, Stale),
                consumed(2, &gradient(1, 13), SlotClaimed),
            ],
        ),
        case(
            "sequences wrap around",
            [
                consumed(1, &gradient(0, 0xffff_fffd), SlotClaimed),
                consumed(1, &gradient(0, 1), SlotClaimed),
                passes(2, &gradient(1, 0xffff_fffd), Stale),
                consumed(2, &gradient(1, 1), Added),
                leaves(3, &gradient(2, 1), Completed, 5, &whole(2, 1)),
                passes(1, &gradient(0, 0x8000_0001), Stale),
                consumed(1, &gradient(0, 0x7fff_fffd), SlotClaimed),
                consumed(1, &gradient(0, 0xefff_fff9), SlotClaimed),
            ],
        ),
        case(
            "the first frame in an unused slot takes it, whatever its sequence",
            [
                consumed(1, &gradient(0, 0x9000_0000), SlotClaimed),
                consumed(2, &gradient(1, 0x9000_0000), Added),
                consumed(1, &gradient(0, u32::MAX), SlotClaimed),
            ],
        ),
        case("the first frame of epoch 0, job 0, shard 0 takes an unused slot, too", {
            let of_zeros =
                |worker, sequence| gradient(worker, sequence).with(|f| (f.plan_version, f.job) = (0, 0));
            [
                consumed(1, &of_zeros(0, 0), SlotClaimed),
                leaves(2, &of_zeros(1, 0), Completed, 5, &of_zeros(1, 0).completing(&[0, 1])),
                consumed(1, &of_zeros(0, 0x9000_0001), SlotClaimed),
            ]
        }),
        case(
            "another group takes the slot over",
            [
                consumed(1, &Inart::gradient(n, 4, 0, 5), SlotClaimed),
                consumed(6, &Inart::gradient(n, 4, 70, 5), SlotClaimed),
                consumed(6, &Inart::gradient(n, 4, 70, 5), DuplicateIgnored),
            ],
        ),
        case(
            "another epoch takes the slot over",
            [
                consumed(1, &first, SlotClaimed),
                consumed(2, &second, Added),
                consumed(3, &third.clone().with(|f| f.plan_version = 2), SlotClaimed),
                passes(1, &gradient(0, 1).with(|f| f.plan_version = 2), Stale),
                consumed(3, &third, SlotClaimed),
            ],
        ),
        case("another run takes the slot over, and gets no sum of the one before", {
            let other = |worker, sequence| gradient(worker, sequence).with(|f| f.incarnation = 0x0a0b_0c0e);
            let whole = |worker, sequence| other(worker, sequence).completing(&[0, 1, 2]);
            fill().into_iter().chain([
                // The same frames again, and older ones.
                consumed(1, &other(0, 5), SlotClaimed),
                consumed(2, &other(1, 5), Added),
                consumed(1, &other(0, 5), DuplicateIgnored),
                leaves(3, &other(2, 5), Completed, 5, &whole(2, 5)),
                passes(1, &other(0, 1), Stale),
                // Late frames of the first take the slot back, and neither is added to the other.
                consumed(1, &first, SlotClaimed),
                consumed(2, &second, Added),
                consumed(3, &other(2, 1), SlotClaimed),
                consumed(3, &third, SlotClaimed),
                consumed(1, &other(0, 1), SlotClaimed),
                consumed(2, &other(1, 1), Added),
                leaves(3, &other(2, 1), Completed, 5, &whole(2, 1)),
            ])
        }),
        case("runs differ by any bit of their incarnations", {
            let run = |worker, incarnation| gradient(worker, 5).with(|f| f.incarnation = incarnation);
            let runs = (0..32).map(|bit| 1 << bit).chain([0, u32::MAX]);
            runs.flat_map(move |incarnation| {
                [consumed(1, &run(0, incarnation), SlotClaimed), consumed(2, &run(1, incarnation), Added)]
            })
            .collect::<Vec<_>>()
        }),
        case(
            "a last chunk is never summed with one that is not",
            [
                consumed(1, &first.clone().with(|f| f.flags = LAST), SlotClaimed),
                passes(2, &second, FormatMismatch),
                consumed(2, &second.clone().with(|f| f.flags = LAST), Added),
                passes(1, &first.clone().with(|f| f.flags = RESEND), FormatMismatch),
                leaves(3, &third.clone().with(|f| f.flags = LAST), Completed, 5, &{
                    third.completing(&[0, 1, 2]).with(|f| f.flags = LAST)
                }),
                passes(2, &second.clone().with(|f| f.flags = RESEND), FormatMismatch),
                consumed(1, &gradient(0, 9), SlotClaimed),
                passes(2, &gradient(1, 9).with(|f| f.flags = LAST), FormatMismatch),
                consumed(2, &gradient(1, 9), Added),
                leaves(3, &gradient(2, 9), Completed, 5, &whole(2, 9)),
                passes(3, &gradient(2, 9).with(|f| f.flags = RESEND | LAST), FormatMismatch),
            ],
        ),
        case(
            "another exponent or length passes",
            [
                consumed(1, &first, SlotClaimed),
                passes(2, &second.clone().with(|f| f.exponent = -19), FormatMismatch),
                passes(2, &second.clone().with(|f| f.length = 1), FormatMismatch),
                consumed(2, &second, Added),
                passes(1, &first.clone().with(|f| f.exponent = 20), FormatMismatch),
                leaves(3, &third, Completed, 5, &third.completing(&[0, 1, 2])),
            ],
        ),
        case(
            "a bypass passes and leaves the slot alone",
            [
                passes(1, &first.clone().with(|f| f.flags = BYPASS | RESEND), Bypassed),
                consumed(1, &first, SlotClaimed),
                consumed(2, &second, Added),
                passes(3, &third.clone().with(|f| f.flags = BYPASS), Bypassed),
                leaves(3, &third, Completed, 5, &third.completing(&[0, 1, 2])),
            ],
        ),
        case(
            "a partial is summed again at the next switch",
            [
                consumed(4, &partial_34, SlotClaimed),
                leaves(1, &Inart::gradient(n, 1, 0, 6), Completed, 5, &all_034(&Inart::gradient(n, 1, 0, 6))),
                leaves(4, &partial_34, Repeated, 5, &all_034(&partial_34)),
                consumed(1, &Inart::gradient(n, 1, 0, 10), SlotClaimed),
                leaves(
                    4,
                    &Inart::gradient(n, 1, 3, 10).completing(&[3, 4]),
                    Completed,
                    5,
                    &all_034(&Inart::gradient(n, 1, 3, 10)),
                ),
            ],
        ),
        case(
            "frames with new and known contributors pass",
            [
                consumed(4, &Inart::gradient(n, 1, 3, 6), SlotClaimed)
                    .unless(Rule::Units, passes(4, &Inart::gradient(n, 1, 3, 6), PartialOverlap)),
                passes(4, &partial_34, PartialOverlap)
                    .unless(Rule::Units, consumed(4, &partial_34, SlotClaimed)),
                consumed(4, &Inart::gradient(n, 1, 4, 6), Added)
                    .unless(Rule::Units, passes(4, &Inart::gradient(n, 1, 4, 6), PartialOverlap)),
                consumed(4, &partial_34, DuplicateIgnored),
                leaves(1, &Inart::gradient(n, 1, 0, 6), Completed, 5, &all_034(&Inart::gradient(n, 1, 0, 6))),
            ],
        ),
        case(
            "an entry that forwards sums nothing",
            [
                passes(1, &Inart::gradient(n, 2, 0, 6), Forwarded),
                passes(1, &Inart::gradient(n, 2, 0, 6), Forwarded),
                passes(4, &Inart::gradient(n, 2, 3, 6).completing(&[3, 4]), Forwarded),
                passes(1, &Inart::gradient(n, 2, 0, 6).with(|f| f.flags = BYPASS), Forwarded),
            ],
        ),
        case(
            "a lone worker's gradient is complete immediately, and may leave by its ingress port",
            (0..4).map(|sequence| {
                let alone = Inart::gradient(n, 3, 0, sequence);
                leaves(1, &alone, Completed, 1, &alone.completing(&[0]))
            }),
        ),
        case(
            "ranks above 63 count in their group",
            [
                consumed(6, &gradient(70, 5), SlotClaimed),
                leaves(7, &gradient(71, 5), Completed, 5, &gradient(71, 5).completing(&[70, 71])),
            ],
        ),
        case(
            "flags: resend is the completing frame's; congestion and overflow are anyone's",
            [
                consumed(1, &first.clone().with(|f| f.flags = RESEND | CONGESTION | LAST), SlotClaimed),
                consumed(2, &second.clone().with(|f| f.flags = OVERFLOW | LAST), Added),
                leaves(
                    3,
                    &third.clone().with(|f| f.flags = LAST),
                    Completed,
                    5,
                    &third.completing(&[0, 1, 2]).with(|f| f.flags = LAST | CONGESTION | OVERFLOW),
                ),
                consumed(1, &gradient(0, 9), SlotClaimed),
                consumed(2, &gradient(1, 9).with(|f| f.flags = CONGESTION), Added),
                consumed(2, &gradient(1, 9), DuplicateIgnored),
                leaves(3, &gradient(2, 9), Completed, 5, &whole(2, 9).with(|f| f.flags = CONGESTION)),
                leaves(1, &gradient(0, 9).with(|f| f.flags = RESEND), Repeated, 5, &{
                    whole(0, 9).with(|f| f.flags = RESEND | CONGESTION)
                }),
                consumed(1, &gradient(0, 13).with(|f| f.flags = CONGESTION), SlotClaimed),
                consumed(2, &gradient(1, 13), Added),
                leaves(3, &gradient(2, 13), Completed, 5, &whole(2, 13).with(|f| f.flags = CONGESTION)),
                consumed(1, &gradient(0, 17), SlotClaimed),
                consumed(2, &gradient(1, 17), Added),
                leaves(3, &gradient(2, 17), Completed, 5, &whole(2, 17)),
            ],
        ),
        maxima(n),
        overflow(n, "a sum above the highest number saturates", i32::MAX, 1, -7),
        overflow(n, "a sum below the lowest number saturates", i32::MIN, -1, 7),
        overflow(n, "the third addition saturates", i32::MAX - 5, 5, 1),
        overflow(n, "two lowest numbers saturate", i32::MIN, i32::MIN, 0),
        exact(n, "the highest number is no overflow", [i32::MAX - 1, 1, 0]),
        exact(n, "the lowest number is no overflow", [i32::MIN + 1, -1, 0]),
        exact(n, "opposite extremes are no overflow", [i32::MIN, i32::MAX, 1]),
    ]
}

/// Checks that of sizes the greatest counts, in each lane separately, and repeats change nothing.
fn maxima(n: ValuesPerFrame) -> Case {
    let last = n.get() - 1;
    // Compared without a sign: the lowest number is above all others.
    let sizes = |worker, [first, second, other]: [i32; 3]| {
        Inart::gradient(n, 0, worker, 5).with(|f| {
            (f.exponent, f.values) = (MAXIMA, vec![0; n.get()]);
            (f.values[0], f.values[1], f.values[last]) = (first, second, other);
        })
    };
    let one = sizes(0, [7, i32::MIN, 0x7f80_0000]);
    let two = sizes(1, [0x3f80_0000, 5, 0]);
    let three = sizes(2, [0x3f80_0000, 6, 0x0080_0000]);
    let partial =
        sizes(2, [0x3f80_0000, i32::MIN, 0x7f80_0000]).with(|f| (f.kind, f.contributors) = (2, 0b111));
    let again = one.clone().with(|f| f.flags = RESEND);
    let answer = partial.clone().with(|f| (f.worker, f.flags) = (0, RESEND));
    // Tofino takes a word at a limit for an overflow.
    let marked = |of: &Inart| of.clone().with(|f| f.flags |= OVERFLOW);
    let sum = two.clone().with(|f| f.exponent = -20);
    case(
        "of sizes the greatest counts",
        [
            consumed(1, &one, SlotClaimed),
            consumed(2, &two, Added),
            consumed(2, &two.clone().with(|f| f.flags = RESEND), DuplicateIgnored),
            passes(2, &sum, FormatMismatch),
            leaves(3, &three, Completed, 5, &partial)
                .unless(Rule::Limits, leaves(3, &three, Completed, 5, &marked(&partial))),
            leaves(1, &again, Repeated, 5, &answer)
                .unless(Rule::Limits, leaves(1, &again, Repeated, 5, &marked(&answer))),
        ],
    )
}

/// Three workers with `terms` in the last lane and ordinary values in the others.
fn sum(n: ValuesPerFrame, name: &'static str, terms: [i32; 3], flags: u8) -> Case {
    let lane = n.get() - 1;
    let [first, second, third] = [0, 1, 2]
        .map(|worker| Inart::gradient(n, 0, worker, 5).with(|f| f.values[lane] = terms[usize::from(worker)]));
    let total = terms[0].saturating_add(terms[1]).saturating_add(terms[2]);
    let again = first.clone().with(|f| f.flags = RESEND);
    let partial = |of: &Inart, total, flags| {
        of.completing(&[0, 1, 2]).with(|f| (f.values[lane], f.flags) = (total, flags | f.flags))
    };
    // A value at a limit stays there.
    let kept = terms[1..].iter().fold(terms[0], |sum, &term| match sum {
        i32::MIN | i32::MAX => sum,
        _ => sum.saturating_add(term),
    });
    let marked = if matches!(kept, i32::MIN | i32::MAX) { OVERFLOW } else { 0 };
    let summed = |port, frame: &Inart, outcome| {
        let [everywhere, on_tofino] = [(total, flags), (kept, marked)]
            .map(|(total, flags)| leaves(port, frame, outcome, 5, &partial(frame, total, flags)));
        if (kept, marked) == (total, flags) { everywhere } else { everywhere.unless(Rule::Limits, on_tofino) }
    };
    let next = |worker| Inart::gradient(n, 0, worker, 9);
    case(
        name,
        [
            consumed(1, &first, SlotClaimed),
            consumed(2, &second, Added),
            summed(3, &third, Completed),
            summed(1, &again, Repeated),
            // The mark goes with the chunk.
            consumed(1, &next(0), SlotClaimed),
            consumed(2, &next(1), Added),
            leaves(3, &next(2), Completed, 5, &next(2).completing(&[0, 1, 2])),
        ],
    )
}

fn overflow(n: ValuesPerFrame, name: &'static str, first: i32, second: i32, third: i32) -> Case {
    sum(n, name, [first, second, third], OVERFLOW)
}

fn exact(n: ValuesPerFrame, name: &'static str, terms: [i32; 3]) -> Case {
    sum(n, name, terms, 0)
}
