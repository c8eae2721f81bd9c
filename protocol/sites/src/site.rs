//! State machine of one site: sums its children's chunks, sends the sums to its parent, and broadcasts
//! complete sums.

use std::sync::Arc;

use crate::begin_error::BeginError;
use crate::choice::Sending;
use crate::counters::Counters;
use crate::early::{Early, Kept};
use crate::offers::{MOST_NAMED, Offers};
use crate::outbox::Outbox;
use crate::policy::{ChunkNo, SiteNo, TransmissionPolicy};
use crate::summand::Summand;
use crate::transfer::{ChunkTransfer, Direction, Output};

/// State of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Held<S> {
    sum: Option<S>,
    /// Contributors to the sum: children, and this site.
    pub from: Vec<SiteNo>,
    /// Versions for the next round that all children hold; `None` without children.
    below: Option<Vec<u64>>,
    /// Sum that was sent to the parent.
    pub pushed: Option<S>,
    pub complete: Option<S>,
}

/// Sums of the previous round: other sites may still need them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Last<S> {
    pub round: u32,
    pub version: u64,
    /// Version of the round after it.
    pub next: Option<u64>,
    pub sums: Vec<S>,
}

impl<S> Default for Held<S> {
    fn default() -> Self {
        Held { sum: None, from: Vec::new(), below: None, pushed: None, complete: None }
    }
}

/// State machine of one site. Rounds follow each other; each has one policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Site<S> {
    pub(crate) me: SiteNo,
    pub(crate) round: Option<u32>,
    pub(crate) policy: Arc<TransmissionPolicy>,
    /// For each tree: the children that push sums to this site, and those that pull complete sums from it.
    pub(crate) children: Vec<[Vec<SiteNo>; 2]>,
    pub(crate) chunks: Vec<Held<S>>,
    complete: usize,
    pub(crate) last: Option<Last<S>>,
    early: Early<S>,
    pub(crate) offers: Offers,
    pub(crate) outbox: Outbox<S>,
    pub(crate) counters: Counters,
}

impl<S: Summand> Site<S> {
    /// Creates a site before its first round.
    pub fn new(me: SiteNo, sending: Sending) -> Self {
        let policy = TransmissionPolicy {
            version: 0,
            sites: Vec::new(),
            trees: Vec::new(),
            chunk_trees: Vec::new(),
            routes: Default::default(),
            auxiliary: Default::default(),
        };
        Site {
            me,
            round: None,
            policy: Arc::new(policy),
            children: Vec::new(),
            chunks: Vec::new(),
            complete: 0,
            last: None,
            early: Early::default(),
            offers: Offers::default(),
            outbox: Outbox::new(me, sending),
            counters: Counters::default(),
        }
    }

    /// Starts a round, or restarts it with a newer policy. Missing chunks of the previous round are
    /// abandoned.
    ///
    /// # Errors
    /// A round or a policy older than the current one; the current round by the current policy; an
    /// inconsistent policy.
    pub fn begin(&mut self, round: u32, policy: Arc<TransmissionPolicy>) -> Result<(), BeginError> {
        let is_newer = policy.version > self.policy.version;
        let is_done = |&current: &u32| current > round || current == round && !is_newer;
        if let Some(current) = self.round.filter(is_done) {
            return Err(BeginError::Round { asked: round, current });
        }
        if policy.version < self.policy.version {
            let (asked, current) = (policy.version, self.policy.version);
            return Err(BeginError::Older { asked, current });
        }
        if !Arc::ptr_eq(&policy, &self.policy) {
            policy.check()?;
            if !policy.sites.contains(&self.me) {
                return Err(BeginError::Absent { version: policy.version, site: self.me.0 });
            }
            self.children = policy
                .trees
                .iter()
                .map(|tree| {
                    [&tree.up, &tree.down].map(|parents| {
                        policy
                            .sites
                            .iter()
                            .copied()
                            .filter(|at| parents[at.index()] == Some(self.me))
                            .collect()
                    })
                })
                .collect();
        }
        if self.round != Some(round) {
            self.last = self.sums_for_others(round);
        }
        self.round = Some(round);
        self.chunks.clear();
        self.chunks.resize_with(policy.chunks(), Held::default);
        self.complete = 0;
        self.offers.begun(policy.version);
        self.policy = policy;
        for transfer in self.early.take() {
            self.receive(transfer);
        }
        Ok(())
    }

    /// Returns the sums that sites which have not completed this round may still need.
    fn sums_for_others(&mut self, next: u32) -> Option<Last<S>> {
        let round = self.round.filter(|&round| round.checked_add(1) == Some(next))?;
        let sums = self.chunks.iter_mut().map(|held| held.complete.take()).collect::<Option<Vec<_>>>()?;
        Some(Last { round, version: self.policy.version, next: self.offers.decided(), sums })
    }

    /// Accepts a policy for a later round. The first round before which all sites had the policy when they
    /// contributed follows it.
    ///
    /// # Errors
    /// A policy that is not newer than the active one, lacks this site, or is inconsistent.
    pub fn offer(&mut self, policy: Arc<TransmissionPolicy>) -> Result<(), BeginError> {
        if policy.version <= self.policy.version {
            let (asked, current) = (policy.version, self.policy.version);
            return Err(BeginError::Older { asked, current });
        }
        policy.check()?;
        if !policy.sites.contains(&self.me) {
            return Err(BeginError::Absent { version: policy.version, site: self.me.0 });
        }
        self.offers.hold(policy);
        Ok(())
    }

    /// Starts the next round with the policy that the sites agreed on; returns its number.
    ///
    /// # Errors
    /// An active round, or none yet; a policy that this site does not hold.
    pub fn begin_next(&mut self) -> Result<u32, BeginError> {
        let round = self.round.ok_or(BeginError::NotBegun)?;
        let version = self.offers.decided().filter(|_| self.is_complete());
        let version = version.ok_or(BeginError::GoesOn { round })?;
        let policy = match version == self.policy.version {
            true => self.policy.clone(),
            false => {
                let held = self.offers.get(version);
                held.ok_or(BeginError::NotHeld { version, site: self.me.0 })?
            }
        };
        let next = round.saturating_add(1);
        self.begin(next, policy)?;
        Ok(next)
    }

    /// Returns the version of the active policy.
    pub fn policy_version(&self) -> u64 {
        self.policy.version
    }

    /// Adds this site's own gradient of a chunk.
    pub fn contribute(&mut self, chunk: ChunkNo, data: S) {
        self.add(chunk, self.me, data, &[]);
    }

    /// Handles a chunk from a neighbor.
    pub fn receive(&mut self, transfer: ChunkTransfer<S>) {
        if transfer.to != self.me {
            self.counters.relayed += 1;
            return self.outbox.forward(transfer);
        }
        let current = self.round.map_or(0, |round| u64::from(round) + 1);
        match u64::from(transfer.round) + 1 {
            round if round < current => self.counters.late += 1,
            round if round == current + 1 => self.keep(transfer),
            round if round > current => self.counters.ahead += 1,
            _ if transfer.version != self.policy.version => self.counters.other_policy += 1,
            _ => self.take(transfer),
        }
    }

    /// Keeps one copy of a chunk of the next round. All policies of a job have the same sites and chunks.
    fn keep(&mut self, transfer: ChunkTransfer<S>) {
        let is_known =
            self.policy.sites.contains(&transfer.from) && (transfer.chunk.0 as usize) < self.policy.chunks();
        if self.round.is_some() && !is_known {
            self.counters.strange += 1;
            return;
        }
        match self.early.keep(transfer) {
            Kept::First => self.counters.early += 1,
            Kept::Duplicate => self.counters.repeated += 1,
            Kept::OtherPolicy => self.counters.other_policy += 1,
        }
    }

    /// Returns the number of chunks that wait for the link to a neighbor or are being sent on it.
    pub fn load(&self, next: SiteNo) -> usize {
        self.outbox.load(next)
    }

    /// Records that a chunk has left on the link to a neighbor.
    pub fn sent(&mut self, next: SiteNo) {
        self.outbox.sent(next, &self.policy);
    }

    /// Handles a chunk that did not arrive at a neighbor: it is sent again, on another path if the link is
    /// [down](Self::link_down).
    pub fn failed(&mut self, next: SiteNo, transfer: ChunkTransfer<S>) {
        let oldest = self.round.unwrap_or(0).saturating_sub(1);
        let transfer = (transfer.from != self.me || transfer.round >= oldest).then_some(transfer);
        self.outbox.failed(next, transfer, &self.policy);
    }

    /// Handles a failed link to a neighbor. Chunks of this site for the link take the detour: a route from
    /// here to the neighbor, including both ends. Without a detour they are lost. Forwarded chunks are always
    /// lost there: sites [request](Self::ask) missing chunks.
    pub fn link_down(&mut self, next: SiteNo, detour: Option<Vec<SiteNo>>) {
        self.outbox.link_down(next, detour);
    }

    /// Handles a recovered link to a neighbor.
    pub fn link_up(&mut self, next: SiteNo) {
        self.outbox.link_up(next);
    }

    /// Returns the next output, in order; `None` until a chunk arrives or leaves.
    pub fn next_output(&mut self) -> Option<Output<S>> {
        let mut output = self.outbox.next();
        if let Some(Output::Send { transfer, .. }) = &mut output {
            // As late as possible, so that recent offers count.
            let is_own = transfer.from == self.me && Some(transfer.round) == self.round;
            if is_own && transfer.direction == Direction::Push && self.is_agreeing(transfer.chunk) {
                transfer.policies = self.held_by_all();
            }
        }
        output
    }

    /// Whether this site has every sum of the round.
    pub fn is_complete(&self) -> bool {
        self.complete == self.chunks.len()
    }

    /// Returns the current round, or the last one; `None` before the first.
    pub fn round(&self) -> Option<u32> {
        self.round
    }

    /// Returns a policy for a later round that this site holds.
    pub fn offered(&self, version: u64) -> Option<Arc<TransmissionPolicy>> {
        self.offers.get(version)
    }

    /// Returns all policies for later rounds that this site holds.
    pub fn offers(&self) -> impl Iterator<Item = Arc<TransmissionPolicy>> {
        self.offers.all()
    }

    /// Returns the active policy.
    pub fn policy(&self) -> &Arc<TransmissionPolicy> {
        &self.policy
    }

    /// Returns the counters of dropped and forwarded chunks.
    pub fn counters(&self) -> Counters {
        Counters { lost: self.outbox.lost(), ..self.counters }
    }

    fn take(&mut self, transfer: ChunkTransfer<S>) {
        let Some(tree) = self.policy.tree_of(transfer.chunk) else {
            self.counters.strange += 1;
            return;
        };
        let parents = match transfer.direction {
            Direction::Push => {
                tree.up.get(transfer.from.index()).copied().flatten().filter(|&to| to == self.me)
            }
            Direction::Pull => {
                tree.down.get(self.me.index()).copied().flatten().filter(|&from| from == transfer.from)
            }
            // A complete sum is equal at all sites.
            Direction::Answer => Some(transfer.from).filter(|from| self.policy.sites.contains(from)),
        };
        if parents.is_none() {
            self.counters.strange += 1;
            return;
        }
        match transfer.direction {
            Direction::Push => self.add(transfer.chunk, transfer.from, transfer.data, &transfer.policies),
            _ if self.chunks[transfer.chunk.0 as usize].complete.is_some() => self.counters.repeated += 1,
            Direction::Pull | Direction::Answer => match (transfer.chunk, transfer.policies.first()) {
                (chunk, None) if self.is_agreeing(chunk) => self.counters.strange += 1,
                (_, next) => self.finish(transfer.chunk, transfer.data, next.copied()),
            },
        }
    }

    fn add(&mut self, chunk: ChunkNo, from: SiteNo, data: S, policies: &[u64]) {
        let Some(&tree) = self.policy.chunk_trees.get(chunk.0 as usize) else {
            self.counters.strange += 1;
            return;
        };
        let held = &mut self.chunks[chunk.0 as usize];
        if held.complete.is_some() || held.from.contains(&from) {
            self.counters.repeated += u64::from(from != self.me);
            return;
        }
        held.from.push(from);
        match &mut held.sum {
            Some(sum) => sum.add(&data),
            None => held.sum = Some(data),
        }
        if from != self.me {
            match &mut held.below {
                Some(below) => below.retain(|version| policies.contains(version)),
                None => held.below = Some(policies.to_vec()),
            }
        }
        if held.from.len() <= self.children[usize::from(tree.0)][0].len() {
            return;
        }
        let Some(sum) = held.sum.take() else { return };
        match self.policy.trees[usize::from(tree.0)].up[self.me.index()] {
            Some(parent) => {
                self.chunks[chunk.0 as usize].pushed = Some(sum.clone());
                self.give(chunk, Direction::Push, parent, sum, Vec::new());
            }
            None => {
                let newest = |site: &mut Self| site.held_by_all().into_iter().max();
                let next = self.is_agreeing(chunk).then(|| newest(self).unwrap_or(self.policy.version));
                self.finish(chunk, sum, next);
            }
        }
    }

    /// Whether a chunk carries the agreement on the next round's policy: the last chunk does.
    pub(crate) fn is_agreeing(&self, chunk: ChunkNo) -> bool {
        chunk.0 as usize + 1 == self.chunks.len()
    }

    /// Returns the newest versions for the next round that this site and all sites below it hold. The site
    /// keeps its own until the round is decided.
    fn held_by_all(&mut self) -> Vec<u64> {
        let mut own = self.offers.advertise();
        if let Some(below) = self.chunks.last().and_then(|held| held.below.as_ref()) {
            own.retain(|version| below.contains(version));
        }
        own.split_off(own.len().saturating_sub(MOST_NAMED))
    }

    /// Completes a sum: sends it to the children and to the owner of this site. `next`: policy of the next
    /// round, with the chunk that carries it.
    fn finish(&mut self, chunk: ChunkNo, sum: S, next: Option<u64>) {
        if let Some(version) = next {
            self.offers.decide(version);
        }
        self.chunks[chunk.0 as usize].complete = Some(sum.clone());
        self.chunks[chunk.0 as usize].pushed = None;
        self.complete += 1;
        let tree = usize::from(self.policy.chunk_trees[chunk.0 as usize].0);
        for child in self.children[tree][1].clone() {
            self.give(chunk, Direction::Pull, child, sum.clone(), next.into_iter().collect());
        }
        self.outbox.emit(Output::Complete { chunk, data: sum });
    }

    pub(crate) fn give(
        &mut self,
        chunk: ChunkNo,
        direction: Direction,
        to: SiteNo,
        data: S,
        policies: Vec<u64>,
    ) {
        let (round, version) = (self.round.unwrap_or(0), self.policy.version);
        let transfer = ChunkTransfer {
            round,
            version,
            chunk,
            direction,
            from: self.me,
            to,
            path: 0,
            route: Vec::new(),
            policies,
            data,
        };
        self.outbox.give(transfer, &self.policy);
    }
}
