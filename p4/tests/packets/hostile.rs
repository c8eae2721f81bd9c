//! A host that forges frames of another job, from its own port: each is dropped, and nothing of the other job
//! changes.

use inart_p4::Outcome::{Added, Completed, Repeated, SlotClaimed};
use inart_p4::Reason::{self, *};
use inart_wire::ValuesPerFrame;

use super::case::{Case, Step, case, consumed, dropped, leaves, switched};
use super::frame::{BYPASS, CONGESTION, Inart, LAST, OVERFLOW, RESEND, TAGS, tagged};
use super::messages::{CONTROL, PROBE};
use super::network::{AT_PORT_2, HOSTILE};

pub const GRADIENT: u8 = 1;
pub const PARTIAL: u8 = 2;
pub const RESULT: u8 = 3;
/// The hostile host's own.
pub const OWN_JOB: u16 = 2;

pub fn cases(n: ValuesPerFrame) -> Vec<Case> {
    let gradient = |worker, sequence| Inart::gradient(n, 0, worker, sequence);
    let partial_34 = Inart::gradient(n, 1, 4, 6).completing(&[3, 4]);
    let again = gradient(1, 6).with(|f| f.flags = RESEND);
    let last = Inart::gradient(n, 1, 0, 6);
    // One sum that lacks worker 2, one that is complete, and one of sums.
    let begun = [
        consumed(1, &gradient(0, 5), SlotClaimed),
        consumed(2, &gradient(1, 5), Added),
        consumed(1, &gradient(0, 6), SlotClaimed),
        consumed(2, &gradient(1, 6), Added),
        leaves(3, &gradient(2, 6), Completed, 5, &gradient(2, 6).completing(&[0, 1, 2])),
        consumed(4, &partial_34, SlotClaimed),
    ];
    let ended = [
        leaves(3, &gradient(2, 5), Completed, 5, &gradient(2, 5).completing(&[0, 1, 2])),
        leaves(2, &again, Repeated, 5, &again.completing(&[0, 1, 2])),
        leaves(1, &last, Completed, 5, &last.completing(&[0, 3, 4])),
        switched(5, gradient(0, 6).with(|f| f.kind = RESULT).bytes(), &[1, 2, 3]),
    ];
    let forged = forged(n).into_iter().map(|(reason, frame)| dropped(HOSTILE, frame.bytes(), reason));
    let forged = forged.chain(in_vlans(n));
    vec![
        case(
            "a host forges frames of another job",
            begun.into_iter().chain(forged).chain(own(n)).chain(ended),
        ),
        case(
            "a host forges frames of a job that has sent nothing yet",
            self::forged(n).into_iter().map(|(reason, frame)| dropped(HOSTILE, frame.bytes(), reason)).chain(
                [
                    consumed(1, &gradient(0, 5), SlotClaimed),
                    consumed(2, &gradient(1, 5), Added),
                    leaves(3, &gradient(2, 5), Completed, 5, &gradient(2, 5).completing(&[0, 1, 2])),
                ],
            ),
        ),
    ]
}

/// Frames of job 1 with other values, and why they are dropped at the hostile host's port.
fn forged(n: ValuesPerFrame) -> Vec<(Reason, Inart)> {
    let wrong = || vec![0x0bad_cafe; n.get()];
    let missing = || Inart::gradient(n, 0, 2, 5).with(|f| f.values = wrong());
    let but = |change: &dyn Fn(&mut Inart)| missing().with(|f| change(f));
    let mut frames = vec![
        // Frames that would end the sum; another's repeat; contributors that are in it already.
        (NoRoute, missing()),
        (NoRoute, but(&|f| f.flags = RESEND)),
        (NoRoute, Inart::gradient(n, 0, 1, 6).with(|f| (f.values, f.flags) = (wrong(), RESEND))),
        (NoRoute, Inart::gradient(n, 0, 0, 5).with(|f| f.values = wrong())),
        // Another exponent, and flags that would make the server discard the sum.
        (NoRoute, but(&|f| (f.flags, f.exponent) = (BYPASS | OVERFLOW, 40))),
        (NoRoute, but(&|f| (f.flags, f.exponent) = (OVERFLOW | CONGESTION | LAST, -20))),
        (NoRoute, but(&|f| (f.kind, f.flags, f.contributors) = (PARTIAL, OVERFLOW, 0b111))),
        // Sums of others, with the sender and without.
        (NoRoute, but(&|f| (f.kind, f.contributors) = (PARTIAL, 0b111))),
        (NoRoute, but(&|f| (f.kind, f.contributors) = (PARTIAL, u64::MAX))),
        (BadContributors, but(&|f| (f.kind, f.contributors) = (PARTIAL, 0b011))),
        (BadContributors, but(&|f| f.contributors = 0b111)),
        (BadContributors, but(&|f| f.contributors = 0b001)),
        (NoRoute, Inart::gradient(n, 1, 3, 6).with(|f| (f.kind, f.contributors) = (PARTIAL, 0b11000))),
        // Groups.
        (BadGroup, but(&|f| f.group = 1)),
        (BadGroup, but(&|f| f.worker = 66)),
        (NoRoute, but(&|f| (f.worker, f.group) = (66, 1))),
        (NoRoute, Inart::gradient(n, 0, 70, 5)),
        // Results.
        (NoResultRoute, but(&|f| f.kind = RESULT)),
        (NoResultRoute, but(&|f| (f.kind, f.flags) = (RESULT, RESEND | LAST))),
        (NoResultRoute, but(&|f| (f.kind, f.job) = (RESULT, OWN_JOB))),
        // Messages of workers and to them, with any content and destination; in the own job, of an absent
        // worker.
        (UnauthorizedSender, but(&|f| f.kind = PROBE)),
        (UnauthorizedSender, but(&|f| (f.kind, f.contributors) = (CONTROL, 0))),
        (UnauthorizedSender, but(&|f| (f.kind, f.contributors, f.dst) = (CONTROL, 0, AT_PORT_2))),
        (UnauthorizedSender, but(&|f| (f.kind, f.dst) = (CONTROL, [0xff; 6]))),
        (UnauthorizedSender, but(&|f| (f.kind, f.worker) = (CONTROL, 0))),
        (UnauthorizedSender, but(&|f| (f.kind, f.worker, f.group) = (CONTROL, 70, 1))),
        (UnauthorizedSender, but(&|f| (f.kind, f.job) = (CONTROL, OWN_JOB))),
    ];
    // Frames that would take slots over, from within the window and from anywhere.
    frames.extend([1, 4, 9, 0x1005, 0x8000_0005, u32::MAX].map(|s| (NoRoute, but(&|f| f.sequence = s))));
    frames.extend([0, 2, 3, u16::MAX].map(|plan_version| (NoRoute, but(&|f| f.plan_version = plan_version))));
    frames.extend([1, 2, 3, 4, 9].map(|shard| (NoRoute, but(&|f| f.shard = shard))));
    frames.extend([0, 3, 2000].map(|job| (NoRoute, but(&|f| f.job = job))));
    frames.extend([0, 1, u32::MAX].map(|run| (NoRoute, but(&|f| f.incarnation = run))));
    for kind in [PROBE, CONTROL] {
        frames.extend([0, 2, 3, u16::MAX].map(|plan_version| {
            (UnauthorizedSender, but(&|f| (f.kind, f.plan_version) = (kind, plan_version)))
        }));
        frames.extend(
            [1, 2, 3, 4, 9].map(|shard| (UnauthorizedSender, but(&|f| (f.kind, f.shard) = (kind, shard)))),
        );
        frames.extend([0, 3, 2000].map(|job| (UnauthorizedSender, but(&|f| (f.kind, f.job) = (kind, job)))));
    }
    frames
}

/// Returns frames behind VLAN tags, which the receiver's kernel removes: behind one of each kind, and behind
/// stacks of up to nine, more than the parser has room for.
fn in_vlans(n: ValuesPerFrame) -> impl Iterator<Item = Step> {
    let single = TAGS.iter().map(|&tag| vec![tag]);
    let stacks = (1..=9).cycle().zip(0..).map(|(depth, first)| {
        (0..depth).map(|place| TAGS[(first + place * place) % TAGS.len()]).collect::<Vec<_>>()
    });
    forged(n)
        .into_iter()
        .zip(single.chain(stacks))
        .map(|((_, frame), tags)| dropped(HOSTILE, tagged(&frame.bytes(), &tags), Reason::Tagged))
}

/// Frames of the hostile host's own job: with any sequence, they reach its own slots only, and no other host
/// sends in its name.
fn own(n: ValuesPerFrame) -> Vec<Step> {
    let own = |worker, sequence| Inart::gradient(n, 0, worker, sequence).with(|f| f.job = OWN_JOB);
    let refused =
        |reason, change: &dyn Fn(&mut Inart)| dropped(HOSTILE, own(0, 5).with(|f| change(f)).bytes(), reason);
    let mut steps = vec![
        refused(BadContributors, &|f| f.contributors = 0b111),
        refused(NotMember, &|f| (f.kind, f.contributors) = (PARTIAL, 0b111)),
        refused(NotMember, &|f| (f.kind, f.contributors) = (PARTIAL, 0b11)),
        refused(NoRoute, &|f| (f.worker, f.contributors) = (2, 0b100)),
        refused(NoRoute, &|f| f.shard = 1),
        refused(NoRoute, &|f| f.plan_version = 2),
        refused(UnauthorizedSender, &|f| (f.kind, f.shard) = (CONTROL, 1)),
        refused(UnauthorizedSender, &|f| (f.kind, f.plan_version) = (CONTROL, 2)),
        dropped(HOSTILE, tagged(&own(0, 5).bytes(), &TAGS[..1]), Reason::Tagged),
        // The switch does not restrict the destinations of its own messages: other hosts ignore other jobs'
        // frames.
        switched(HOSTILE, own(1, 5).with(|f| (f.kind, f.dst) = (CONTROL, AT_PORT_2)).bytes(), &[2]),
    ];
    // Each newer than the one before; the mask leaves two bits of them.
    for sequence in [5, 6, 0x1000, 0x1008, 0x7fff_fffc, 0x7fff_ffff] {
        steps.push(consumed(HOSTILE, &own(0, sequence), SlotClaimed));
    }
    let end = own(1, 0x7fff_ffff);
    steps.push(leaves(HOSTILE, &end, Completed, 5, &end.completing(&[0, 1])));
    steps
}
