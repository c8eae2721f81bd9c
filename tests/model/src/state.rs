//! The state of all nodes, and the frames in flight.

use crate::config::Config;
use crate::frame::{Frame, Peer};
use crate::invariant::Broken;
use crate::mutant::Mutant;
use crate::node::Node;
use crate::onward::Onward;
use crate::run::{Generation, MigrationPhase, Run};
use crate::server::Server;
use crate::size::{MAX_SWITCHES, MAX_WINDOW, MAX_WORKERS};
use crate::slot::Slots;
use crate::worker::Worker;

/// The whole system at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// By rank.
    pub workers: [Worker; MAX_WORKERS as usize],
    /// By number.
    pub switches: [Slots; MAX_SWITCHES as usize],
    /// Run and chunk of the partial that last left, by switch and slot, until another chunk takes the slot
    /// over. No rule reads it: it defines a complete slot for the fifth invariant.
    pub completed: [[Option<(Run, u8)>; MAX_WINDOW as usize]; MAX_SWITCHES as usize],
    /// The parameter server.
    pub server: Server,
    /// The chunks that had their results when the server was restarted.
    pub ended_before: u8,
    /// Host that failed permanently.
    pub gone: Option<Peer>,
    /// Host that was restarted.
    pub reborn: Option<Peer>,
    /// By chunk: where its sum is, where sums go on; else empty.
    pub onward: Vec<Onward>,
    /// Frames in flight and their next nodes, ascending.
    pub network: Vec<(Node, Frame)>,
    /// Invariants broken on the way to this state.
    pub broken: Broken,
}

impl State {
    /// Creates a state in which no host has sent a frame.
    pub fn new(config: &Config) -> Self {
        Self {
            workers: std::array::from_fn(|rank| Worker::new(config, rank as u8, Generation::First)),
            switches: Default::default(),
            completed: Default::default(),
            server: Server::new(config, Run::First),
            ended_before: 0,
            gone: None,
            reborn: None,
            onward: vec![Onward::Here; if config.onward { config.chunks.into() } else { 0 }],
            network: Vec::new(),
            broken: Broken::default(),
        }
    }

    /// Forgets which workers repeated.
    pub fn forget_askers(&mut self) {
        self.switches.iter_mut().flatten().for_each(|slot| *slot = slot.without_askers());
        self.server.forget_askers();
    }

    /// Returns the chunks that have their results in that run.
    pub fn ended(&self, run: Run) -> u8 {
        match run {
            run if run == self.server.run => self.server.ended,
            Run::Moved => self.server.ended,
            Run::First => self.ended_before,
            // The state before is unknown.
            _ => 0,
        }
    }

    /// Returns the chunks that a worker sends, again and again.
    pub fn outstanding(&self, config: &Config, mutant: Option<Mutant>, rank: u8) -> impl Iterator<Item = u8> {
        let worker = &self.workers[usize::from(rank)];
        worker.outstanding(config, mutant, self.ended(worker.run.unwrap_or_default()))
    }

    /// In which plan version a host is.
    pub fn place(&self, peer: Peer) -> MigrationPhase {
        match peer {
            Peer::Worker(rank) => self.workers[usize::from(rank)].place,
            Peer::Server | Peer::Elsewhere => self.server.place,
        }
    }

    /// Returns whether that host still runs.
    pub fn is_live(&self, peer: Peer) -> bool {
        self.gone != Some(peer)
    }

    /// Puts a frame in flight forever. Returns whether it is new there and can have an effect.
    pub(crate) fn put(&mut self, node: Node, frame: Frame) -> bool {
        if let Frame::Request { .. } = frame {
            // Repeats a frame that is in flight anyway.
            return false;
        }
        let sent_to_all = matches!(node, Node::Worker(_)) && self.network.contains(&(Node::Workers, frame));
        match self.network.binary_search(&(node, frame)) {
            Err(place) if !sent_to_all => {
                self.network.insert(place, (node, frame));
                true
            }
            _ => false,
        }
    }
}
