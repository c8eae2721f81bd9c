//! Policies that a site holds for later rounds.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::policy::TransmissionPolicy;

/// How many policies a site holds beside those that it has said it holds.
pub const MOST_OFFERS: usize = 16;

/// How many versions for the next round a chunk names: the newest ones.
pub const MOST_NAMED: usize = 64;

/// A policy for later, and whether this site has said in the current round that it holds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Offer {
    policy: Arc<TransmissionPolicy>,
    is_advertised: bool,
}

/// Policies newer than the one in force, and the one that all sites have agreed on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Offers {
    held: BTreeMap<u64, Offer>,
    decided: Option<u64>,
}

impl Offers {
    /// Holds a policy. The oldest ones go when there are too many; those that were advertised stay, since
    /// the round's decision may be for one of them, and so does the one that was decided.
    pub fn hold(&mut self, policy: Arc<TransmissionPolicy>) {
        self.held.entry(policy.version).or_insert(Offer { policy, is_advertised: false });
        let may_go =
            |(version, offer): &(&u64, &Offer)| !offer.is_advertised && Some(**version) != self.decided;
        let others: Vec<u64> = self.held.iter().filter(may_go).map(|(&version, _)| version).collect();
        for version in others.iter().take(others.len().saturating_sub(MOST_OFFERS)) {
            self.held.remove(version);
        }
    }

    /// The versions held, ascending. They are held until the round is decided.
    pub fn advertise(&mut self) -> Vec<u64> {
        self.held.values_mut().for_each(|offer| offer.is_advertised = true);
        self.held.keys().copied().collect()
    }

    /// All sites follow this version in the next round.
    pub fn decide(&mut self, version: u64) {
        self.decided = Some(version);
    }

    /// What was decided in this round, if it is known.
    pub fn decided(&self) -> Option<u64> {
        self.decided
    }

    /// A policy that is held.
    pub fn get(&self, version: u64) -> Option<Arc<TransmissionPolicy>> {
        self.held.get(&version).map(|offer| offer.policy.clone())
    }

    /// All policies held, oldest first.
    pub fn all(&self) -> impl Iterator<Item = Arc<TransmissionPolicy>> {
        self.held.values().map(|offer| offer.policy.clone())
    }

    /// A round has begun by a version.
    pub fn begun(&mut self, version: u64) {
        self.held.retain(|&held, _| held > version);
        self.held.values_mut().for_each(|offer| offer.is_advertised = false);
        self.decided = None;
    }
}
