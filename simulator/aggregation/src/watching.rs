//! The observer's intervals in virtual time: observations and changes. Background traffic on links.

use std::time::Duration;

use inart_planner_aggregation::schemes;
use inart_steering::{LinkSeen, Observation, Outcome, Shares, SwitchSeen};
use inart_topologies::switched::NodeKind;

use crate::Error;
use crate::event_queue::{ChannelId, EventKind};
use crate::observer::Observer;
use crate::simulation::{Node, Simulation};
use crate::watch::{Follow, LinkTraffic};

/// Bytes of a frame of background traffic.
const FRAME_BYTES: usize = 1000;

impl Simulation<'_> {
    /// The end of an interval.
    pub(crate) fn watch(&mut self) -> Result<(), Error> {
        let Some(watch) = &self.options.watch else { return Ok(()) };
        let results = self.slowest_results();
        self.observer.seen.results.push((self.wire.now, results));
        if let Some(follow) = &watch.follow {
            self.follow(follow)?;
        }
        if watch.until.is_some_and(|until| self.wire.now >= until.0 && !self.released) {
            self.released = true;
            self.release_rounds();
        }
        self.wire.events.at(self.wire.now + watch.every.0.max(1), EventKind::Watch);
        Ok(())
    }

    /// Passes the interval to the replanner, plans if it asks for a plan, and starts the change that it
    /// decides on.
    fn follow(&mut self, follow: &Follow) -> Result<(), Error> {
        let seen = self.observe();
        let now = Duration::from_nanos(self.wire.now);
        let Some(steering) = &mut self.observer.steering else { return Ok(()) };
        let Some(request) = steering.observe(now, &seen) else { return Ok(()) };
        let effort = || if follow.quick { 0.0 } else { f64::INFINITY };
        let mut planned = request.plan(schemes::OPTIMIZED, &effort).map_err(|error| error.to_string());
        if let (Ok(plans), Shares::Kept) = (&mut planned, request.shares) {
            // Shards stay equal bit for bit: they cut the gradient.
            plans.iter_mut().zip(&request.plans).for_each(|(new, old)| new.shards.clone_from(&old.shards));
        }
        let answer = planned.as_deref().map_err(Clone::clone);
        let Some(decision) = steering.answer(now, request.number, answer, Duration::ZERO) else {
            return Ok(());
        };
        self.wire.log.note(self.wire.now, || decision.to_string());
        if let (true, Ok(plans)) = (decision.is_change(), planned) {
            let refused = self.change_to(&plans, request.is_coordinated(&decision), follow.notify_within);
            match refused {
                Ok(true) => self.observer.next = plans,
                Ok(false) => self.changed(Some("a switch refuses the tables".to_owned())),
                Err(Error::Install(why)) => self.changed(Some(why.to_string())),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Handles that a replanner's change has ended or could not start.
    pub(crate) fn changed(&mut self, refused: Option<String>) {
        let now = self.wire.now;
        let Observer { steering, seen, plans, next, .. } = &mut self.observer;
        let outcome = match refused {
            Some(reason) => Outcome::Failed { reason },
            None => {
                *plans = std::mem::take(next);
                seen.changed_at.push(now);
                Outcome::Done
            }
        };
        if let Some(steering) = steering {
            steering.done(Duration::from_nanos(now), outcome, plans.clone());
        }
    }

    /// Returns the bytes sent by every port, and the available links and switches.
    fn observe(&mut self) -> Observation {
        let topology = &self.network.topology;
        let interval =
            self.options.watch.as_ref().map_or(Duration::ZERO, |watch| Duration::from_nanos(watch.every.0));
        let mut seen = Observation::unknown(topology, interval);
        for link in topology.link_ids() {
            for (back, id) in ChannelId::of_link(link).into_iter().enumerate() {
                let channel = &mut self.wire.channels[id.0 as usize];
                let sent = channel.sent(self.wire.now);
                let before = std::mem::replace(&mut self.observer.sent[id.0 as usize], sent);
                let rate =
                    |of: usize| (sent[of] - before[of]) as f64 * 8.0 / interval.as_secs_f64().max(1e-9);
                let is_up = channel.down == 0;
                let rates = if is_up { LinkSeen::up(rate(0), rate(1)) } else { LinkSeen::down() };
                seen.record_link(link, back == 1, rates);
            }
        }
        for (id, node) in topology.node_ids().zip(&self.nodes) {
            if let (NodeKind::Switch, Node::Switch(node)) = (topology.node(id).kind, node) {
                let is_up = node.switch.program().is_some();
                seen.switches.insert(id, SwitchSeen { is_up, ..SwitchSeen::up() });
            }
        }
        seen
    }

    /// Sends the next frame of background traffic on a link.
    pub(crate) fn inject(&mut self, index: usize) {
        let LinkTraffic { from, to, rate_bps, .. } = &self.options.others[index];
        let node = |name| self.network.topology.node_named(name);
        let (Some(from), Some(to)) = (node(from), node(to)) else { return };
        let Some(channel) = ChannelId::between(&self.network.topology, from, to) else { return };
        let frame = self.wire.frames.take();
        let bytes = &mut self.wire.frames.get_mut(frame).bytes;
        bytes.clear();
        bytes.resize(FRAME_BYTES, 0);
        bytes[12..14].copy_from_slice(&crate::channel::INJECTED);
        self.wire.transmit(channel, frame);
        let gap = (8e9 * FRAME_BYTES as f64 / rate_bps) as u64;
        self.wire.events.at(self.wire.now + gap.max(1), EventKind::Inject(index as u32));
    }
}
