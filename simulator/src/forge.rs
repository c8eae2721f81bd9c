//! A hostile host: frames in the name of jobs that it is no part of.

use std::ops::Range;

use inart_planner::NodeId;
use inart_wire::Kind;
use rand::Rng;
use rand::seq::IndexedRandom;

use crate::simulation::{Node, Simulation};

/// The last frames of every host that a hostile one knows.
pub(crate) const OVERHEARD: usize = 4;

/// Where the header's fields are that it changes, as the table in `wire/src/lib.rs` has them; the version is none of them.
const KIND: usize = 14;
const JOB: Range<usize> = 18..20;
/// Flags, epoch, shard, worker, sequence, contributors, group, exponent, length.
const OTHERS: [Range<usize>; 9] = [15..16, 16..18, 20..22, 22..24, 24..28, 28..36, 36..37, 37..38, 38..40];
const VALUES: usize = 40;

impl Simulation<'_> {
    /// The host sends so many gradients, partials and results of other jobs out of its own interface: such as were sent lately, with
    /// other values, as they were or with some fields changed.
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
        let Node::Host(host) = &self.nodes[node.index()] else { return };
        let channel = host.channel;
        let rng = &mut self.forger;
        let mut sent = 0;
        while let Some(mut frame) = overheard.choose(rng).filter(|_| sent < count).cloned() {
            rng.fill(&mut frame[VALUES..]);
            for _ in 0..rng.random_range(0..3) {
                match rng.random_range(0..=OTHERS.len() + 1) {
                    0 => frame[KIND] = frame[KIND] & 0xf0 | summed.choose(rng).expect("there are three"),
                    1 => rng.fill(&mut frame[JOB]),
                    other => change(rng, &mut frame[OTHERS[other - 2].clone()]),
                }
            }
            if !is_own(&frame) {
                sent += 1;
                self.wire.tally.forged += 1;
                let id = self.wire.frames.copy_of(&frame);
                self.wire.transmit(channel, id);
            }
        }
    }
}

/// Puts anything into a field, or the next number.
fn change(rng: &mut impl Rng, field: &mut [u8]) {
    match rng.random() {
        true => rng.fill(field),
        false => {
            let last = field.last_mut().expect("fields have bytes");
            *last = last.wrapping_add(1);
        }
    }
}
