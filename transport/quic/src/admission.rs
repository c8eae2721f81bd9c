//! Places for handshakes: connections that have not shown a certificate or a label yet.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Handshakes at one time from addresses of peers, and from all others. Strangers cannot take peers' places:
/// above [`UNCHECKED`] handshakes an address has to answer before it gets one.
const PEERS: usize = 256;
const OTHERS: usize = 64;
/// Handshakes at one time whose addresses are not checked.
const UNCHECKED: usize = 16;
/// Longest handshake.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(5);

/// Decision about a new connection.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Handshake, which keeps the place.
    Admit(OwnedSemaphorePermit),
    /// Ask the sender to show that it has the address (RFC 9000, section 8.1.2).
    Check,
    /// Refuse it: all places are taken.
    Refuse,
}

/// Places for handshakes.
#[derive(Debug)]
pub(crate) struct Admission {
    peers: Arc<Semaphore>,
    others: Arc<Semaphore>,
}

impl Default for Admission {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Admission { peers: places(PEERS), others: places(OTHERS) }
    }
}

impl Admission {
    /// Judges a connection from an address of a peer or another one, which was checked or not.
    pub fn judge(&self, is_peer: bool, is_checked: bool) -> Verdict {
        let taken = PEERS + OTHERS - self.peers.available_permits() - self.others.available_permits();
        if taken >= UNCHECKED && !is_checked {
            return Verdict::Check;
        }
        let places = if is_peer { &self.peers } else { &self.others };
        places.clone().try_acquire_owned().map_or(Verdict::Refuse, Verdict::Admit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_leave_places_to_peers_and_have_to_show_their_address() {
        let admission = Admission::default();
        let admit = |is_peer, is_checked| match admission.judge(is_peer, is_checked) {
            Verdict::Admit(place) => Some(place),
            Verdict::Check | Verdict::Refuse => None,
        };
        let mut places: Vec<_> = (0..UNCHECKED).filter_map(|_| admit(false, false)).collect();
        assert_eq!(places.len(), UNCHECKED);
        assert!(matches!(admission.judge(false, false), Verdict::Check));
        assert!(matches!(admission.judge(true, false), Verdict::Check));
        places.extend((0..1000).filter_map(|_| admit(false, true)));
        assert_eq!(places.len(), OTHERS);
        assert!(matches!(admission.judge(false, true), Verdict::Refuse));
        let of_peers: Vec<_> = (0..1000).filter_map(|_| admit(true, true)).collect();
        assert_eq!(of_peers.len(), PEERS);
        drop((places, of_peers));
        assert!(admit(false, false).is_some(), "places are free again");
    }
}
