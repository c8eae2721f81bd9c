//! The tables that all cases share, and the switch they run on.

use inart_tables::{
    GroupId, MacAction, MacKey, PortNo, ReceiversAction, ReceiversKey, ResultsAction, ResultsKey, SlotRange,
    SteerAction, SteerKey, SwitchPortsAction, SwitchPortsKey, SwitchTables, UpdatesAction, UpdatesKey,
};
use inart_wire::{BitmapIndex, Contributors, Group, MacAddr};

use super::program::Built;

/// ```text
///  worker 0 ── 1 ┌────────┐ 5 ── server
///  worker 1 ── 2 │ switch │ 6 ── worker 70
///  worker 2 ── 3 │        │ 7 ── worker 71
///  (3, 4) ──── 4 └────────┘ 8, 9
/// ```
/// All in plan version 1 and job 1 unless stated. Port 4 is connected to a switch that sums workers 3 and 4.
/// At port 8 are the workers 0 and 1 of job 2, which forge frames of job 1. Ports 1, 2, 3, 6 and 7 are also
/// those of the peers 0, 1, 2, 64 and 66 of job 7; its peers 3, 4 and 65 are behind the other switch.
const SERVER: u16 = 5;
pub const HOSTILE: u16 = 8;
/// The slots of job 1 but for those of shard 3, and of job 0.
pub const SLOTS: std::ops::Range<usize> = 8..40;
const FLOOD_GROUP: GroupId = GroupId(1);
const RESULT_GROUP: GroupId = GroupId(2);
/// The job of peers; where its peers are, by block: port, and the bitmap of those behind it.
pub const PEER_JOB: u16 = 7;
const BEHIND: [&[(u16, u64)]; 2] =
    [&[(1, 0b1), (2, 0b10), (3, 0b100), (4, 0b11000)], &[(4, 0b10), (6, 0b1), (7, 0b100)]];
/// A port in the groups of updates without a receiver.
const NO_RECEIVER: u16 = 5;
const UPDATE_GROUPS: [GroupId; 2] = [GroupId(3), GroupId(4)];

/// The ports in the flood group.
pub const FLOODED: std::ops::RangeInclusive<u16> = 1..=8;
/// A port outside, for markers: frames flooded after another one, which show that all its output has left, as
/// queues keep order.
pub const MARKER_PORT: u16 = 9;
/// `mac` sends this to port 2.
pub const AT_PORT_2: [u8; 6] = mac_of(2);
/// `mac` refuses this.
pub const REFUSED: [u8; 6] = mac_of(0xee);

const fn mac_of(last: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, last]
}

fn port(number: u16) -> PortNo {
    PortNo::try_from(u64::from(number)).expect("ports count from 1")
}

fn steer(plan_version: u16, shard: u16, worker: u16, ingress: u16) -> SteerKey {
    steer_job(plan_version, 1, shard, worker, ingress)
}

fn steer_job(plan_version: u16, job: u16, shard: u16, worker: u16, ingress: u16) -> SteerKey {
    let worker = BitmapIndex::try_from(worker).expect("a low rank");
    SteerKey {
        plan_version: plan_version.into(),
        job: job.into(),
        shard: shard.into(),
        worker,
        ingress: port(ingress),
    }
}

/// Returns the bitmap, of the block that the key's worker is in.
fn ranks(key: &SteerKey, bitmap: u64) -> Contributors {
    Contributors { bitmap, ..Contributors::one(key.worker) }
}

fn add(key: SteerKey, to: u16, base: u32, members: u64, expected: u64) -> (SteerKey, SteerAction) {
    let slots = SlotRange { base, len: 4 };
    let (members, expected) = (ranks(&key, members), ranks(&key, expected));
    (key, SteerAction::Add { port: port(to), slots, members, expected })
}

fn forward(key: SteerKey, members: u64) -> (SteerKey, SteerAction) {
    (key, SteerAction::Forward { port: port(SERVER), members: ranks(&key, members) })
}

fn steer_entries() -> Vec<(SteerKey, SteerAction)> {
    let mut entries = Vec::new();
    for worker in 0..3 {
        // Shard 0: three workers. Plan version 2 has the same slots.
        for plan_version in [1, 2] {
            entries.push(add(steer(plan_version, 0, worker, worker + 1), SERVER, 8, 1 << worker, 0b111));
        }
    }
    // Shard 1: worker 0, and the other switch's partials for workers 3 and 4.
    entries.push(add(steer(1, 1, 0, 1), SERVER, 16, 0b1, 0b11001));
    for worker in [3, 4] {
        entries.push(add(steer(1, 1, worker, 4), SERVER, 16, 0b11000, 0b11001));
    }
    // Shard 2: only forwarded.
    entries.push(forward(steer(1, 2, 0, 1), 0b1));
    entries.push(forward(steer(1, 2, 3, 4), 0b11000));
    // Shard 3: worker 0 alone, and its server is where it is. The last slots there are, and beyond.
    entries.push(add(steer(1, 3, 0, 1), 1, 4094, 0b1, 0b1));
    // Shard 4: two groups in the same slots, which no plan does.
    for (worker, ingress) in [(0, 1), (70, 6)] {
        entries.push(add(steer(1, 4, worker, ingress), SERVER, 28, 1 << (worker % 64), 0b1100_0001));
    }
    // Only zeros, as in an unused slot.
    for worker in 0..2 {
        entries.push(add(steer_job(0, 0, 0, worker, worker + 1), SERVER, 32, 1 << worker, 0b11));
    }
    // Ranks in the second group.
    for (worker, ingress) in [(70, 6), (71, 7)] {
        entries.push(add(steer(1, 0, worker, ingress), SERVER, 24, 1 << (worker % 64), 0b1100_0000));
    }
    for worker in [0, 1] {
        entries.push(add(steer_job(1, 2, 0, worker, HOSTILE), SERVER, 40, 1 << worker, 0b11));
    }
    entries
}

fn updates() -> impl Iterator<Item = (UpdatesKey, UpdatesAction)> {
    let senders = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 4), (64, 6), (65, 4), (66, 7)];
    senders.into_iter().flat_map(|(rank, ingress): (u16, u16)| {
        (0..2).map(move |group: u8| {
            let worker = BitmapIndex::try_from(rank).expect("a low rank");
            let (plan_version, job, ingress) = (1.into(), PEER_JOB.into(), port(ingress));
            let key = UpdatesKey { plan_version, job, group: Group(group), worker, ingress };
            (key, UpdatesAction::Replicate { group: UPDATE_GROUPS[usize::from(group)] })
        })
    })
}

fn receivers() -> impl Iterator<Item = (ReceiversKey, ReceiversAction)> {
    (0..2u8).zip(BEHIND).flat_map(|(group, behind)| {
        behind.iter().map(move |&(egress, bitmap)| {
            let group = Group(group);
            let key =
                ReceiversKey { plan_version: 1.into(), job: PEER_JOB.into(), group, egress: port(egress) };
            (key, ReceiversAction::Narrow { members: Contributors { bitmap, group } })
        })
    })
}

/// Returns the contents of the tables that a program has.
pub fn tables_of(program: Built) -> SwitchTables {
    let mut tables = tables();
    if program.is_tofino() {
        tables.updates.clear();
        tables.receivers.clear();
    }
    tables
}

/// Returns the contents of the tables.
pub fn tables() -> SwitchTables {
    let result = ResultsKey { plan_version: 1.into(), job: 1.into(), shard: 0.into(), ingress: port(SERVER) };
    let address = |dst| MacKey { dst: MacAddr(dst) };
    SwitchTables {
        switch_ports: [(SwitchPortsKey { ingress: port(4) }, SwitchPortsAction::Trust)].into(),
        steer: steer_entries().into_iter().collect(),
        results: [(result, ResultsAction::Replicate { group: RESULT_GROUP })].into(),
        updates: updates().collect(),
        receivers: receivers().collect(),
        mac: [(address(AT_PORT_2), MacAction::Send { port: port(2) }), (address(REFUSED), MacAction::Refuse)]
            .into(),
        mac_default: MacAction::Flood { group: FLOOD_GROUP },
        groups: [(FLOOD_GROUP, FLOODED.map(port).collect()), (RESULT_GROUP, [1, 2, 3, 5].map(port).into())]
            .into_iter()
            .chain(UPDATE_GROUPS.into_iter().zip(BEHIND).map(|(group, behind)| {
                (group, behind.iter().map(|(behind, _)| *behind).chain([NO_RECEIVER]).map(port).collect())
            }))
            .collect(),
    }
}
