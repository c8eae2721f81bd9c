//! Handling of frames and processes.

use inart_protocol_aggregation::Instant;
use inart_wire::MacAddr;
use rand::Rng;

use crate::channel::{INART, INJECTED};
use crate::event_queue::{EventKind, FrameId, ProcessId};
use crate::forge::VALUES;
use crate::host::{End, Role};
use crate::simulation::{Node, Simulation};

/// EtherTypes of the VLAN tags that Linux takes off: IEEE 802.1Q and 802.1ad.
const TAGS: [[u8; 2]; 2] = [0x8100u16.to_be_bytes(), 0x88a8u16.to_be_bytes()];
const TAG_BYTES: usize = 4;

impl Simulation<'_> {
    /// A frame reaches the end of its channel.
    pub(crate) fn arrive(&mut self, frame: FrameId) {
        let in_flight = self.wire.frames.get(frame);
        let id = in_flight.channel;
        let channel = &self.wire.channels[id.0 as usize];
        if in_flight.generation != channel.generation {
            self.wire.tally.cut += 1;
            return self.wire.lose(id, frame, "cut off");
        }
        if in_flight.corrupt {
            // Ethernet's check sequence; an INART frame has none of its own.
            return self.wire.lose(id, frame, "discarded: wrong check sequence");
        }
        if in_flight.bytes.get(12..14) == Some(&INJECTED) {
            return self.wire.frames.give_back(frame);
        }
        match &mut self.nodes[channel.to as usize] {
            Node::Switch(node) if node.switch.program().is_none() => {
                self.wire.tally.unprogrammed += 1;
                self.wire.lose(id, frame, "discarded: switch without program");
            }
            Node::Switch(_) => {
                let (switch, port) = (channel.to, channel.port);
                self.note_moving(frame);
                self.enter(switch, port, frame);
            }
            Node::Host(host) if host.paused > 0 => host.inbox.push(frame),
            Node::Host(_) => self.deliver(channel.to as usize, frame),
        }
    }

    /// Delivers a frame to the processes of a host.
    pub(crate) fn deliver(&mut self, host: usize, frame: FrameId) {
        let mut bytes = std::mem::take(&mut self.wire.frames.get_mut(frame).bytes);
        take_tags_off(&mut bytes);
        if bytes.get(12..14) == Some(&INART) {
            if !self.forged.is_empty()
                && bytes.get(VALUES..).is_some_and(|values| self.forged.contains(values))
            {
                self.wire.tally.forged_delivered += 1;
            }
            let Node::Host(node) = &self.nodes[host] else { return };
            let mut delivered = false;
            for index in 0..node.processes.len() {
                let Node::Host(node) = &self.nodes[host] else { return };
                let id = node.processes[index];
                let now = Instant::from_nanos(self.wire.now);
                delivered |= !matches!(self.processes[id.0 as usize].role, Role::Gone(_) | Role::Absent);
                if let Some(state) = self.processes[id.0 as usize].state_machine() {
                    state.handle_frame(now, &bytes);
                    self.pump(id);
                }
            }
            if !delivered {
                self.wire.tally.undelivered += 1;
            }
        }
        self.wire.frames.get_mut(frame).bytes = bytes;
        self.wire.frames.give_back(frame);
    }

    /// A process's deadline.
    pub(crate) fn wake(&mut self, id: ProcessId) {
        let process = &mut self.processes[id.0 as usize];
        if process.wake_at != Some(self.wire.now) {
            return;
        }
        process.wake_at = None;
        match &self.nodes[process.host] {
            Node::Host(host) if host.paused == 0 => self.pump(id),
            _ => {}
        }
    }

    /// Lets a process send all its frames, ends its round if that is complete, and schedules its wake-up.
    pub(crate) fn pump(&mut self, id: ProcessId) {
        loop {
            self.send_all(id);
            if !self.end_round(id) {
                break;
            }
        }
        self.take_sums(id);
        let (rng, jitter) = (&mut self.wire.rng, self.jitter.0);
        let late = || rng.random_range(0..=jitter);
        if let Some(at) = self.processes[id.0 as usize].sleep(self.wire.now, late) {
            self.wire.events.at(at, EventKind::Wake(id));
        }
    }

    fn send_all(&mut self, id: ProcessId) {
        let now = Instant::from_nanos(self.wire.now);
        let process = &mut self.processes[id.0 as usize];
        let Node::Host(host) = &mut self.nodes[process.host] else { return };
        let Some(state) = process.state_machine() else { return };
        let room = self.network.dataplane.values.frame_bytes();
        loop {
            let frame = self.wire.frames.take();
            let buffer = &mut self.wire.frames.get_mut(frame).bytes;
            buffer.resize(room, 0);
            let Some(length) = state.poll_transmit(now, buffer) else {
                return self.wire.frames.give_back(frame);
            };
            buffer.truncate(length);
            if host.remember > 0 {
                host.sent.truncate(host.remember - 1);
                host.sent.push_front(buffer.clone());
            }
            self.wire.transmit(host.channel, frame);
        }
    }

    /// Starts a worker's current round.
    pub(crate) fn start_round(&mut self, id: ProcessId) {
        let process = &mut self.processes[id.0 as usize];
        if let Role::Worker(worker) = &mut process.role {
            let rounds = &self.jobs[process.job].rounds;
            rounds.write_gradient(worker.round, worker.rank.index(), &mut self.floats);
            if rounds.is_spoilt(worker.round, worker.rank.index()) {
                self.wire.tally.spoilt(self.options.spoilt.map(|spoilt| spoilt.handling));
            }
            // A program that has skipped a sum is in a later step than its peers.
            let skips = self.options.skip.is_some_and(|skip| {
                process.job == 0 && skip.rank == worker.rank.index() && skip.round <= worker.round
            });
            let label = format!("step {}", u64::from(worker.round) + u64::from(skips));
            worker.start_round(Instant::from_nanos(self.wire.now), &self.floats, rounds.tensors, &label);
        }
    }

    /// Starts the next round if a worker's round has ended. Returns false if nothing is left to do now.
    fn end_round(&mut self, id: ProcessId) -> bool {
        if self.daemon.is_elastic(self.processes[id.0 as usize].job) {
            return self.look_at_member(id);
        }
        let process = &mut self.processes[id.0 as usize];
        let Role::Worker(worker) = &mut process.role else { return false };
        if worker.end.is_some() || !worker.flow.is_idle() {
            return false;
        }
        let job = &mut self.jobs[process.job];
        let rank = worker.rank.index();
        let name = || self.assignments[process.job].workers[rank].name.as_str();
        match worker.finish_round() {
            Err(failure) => {
                self.wire.log.note(self.wire.now, || format!("{} failed: {failure}", name()));
                worker.end = Some(End::Failed(failure));
            }
            Ok(record) => {
                self.wire.log.note(self.wire.now, || format!("{} ends round {}", name(), worker.round));
                if let Err(problem) = job.rounds.end(worker.round, rank, record) {
                    job.wrong.get_or_insert(problem);
                }
                worker.round += 1;
                if worker.round < job.last_round {
                    self.start_round(id);
                    return true;
                }
                worker.end = Some(End::Done);
            }
        }
        self.ended(id);
        false
    }

    /// Notes that a worker has ended, successfully or not.
    pub(crate) fn ended(&mut self, id: ProcessId) {
        self.running -= 1;
        let job = self.processes[id.0 as usize].job;
        let ended = |id: &ProcessId| match &self.processes[id.0 as usize].role {
            Role::Worker(worker) => worker.end.is_some(),
            _ => true,
        };
        if self.jobs[job].workers.iter().all(ended) {
            self.jobs[job].ended_at = Some(self.wire.now);
            if self.shared.is_none() {
                self.shared = Some((self.wire.now, self.slowest_results()));
            }
            self.plan_rerun(job);
            self.job_has_ended(job);
        }
    }

    /// The next frame of a background flow.
    pub(crate) fn background(&mut self, flow: u32) {
        let spec = self.schedule.flows[flow as usize];
        if spec.ends.is_some_and(|ends| self.wire.now >= ends.0) {
            return;
        }
        let address = |node: inart_topologies::switched::NodeId| {
            let name = &self.network.topology.node(node).name;
            self.network.ports.mac(name).unwrap_or(MacAddr([0; 6]))
        };
        let (from, to) = (address(spec.from), address(spec.to));
        let Node::Host(host) = &self.nodes[spec.from.index()] else { return };
        let frame = self.wire.frames.take();
        let bytes = &mut self.wire.frames.get_mut(frame).bytes;
        bytes.clear();
        bytes.extend_from_slice(&to.0);
        bytes.extend_from_slice(&from.0);
        bytes.extend_from_slice(&[0x08, 0x00]);
        bytes.resize(spec.frame_bytes.into(), 0);
        self.wire.transmit(host.channel, frame);
        self.wire.events.at(
            self.wire.now + (8e9 * f64::from(spec.frame_bytes) / spec.rate_bps) as u64,
            EventKind::Background(flow),
        );
    }
}

/// Removes VLAN tags, as a host's kernel does before it delivers a frame.
fn take_tags_off(frame: &mut Vec<u8>) {
    while frame.get(12..14).is_some_and(|kind| TAGS.iter().any(|tag| tag == kind))
        && frame.len() >= 14 + TAG_BYTES
    {
        frame.drain(12..12 + TAG_BYTES);
    }
}
