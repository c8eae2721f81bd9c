//! Sites with a valid certificate that impersonate other sites or send duplicates.

use std::sync::Arc;

use bytes::Bytes;
use inart_connections::PeerNo;
use inart_protocol_sites::{SiteNo, TransmissionPolicy};
use inart_sites_agent::message::{AskMessage, Body, ChunkMessage, decode, encode};
use inart_sites_agent::policy_message::policy_message;
use inart_sites_agent::{Setup, version};
use inart_world::Transfer;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::{Shared, site};
use crate::fault::{Fault, PlannedFault};

/// Numbers of messages that no machine has sent: duplicates, and forged messages.
pub(crate) const REPEATED: u64 = u64::MAX;
pub(crate) const FORGED: u64 = u64::MAX - 1;
/// Fraction of its chunks that a duplicating site sends again.
const REPEATED_SHARE: f64 = 0.1;
const REPEATS: usize = 20;
/// Fraction of its chunks for which an impersonating site sends a forged message, too.
const FORGED_SHARE: f64 = 0.2;
/// Count of a plan that no scheduler has made.
const OWN_PLAN: u32 = 1 << 30;

/// Returns the origin site that a message names; `None` if it names none.
pub(crate) fn named_sender(data: &Bytes) -> Option<SiteNo> {
    match decode(data.clone()).ok()? {
        Body::Chunk(chunk) => Some(SiteNo(chunk.from as u16)),
        Body::Ask(ask) => Some(SiteNo(ask.from as u16)),
        _ => None,
    }
}

/// Key of a receiver's chunks: round, chunk, way and sender.
pub(crate) type ChunkKey = (u32, u32, u32, u32);

/// Returns the key of a chunk for this site; `None` for other messages.
pub(crate) fn chunk_key(data: &Bytes, to: SiteNo) -> Option<ChunkKey> {
    match decode(data.clone()).ok()? {
        Body::Chunk(chunk) if chunk.to == u32::from(to.0) => {
            Some((chunk.round, chunk.chunk, chunk.way, chunk.from))
        }
        _ => None,
    }
}

/// Messages of hostile sites, in addition to those of their machines.
pub(crate) struct Hostile {
    faults: Vec<PlannedFault>,
    setups: Vec<Arc<Setup>>,
    draws: ChaCha8Rng,
    shared: Shared,
}

impl Hostile {
    pub fn new(faults: &[PlannedFault], setups: Vec<Arc<Setup>>, seed: u64, shared: Shared) -> Self {
        let draws = ChaCha8Rng::seed_from_u64(seed ^ 0x0f0e_d0e5);
        Hostile { faults: faults.to_vec(), setups, draws, shared }
    }

    fn is_active(&self, fault: Fault, now_s: f64) -> bool {
        self.faults.iter().any(|planned| planned.fault == fault && planned.lasts_at(now_s))
    }

    /// Returns the messages that the sender of a chunk adds, each with the time until its arrival in seconds.
    /// `delay_s`: delay of the link, in seconds.
    pub fn beside(
        &mut self,
        transfer: &Transfer,
        chunk: &ChunkMessage,
        now_s: f64,
        delay_s: f64,
    ) -> Vec<(f64, Transfer)> {
        let (by, mut more) = (site(transfer.from), Vec::new());
        if self.is_active(Fault::Repeats(by), now_s) && self.draws.random_bool(REPEATED_SHARE) {
            for _ in 0..REPEATS {
                // Mostly after the chunk itself, which takes the link's rate.
                let in_s = delay_s + self.draws.random_range(0.0..2.0);
                more.push((in_s, Transfer { id: REPEATED, ..transfer.clone() }));
            }
            self.shared.borrow_mut().count("chunk repeated");
        }
        if self.is_active(Fault::Impostor(by), now_s) && self.draws.random_bool(FORGED_SHARE) {
            let data = encode(self.forge(by, transfer.to, chunk));
            let in_s = delay_s + self.draws.random_range(0.0..2.0);
            more.push((in_s, Transfer { id: FORGED, data, ..transfer.clone() }));
        }
        more
    }

    /// Creates a message in the name of another site, or one that no site has requested.
    fn forge(&mut self, by: SiteNo, to: PeerNo, chunk: &ChunkMessage) -> Body {
        let other = self.draws.random_range(0..self.setups.len()) as u32;
        match self.draws.random_range(0..8) {
            0 => {
                let chunks = (0..self.setups[0].chunk_values.len() as u32).collect();
                Body::Ask(AskMessage { round: chunk.round, from: other, to: to.0, route: vec![], chunks })
            }
            1 => {
                // The first plan of all sites, as a newer one.
                let mut plan = TransmissionPolicy::clone(&self.setups[by.index()].first_policy);
                plan.version = version(OWN_PLAN + self.draws.random_range(0..1000), &plan);
                let message = policy_message(&plan);
                self.shared.borrow_mut().refused.push(plan.into());
                Body::Offer(message)
            }
            _ => {
                let words = chunk.words.iter().map(|byte| byte ^ 0x15).collect::<Vec<_>>().into();
                Body::Chunk(ChunkMessage {
                    round: chunk.round + self.draws.random_range(0..2),
                    way: self.draws.random_range(0..3),
                    from: other,
                    to: to.0,
                    path: 0,
                    route: vec![],
                    words,
                    ..chunk.clone()
                })
            }
        }
    }
}
