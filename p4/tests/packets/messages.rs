//! Control and probe frames: accepted at a host's port only if the host may send for the host that they name,
//! and between switches.

use inart_p4::Outcome::{Added, Completed, SlotClaimed};
use inart_p4::Reason::{NoMacRoute, Tagged, UnauthorizedSender};
use inart_wire::ValuesPerFrame;

use super::case::{Case, Step, case, consumed, dropped, leaves, switched};
use super::frame::{Inart, TAGS, mac, tagged};
use super::network::{AT_PORT_2, REFUSED};

pub const PROBE: u8 = 4;
pub const CONTROL: u8 = 5;
/// Port of a switch; port of the server of shard 0, in plan version 1.
const SWITCH_PORT: u16 = 4;
const SERVER: u16 = 5;
/// Workers of shard 0 in plan version 1, and their ports.
const WORKERS: [(u16, u16); 5] = [(0, 1), (1, 2), (2, 3), (70, 6), (71, 7)];

/// Returns one of worker 0 about shard 0, or to it.
fn message(n: ValuesPerFrame) -> Inart {
    Inart::gradient(n, 0, 0, 5).with(|f| (f.kind, f.dst, f.contributors) = (CONTROL, AT_PORT_2, 0))
}

pub fn cases(n: ValuesPerFrame) -> Vec<Case> {
    let of = |change: &dyn Fn(&mut Inart)| message(n).with(|f| change(f)).bytes();
    let gradient = |worker| Inart::gradient(n, 0, worker, 5);
    vec![
        case(
            "a host sends as its worker, the server to any, and a switch forwards accepted messages",
            WORKERS.into_iter().flat_map(|(worker, own)| {
                (1..=8).zip([CONTROL, PROBE].into_iter().cycle()).map(move |(port, kind)| {
                    let frame = message(n).with(|f| (f.kind, f.worker) = (kind, worker)).bytes();
                    match [own, SERVER, SWITCH_PORT].contains(&port) {
                        true if port == 2 => switched(port, frame, &[]),
                        true => switched(port, frame, &[2]),
                        false => dropped(port, frame, UnauthorizedSender),
                    }
                })
            }),
        ),
        case(
            "in the epoch, job and shard that it is in",
            [
                // Worker 0 is in plan versions 1 and 2, the server in 1 only.
                switched(1, of(&|f| f.plan_version = 2), &[2]),
                dropped(SERVER, of(&|f| f.plan_version = 2), UnauthorizedSender),
                dropped(1, of(&|f| f.plan_version = 3), UnauthorizedSender),
                dropped(1, of(&|f| f.job = 2), UnauthorizedSender),
                dropped(SERVER, of(&|f| f.job = 2), UnauthorizedSender),
                // Added, forwarded, and alone in shards 1 to 3; no worker of the tenth.
                switched(1, of(&|f| f.shard = 1), &[2]),
                switched(1, of(&|f| f.shard = 2), &[2]),
                switched(1, of(&|f| f.shard = 3), &[2]),
                dropped(1, of(&|f| f.shard = 9), UnauthorizedSender),
                dropped(SERVER, of(&|f| f.shard = 1), UnauthorizedSender),
                // Frames from a switch port have been checked before.
                switched(
                    SWITCH_PORT,
                    of(&|f| (f.plan_version, f.job, f.shard, f.worker) = (9, 9, 9, 9)),
                    &[2],
                ),
            ],
        ),
        case(
            "a message goes where its address is, and nowhere else",
            [1, SERVER].into_iter().flat_map(|port| {
                let all = [1, 2, 3, 4, 5, 6, 7, 8];
                let others: Vec<_> = all.into_iter().filter(|other| *other != port).collect();
                [
                    switched(port, message(n).with(|f| f.dst = mac(0x77)).bytes(), &others),
                    switched(port, message(n).bytes(), &[2]),
                    dropped(port, message(n).with(|f| f.dst = REFUSED).bytes(), NoMacRoute),
                ]
            }),
        ),
        case(
            "messages in a VLAN are dropped, even from another switch or in an own name",
            [1, SERVER, SWITCH_PORT].into_iter().flat_map(|port| {
                let frame = message(n).bytes();
                let stacks =
                    [&TAGS[..1], &TAGS[1..2], &TAGS[2..], &TAGS[..2], &TAGS, &[0x8100; 4], &[0x8100; 5]];
                let in_vlans = stacks.map(|tags| dropped(port, tagged(&frame, tags), Tagged));
                in_vlans.into_iter().chain([switched(port, frame, &[2])])
            }),
        ),
        case("a message is never summed", {
            let spoken = |worker| -> Step {
                let like_its_gradient = Inart::gradient(n, 0, worker, 5);
                let frame = like_its_gradient.with(|f| (f.kind, f.dst) = (CONTROL, AT_PORT_2)).bytes();
                switched(worker + 1, frame, if worker == 1 { &[] } else { &[2] })
            };
            [
                consumed(1, &gradient(0), SlotClaimed),
                spoken(2),
                consumed(2, &gradient(1), Added),
                spoken(1),
                spoken(2),
                leaves(3, &gradient(2), Completed, 5, &gradient(2).completing(&[0, 1, 2])),
                spoken(0),
            ]
        }),
    ]
}
