//! Policies that a site holds for later rounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::policy::TransmissionPolicy;

/// Maximum number of policies that a site holds, in addition to those that it has advertised.
pub const MOST_OFFERS: usize = 16;

/// Maximum number of versions for the next round that a chunk names: the newest ones.
pub const MOST_NAMED: usize = 64;

/// Policy for a later round, and whether this site has advertised it in the current round.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Offer {
    policy: Arc<TransmissionPolicy>,
    is_advertised: bool,
}

/// Policies newer than the active one, and the one that all sites have agreed on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Offers {
    held: BTreeMap<u64, Offer>,
    decided: Option<u64>,
}

impl Offers {
    /// Holds a policy. If there are too many, the oldest are dropped. Advertised policies stay, because the
    /// round's decision may be for one of them; so does the decided policy.
    pub fn hold(&mut self, policy: Arc<TransmissionPolicy>) {
        self.held.entry(policy.version).or_insert(Offer { policy, is_advertised: false });
        let may_go =
            |(version, offer): &(&u64, &Offer)| !offer.is_advertised && Some(**version) != self.decided;
        let others: Vec<u64> = self.held.iter().filter(may_go).map(|(&version, _)| version).collect();
        for version in others.iter().take(others.len().saturating_sub(MOST_OFFERS)) {
            self.held.remove(version);
        }
    }

    /// Returns the held versions, ascending. They are held until the round is decided.
    pub fn advertise(&mut self) -> Vec<u64> {
        self.held.values_mut().for_each(|offer| offer.is_advertised = true);
        self.held.keys().copied().collect()
    }

    /// Records the version that all sites follow in the next round.
    pub fn decide(&mut self, version: u64) {
        self.decided = Some(version);
    }

    /// Returns the decision of this round, if it is known.
    pub fn decided(&self) -> Option<u64> {
        self.decided
    }

    /// Returns a held policy.
    pub fn get(&self, version: u64) -> Option<Arc<TransmissionPolicy>> {
        self.held.get(&version).map(|offer| offer.policy.clone())
    }

    /// Returns all held policies, oldest first.
    pub fn all(&self) -> impl Iterator<Item = Arc<TransmissionPolicy>> {
        self.held.values().map(|offer| offer.policy.clone())
    }

    /// Records that a round has started with a version.
    pub fn begun(&mut self, version: u64) {
        self.held.retain(|&held, _| held > version);
        self.held.values_mut().for_each(|offer| offer.is_advertised = false);
        self.decided = None;
    }
}
