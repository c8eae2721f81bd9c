//! Path of a packet through a TNA program: ingress parser, ingress, deparser, traffic manager, egress parser,
//! egress, deparser. A gress passes the next one bytes only.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Loaded, Sink, Switch};
use crate::control::{Port, Replica};
use crate::exec::{Diverted, Machine};
use crate::op::{Pc, Span, Word};
use crate::program::{Egress, Ingress, Program, Tna};
use crate::state::{Asked, State};
use crate::value::set_bits;

/// The port that means "none".
const NO_PORT: u64 = 0x1ff;
/// A parser's error: no case of a select matched.
const NO_MATCH: u64 = 1;
/// Times that a packet and its copies go through a gress before they are given up.
const MAX_TURNS: usize = 1024;
/// Ticks of a timestamp per microsecond.
const TICKS: u64 = 1000;
/// Bytes of the frame check sequence, which the chip counts.
const CHECK_BYTES: usize = 4;
/// Bits of a timestamp.
const TIME_MASK: u64 = (1 << 48) - 1;

/// A packet that waits for the ingress or the egress.
#[derive(Debug)]
pub(super) enum Turn {
    In {
        port: Port,
        frame: Vec<u8>,
        resubmitted: Option<Vec<u8>>,
    },
    /// Packet for the egress. `length` is its length on arrival.
    Out {
        port: Port,
        rid: u16,
        first: bool,
        length: usize,
        frame: Vec<u8>,
    },
}

/// A deparsed packet, and whether it is dropped.
struct Deparsed {
    frame: Vec<u8>,
    diverted: Vec<Diverted>,
    parser_dropped: bool,
}

impl Switch {
    /// Runs a frame through a TNA program.
    pub(super) fn process_tna(
        &mut self,
        loaded: &mut Loaded,
        port: Port,
        frame: &[u8],
        now_us: u64,
        sink: &mut impl Sink,
    ) {
        let program = Arc::clone(&loaded.program);
        let Some(tna) = &program.tna else { return };
        let state = loaded.pool.pop().unwrap_or_else(|| State::new(&program));
        let mut pass = Pass {
            switch: self,
            program: &program,
            tna,
            loaded,
            now_us,
            sink,
            state,
            waiting: VecDeque::new(),
        };
        pass.ingress(port, frame, None);
        let mut turns = 0;
        while !pass.waiting.is_empty() {
            turns += 1;
            if turns > MAX_TURNS {
                pass.switch.statistics.runaway += pass.waiting.len() as u64;
                break;
            }
            match pass.waiting.pop_front() {
                None => break,
                Some(Turn::In { port, frame, resubmitted }) => {
                    pass.ingress(port, &frame, resubmitted.as_deref())
                }
                Some(turn) => pass.egress(turn),
            }
        }
        pass.switch.statistics.touched_twice = pass.switch.scratch.touched_twice;
        pass.switch.statistics.past_end = pass.switch.scratch.past_end;
        let state = pass.state;
        loaded.pool.push(state);
    }
}

struct Pass<'a, S: Sink> {
    switch: &'a mut Switch,
    program: &'a Program,
    tna: &'a Tna,
    loaded: &'a mut Loaded,
    now_us: u64,
    sink: &'a mut S,
    state: State,
    waiting: VecDeque<Turn>,
}

impl<S: Sink> Pass<'_, S> {
    fn set(&mut self, word: Option<Word>, value: u64) {
        if let Some(word) = word {
            self.state.words[word as usize] = value;
        }
    }

    fn get(&self, word: Option<Word>) -> u64 {
        word.map_or(0, |word| self.state.words[word as usize])
    }

    fn machine<'m>(&'m mut self, packet: &'m [u8], position: usize) -> Machine<'m> {
        Machine {
            program: self.program,
            tables: &mut self.loaded.tables,
            state: &mut self.state,
            scratch: &mut self.switch.scratch,
            random: &mut self.switch.random,
            packet,
            position,
            parser_error: 0,
            now_us: self.now_us,
            turns: 0,
            row: (0, None),
        }
    }

    /// Runs parser, control and deparser on a packet with its intrinsic metadata before it. Egress never
    /// drops a packet that it cannot parse; ingress does, if no select of the parser matches, or if the
    /// control does not look at the error.
    fn gress(
        &mut self,
        packet: &[u8],
        code: [Pc; 3],
        error: Option<Word>,
        may_drop: Option<bool>,
    ) -> Deparsed {
        self.switch.scratch.touched.clear();
        let mut machine = self.machine(packet, 0);
        machine.run(code[0]);
        let (position, problem) = (machine.position, machine.parser_error);
        // `reject` is no error that the program sees.
        let seen = problem & 0xffff;
        if may_drop.is_some_and(|looks| seen & NO_MATCH != 0 || (seen != 0 && !looks)) {
            return Deparsed { frame: Vec::new(), diverted: Vec::new(), parser_dropped: true };
        }
        self.set(error, seen);
        self.machine(packet, position).run(code[1]);
        self.state.asked = Asked { exit: false, ..self.state.asked };
        self.switch.scratch.emitted.clear();
        self.switch.scratch.diverted.clear();
        self.machine(packet, position).run(code[2]);
        let mut frame = std::mem::take(&mut self.switch.scratch.emitted);
        frame.extend_from_slice(&packet[position..]);
        let diverted = std::mem::take(&mut self.switch.scratch.diverted);
        Deparsed { frame, diverted, parser_dropped: false }
    }

    fn ingress(&mut self, port: Port, frame: &[u8], resubmitted: Option<&[u8]>) {
        let pipe = crate::compile::tna::pipe_of(port.0, self.tna.pipes.len());
        let half: &Ingress = &self.tna.pipes[pipe].ingress;
        self.state.clear(self.program);
        self.state.asked.ingress_length = frame.len() as u32;
        let mut packet = vec![0; half.prefix_bytes];
        put(&mut packet, half.port, u64::from(port.0));
        put(&mut packet, half.resubmit_flag, u64::from(resubmitted.is_some()));
        let now = (self.now_us * TICKS) & TIME_MASK;
        put(&mut packet, half.mac_timestamp, now);
        let start = packet.len() + self.tna.port_metadata_bytes;
        packet.extend_from_slice(resubmitted.unwrap_or_default());
        packet.resize(start, 0);
        packet.extend_from_slice(frame);
        self.set(half.timestamp, now);
        self.set(half.unicast, NO_PORT);
        let done = self.gress(&packet, half.code, half.parser_error, Some(half.reads_parser_error));
        if done.parser_dropped {
            self.switch.statistics.dropped += 1;
            return;
        }
        if let Some(list) = self.state.asked.digest {
            super::pass::digest(self.program, &self.state, list, self.sink);
        }
        self.manage(half, port, frame, done);
    }

    /// The traffic manager: where the packet and its copies go.
    fn manage(&mut self, half: &Ingress, from: Port, frame: &[u8], done: Deparsed) {
        let drop = self.get(half.drop);
        for copy in &done.diverted {
            match copy {
                Diverted::Mirror { session, header } => self.mirror(*session, header, frame),
                Diverted::Resubmit { header } if drop & 1 == 0 => {
                    self.waiting.push_back(Turn::In {
                        port: from,
                        frame: frame.to_vec(),
                        resubmitted: Some(header.clone()),
                    });
                    return;
                }
                Diverted::Resubmit { .. } => {}
            }
        }
        let mut sent = false;
        if drop & 1 == 0 {
            for group in half.groups {
                sent |= self.multicast(half, self.get(group) as u32, frame.len(), &done.frame);
            }
            let port = self.get(half.unicast);
            if port != NO_PORT {
                sent = true;
                self.unicast(half, Port(port as u32), frame.len(), done.frame);
            }
        }
        if !sent {
            self.switch.statistics.dropped += 1;
        }
    }

    fn unicast(&mut self, half: &Ingress, port: Port, length: usize, frame: Vec<u8>) {
        if self.get(half.bypass_egress) == 1 {
            return self.leave(port, frame);
        }
        let rid = self.get(half.rid) as u16;
        self.waiting.push_back(Turn::Out { port, rid, first: false, length, frame });
    }

    /// Emits a copy for every member of a group. Returns whether the group exists.
    fn multicast(&mut self, half: &Ingress, group: u32, length: usize, frame: &[u8]) -> bool {
        if group == 0 {
            return false;
        }
        let Some(replicas) = self.switch.groups.get(&group) else { return false };
        if self.get(half.bypass_egress) == 1 {
            for replica in replicas.clone() {
                self.leave(replica.port, frame.to_vec());
            }
            return true;
        }
        let turns = replicas.iter().enumerate().map(|(n, &Replica { port, instance })| Turn::Out {
            port,
            rid: instance,
            first: n == 0,
            length,
            frame: frame.to_vec(),
        });
        self.waiting.extend(turns);
        true
    }

    /// A copy to the ports of a mirror session, with a header of its own before it.
    fn mirror(&mut self, session: u64, header: &[u8], frame: &[u8]) {
        let Some(session) = self.switch.sessions.get(&(session as u32)) else { return };
        let mut copy = [header, frame].concat();
        if session.max_bytes != 0 {
            copy.truncate(session.max_bytes);
        }
        let turns = session.replicas.iter().map(|&Replica { port, instance }| Turn::Out {
            port,
            rid: instance,
            first: false,
            length: frame.len(),
            frame: copy.clone(),
        });
        self.waiting.extend(turns);
    }

    fn egress(&mut self, turn: Turn) {
        let Turn::Out { port, rid, first, length, frame } = turn else { return };
        let frame = frame.as_slice();
        let pipe = crate::compile::tna::pipe_of(port.0, self.tna.pipes.len());
        let half: &Egress = &self.tna.pipes[pipe].egress;
        self.state.clear(self.program);
        self.state.asked.ingress_length = frame.len() as u32;
        let mut packet = vec![0; half.prefix_bytes];
        put(&mut packet, half.port, u64::from(port.0));
        if half.queue_depths.iter().any(Option::is_some) {
            let depth = u64::from(self.sink.queue_cells(port)).min((1 << 19) - 1);
            for place in half.queue_depths {
                put(&mut packet, place, depth);
            }
        }
        put(&mut packet, half.rid, u64::from(rid));
        put(&mut packet, half.rid_first, u64::from(first));
        put(&mut packet, half.length, (length + CHECK_BYTES) as u64);
        packet.extend_from_slice(frame);
        self.set(half.timestamp, (self.now_us * TICKS) & TIME_MASK);
        let done = self.gress(&packet, half.code, half.parser_error, None);
        let drop = self.get(half.drop);
        if drop & 4 == 0 {
            for copy in &done.diverted {
                if let Diverted::Mirror { session, header } = copy {
                    self.mirror(*session, header, &done.frame);
                }
            }
        }
        if drop & 1 == 1 {
            self.switch.statistics.dropped += 1;
            return;
        }
        self.leave(port, done.frame);
    }

    /// Sends a packet, or takes it in again at a loopback port.
    fn leave(&mut self, port: Port, frame: Vec<u8>) {
        if self.switch.loopback.contains(&port) {
            self.waiting.push_back(Turn::In { port, frame, resubmitted: None });
        } else {
            self.switch.statistics.sent += 1;
            self.sink.packet(port, &frame);
        }
    }
}

fn put(bytes: &mut [u8], place: Option<Span>, value: u64) {
    if let Some(span) = place {
        set_bits(bytes, span, value);
    }
}
