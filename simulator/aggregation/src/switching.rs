//! Handling of frames at switches.

use std::ops::RangeInclusive;

use inart_switch::{Port, Sink};
use rand::Rng;

use crate::Dataplane;
use crate::event_queue::{ChannelId, EventKind, FrameId};
use crate::simulation::{Node, Simulation};
use crate::wire::Wire;

/// Delay from a recirculation port to the parser, in nanoseconds, drawn per frame, so that frames overtake
/// each other.
const RECIRCULATION_NANOS: RangeInclusive<u64> = 400..=4000;

/// Transmits a switch's output.
struct Ports<'w, 'a> {
    dataplane: &'w Dataplane,
    wire: &'w mut Wire<'a>,
    ports: &'w [ChannelId],
    /// Index of the switch's node.
    switch: u32,
    /// Number of restarts.
    incarnation: u32,
}

impl Ports<'_, '_> {
    /// Returns the channel of a port. Installed tables name only connected ports.
    fn channel(&self, port: Port) -> Option<ChannelId> {
        let index = usize::from(self.dataplane.port_of(port)?.get()).checked_sub(1)?;
        self.ports.get(index).copied()
    }

    fn recirculate(&mut self, port: Port, frame: &[u8]) {
        let frame = self.wire.frames.copy_of(frame);
        self.wire.frames.get_mut(frame).generation = self.incarnation;
        let at = self.wire.now + self.wire.rng.random_range(RECIRCULATION_NANOS);
        self.wire.events.at(at, EventKind::Recirculated(self.switch, port.0, frame));
        self.wire.tally.recirculated += 1;
    }
}

impl Sink for Ports<'_, '_> {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        if self.dataplane.recirculates(port) {
            return self.recirculate(port, frame);
        }
        let Some(channel) = self.channel(port) else { return };
        let frame = self.wire.frames.copy_of(frame);
        self.wire.transmit(channel, frame);
    }

    fn queue_depth(&mut self, port: Port) -> u32 {
        let now = self.wire.now;
        self.channel(port).map_or(0, |channel| self.wire.channels[channel.0 as usize].depth(now))
    }

    fn queue_cells(&mut self, port: Port) -> u32 {
        let now = self.wire.now;
        self.channel(port).map_or(0, |channel| self.wire.channels[channel.0 as usize].cells(now))
    }
}

impl Simulation<'_> {
    /// Handles a frame that arrives at a switch.
    pub(crate) fn enter(&mut self, switch: u32, port: Port, frame: FrameId) {
        if let Node::Switch(node) = &mut self.nodes[switch as usize] {
            let bytes = std::mem::take(&mut self.wire.frames.get_mut(frame).bytes);
            let now_us = self.wire.now / 1000;
            let mut ports = Ports {
                dataplane: &self.network.dataplane,
                wire: &mut self.wire,
                ports: &node.ports,
                switch,
                incarnation: node.incarnation,
            };
            node.switch.process(port, &bytes, now_us, &mut ports);
            self.wire.frames.get_mut(frame).bytes = bytes;
        }
        self.wire.frames.give_back(frame);
    }

    /// Handles a recirculated frame, unless the switch was restarted meanwhile.
    pub(crate) fn reenter(&mut self, switch: u32, port: Port, frame: FrameId) {
        match &self.nodes[switch as usize] {
            Node::Switch(node) if node.incarnation == self.wire.frames.get(frame).generation => {
                self.enter(switch, port, frame);
            }
            _ => self.wire.frames.give_back(frame),
        }
    }
}
