//! A hostile host: frames in the name of jobs of which it is not a member.

use std::ops::Range;

use inart_protocol_aggregation::Assignment;
use inart_topologies::switched::NodeId;
use inart_wire::{
    AbortReason, ChunkSeq, Contributors, ControlMessage, Exponent, Flags, FrameRepr, HeaderRepr, Incarnation,
    Kind, Rank, ShardId, Transcript,
};
use rand::Rng;
use rand::seq::IndexedRandom;

use crate::simulation::{Node, Simulation};

/// Offsets of the header fields that it changes, as in the table of `protocol/wire/src/lib.rs`; the version
/// is not one of them.
const KIND: usize = 14;
const JOB: Range<usize> = 18..20;
/// Flags, plan version, shard, worker, sequence, contributors, group, exponent, length, incarnation.
const OTHERS: [Range<usize>; 10] =
    [15..16, 16..18, 20..22, 22..24, 24..28, 28..36, 36..37, 37..38, 38..40, INCARNATION];
const SEQUENCE: Range<usize> = 24..28;
const INCARNATION: Range<usize> = 40..44;
pub(crate) const VALUES: usize = 44;
/// Offset of VLAN tags, and their EtherTypes.
const TAGS: usize = 12;
const TAG_TYPES: [u16; 3] = [0x8100, 0x88a8, 0x9100];

impl Simulation<'_> {
    /// Sends `count` frames of other jobs from the host's interface, unchanged or with some changed fields:
    /// recently sent gradients, partials and results, with other values, and control frames; some of them
    /// VLAN-tagged.
    pub(crate) fn forge(&mut self, node: NodeId, count: u32) {
        let jobs = self.network.assignments.iter().enumerate();
        let own: Vec<u16> = jobs
            .filter(|(job, _)| {
                self.processes.iter().any(|process| (process.job, process.host) == (*job, node.index()))
            })
            .map(|(_, assignment)| assignment.job.get())
            .collect();
        let is_own =
            |frame: &[u8]| own.contains(&u16::from_be_bytes([frame[JOB.start], frame[JOB.start + 1]]));
        let summed = [Kind::Gradient, Kind::Partial, Kind::Result].map(Kind::code);
        let hosts = self.nodes.iter().filter_map(|node| match node {
            Node::Host(host) => Some(host),
            Node::Switch(_) => None,
        });
        let overheard: Vec<_> = hosts
            .flat_map(|host| &host.sent)
            .filter(|frame| summed.contains(&(frame[KIND] & 0x0f)) && !is_own(frame))
            .cloned()
            .collect();
        let assignments = &self.network.assignments;
        let Node::Host(host) = &self.nodes[node.index()] else { return };
        let channel = host.channel;
        let rng = &mut self.forger;
        let mut sent = 0;
        while let Some(mut frame) = overheard.choose(rng).filter(|_| sent < count).cloned() {
            rng.fill(&mut frame[VALUES..]);
            let job = u16::from_be_bytes([frame[JOB.start], frame[JOB.start + 1]]);
            if let Some(assignment) = assignments.iter().find(|assignment| assignment.job.get() == job)
                && rng.random_ratio(1, 3)
            {
                frame = message(rng, assignment, &frame);
            }
            for _ in 0..rng.random_range(0..3) {
                match rng.random_range(0..=OTHERS.len() + 1) {
                    0 => frame[KIND] = frame[KIND] & 0xf0 | rng.random_range(1..=5),
                    1 => rng.fill(&mut frame[JOB]),
                    other => change(rng, &mut frame[OTHERS[other - 2].clone()]),
                }
            }
            if !is_own(&frame) {
                sent += 1;
                self.forged.insert(frame[VALUES..].to_vec());
                if rng.random_ratio(1, 6) {
                    put_tags(rng, &mut frame);
                }
                self.wire.tally.forged += 1;
                let id = self.wire.frames.copy_of(&frame);
                self.wire.transmit(channel, id);
            }
        }
    }
}

/// Returns a harmful message of a worker to a server, or of a server to a worker, about the chunk of `frame`.
fn message(rng: &mut impl Rng, assignment: &Assignment, frame: &[u8]) -> Vec<u8> {
    let (rank, shard) =
        (rng.random_range(0..assignment.workers.len()), rng.random_range(0..assignment.shards.len()));
    let (worker, server) = (&assignment.workers[rank], &assignment.shards[shard]);
    let rank = Rank::try_from(rank).expect("workers have ranks");
    let sequence = frame[SEQUENCE].iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    let reasons =
        [AbortReason::NotFinite, AbortReason::Silent, AbortReason::Stopped, AbortReason::WorkerRestarted];
    let message = match rng.random_range(0..3) {
        0 => ControlMessage::RequestBypass,
        1 => {
            let oldest = ChunkSeq::from(sequence.wrapping_add(rng.random_range(0..1000)));
            let marks = std::array::from_fn(|_| rng.random());
            let transcript = Transcript { started: rng.random_range(0..10), marks };
            ControlMessage::KeepAlive { oldest, tensor_len: Some(rng.random_range(0..1000)), transcript }
        }
        _ => ControlMessage::Abort {
            reason: *reasons.choose(rng).expect("the list is not empty"),
            culprit: rank,
        },
    };
    // The run of the overheard frame; no forger sees a worker's messages to its server.
    let incarnation = frame[INCARNATION].iter().fold(0, |number, byte| number << 8 | u32::from(*byte)).into();
    let words = message.words(Incarnation::from(rng.random::<u32>()));
    let mut frame = vec![0; assignment.values_per_frame.frame_bytes()];
    let (destination, source) = match rng.random() {
        true => (server.mac, worker.mac),
        false => (worker.mac, server.mac),
    };
    let header = HeaderRepr {
        kind: if rng.random_ratio(1, 8) { Kind::Probe } else { Kind::Control },
        flags: Flags::NONE,
        plan_version: assignment.plan_version,
        job: assignment.job,
        shard: ShardId::try_from(shard).expect("servers have shards"),
        worker: server.bitmap_indices.get(rank.index()).copied().unwrap_or(rank.bitmap_index()),
        sequence: ChunkSeq::from(sequence),
        contributors: Contributors::default(),
        exponent: Exponent::from(rng.random::<i8>()),
        length: words.len() as u16,
        incarnation,
    };
    FrameRepr { destination, source, values_per_frame: assignment.values_per_frame, header }
        .emit(&words, &mut frame)
        .expect("the buffer is one frame long");
    frame
}

/// Puts one to six VLAN tags before the EtherType.
fn put_tags(rng: &mut impl Rng, frame: &mut Vec<u8>) {
    for _ in 0..rng.random_range(1..=6) {
        let kind = TAG_TYPES[rng.random_range(0..TAG_TYPES.len())];
        let vlan = if rng.random() { 0 } else { rng.random::<u16>() };
        let [a, b, c, d] = (u32::from(kind) << 16 | u32::from(vlan)).to_be_bytes();
        frame.splice(TAGS..TAGS, [a, b, c, d]);
    }
}

/// Sets a field to a random value or increments it.
fn change(rng: &mut impl Rng, field: &mut [u8]) {
    match rng.random() {
        true => rng.fill(field),
        false => {
            let last = field.last_mut().expect("fields have bytes");
            *last = last.wrapping_add(1);
        }
    }
}
