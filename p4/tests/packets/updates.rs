//! Updates: copied to the peers in their bitmap, from the port of the sending peer, and to no other port.

use inart_p4::Outcome::{Added, Completed, SlotClaimed};
use inart_p4::Reason::{
    BadContributors, BadLength, BadVersion, NoUpdateRoute, Tagged, TooShort, UnauthorizedSender, UnknownFlag,
    UnknownKind, WrongSize,
};
use inart_wire::ValuesPerFrame;

use super::case::{Case, Step, case, consumed, copied, dropped, leaves, switched};
use super::frame::{Inart, LAST, RESEND, TAGS, tagged};
use super::messages::{CONTROL, PROBE};
use super::network::{AT_PORT_2, HOSTILE, PEER_JOB};

pub const UPDATE: u8 = 6;

/// Returns the update of a peer for the peers of block 0 in `receivers`; some of its values are not numbers,
/// as floats.
pub fn update(n: ValuesPerFrame, rank: u16, receivers: u64) -> Inart {
    Inart::gradient(n, 0, rank, 5).with(|f| {
        (f.kind, f.job, f.shard, f.contributors, f.group) = (UPDATE, PEER_JOB, 0x1234, receivers, 0);
        f.values[0] = f32::NAN.to_bits() as i32;
        f.values[1] = i32::MIN;
    })
}

/// Returns an update for peers of block 1.
fn of_block_1(n: ValuesPerFrame, rank: u16, receivers: u64) -> Inart {
    update(n, rank, receivers).with(|f| f.group = 1)
}

pub fn cases(n: ValuesPerFrame) -> Vec<Case> {
    let to = |rank, receivers| update(n, rank, receivers);
    vec![
        case(
            "an update goes to the peers in its bitmap, and each copy names those behind its port",
            [
                copied(1, &to(0, 0b110), &[(2, 0b10), (3, 0b100)]),
                copied(2, &to(1, 0b1), &[(1, 0b1)]),
                copied(1, &to(0, 0b11010), &[(2, 0b10), (4, 0b11000)]),
                copied(1, &to(0, 0b10000), &[(4, 0b10000)]),
                // Another choice in the next frame, and again.
                copied(1, &to(0, 0b100), &[(3, 0b100)]),
                copied(1, &to(0, 0b10), &[(2, 0b10)]),
            ],
        ),
        case(
            "updates from another switch do not return there",
            [
                copied(4, &to(3, 0b11), &[(1, 0b1), (2, 0b10)]),
                copied(4, &to(4, 0b1100), &[(3, 0b100)]),
                copied(4, &to(4, 0b1000), &[]),
                copied(4, &of_block_1(n, 65, 0b111), &[(6, 0b1), (7, 0b100)]),
            ],
        ),
        case(
            "to peers in two blocks goes a frame each",
            [
                copied(1, &to(0, u64::MAX), &[(2, 0b10), (3, 0b100), (4, 0b11000)]),
                copied(1, &of_block_1(n, 0, u64::MAX), &[(4, 0b10), (6, 0b1), (7, 0b100)]),
                copied(6, &to(64, 0b101), &[(1, 0b1), (3, 0b100)]),
                copied(6, &of_block_1(n, 64, u64::MAX), &[(4, 0b10), (7, 0b100)]),
            ],
        ),
        case(
            "updates for the sender itself, or for absent peers, are not copied",
            [
                copied(1, &to(0, 0b1), &[]),
                copied(1, &to(0, 1 << 63), &[]),
                copied(3, &to(2, 1 << 63 | 1), &[(1, 1)]),
            ],
        ),
        case(
            "a repair is an update to one peer; flags, sequence and length stay",
            [
                copied(1, &to(0, 0b100).with(|f| f.flags = RESEND | LAST), &[(3, 0b100)]),
                copied(1, &to(0, 0b100).with(|f| (f.sequence, f.length) = (u32::MAX, 1)), &[(3, 0b100)]),
                copied(1, &to(0, 0b100).with(|f| f.exponent = 127), &[(3, 0b100)]),
            ],
        ),
        case("strangers send no updates", strangers(n)),
        case("malformed updates are dropped", malformed(n)),
        case("a peer sends as itself", spoken(n)),
        case("an update is never summed, nor does it disturb a sum", {
            let gradient = |worker| Inart::gradient(n, 0, worker, 5);
            let like_its_gradient = gradient(2).with(|f| f.kind = UPDATE);
            [
                consumed(1, &gradient(0), SlotClaimed),
                copied(1, &to(0, 0b10), &[(2, 0b10)]),
                consumed(2, &gradient(1), Added),
                dropped(3, like_its_gradient.bytes(), NoUpdateRoute),
                leaves(3, &gradient(2), Completed, 5, &gradient(2).completing(&[0, 1, 2])),
            ]
        }),
    ]
}

/// Frames to a program without tables for updates.
pub fn refused(n: ValuesPerFrame) -> Vec<Case> {
    let ports = [1, 4, HOSTILE].map(|port| dropped(port, update(n, 0, 0b110).bytes(), UnknownKind));
    vec![case("a program that copies no updates drops them", ports)]
}

fn strangers(n: ValuesPerFrame) -> Vec<Step> {
    let refused = |port, frame: Inart| dropped(port, frame.bytes(), NoUpdateRoute);
    let own = || update(n, 0, 0b110);
    // A peer's name at every port but its own.
    let forged = (2..=HOSTILE).map(|port| refused(port, own()));
    let others = [
        // Not in the job; in it, elsewhere.
        refused(1, update(n, 5, 0b110)),
        refused(1, update(n, 1, 0b101)),
        refused(4, update(n, 0, 0b110)),
        // No such block, plan version or job; another job of the same host.
        refused(1, own().with(|f| f.group = 2)),
        refused(1, own().with(|f| f.group = 255)),
        refused(1, own().with(|f| f.plan_version = 2)),
        refused(1, own().with(|f| f.job = 9)),
        refused(1, own().with(|f| f.job = 1)),
        refused(HOSTILE, update(n, 0, 0b110).with(|f| f.job = 2)),
    ];
    // Frames of the peer itself are copied as before.
    forged.chain(others).chain([copied(1, &own(), &[(2, 0b10), (3, 0b100)])]).collect()
}

fn malformed(n: ValuesPerFrame) -> Vec<Step> {
    let but = |change: &dyn Fn(&mut Inart)| update(n, 0, 0b110).with(|f| change(f)).bytes();
    let whole = but(&|_| {});
    vec![
        dropped(1, but(&|f| f.contributors = 0), BadContributors),
        dropped(1, but(&|f| f.length = 0), BadLength),
        dropped(1, but(&|f| f.length = n.get() as u16 + 1), BadLength),
        dropped(1, but(&|f| f.flags = 0x40), UnknownFlag),
        dropped(1, but(&|f| f.version = 1), BadVersion),
        dropped(1, whole[..whole.len() - 4].to_vec(), WrongSize),
        dropped(1, [&whole[..], &[0]].concat(), WrongSize),
        dropped(1, whole[..43].to_vec(), TooShort),
        dropped(1, tagged(&whole, &TAGS[..1]), Tagged),
        dropped(1, tagged(&whole, &TAGS), Tagged),
    ]
}

/// Control and probe frames about updates.
fn spoken(n: ValuesPerFrame) -> Vec<Step> {
    let as_peer = |kind, rank| {
        update(n, rank, 0).with(|f| (f.kind, f.dst, f.shard, f.length) = (kind, AT_PORT_2, 0, 6)).bytes()
    };
    let mut steps = Vec::new();
    for kind in [CONTROL, PROBE] {
        steps.extend([
            switched(1, as_peer(kind, 0), &[2]),
            switched(3, as_peer(kind, 2), &[2]),
            switched(6, as_peer(kind, 64), &[2]),
            // From another port, or of a peer that is not in the job; messages that another switch accepted
            // pass.
            dropped(3, as_peer(kind, 0), UnauthorizedSender),
            dropped(HOSTILE, as_peer(kind, 0), UnauthorizedSender),
            dropped(1, as_peer(kind, 5), UnauthorizedSender),
            switched(4, as_peer(kind, 3), &[2]),
        ]);
    }
    let of_block_9 = update(n, 0, 0).with(|f| (f.kind, f.dst, f.group) = (CONTROL, AT_PORT_2, 9));
    steps.push(dropped(1, of_block_9.bytes(), UnauthorizedSender));
    steps
}
