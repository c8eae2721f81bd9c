//! Who is connected with whom.

use std::collections::BTreeMap;

use inart_sites_agent::Peer;

/// Two peers, the lesser first.
pub type Pair = (Peer, Peer);

/// Two peers in order.
pub fn pair(a: Peer, b: Peer) -> Pair {
    (a.min(b), a.max(b))
}

/// Connections, each with a number of its own: what was sent on one does not arrive on the next.
#[derive(Debug, Default)]
pub struct Connections {
    up: BTreeMap<Pair, u64>,
    made: u64,
}

impl Connections {
    /// Makes one; `false` if there is one.
    pub fn make(&mut self, pair: Pair) -> bool {
        if self.up.contains_key(&pair) {
            return false;
        }
        self.made += 1;
        self.up.insert(pair, self.made);
        true
    }

    /// Ends one; `false` if there is none.
    pub fn end(&mut self, pair: Pair) -> bool {
        self.up.remove(&pair).is_some()
    }

    /// The number of a connection, if it is up.
    pub fn number(&self, a: Peer, b: Peer) -> Option<u64> {
        self.up.get(&pair(a, b)).copied()
    }

    /// Those of a peer.
    pub fn of(&self, peer: Peer) -> Vec<Pair> {
        self.up.keys().filter(|(a, b)| *a == peer || *b == peer).copied().collect()
    }
}
