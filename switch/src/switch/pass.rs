//! Path of a packet: parser, ingress, its requests, egress, deparser.

use std::sync::Arc;

use super::{DROP_PORT, Digest, Job, Loaded, Sink, Switch};
use crate::control::{Port, Replica};
use crate::exec::Machine;
use crate::op::Word;
use crate::program::{Place, Program};
use crate::state::{Asked, State};
use crate::value::{copy_bits, to_bytes};

/// Copies one frame may make of itself by recirculation, resubmission and egress clones.
const MAX_JOBS: usize = 1024;

/// `standard_metadata.instance_type` as simple_switch numbers it.
#[derive(Clone, Copy)]
enum Instance {
    Normal = 0,
    IngressClone = 1,
    EgressClone = 2,
    Recirculated = 4,
    Replicated = 5,
    Resubmitted = 6,
}

impl Switch {
    /// Processes a frame that arrived on `port` at `now_us` (microseconds since the switch's start).
    pub fn process(&mut self, port: Port, frame: &[u8], now_us: u64, sink: &mut impl Sink) {
        self.statistics.received += 1;
        self.now_us = now_us;
        let Some(mut loaded) = self.loaded.take() else {
            self.statistics.unprogrammed += 1;
            return;
        };
        if loaded.program.tna.is_some() {
            self.process_tna(&mut loaded, port, frame, now_us, sink);
            self.loaded = Some(loaded);
            return;
        }
        let program = Arc::clone(&loaded.program);
        let mut pass =
            Pass { switch: self, program: &program, loaded: &mut loaded, now_us, sink, budget: MAX_JOBS };
        let mut state = pass.state();
        pass.begin(&mut state, port, frame.len(), Instance::Normal);
        pass.ingress(&mut state, frame);
        pass.loaded.pool.push(state);
        while let Some(mut job) = pass.switch.jobs.pop_front() {
            match job.egress {
                Some((position, port)) => pass.egress(&mut job.state, &job.frame, position, port),
                None => pass.ingress(&mut job.state, &job.frame),
            }
            pass.loaded.pool.push(job.state);
            pass.switch.frames.push(job.frame);
        }
        self.loaded = Some(loaded);
    }
}

struct Pass<'a, S: Sink> {
    switch: &'a mut Switch,
    program: &'a Program,
    loaded: &'a mut Loaded,
    now_us: u64,
    sink: &'a mut S,
    budget: usize,
}

fn set(state: &mut State, word: Option<Word>, value: u64) {
    if let Some(word) = word {
        state.words[word as usize] = value;
    }
}

fn get(state: &State, word: Option<Word>) -> u64 {
    word.map_or(0, |word| state.words[word as usize])
}

impl<S: Sink> Pass<'_, S> {
    fn state(&mut self) -> State {
        self.loaded.pool.pop().unwrap_or_else(|| State::new(self.program))
    }

    /// A fresh state with the standard metadata of a packet about to be parsed.
    fn begin(&self, state: &mut State, port: Port, length: usize, instance: Instance) {
        let standard = &self.program.standard;
        state.clear(self.program);
        state.asked.length = length as u32;
        state.asked.ingress_length = length as u32;
        set(state, standard.ingress_port, u64::from(port.0));
        set(state, standard.packet_length, length as u64);
        set(state, standard.instance_type, instance as u64);
        set(state, standard.ingress_global_timestamp, self.now_us & ((1 << 48) - 1));
    }

    fn machine<'m>(&'m mut self, state: &'m mut State, packet: &'m [u8], position: usize) -> Machine<'m> {
        Machine {
            program: self.program,
            tables: &mut self.loaded.tables,
            state,
            scratch: &mut self.switch.scratch,
            random: &mut self.switch.random,
            packet,
            position,
            parser_error: self.program.errors.no_error,
            now_us: self.now_us,
            turns: 0,
            row: (0, None),
        }
    }

    /// Parses; the bytes taken.
    fn parse(&mut self, state: &mut State, frame: &[u8]) -> usize {
        let program = self.program;
        let mut machine = self.machine(state, frame, 0);
        machine.run(program.parser);
        let error = machine.parser_error;
        let right = program.checksums.is_empty() || machine.verify_checksums();
        let position = machine.position;
        set(state, program.standard.parser_error, error);
        set(state, program.standard.checksum_error, u64::from(!right));
        position
    }

    fn ingress(&mut self, state: &mut State, frame: &[u8]) {
        let program = self.program;
        let standard = &program.standard;
        let port = Port(get(state, standard.ingress_port) as u32);
        let position = self.parse(state, frame);
        self.machine(state, frame, position).run(program.ingress);
        let asked = state.asked;
        state.asked = Asked { exit: false, clone: None, digest: None, resubmit: None, ..asked };
        if let Some((session, list)) = asked.clone {
            self.clone_ingress(state, frame, port, session, list);
        }
        if let Some(list) = asked.digest {
            self.digest(state, list);
        }
        if let Some(list) = asked.resubmit {
            let mut again = self.state();
            self.begin(&mut again, Port(0), frame.len(), Instance::Resubmitted);
            set(&mut again, standard.ingress_global_timestamp, 0);
            self.copy_list(&mut again, state, list);
            set(&mut again, standard.instance_type, Instance::Resubmitted as u64);
            return self.queue(again, frame, None);
        }
        let group = get(state, standard.mcast_grp);
        if group != 0 {
            set(state, standard.instance_type, Instance::Replicated as u64);
            let replicas = self.switch.groups.remove(&(group as u32));
            self.replicate(state, frame, position, replicas.as_deref().unwrap_or_default());
            if let Some(replicas) = replicas {
                self.switch.groups.insert(group as u32, replicas);
            }
            return;
        }
        let port = Port(get(state, standard.egress_spec) as u32);
        if port == DROP_PORT {
            self.switch.statistics.dropped += 1;
            return;
        }
        set(state, standard.instance_type, Instance::Normal as u64);
        self.egress(state, frame, position, port);
    }

    /// Runs egress on one copy per replica; the last one takes the state itself.
    fn replicate(&mut self, state: &mut State, frame: &[u8], position: usize, replicas: &[Replica]) {
        let rid = self.program.standard.egress_rid;
        let Some((last, others)) = replicas.split_last() else {
            self.switch.statistics.dropped += 1;
            return;
        };
        let mut copy = (!others.is_empty()).then(|| self.state());
        for replica in others {
            if let Some(copy) = &mut copy {
                copy.copy_from(self.program, state);
                set(copy, rid, u64::from(replica.instance));
                self.egress(copy, frame, position, replica.port);
            }
        }
        self.loaded.pool.extend(copy);
        set(state, rid, u64::from(last.instance));
        self.egress(state, frame, position, last.port);
    }

    fn clone_ingress(&mut self, state: &State, frame: &[u8], port: Port, session: u64, list: u64) {
        let Some(session) = self.switch.sessions.get(&(session as u32)).cloned() else { return };
        let standard = &self.program.standard;
        let mut copy = self.state();
        // The copy is the packet on arrival: it is parsed again.
        self.begin(&mut copy, port, frame.len(), Instance::Normal);
        for word in [standard.packet_length, standard.ingress_global_timestamp] {
            set(&mut copy, word, 0);
        }
        let position = self.parse(&mut copy, frame);
        copy.clear_metadata(self.program);
        self.copy_list(&mut copy, state, list);
        set(&mut copy, standard.instance_type, Instance::IngressClone as u64);
        copy.asked.truncate = (session.max_bytes != 0).then_some(session.max_bytes);
        self.replicate(&mut copy, frame, position, &session.replicas);
        self.loaded.pool.push(copy);
    }

    fn egress(&mut self, state: &mut State, frame: &[u8], position: usize, port: Port) {
        let program = self.program;
        let standard = &program.standard;
        let now = self.now_us;
        set(state, standard.enq_timestamp, now & u64::from(u32::MAX));
        set(state, standard.deq_timedelta, 0);
        if standard.enq_qdepth.is_some() || standard.deq_qdepth.is_some() {
            // One number for both: egress runs when the frame is queued, not when it leaves.
            let depth = u64::from(self.sink.queue_depth(port)) & ((1 << 19) - 1);
            set(state, standard.enq_qdepth, depth);
            set(state, standard.deq_qdepth, depth);
        }
        set(state, standard.egress_global_timestamp, now & ((1 << 48) - 1));
        set(state, standard.egress_port, u64::from(port.0));
        // Anything but the drop port, so that only egress itself can ask for a drop.
        set(state, standard.egress_spec, 0);
        set(state, standard.packet_length, u64::from(state.asked.length));
        self.machine(state, frame, position).run(program.egress);
        let asked = state.asked;
        state.asked = Asked { exit: false, clone: None, recirculate: None, ..asked };
        if let Some((session, list)) = asked.clone {
            self.clone_egress(state, frame, position, session, list);
        }
        if get(state, standard.egress_spec) == u64::from(DROP_PORT.0) {
            self.switch.statistics.dropped += 1;
            return;
        }
        let mut output = std::mem::take(&mut self.switch.output);
        self.machine(state, frame, position).deparse(&mut output);
        if let Some(list) = asked.recirculate {
            let mut again = self.state();
            self.begin(&mut again, Port(0), output.len(), Instance::Recirculated);
            set(&mut again, standard.ingress_global_timestamp, 0);
            self.copy_list(&mut again, state, list);
            set(&mut again, standard.instance_type, Instance::Recirculated as u64);
            self.queue(again, &output, None);
        } else {
            self.switch.statistics.sent += 1;
            self.sink.packet(port, &output);
        }
        self.switch.output = output;
    }

    fn clone_egress(&mut self, state: &State, frame: &[u8], position: usize, session: u64, list: u64) {
        let Some(session) = self.switch.sessions.get(&(session as u32)).cloned() else { return };
        for replica in &session.replicas {
            let mut copy = self.state();
            copy.copy_from(self.program, state);
            copy.clear_metadata(self.program);
            self.copy_list(&mut copy, state, list);
            set(&mut copy, self.program.standard.instance_type, Instance::EgressClone as u64);
            set(&mut copy, self.program.standard.egress_rid, u64::from(replica.instance));
            if session.max_bytes != 0 {
                copy.asked.truncate = Some(session.max_bytes);
            }
            self.queue(copy, frame, Some((position, replica.port)));
        }
    }

    fn queue(&mut self, state: State, frame: &[u8], egress: Option<(usize, Port)>) {
        if self.budget == 0 {
            self.switch.statistics.runaway += 1;
            self.loaded.pool.push(state);
            return;
        }
        self.budget -= 1;
        let mut owned = self.switch.frames.pop().unwrap_or_default();
        owned.clear();
        owned.extend_from_slice(frame);
        self.switch.jobs.push_back(Job { state, frame: owned, egress });
    }

    fn copy_list(&self, to: &mut State, from: &State, list: u64) {
        for place in self.program.field_lists.get(&list).into_iter().flatten() {
            match *place {
                Place::Word { word, .. } => to.words[word as usize] = from.words[word as usize],
                Place::Bits { span, .. } => {
                    copy_bits(&mut to.bytes, span.bit, &from.bytes, span.bit, span.bits)
                }
                Place::Var { .. } => {}
            }
        }
    }

    fn digest(&mut self, state: &State, list: u64) {
        digest(self.program, state, list, self.sink);
    }
}

/// Reports a digest's values.
pub(super) fn digest(program: &Program, state: &State, list: u64, sink: &mut impl Sink) {
    let Some(info) = program.digests.get(&list) else { return };
    let value = |place: &Place| match *place {
        Place::Word { word, bits, .. } => {
            to_bytes(&[state.words[word as usize] & crate::op::low_mask(bits.min(64) as u8)])
        }
        Place::Bits { span, .. } => {
            let count = span.bits.div_ceil(8);
            let mut bytes = vec![0; count as usize];
            copy_bits(&mut bytes, count * 8 - span.bits, &state.bytes, span.bit, span.bits);
            bytes
        }
        Place::Var { .. } => vec![0],
    };
    let values = info.fields.iter().map(value).collect();
    sink.digest(Digest { name: info.name.clone(), values });
}
