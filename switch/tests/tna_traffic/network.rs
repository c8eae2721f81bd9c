//! Tables of the switch under test, and its senders.

use std::collections::BTreeMap;

use inart_switch::Switch;
use inart_switch::control::{Port, Replica};
use inart_tables::{
    GroupId, MacAction, MacKey, PortNo, ResultsAction, ResultsKey, SlotRange, SteerAction, SteerKey,
    SwitchPortsAction, SwitchPortsKey, SwitchTables,
};
use inart_wire::{BitmapIndex, Contributors, MacAddr};

/// Slots of a range; a window's chunks of one shard.
pub const WINDOW: u32 = 4;

/// A valid sender of gradients or partials.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    pub job: u16,
    pub shard: u16,
    pub worker: u16,
    /// Ingress port of its frames.
    pub port: u16,
    /// Workers in its frames: itself, or all that the switch behind the port has summed.
    pub members: u64,
}

/// ```text
/// job 1, shard 0: workers 0 to 3 at ports 1 to 4, summed, to the server at port 20; the same in plan version
/// 2 job 1, shard 1: workers 0 and 1, and the sum of 2 and 3 by the trunk at port 30, to the server at port
/// 21 job 1, shard 2: workers 0 and 1 pass on to the trunk at port 31; their sum comes back by it, is added
/// to                 that of worker 2, and leaves by the same trunk: both ways of a path cross the switch
/// job 2, shard 0: workers 0 and 1 at ports 5 and 6, in group 0; 70 and 71 at ports 7 and 8, in group 1
/// job 3, shard 0: worker 0 alone at port 9, whose server is there, too
/// ```
pub const SENDERS: [Sender; 17] = [
    sender(1, 0, 0, 1, 0b1),
    sender(1, 0, 1, 2, 0b10),
    sender(1, 0, 2, 3, 0b100),
    sender(1, 0, 3, 4, 0b1000),
    sender(1, 1, 0, 1, 0b1),
    sender(1, 1, 1, 2, 0b10),
    sender(1, 1, 2, 30, 0b1100),
    sender(1, 1, 3, 30, 0b1100),
    sender(1, 2, 0, 1, 0b1),
    sender(1, 2, 1, 2, 0b10),
    sender(1, 2, 0, 31, 0b11),
    sender(1, 2, 1, 31, 0b11),
    sender(1, 2, 2, 3, 0b100),
    sender(2, 0, 0, 5, 0b1),
    sender(2, 0, 1, 6, 0b10),
    sender(2, 0, 70, 7, 0b100_0000),
    sender(2, 0, 71, 8, 0b1000_0000),
];
const ALONE: Sender = sender(3, 0, 0, 9, 0b1);

const fn sender(job: u16, shard: u16, worker: u16, port: u16, members: u64) -> Sender {
    Sender { job, shard, worker, port, members }
}

/// Returns all of them.
pub fn senders() -> Vec<Sender> {
    SENDERS.into_iter().chain([ALONE]).collect()
}

/// Ingress port of the results of a shard, in plan version 1, and their group.
pub const RESULTS: [(u16, u16, u16, u16); 2] = [(1, 0, 20, 1), (2, 0, 22, 2)];
const GROUPS: [(u16, &[u16]); 3] = [(1, &[1, 2, 3, 4, 20]), (2, &[5, 6, 7, 8]), (3, &[1, 2, 5, 9, 20, 30])];
const FLOOD_GROUP: u16 = 3;
/// An address at port 2, a rejected one, and an unused one.
pub const ADDRESSES: [[u8; 6]; 3] = [[2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 0xee], [2, 0, 0, 0, 0, 0x77]];
const TRUNKS: [u16; 2] = [30, 31];

fn port(number: u16) -> PortNo {
    PortNo::try_from(u64::from(number)).expect("ports count from 1")
}

/// Slots, expected workers and port out of a sum: by job, shard and group.
fn sums() -> BTreeMap<(u16, u16, u16), (u32, u64, u16)> {
    [
        ((1, 0, 0), (0, 0b1111, 20)),
        ((1, 1, 0), (4, 0b1111, 21)),
        ((1, 2, 0), (8, 0b111, 31)),
        ((2, 0, 0), (12, 0b11, 22)),
        ((2, 0, 1), (16, 0b1100_0000, 22)),
        ((3, 0, 0), (20, 0b1, 9)),
    ]
    .into()
}

fn steer(sender: Sender, plan_version: u16) -> (SteerKey, SteerAction) {
    let worker = BitmapIndex::try_from(sender.worker).expect("a low rank");
    let key = SteerKey {
        plan_version: plan_version.into(),
        job: sender.job.into(),
        shard: sender.shard.into(),
        worker,
        ingress: port(sender.port),
    };
    let bits = |bitmap| Contributors { bitmap, ..Contributors::one(worker) };
    let members = bits(sender.members);
    if (sender.job, sender.shard) == (1, 2) && sender.port < 3 {
        return (key, SteerAction::Forward { port: port(31), members });
    }
    let (base, expected, out) = sums()[&(sender.job, sender.shard, sender.worker / 64)];
    let slots = SlotRange { base, len: WINDOW };
    (key, SteerAction::Add { port: port(out), slots, members, expected: bits(expected) })
}

/// Returns the contents of the tables.
fn tables() -> SwitchTables {
    let again = SENDERS.iter().filter(|sender| (sender.job, sender.shard) == (1, 0));
    let again = again.map(|sender| steer(*sender, 2));
    let results = RESULTS.iter().map(|&(job, shard, ingress, group)| {
        let key = ResultsKey {
            plan_version: 1.into(),
            job: job.into(),
            shard: shard.into(),
            ingress: port(ingress),
        };
        (key, ResultsAction::Replicate { group: GroupId(group) })
    });
    let address = |dst| MacKey { dst: MacAddr(dst) };
    SwitchTables {
        switch_ports: TRUNKS
            .map(|trunk| (SwitchPortsKey { ingress: port(trunk) }, SwitchPortsAction::Trust))
            .into(),
        steer: senders().into_iter().map(|sender| steer(sender, 1)).chain(again).collect(),
        results: results.collect(),
        mac: [
            (address(ADDRESSES[0]), MacAction::Send { port: port(2) }),
            (address(ADDRESSES[1]), MacAction::Refuse),
        ]
        .into(),
        mac_default: MacAction::Flood { group: GroupId(FLOOD_GROUP) },
        groups: GROUPS
            .map(|(group, ports)| (GroupId(group), ports.iter().map(|at| port(*at)).collect()))
            .into(),
        ..SwitchTables::default()
    }
}

/// Writes the tables on a switch.
pub fn write(switch: &mut Switch) {
    let tables = tables();
    for row in tables.rows() {
        let (table, action) = (row.table.full_name, row.action.full_name);
        switch.put_numbers(table, row.key.as_deref(), action, &row.params).expect("the entry fits");
    }
    for (group, ports) in tables.groups {
        let replicas = ports.iter().map(|port| Replica { port: Port(port.get().into()), instance: 1 });
        switch.put_multicast_group(group.0.into(), replicas.collect(), false).expect("the group is new");
    }
}

/// Returns the slot of a gradient or partial that is added, and the members of its entry.
pub fn slot_of(
    (plan_version, job, shard, worker): (u16, u16, u16, u16),
    ingress: u16,
    sequence: u32,
) -> Option<(u32, u64)> {
    let mine = |sender: &Sender| {
        (sender.job, sender.shard, sender.worker, sender.port) == (job, shard, worker, ingress)
    };
    let sender = senders().into_iter().find(mine)?;
    let known = plan_version == 1 || (plan_version, job, shard) == (2, 1, 0);
    match steer(sender, 1).1 {
        SteerAction::Add { slots, members, .. } if known => {
            Some((slots.base + sequence % WINDOW, members.bitmap))
        }
        _ => None,
    }
}
