//! One site: adds up what its children send, sends it on, and hands complete sums down.

use std::sync::Arc;

use crate::choice::Sending;
use crate::offers::Offers;
use crate::outbox::Outbox;
use crate::parcel::{Output, Parcel, Way};
use crate::policy::{ChunkNo, Policy, PolicyError, SiteNo};
use crate::summand::Summand;

/// What a site has dropped, and what it has passed on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Counters {
    /// Chunks passed on for others.
    pub relayed: u64,
    /// Chunks that came before their round, and were kept.
    pub early: u64,
    /// Chunks of rounds that are over.
    pub late: u64,
    /// Chunks of rounds further ahead than the next.
    pub ahead: u64,
    /// Chunks of this round by another policy.
    pub other_policy: u64,
    /// Chunks from sites that are no neighbours in the chunk's tree, and chunks that there are not.
    pub strange: u64,
    /// Chunks that had come before.
    pub repeated: u64,
}

/// Why a round cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BeginError {
    /// Not a later round.
    #[error("round {asked} is to begin, and round {current} has begun; rounds count up")]
    Round {
        /// The round that is to begin.
        asked: u32,
        /// The last one that began.
        current: u32,
    },
    /// An older policy.
    #[error("policy {asked} is older than policy {current}, which is in force; send the newest")]
    Older {
        /// The version given.
        asked: u32,
        /// The version in force.
        current: u32,
    },
    /// A policy without this site.
    #[error("policy {version} does not name site {site}, which is to begin a round by it; add it")]
    Absent {
        /// Its version.
        version: u32,
        /// The site.
        site: u16,
    },
    /// The next round is asked for while this one goes on.
    #[error("round {round} goes on; begin the next one when this site has every sum")]
    GoesOn {
        /// The round.
        round: u32,
    },
    /// The next round is asked for before the first.
    #[error("no round has begun; begin the first one by a policy that all sites have")]
    NotBegun,
    /// The sites agreed on a policy that this one was never offered.
    #[error("the next round follows policy {version}, which site {site} does not hold; offer it")]
    NotHeld {
        /// Its version.
        version: u32,
        /// The site.
        site: u16,
    },
    /// A policy that does not hold together.
    #[error(transparent)]
    Policy(#[from] PolicyError),
}

/// What is known of a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Held<S> {
    sum: Option<S>,
    /// Whose gradients are in the sum: children, and this site.
    from: Vec<SiteNo>,
    /// The versions for the next round that all of these hold.
    policies: Vec<u32>,
    is_complete: bool,
}

impl<S> Default for Held<S> {
    fn default() -> Self {
        Held { sum: None, from: Vec::new(), policies: Vec::new(), is_complete: false }
    }
}

/// The chunk whose way up and down says which policy the next round follows.
const AGREEING: ChunkNo = ChunkNo(0);

/// The state machine of one site. Rounds follow each other; each is of one policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Site<S> {
    me: SiteNo,
    round: Option<u32>,
    policy: Arc<Policy>,
    /// By tree: whose sums come up, and who has complete sums from here.
    children: Vec<[Vec<SiteNo>; 2]>,
    chunks: Vec<Held<S>>,
    complete: usize,
    early: Vec<Parcel<S>>,
    offers: Offers,
    outbox: Outbox<S>,
    counters: Counters,
}

impl<S: Summand> Site<S> {
    /// A site before its first round.
    pub fn new(me: SiteNo, sending: Sending) -> Self {
        let policy = Policy {
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
            early: Vec::new(),
            offers: Offers::default(),
            outbox: Outbox::new(sending),
            counters: Counters::default(),
        }
    }

    /// Begins a round. What is missing of the one before is given up.
    ///
    /// # Errors
    /// A round or a policy older than the current one; a policy that does not hold together.
    pub fn begin(&mut self, round: u32, policy: Arc<Policy>) -> Result<(), BeginError> {
        if let Some(current) = self.round.filter(|&current| current >= round) {
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
        self.round = Some(round);
        self.chunks.clear();
        self.chunks.resize_with(policy.chunks(), || Held::default());
        self.complete = 0;
        self.offers.begun(policy.version);
        self.policy = policy;
        for parcel in std::mem::take(&mut self.early) {
            self.receive(parcel);
        }
        Ok(())
    }

    /// Takes a policy for a later round. It is followed from the first round on before which all sites had
    /// it when they contributed.
    ///
    /// # Errors
    /// A policy that is not newer than the one in force, without this site, or that does not hold together.
    pub fn offer(&mut self, policy: Arc<Policy>) -> Result<(), BeginError> {
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

    /// Begins the round after this one, by the policy that the sites agreed on; returns its number.
    ///
    /// # Errors
    /// A round that goes on, or none; a policy that this site does not hold.
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

    /// The version of the policy in force.
    pub fn policy_version(&self) -> u32 {
        self.policy.version
    }

    /// This site's own gradient of a chunk.
    pub fn contribute(&mut self, chunk: ChunkNo, data: S) {
        let policies = if chunk == AGREEING { self.offers.advertise() } else { Vec::new() };
        self.add(chunk, self.me, data, &policies);
    }

    /// Takes what a neighbour has sent.
    pub fn receive(&mut self, parcel: Parcel<S>) {
        if parcel.to != self.me {
            self.counters.relayed += 1;
            return self.outbox.forward(parcel);
        }
        let current = self.round.map_or(0, |round| u64::from(round) + 1);
        match u64::from(parcel.round) + 1 {
            round if round < current => self.counters.late += 1,
            round if round == current + 1 => {
                self.counters.early += 1;
                self.early.push(parcel);
            }
            round if round > current => self.counters.ahead += 1,
            _ if parcel.version != self.policy.version => self.counters.other_policy += 1,
            _ => self.take(parcel),
        }
    }

    /// A chunk has left on the link to a neighbour.
    pub fn sent(&mut self, next: SiteNo) {
        self.outbox.sent(next, &self.policy);
    }

    /// What is to be done next, in order; `None` until something arrives or leaves.
    pub fn next_output(&mut self) -> Option<Output<S>> {
        self.outbox.next()
    }

    /// Whether this site has every sum of the round.
    pub fn is_complete(&self) -> bool {
        self.complete == self.chunks.len()
    }

    /// What was dropped and passed on so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn take(&mut self, parcel: Parcel<S>) {
        let Some(tree) = self.policy.tree_of(parcel.chunk) else {
            self.counters.strange += 1;
            return;
        };
        let parents = match parcel.way {
            Way::Push => tree.up.get(parcel.from.index()).copied().flatten().filter(|&to| to == self.me),
            Way::Pull => {
                tree.down.get(self.me.index()).copied().flatten().filter(|&from| from == parcel.from)
            }
        };
        if parents.is_none() {
            self.counters.strange += 1;
            return;
        }
        match parcel.way {
            Way::Push => self.add(parcel.chunk, parcel.from, parcel.data, &parcel.policies),
            Way::Pull if self.chunks[parcel.chunk.0 as usize].is_complete => self.counters.repeated += 1,
            Way::Pull => match (parcel.chunk, parcel.policies.first()) {
                (AGREEING, None) => self.counters.strange += 1,
                (_, next) => self.finish(parcel.chunk, parcel.data, next.copied()),
            },
        }
    }

    fn add(&mut self, chunk: ChunkNo, from: SiteNo, data: S, policies: &[u32]) {
        let Some(&tree) = self.policy.chunk_trees.get(chunk.0 as usize) else {
            self.counters.strange += 1;
            return;
        };
        let held = &mut self.chunks[chunk.0 as usize];
        if held.from.contains(&from) {
            self.counters.repeated += 1;
            return;
        }
        held.from.push(from);
        match &mut held.sum {
            Some(sum) => {
                sum.add(&data);
                held.policies.retain(|version| policies.contains(version));
            }
            None => {
                held.sum = Some(data);
                held.policies = policies.to_vec();
            }
        }
        if held.from.len() <= self.children[usize::from(tree.0)][0].len() {
            return;
        }
        let Some(sum) = held.sum.take() else { return };
        let policies = std::mem::take(&mut held.policies);
        match self.policy.trees[usize::from(tree.0)].up[self.me.index()] {
            Some(parent) => self.give(chunk, Way::Push, parent, sum, policies),
            None => {
                let newest = policies.into_iter().max().unwrap_or(self.policy.version);
                self.finish(chunk, sum, (chunk == AGREEING).then_some(newest));
            }
        }
    }

    /// The sum is complete: it goes to the children, and to who owns this site. `next`: the policy of the
    /// next round, with the chunk that says it.
    fn finish(&mut self, chunk: ChunkNo, sum: S, next: Option<u32>) {
        if let Some(version) = next {
            self.offers.decide(version);
        }
        self.chunks[chunk.0 as usize].is_complete = true;
        self.complete += 1;
        let tree = usize::from(self.policy.chunk_trees[chunk.0 as usize].0);
        for child in self.children[tree][1].clone() {
            self.give(chunk, Way::Pull, child, sum.clone(), next.into_iter().collect());
        }
        self.outbox.tell(Output::Complete { chunk, data: sum });
    }

    fn give(&mut self, chunk: ChunkNo, way: Way, to: SiteNo, data: S, policies: Vec<u32>) {
        let (round, version) = (self.round.unwrap_or(0), self.policy.version);
        let parcel = Parcel {
            round,
            version,
            chunk,
            way,
            from: self.me,
            to,
            path: 0,
            route: Vec::new(),
            policies,
            data,
        };
        self.outbox.give(parcel, &self.policy);
    }
}
