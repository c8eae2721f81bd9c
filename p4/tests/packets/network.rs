//! The tables that all cases share, and the switch they run on.

use inart_p4::Artifact;
use inart_p4runtime::p4::v1::{MulticastGroupEntry, Replica, Update, replica};
use inart_p4runtime::{Client, Entry, Pipeline, PipelineAction, Schema};

/// ```text
///  worker 0 ── 1 ┌────────┐ 5 ── server
///  worker 1 ── 2 │ switch │ 6 ── worker 70
///  worker 2 ── 3 │        │ 7 ── worker 71
///  (3, 4) ──── 4 └────────┘ 8, 9
/// ```
/// All in epoch 1 and job 1 unless said. Port 4 leads to a switch that sums workers 3 and 4. At port 8 are the workers 0 and 1 of
/// job 2, who forge frames of job 1.
const SERVER: u64 = 5;
pub const HOSTILE: u16 = 8;
/// The slots of job 1 but for those of shard 3, and of job 0.
pub const SLOTS: std::ops::Range<usize> = 8..40;
const FLOOD_GROUP: u32 = 1;
const RESULT_GROUP: u32 = 2;

/// The ports in the flood group. The ninth, outside, is where [`crate::bmv2`] sends its markers.
pub const FLOODED: std::ops::RangeInclusive<u16> = 1..=8;
/// `mac` sends this to port 2.
pub const AT_PORT_2: [u8; 6] = mac_of(2);
/// `mac` refuses this.
pub const REFUSED: [u8; 6] = mac_of(0xee);

const fn mac_of(last: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, last]
}

fn steer(epoch: u64, shard: u64, worker: u64, port: u64) -> Entry {
    steer_job(epoch, 1, shard, worker, port)
}

fn steer_job(epoch: u64, job: u64, shard: u64, worker: u64, port: u64) -> Entry {
    Entry::new("steer")
        .exact("epoch", epoch)
        .exact("job", job)
        .exact("shard", shard)
        .exact("worker", worker)
        .exact("ingress", port)
}

fn add(entry: Entry, port: u64, base: u64, members: u64, expected: u64) -> Entry {
    let arguments =
        [("port", port), ("base", base), ("mask", 3), ("members", members), ("expected", expected)];
    entry.action("add", arguments)
}

/// What is in the tables.
pub fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for worker in 0..3 {
        // Shard 0: three workers. Epoch 2 has the same slots.
        for epoch in [1, 2] {
            entries.push(add(steer(epoch, 0, worker, worker + 1), SERVER, 8, 1 << worker, 0b111));
        }
    }
    // Shard 1: worker 0, and what the other switch sends for workers 3 and 4.
    entries.push(add(steer(1, 1, 0, 1), SERVER, 16, 0b1, 0b11001));
    for worker in [3, 4] {
        entries.push(add(steer(1, 1, worker, 4), SERVER, 16, 0b11000, 0b11001));
    }
    // Shard 2: only forwarded.
    entries.push(steer(1, 2, 0, 1).action("forward", [("port", SERVER), ("members", 0b1)]));
    entries.push(steer(1, 2, 3, 4).action("forward", [("port", SERVER), ("members", 0b11000)]));
    // Shard 3: worker 0 alone, and its server is where it is. The last slots there are, and beyond.
    entries.push(add(steer(1, 3, 0, 1), 1, 4094, 0b1, 0b1));
    // Shard 4: two groups in the same slots, which no plan does.
    for (worker, port) in [(0, 1), (70, 6)] {
        entries.push(add(steer(1, 4, worker, port), SERVER, 28, 1 << (worker % 64), 0b1100_0001));
    }
    // Nothing but zeros, like a slot that nobody used.
    for worker in 0..2 {
        entries.push(add(steer_job(0, 0, 0, worker, worker + 1), SERVER, 32, 1 << worker, 0b11));
    }
    // Ranks in the second group.
    for (worker, port) in [(70, 6), (71, 7)] {
        entries.push(add(steer(1, 0, worker, port), SERVER, 24, 1 << (worker % 64), 0b1100_0000));
    }
    for worker in [0, 1] {
        entries.push(add(steer_job(1, 2, 0, worker, HOSTILE.into()), SERVER, 40, 1 << worker, 0b11));
    }
    let result = Entry::new("results")
        .exact("epoch", 1u64)
        .exact("job", 1u64)
        .exact("shard", 0u64)
        .exact("ingress", SERVER);
    entries.push(result.action("replicate", [("group", RESULT_GROUP)]));
    entries.push(Entry::new("trunks").exact("ingress", 4u64).plain_action("trust"));
    entries.push(Entry::new("mac").exact("dst", AT_PORT_2).action("send", [("port", 2u64)]));
    entries.push(Entry::new("mac").exact("dst", REFUSED).plain_action("refuse"));
    entries.push(Entry::default_of("mac").action("flood", [("group", FLOOD_GROUP)]));
    entries
}

/// Multicast groups and their ports.
pub fn groups() -> [(u32, Vec<u16>); 2] {
    [(FLOOD_GROUP, FLOODED.collect()), (RESULT_GROUP, vec![1, 2, 3, 5])]
}

fn group_entries() -> Vec<MulticastGroupEntry> {
    let replica = |port: u16| Replica {
        port_kind: Some(replica::PortKind::Port(port.to_be_bytes().to_vec())),
        instance: 1,
    };
    let entry = |(id, ports): (u32, Vec<u16>)| MulticastGroupEntry {
        multicast_group_id: id,
        replicas: ports.into_iter().map(replica).collect(),
        ..Default::default()
    };
    groups().map(entry).to_vec()
}

/// Removes the multicast groups.
pub async fn unload(client: &Client) {
    client
        .write(group_entries().into_iter().map(Update::delete).collect())
        .await
        .expect("the groups are there");
}

/// Starts the program afresh, with empty slots and zero counters, and writes the tables.
pub async fn load(client: &Client, artifact: &Artifact) {
    let schema = Schema::from_text(&artifact.p4info).expect("p4c printed P4Info");
    let pipeline =
        Pipeline { p4info: schema.info().clone(), device_config: artifact.json.to_vec(), cookie: None };
    client.set_pipeline(PipelineAction::VerifyAndCommit, Some(pipeline)).await.expect("the program loads");
    let mut updates: Vec<_> = group_entries().into_iter().map(Update::insert).collect();
    for entry in entries() {
        let message = schema.encode(&entry).expect("the entry fits the program");
        updates.push(if entry.is_default { Update::modify(message) } else { Update::insert(message) });
    }
    client.write(updates).await.expect("the tables take the entries");
}
