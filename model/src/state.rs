//! The state of everybody, and what is under way.

use crate::config::{Config, MAX_SWITCHES, MAX_WINDOW, MAX_WORKERS};
use crate::frame::{Contribution, Frame, Node, Peer};
use crate::invariant::Broken;
use crate::server::Server;
use crate::switch::Slots;
use crate::worker::Worker;

/// The whole system at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// By rank.
    pub workers: [Worker; MAX_WORKERS as usize],
    /// By number.
    pub switches: [Slots; MAX_SWITCHES as usize],
    /// By switch and slot: epoch (old or not) and chunk of the partial that last left it, until another chunk takes the slot over.
    /// No rule reads it: it is what the fifth invariant calls a complete slot.
    pub completed: [[Option<(bool, u8)>; MAX_WINDOW as usize]; MAX_SWITCHES as usize],
    /// The parameter server.
    pub server: Server,
    /// Who is gone for good.
    pub gone: Option<Peer>,
    /// What is under way and where it arrives next, ascending.
    pub network: Vec<(Node, Frame)>,
    /// What has been broken on the way here.
    pub broken: Broken,
}

impl State {
    /// Nobody has sent anything.
    pub fn new(config: &Config) -> Self {
        Self {
            workers: std::array::from_fn(|rank| Worker::new(config, rank as u8)),
            switches: Default::default(),
            completed: Default::default(),
            server: Server::default(),
            gone: None,
            network: Vec::new(),
            broken: Broken::default(),
        }
    }

    /// Forgets who has asked for what again.
    pub fn forget_askers(&mut self) {
        self.switches.iter_mut().flatten().for_each(|slot| slot.asked = 0);
        self.server.forget_askers();
    }

    /// Whether that host still runs.
    pub fn is_live(&self, peer: Peer) -> bool {
        self.gone != Some(peer)
    }

    /// Puts a frame under way for ever; whether it is new there, and can do anything.
    pub(crate) fn put(&mut self, node: Node, frame: Frame) -> bool {
        let frame = match frame {
            Frame::Contribution(partial) if partial.partial => {
                let worker = partial.contributors.trailing_zeros() as u8;
                Frame::Contribution(Contribution { worker, ..partial })
            }
            // Asks for what is under way anyway.
            Frame::Request { exponent: 0, .. } => return false,
            frame => frame,
        };
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
