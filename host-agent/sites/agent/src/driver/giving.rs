//! Transfer of the training program's state to restarted sites, in parts; each part is sent once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use inart_protocol_sites::{SiteNo, TransmissionPolicy};

use crate::message::{Body, State, StateWanted};
use crate::policy_message::policy_message;
use crate::state::{MOST_STATE_BYTES, PART_BYTES, TrainingState};
use crate::transfers::Held;

use super::{Driver, DriverError, Output, Peer, Phase};

/// Priority of the first part. Later parts have less; chunks have at most 0.
const PRIORITY: i32 = 1 << 20;

impl Driver {
    /// Handles a request for this site's state, for the rest of it, or to stop. A site that is being sent the
    /// state gets each part once, whatever it requests.
    pub(super) fn state_wanted(&mut self, by: SiteNo, wanted: StateWanted) {
        if wanted.is_over {
            return self.giving.down(by);
        }
        if !self.setup.can_rejoin {
            let name = self.setup.name(by);
            let reason =
                format!("site {name} was restarted, and workers inside sites cannot return to its state");
            return self.end_everywhere(&reason);
        }
        let under_way = self.giving.transfers.get_mut(&by).filter(|one| !one.under_way.is_empty());
        let Some(transfer) = under_way else {
            self.giving.transfers.remove(&by);
            self.giving.wanted.insert(by, wanted);
            return;
        };
        let is_same = wanted.digest.is_empty() || wanted.digest[..] == transfer.held.training.digest()[..];
        if !is_same {
            transfer.wanted = Some(wanted);
        }
    }

    /// Sends sites the requested parts of a held state. Asks the training program for its state, once per
    /// round, if a site wants it and the program can provide it.
    pub(super) fn give_wanted_states(&mut self) {
        let round = self.site.round().unwrap_or(0);
        let current = match &self.phase {
            Phase::Reducing => Some(round),
            Phase::Finished { .. } => Some(round.saturating_add(1)),
            _ => None,
        };
        let has_current = |held: &Arc<Held>| Some(held.round) == current;
        if let Phase::Finished { training } = &self.phase
            && !self.giving.wanted.is_empty()
            && !self.giving.held.as_ref().is_some_and(has_current)
        {
            let (round, policy, training) = (round.saturating_add(1), None, training.clone());
            self.giving.held = Some(Arc::new(Held { round, policy, training }));
        }
        self.refresh_policy();
        self.giving.start(current);
        self.send_parts();
        let may_ask = self.phase == Phase::Reducing && round > 0 && !self.giving.wanted.is_empty();
        if may_ask && self.giving.asked != Some(round) {
            self.giving.asked = Some(round);
            self.outputs.push_back(Output::StateWanted { round });
        }
    }

    /// Updates the policy of the held state if the sites have restarted the round by a newer policy.
    fn refresh_policy(&mut self) {
        let Some(held) = &mut self.giving.held else { return };
        let is_older = |policy: &Arc<TransmissionPolicy>| policy.version < self.site.policy_version();
        if Some(held.round) == self.site.round() && held.policy.as_ref().is_some_and(is_older) {
            let policy = Some(self.site.policy().clone());
            *held = Arc::new(Held { round: held.round, policy, training: held.training.clone() });
        }
    }

    /// Accepts the training program's state before a round, requested by [`Output::StateWanted`].
    pub fn give_state(&mut self, round: u32, training: impl Into<TrainingState>, now: Duration) {
        let training = training.into();
        let bytes = training.total();
        if bytes > MOST_STATE_BYTES {
            let error = DriverError::StateLength { site: self.setup.name(self.setup.me), bytes };
            return self.end_for(error);
        }
        let Some(start) = self.starts.iter().rev().find(|start| start.round == round) else { return };
        let policy = Some(start.policy.clone());
        self.giving.held = Some(Arc::new(Held { round, policy, training }));
        self.giving.start(Some(round));
        self.send_parts();
        self.go_on(now);
    }

    /// Sends the next parts.
    pub(super) fn send_parts(&mut self) {
        let sites: Vec<SiteNo> = self.giving.transfers.keys().copied().collect();
        for site in sites {
            while let Some(transfer) = self.giving.transfers.get_mut(&site)
                && let Some(offset) = transfer.take_next()
            {
                let part = part(&transfer.held, offset);
                let priority = PRIORITY - (offset / PART_BYTES as u64) as i32;
                let id = self.send(Peer::Site(site), Body::State(part), priority);
                if let (Some(id), Some(transfer)) = (id, self.giving.transfers.get_mut(&site)) {
                    transfer.under_way.insert(id, offset);
                }
            }
        }
    }

    /// Handles a delivered message: after a part, the next part is sent.
    pub(super) fn part_delivered(&mut self, id: u64) {
        if self.giving.delivered(id).is_some() {
            self.send_parts();
        }
    }

    /// Discards states from before the last round, because a new round has started. Sites that are being sent
    /// one learn this site's round, and ask again.
    pub(super) fn forget_states(&mut self) {
        let round = self.site.round().unwrap_or(0);
        let is_old = |held: &Held| held.round.saturating_add(1) < round;
        let transfers = self.giving.transfers.iter();
        let late: Vec<SiteNo> =
            transfers.filter(|(_, one)| is_old(&one.held)).map(|(&site, _)| site).collect();
        for site in late {
            self.giving.transfers.remove(&site);
            self.say_hello(Peer::Site(site));
        }
        self.giving.held.take_if(|held| is_old(held));
    }
}

fn part(held: &Held, offset: u64) -> State {
    let policy = held.policy.as_ref().filter(|_| offset == 0);
    State {
        round: held.round,
        policy: policy.map(|policy| policy_message(policy)),
        training: held.training.part(offset),
        is_finished: held.policy.is_none(),
        offset,
        total: held.training.total(),
        digest: Bytes::copy_from_slice(held.training.digest()),
    }
}
