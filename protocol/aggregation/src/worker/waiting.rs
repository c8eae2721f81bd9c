//! The host that keeps this worker waiting.

use alloc::string::ToString;
use core::time::Duration;

use inart_wire::{MacAddr, ShardId};

use super::WorkerFlow;
use super::shard::ShardFlow;
use crate::completion_rule::ContributionRule;
use crate::{AwaitedHost, Instant, Waiting};

impl<P: ContributionRule> WorkerFlow<P> {
    /// Returns the host that this worker waits for, as far as its servers know: `None` without a tensor in
    /// flight, and while results arrive.
    pub fn waiting(&self) -> Option<Waiting> {
        if self.failure.is_some() {
            return None;
        }
        let waits = |(shard, flow): (usize, &ShardFlow)| {
            let tensor = self.tensors.number_at(shard, flow.oldest()).filter(|_| !flow.is_idle())?;
            Some(Waiting { tensor, host: self.awaited_in(shard, flow)? })
        };
        self.flows.iter().enumerate().find_map(waits)
    }

    /// Returns the addresses of a server that this worker waits for, and of this worker, if the server was
    /// not heard from for `silence`, or never.
    pub fn unheard(&self, now: Instant, silence: Duration) -> Option<(MacAddr, MacAddr)> {
        let is_silent = |flow: &ShardFlow| flow.last_heard.is_none_or(|heard| now.since(heard) >= silence);
        let mut flows = self.flows.iter().filter(|_| self.failure.is_none()).enumerate();
        let (shard, _) = flows.find(|(_, flow)| !flow.is_idle() && is_silent(flow))?;
        Some((self.assignment.shards[shard].mac, self.assignment.workers[self.rank.index()].mac))
    }

    fn awaited_in(&self, shard: usize, flow: &ShardFlow) -> Option<AwaitedHost> {
        if flow.last_heard.is_none() {
            let name = self.assignment.shards[shard].server.clone();
            return Some(AwaitedHost::Server { shard: ShardId::try_from(shard).ok()?, name });
        }
        let awaited = self.awaited[shard]?;
        Some(AwaitedHost::Workers {
            rank: awaited.first,
            name: self.assignment.worker(awaited.first).map_or("unknown", |worker| &worker.name).to_string(),
            others: awaited.count - 1,
            have_joined: awaited.has_joined,
        })
    }
}
