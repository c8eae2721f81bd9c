//! Rounds in virtual time: the sites' state machines on fluid links.

use std::sync::Arc;

use inart_protocol_sites::{
    AuxiliaryUse, ChunkNo, ChunkTransfer, Counters, Direction, Output, Sending, Site, SiteNo,
    TransmissionPolicy,
};
use inart_virtual::{Event, Links, Sharing, SplitMix64};

use crate::graph::{number, site};
use crate::scheme::Scheme;
use inart_topologies::sites::{ArcId, Overlay, Rates, SiteId};

/// Placeholder of a gradient's chunk: its sums are compared.
pub(crate) type Probe = [i64; 4];

/// Key of transfers that keep their order: a tree's edge in one direction, on one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StreamKey {
    tree: u16,
    from: SiteNo,
    to: SiteNo,
    direction: Direction,
    path: u8,
}

/// Sample of a link's rate from one transfer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The directed link.
    pub arc: ArcId,
    /// Length of the transfer, in bits.
    pub bits: f64,
    /// Time from the departure of the first bit to the arrival of the last one, in seconds.
    pub seconds: f64,
}

/// Completed round.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Start of the round, in seconds.
    pub started_s: f64,
    /// Time when every site had every sum, in seconds.
    pub ended_s: f64,
    /// Samples of links, in order.
    pub samples: Vec<Sample>,
    /// Number of correct sums of chunks, over all sites.
    pub equal_sums: u64,
    /// Number of wrong sums of chunks.
    pub other_sums: u64,
    /// Completion times of sums by site and chunk, in order, in seconds.
    pub completed: Vec<(SiteId, ChunkNo, f64)>,
}

/// Pending contributions with their times; the next one is last.
type Waiting = Vec<(f64, SiteId, ChunkNo)>;

/// State of the network across rounds.
pub struct Network<'o> {
    overlay: &'o Overlay,
    links: Links<StreamKey, ChunkTransfer<Probe>>,
    sites: Vec<Site<Probe>>,
    /// Time of the next rate change; infinite if rates are constant.
    change_s: f64,
    round: u32,
}

impl<'o> Network<'o> {
    /// Creates the network at time 0. With `rates`, rates are constant; otherwise they follow the network's
    /// traces.
    pub fn new(overlay: &'o Overlay, rates: Option<&Rates>, sharing: Sharing, sending: Sending) -> Self {
        let start = overlay.rates_at(0.0);
        let at = rates.unwrap_or(&start);
        let links = overlay.arcs().map(|arc| (at.of(arc), overlay.delay_seconds(arc), sharing));
        let next = if rates.is_some() { None } else { overlay.next_change(0.0) };
        Network {
            overlay,
            links: Links::new(links),
            sites: overlay.site_ids().map(|at| Site::new(number(at), sending)).collect(),
            change_s: next.unwrap_or(f64::INFINITY),
            round: 0,
        }
    }

    /// Returns the time in seconds.
    pub fn now_s(&self) -> f64 {
        self.links.now_s()
    }

    /// Plays the next round: every site has all its chunks at once; the round ends when every site has every
    /// sum. `bytes`: the chunks' sizes. Returns `None` if a site refuses the policy or the round stalls.
    pub fn round(&mut self, policy: &Arc<TransmissionPolicy>, bytes: &[u64]) -> Option<Ended> {
        self.round_when(policy, bytes, &|_, _| 0.0)
    }

    /// Plays the next round with delayed contributions: a site has a chunk `ready_s(site, chunk)` seconds
    /// after the start of the round.
    pub fn round_when(
        &mut self,
        policy: &Arc<TransmissionPolicy>,
        bytes: &[u64],
        ready_s: &dyn Fn(SiteId, ChunkNo) -> f64,
    ) -> Option<Ended> {
        let members: Vec<SiteId> = policy.sites.iter().copied().map(site).collect();
        let mut ended = Ended {
            started_s: self.now_s(),
            ended_s: self.now_s(),
            samples: Vec::new(),
            equal_sums: 0,
            other_sums: 0,
            completed: Vec::new(),
        };
        let mut waiting = Waiting::new();
        for &at in &members {
            self.sites[at.index()].begin(self.round, policy.clone()).ok()?;
        }
        for &at in &members {
            for chunk in (0..bytes.len() as u32).map(ChunkNo) {
                match ready_s(at, chunk) {
                    later if later > 0.0 => waiting.push((ended.started_s + later, at, chunk)),
                    _ => self.sites[at.index()].contribute(chunk, probe(self.round, chunk, at)),
                }
            }
            self.carry_out(at, policy, bytes, &mut ended);
        }
        waiting.sort_by(|a, b| b.0.total_cmp(&a.0));
        while !members.iter().all(|at| self.sites[at.index()].is_complete()) {
            self.step(policy, bytes, &mut ended, &mut waiting)?;
        }
        self.round += 1;
        ended.ended_s = self.now_s();
        Some(ended)
    }

    /// Returns counters of all sites.
    pub fn counters(&self) -> Vec<Counters> {
        self.sites.iter().map(Site::counters).collect()
    }

    /// Lets time pass in which nothing is sent.
    pub fn wait_until(&mut self, at_s: f64) {
        while self.now_s() < at_s {
            let stop_s = at_s.min(self.change_s);
            if self.links.step(stop_s).is_none() && stop_s == self.change_s {
                self.change_rates();
            }
        }
    }

    fn change_rates(&mut self) {
        let rates = self.overlay.rates_at(self.change_s);
        self.overlay.arcs().for_each(|arc| self.links.set_rate(arc.index(), rates.of(arc)));
        self.change_s = self.overlay.next_change(self.change_s).unwrap_or(f64::INFINITY);
    }

    fn step(
        &mut self,
        policy: &TransmissionPolicy,
        bytes: &[u64],
        ended: &mut Ended,
        waiting: &mut Waiting,
    ) -> Option<()> {
        let ready_s = waiting.last().map_or(f64::INFINITY, |(at_s, ..)| *at_s);
        match self.links.step(self.change_s.min(ready_s)) {
            None if ready_s.is_finite() && ready_s <= self.change_s => {
                let (_, at, chunk) = waiting.pop()?;
                self.sites[at.index()].contribute(chunk, probe(self.round, chunk, at));
                self.carry_out(at, policy, bytes, ended);
            }
            None if self.change_s.is_finite() => self.change_rates(),
            None => return None,
            Some(Event::Sent { link }) => {
                let (from, to) = self.overlay.ends(ArcId(link as u32));
                self.sites[from.index()].sent(number(to));
                self.carry_out(from, policy, bytes, ended);
            }
            Some(Event::Arrived { link, item, bits, started_s }) => {
                let arc = ArcId(link as u32);
                ended.samples.push(Sample { arc, bits, seconds: self.now_s() - started_s });
                let (_, to) = self.overlay.ends(arc);
                self.sites[to.index()].receive(item);
                self.carry_out(to, policy, bytes, ended);
            }
        }
        Some(())
    }

    /// Performs an action of a site.
    fn carry_out(&mut self, at: SiteId, policy: &TransmissionPolicy, bytes: &[u64], ended: &mut Ended) {
        while let Some(output) = self.sites[at.index()].next_output() {
            match output {
                Output::Complete { chunk, data } => {
                    let is_equal = data == sum(self.round, chunk, policy);
                    ended.completed.push((at, chunk, self.now_s()));
                    ended.equal_sums += u64::from(is_equal);
                    ended.other_sums += u64::from(!is_equal);
                }
                // Chunks are never lost here, so no site sends requests.
                Output::Ask { .. } => {}
                Output::Send { next, transfer } => {
                    let Some(arc) = self.overlay.arc_between(at, site(next)) else { continue };
                    let chunk = transfer.chunk.0 as usize;
                    let ChunkTransfer { from, to, direction, path, .. } = transfer;
                    let key = StreamKey { tree: policy.chunk_trees[chunk].0, from, to, direction, path };
                    self.links.send(arc.index(), key, bytes[chunk] as f64 * 8.0, transfer);
                }
            }
        }
    }
}

/// Returns how sites hand chunks to links with a scheme. `auxiliary`: use of auxiliary paths, where there are
/// any.
pub fn sending(scheme: Scheme, auxiliary: Option<AuxiliaryUse>) -> Sending {
    match auxiliary {
        _ if scheme.sends_in_order() => Sending::InOrder { on_link: 2 },
        Some(auxiliary) => Sending::Auxiliary(auxiliary),
        None => Sending::AtOnce,
    }
}

/// Returns the time of one round on constant rates, in seconds, with the default use of auxiliary paths;
/// infinite if the round cannot end.
pub(crate) fn predict(
    overlay: &Overlay,
    rates: &Rates,
    policy: &TransmissionPolicy,
    bytes: &[u64],
    scheme: Scheme,
) -> f64 {
    alone(overlay, rates, policy, bytes, scheme).map_or(f64::INFINITY, |ended| ended.ended_s)
}

/// Plays one round from time 0 on constant rates, with the default use of auxiliary paths; `None` if it
/// cannot end.
pub(crate) fn alone(
    overlay: &Overlay,
    rates: &Rates,
    policy: &TransmissionPolicy,
    bytes: &[u64],
    scheme: Scheme,
) -> Option<Ended> {
    let auxiliary = (!policy.auxiliary.is_empty()).then(AuxiliaryUse::default);
    let sending = sending(scheme, auxiliary);
    let mut network = Network::new(overlay, Some(rates), scheme.sharing(Sharing::Fair), sending);
    network.round(&Arc::new(policy.clone()), bytes)
}

/// Returns a site's contribution: distinct numbers for each round, chunk and site.
fn probe(round: u32, chunk: ChunkNo, at: SiteId) -> Probe {
    let mut draws = SplitMix64::new(u64::from(round) << 40 | u64::from(chunk.0) << 16 | u64::from(at.0));
    // Small enough that no sum of sites wraps around.
    std::array::from_fn(|_| (draws.next_u64() >> 20) as i64)
}

fn sum(round: u32, chunk: ChunkNo, policy: &TransmissionPolicy) -> Probe {
    let mut sum = [0; 4];
    for &at in &policy.sites {
        let own = probe(round, chunk, site(at));
        sum.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
    }
    sum
}
