//! The state of everybody, and what is under way.

use crate::config::Config;
use crate::frame::{Frame, Peer};
use crate::invariant::Broken;
use crate::mutant::Mutant;
use crate::node::Node;
use crate::onward::Onward;
use crate::run::{Generation, Place, Run};
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
    /// By switch and slot: run and chunk of the partial that last left it, until another chunk takes the slot
    /// over. No rule reads it: it is what the fifth invariant calls a complete slot.
    pub completed: [[Option<(Run, u8)>; MAX_WINDOW as usize]; MAX_SWITCHES as usize],
    /// The parameter server.
    pub server: Server,
    /// The chunks that had their results when the server was restarted.
    pub ended_before: u8,
    /// Who is gone for good.
    pub gone: Option<Peer>,
    /// Who was restarted.
    pub reborn: Option<Peer>,
    /// By chunk: where its sum is, where sums go on; else empty.
    pub onward: Vec<Onward>,
    /// What is under way and where it arrives next, ascending.
    pub network: Vec<(Node, Frame)>,
    /// What has been broken on the way here.
    pub broken: Broken,
}

impl State {
    /// Nobody has sent anything.
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

    /// Forgets who has asked for what again.
    pub fn forget_askers(&mut self) {
        self.switches.iter_mut().flatten().for_each(|slot| *slot = slot.without_askers());
        self.server.forget_askers();
    }

    /// Which chunks have their results in that run.
    pub fn ended(&self, run: Run) -> u8 {
        match run {
            run if run == self.server.run => self.server.ended,
            Run::Moved => self.server.ended,
            Run::First => self.ended_before,
            // Nothing is known of what was before.
            _ => 0,
        }
    }

    /// The chunks that a worker sends, again and again.
    pub fn outstanding(&self, config: &Config, mutant: Option<Mutant>, rank: u8) -> impl Iterator<Item = u8> {
        let worker = &self.workers[usize::from(rank)];
        worker.outstanding(config, mutant, self.ended(worker.run.unwrap_or_default()))
    }

    /// In which plan version a host is.
    pub fn place(&self, peer: Peer) -> Place {
        match peer {
            Peer::Worker(rank) => self.workers[usize::from(rank)].place,
            Peer::Server | Peer::Elsewhere => self.server.place,
        }
    }

    /// Whether that host still runs.
    pub fn is_live(&self, peer: Peer) -> bool {
        self.gone != Some(peer)
    }

    /// Puts a frame under way for ever; whether it is new there, and can do anything.
    pub(crate) fn put(&mut self, node: Node, frame: Frame) -> bool {
        if let Frame::Request { .. } = frame {
            // Asks for what is under way anyway.
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
