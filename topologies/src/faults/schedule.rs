//! The fault schedule on one topology: names resolved.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::switched::{LinkId, NodeId};

use super::document::{Background, FaultEvent, Faults, LinkFaults, Protocol};
use super::error::Error;
use super::place::{FaultNetwork, NetworkLink, Role};
use super::quantity::{BitRate, Span};
use super::step::{Lasting, Step, Victim};

const HOSTS: [Role; 2] = [Role::Worker, Role::Server];
const ANY: [Role; 3] = [Role::Switch, Role::Worker, Role::Server];

/// Capabilities of a schedule's runner. Entries that need more are rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether the runner can kill and start the controller.
    pub controller: bool,
    /// Whether the runner can kill and start the scheduler of sites.
    pub scheduler: bool,
    /// Whether the runner runs frames: links have random faults, and there is background traffic.
    pub frames: bool,
    /// Whether links may be down permanently.
    pub lasting: bool,
    /// Whether the runner can restart a killed worker.
    pub worker_restart: bool,
    /// Whether the runner can send stale and forged frames.
    pub injection: bool,
    /// Whether the runner can change the rate of a link.
    pub rates: bool,
    /// Whether hosts have connections, which the runner can end.
    pub connections: bool,
    /// Whether background traffic may be TCP.
    pub tcp: bool,
    /// Length of background frames, in bytes.
    pub frame_bytes: RangeInclusive<u16>,
}

/// A flow of other traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow<N = NodeId> {
    /// The host that sends.
    pub from: N,
    /// The host that receives.
    pub to: N,
    /// Rate, in bits of Ethernet frames per second: above 0, and at most one frame per nanosecond.
    pub rate_bps: f64,
    /// Bytes of each frame; of TCP, of the longest.
    pub frame_bytes: u16,
    /// Time of the start, from the start of the run.
    pub begins: Span,
    /// Time of the end; `None` with the run.
    pub ends: Option<Span>,
    /// Protocol of the traffic.
    pub protocol: Protocol,
}

impl<N: Copy> Flow<N> {
    /// Returns the flow as text, like `udp at 1 Mbit/s from w1 to s1`.
    pub fn describe<P: FaultNetwork<Node = N>>(&self, place: &P) -> String {
        let name = |node: N| place.node_name(node);
        let Self { from, to, rate_bps, protocol, .. } = *self;
        format!("{} at {} Mbit/s from {} to {}", protocol.name(), rate_bps / 1e6, name(from), name(to))
    }
}

/// Faults with their names resolved on one topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule<N = NodeId, L = LinkId> {
    /// The steps, by time since the start.
    pub steps: Vec<(Span, Step<N, L>)>,
    /// Faults that the steps start and end, in the order of the document.
    pub faults: Vec<Lasting<N, L>>,
    /// Random faults of each link: from its first end to its second, then back.
    pub links: Vec<[LinkFaults; 2]>,
    /// Other traffic.
    pub flows: Vec<Flow<N>>,
}

impl<N: Copy + Ord, L: Copy + Ord> Schedule<N, L> {
    /// Resolves the names of `faults`. A link without an entry loses frames as the network's document states.
    ///
    /// # Errors
    /// Returns [`Error::Entry`] for a name that is not in the topology or is of the wrong kind, for an event
    /// that is not exactly one action with its arguments, for quantities out of range, and for unsupported
    /// actions.
    pub fn new<P: FaultNetwork<Node = N, Link = L>>(
        place: &P,
        faults: &Faults,
        runner: &Capabilities,
    ) -> Result<Self, Error> {
        Self::with_default(place, faults, runner, &LinkFaults::default())
    }

    /// Resolves the names as [`Schedule::new`] does; links without an entry have the faults `default` and the
    /// loss of the network's document.
    ///
    /// # Errors
    /// As [`Schedule::new`].
    pub fn with_default<P: FaultNetwork<Node = N, Link = L>>(
        place: &P,
        faults: &Faults,
        runner: &Capabilities,
        default: &LinkFaults,
    ) -> Result<Self, Error> {
        let lossy = |loss: f64| LinkFaults { drop: default.drop.or(loss), ..default.clone() };
        let links = place.links();
        let by_link = links.iter().map(|link| [lossy(link.loss), lossy(link.loss)]).collect();
        let mut schedule = Self { steps: Vec::new(), faults: Vec::new(), links: by_link, flows: Vec::new() };
        let sections = [("links", faults.links.is_empty()), ("background", faults.background.is_empty())];
        if let Some((section, _)) = sections.into_iter().find(|(_, is_empty)| !is_empty && !runner.frames) {
            let problem =
                format!("`{section}` is of networks of switches whose frames are run; leave it out");
            return Err(Error::Entry { place: section.to_owned(), problem });
        }
        let entry = |list: &'static str, index| Entry { place, links: &links, runner, list, index };
        for (index, link) in faults.links.iter().enumerate() {
            schedule.add_link(&entry("links", index), link)?;
        }
        for (index, event) in faults.events.iter().enumerate() {
            schedule.add_event(&entry("events", index), event)?;
        }
        schedule.steps.sort_by_key(|(at, _)| *at);
        for (index, flow) in faults.background.iter().enumerate() {
            schedule.flows.push(entry("background", index).flow(flow)?);
        }
        Ok(schedule)
    }

    /// Returns whether any link does something to frames, or goes down.
    pub fn touches_links(&self) -> bool {
        let cuts = |(_, step): &(Span, Step<N, L>)| matches!(step, Step::LinkDown(_));
        self.links.as_flattened().iter().any(|faults| !faults.is_none()) || self.steps.iter().any(cuts)
    }

    fn add_link<P: FaultNetwork<Node = N, Link = L>>(
        &mut self,
        entry: &Entry<'_, P>,
        faults: &LinkFaults,
    ) -> Result<(), Error> {
        for (what, share, by) in
            [("reorder", faults.reorder, faults.reorder_by), ("delay", faults.delay, faults.delay_by)]
        {
            if share.get() > 0.0 && by.is_none_or(|by| by == Span(0)) {
                return Err(entry.wrong(format!("{what} without {what}_by; give {what}_by, like 1 ms")));
            }
        }
        let nameless = LinkFaults { link: None, ..faults.clone() };
        match &faults.link {
            None => self.links.fill([nameless.clone(), nameless]),
            Some(ends) => {
                let (link, end) = entry.direction(ends)?;
                let at = entry.links.iter().position(|own| own.id == link);
                if let Some(at) = at {
                    self.links[at][end] = nameless;
                }
            }
        }
        Ok(())
    }

    fn add_event<P: FaultNetwork<Node = N, Link = L>>(
        &mut self,
        entry: &Entry<'_, P>,
        event: &FaultEvent,
    ) -> Result<(), Error> {
        let action = entry.action(event)?;
        let ends = event.lasts.map(|lasts| Span(event.at.0.saturating_add(lasts.0)));
        let until = || match ends {
            Some(until) => Ok(Some(until)),
            None => Err(entry.wrong("for is missing; give the duration, like 10 ms".into())),
        };
        let cut_until = || if entry.runner.lasting { Ok(ends) } else { until() };
        let mut add = |until, first| {
            let lasting = Lasting { event: entry.index, at: event.at, until, first };
            self.steps.push((event.at, first));
            self.steps.extend(until.zip(lasting.first.last()));
            self.faults.push(lasting);
        };
        match action {
            Action::Restart(name) => {
                let victim = entry.restarted(name)?;
                add(until()?, Step::Kill(victim));
            }
            Action::Crash(name) => {
                let victim = entry.crashed(name)?;
                if let (Victim::Host(host), Some(_)) = (victim, ends) {
                    entry.may_start_again(host)?;
                }
                add(ends, Step::Kill(victim));
            }
            Action::Pause(name) => {
                let host = entry.node(name, &HOSTS)?;
                add(until()?, Step::Pause(host));
            }
            Action::Bounce(name) => {
                let host = entry.node(name, &HOSTS)?;
                add(until()?, Step::InterfaceDown(host));
            }
            Action::LinkDown(ends) => {
                let (link, until) = (entry.direction(ends)?.0, cut_until()?);
                add(until, Step::LinkDown(link));
            }
            Action::Partition(names) => {
                let (links, until) = (entry.links_around(names)?, cut_until()?);
                links.into_iter().for_each(|link| add(until, Step::LinkDown(link)));
            }
            Action::Slow(between, BitRate(bps)) => {
                let link = entry.direction(between)?.0;
                add(ends, Step::Slow(link, bps));
            }
            Action::Disconnect(name) => add(None, Step::Disconnect(entry.node(name, &HOSTS)?)),
            Action::Stale(name, count) => add(None, Step::Stale(entry.node(name, &HOSTS)?, count)),
            Action::Forge(name, count) => add(None, Step::Forge(entry.node(name, &HOSTS)?, count)),
        }
        Ok(())
    }
}

/// Action of an event.
enum Action<'a> {
    Restart(&'a str),
    Crash(&'a str),
    Pause(&'a str),
    Bounce(&'a str),
    LinkDown(&'a [String; 2]),
    Partition(&'a [String]),
    Stale(&'a str, u32),
    Forge(&'a str, u32),
    Slow(&'a [String; 2], BitRate),
    Disconnect(&'a str),
}

/// One entry of the document, for errors that name it.
struct Entry<'a, P: FaultNetwork> {
    place: &'a P,
    links: &'a [NetworkLink<P::Node, P::Link>],
    runner: &'a Capabilities,
    list: &'static str,
    index: usize,
}

impl<P: FaultNetwork> Entry<'_, P> {
    fn wrong(&self, problem: String) -> Error {
        Error::Entry { place: format!("{}[{}]", self.list, self.index), problem }
    }

    /// Returns the one action of an event; only stale and forge have a count, and only slow has a rate.
    /// Stale, forge and disconnect have no span.
    fn action<'a>(&self, event: &'a FaultEvent) -> Result<Action<'a>, Error> {
        let count = event.count.unwrap_or(0);
        let actions = [
            event.restart.as_deref().map(Action::Restart),
            event.link_down.as_ref().map(Action::LinkDown),
            event.interface_down.as_deref().map(Action::Bounce),
            event.pause.as_deref().map(Action::Pause),
            event.crash.as_deref().map(Action::Crash),
            event.partition.as_deref().map(Action::Partition),
            event.stale.as_deref().map(|host| Action::Stale(host, count)),
            event.forge.as_deref().map(|host| Action::Forge(host, count)),
            event.slow.as_ref().map(|ends| Action::Slow(ends, event.rate.unwrap_or(BitRate(0)))),
            event.disconnect.as_deref().map(Action::Disconnect),
        ];
        let mut given = actions.into_iter().flatten();
        let (Some(action), None) = (given.next(), given.next()) else {
            let all = "restart, link_down, interface_down, pause, crash, partition, stale, forge, slow or \
                       disconnect";
            return Err(self.wrong(format!("it needs exactly one of {all}")));
        };
        let injects = matches!(action, Action::Stale(..) | Action::Forge(..));
        if injects && !self.runner.injection {
            return Err(self.wrong("stale and forged frames exist in simulation only; leave them out".into()));
        }
        self.check_connections(event, &action)?;
        if injects != event.count.is_some() || (injects && event.lasts.is_some()) {
            let problem = "stale and forge take a count, and only they do; a span is for the others";
            return Err(self.wrong(problem.into()));
        }
        Ok(action)
    }

    /// Rejects actions that need a runner with links and connections of its own.
    fn check_connections(&self, event: &FaultEvent, action: &Action<'_>) -> Result<(), Error> {
        let is_slow = matches!(action, Action::Slow(..));
        if is_slow != event.rate.is_some() {
            return Err(self.wrong("slow takes a rate, like 100 Mbps, and only slow does".into()));
        }
        if is_slow && !self.runner.rates {
            return Err(
                self.wrong("rates change in simulations of parameter servers only; leave slow out".into())
            );
        }
        if matches!(action, Action::Disconnect(_)) {
            if !self.runner.connections {
                let problem =
                    "connections end in simulations of parameter servers only; leave disconnect out";
                return Err(self.wrong(problem.into()));
            }
            if event.lasts.is_some() {
                return Err(self.wrong("connections are made again at once; leave `duration` out".into()));
            }
        }
        Ok(())
    }

    fn is_controller(&self, name: &str) -> bool {
        name == P::CONTROLLER && self.place.node_named(name).is_none()
    }

    fn restarted(&self, name: &str) -> Result<Victim<P::Node>, Error> {
        match self.is_controller(name) && self.runner.controller {
            true => Ok(Victim::Controller),
            false => self.node(name, &[Role::Switch]).map(Victim::Switch),
        }
    }

    fn crashed(&self, name: &str) -> Result<Victim<P::Node>, Error> {
        match self.is_controller(name) && self.runner.scheduler {
            true => Ok(Victim::Controller),
            false => self.node(name, &HOSTS).map(Victim::Host),
        }
    }

    fn may_start_again(&self, host: P::Node) -> Result<(), Error> {
        match self.place.role(host).1 == Role::Worker && !self.runner.worker_restart {
            true => Err(self.wrong("a worker that was killed has lost its job: leave `duration` out".into())),
            false => Ok(()),
        }
    }

    fn node(&self, name: &str, wanted: &[Role]) -> Result<P::Node, Error> {
        let node = self.place.node_named(name).ok_or_else(|| {
            self.wrong(format!("{} has no node {name}; check the name", self.place.title()))
        })?;
        let (word, role) = self.place.role(node);
        match wanted.contains(&role) {
            true => Ok(node),
            false => {
                let names = wanted.iter().map(|role| role.name()).collect::<Vec<_>>().join(" or ");
                Err(self.wrong(format!("{name} is a {word}; name a {names}")))
            }
        }
    }

    /// Returns the link between two nodes, and which of its ends is the first of them.
    fn direction(&self, ends: &[String; 2]) -> Result<(P::Link, usize), Error> {
        let [from, to] = [self.node(&ends[0], &ANY)?, self.node(&ends[1], &ANY)?];
        let link = self.place.link_between(from, to);
        let link =
            link.ok_or_else(|| self.wrong(format!("there is no link between {} and {}", ends[0], ends[1])))?;
        let is_reversed = self.links.iter().any(|own| own.id == link && own.ends[0] != from);
        Ok((link, usize::from(is_reversed)))
    }

    /// Returns the links between these nodes and the others.
    fn links_around(&self, names: &[String]) -> Result<Vec<P::Link>, Error> {
        let inside: BTreeSet<_> = names.iter().map(|name| self.node(name, &ANY)).collect::<Result<_, _>>()?;
        let crosses = |link: &&NetworkLink<P::Node, P::Link>| {
            let [a, b] = link.ends.map(|end| inside.contains(&end));
            a != b
        };
        Ok(self.links.iter().filter(crosses).map(|link| link.id).collect())
    }

    fn flow(&self, flow: &Background) -> Result<Flow<P::Node>, Error> {
        let (from, to) = (self.node(&flow.from, &HOSTS)?, self.node(&flow.to, &HOSTS)?);
        if from == to {
            return Err(self.wrong(format!("from {0} to {0}; name two hosts", flow.from)));
        }
        let lengths = &self.runner.frame_bytes;
        if !lengths.contains(&flow.frame_bytes) {
            let (least, most) = (lengths.start(), lengths.end());
            return Err(self.wrong(format!("frames of {} B; give {least} to {most}", flow.frame_bytes)));
        }
        if flow.protocol == Protocol::Tcp && !self.runner.tcp {
            let problem = "TCP exists in emulation only; give frames or udp, at the rate that it would have";
            return Err(self.wrong(problem.into()));
        }
        if flow.lasts == Some(Span(0)) {
            return Err(self.wrong("it lasts for 0; leave `duration` out, or give a time like 5 s".into()));
        }
        let most = 8e9 * f64::from(flow.frame_bytes);
        if !(flow.rate_bps > 0.0 && flow.rate_bps <= most) {
            return Err(self.wrong(format!("a rate of {} bit/s; give one like 1 Gbps", flow.rate_bps)));
        }
        Ok(Flow {
            from,
            to,
            rate_bps: flow.rate_bps,
            frame_bytes: flow.frame_bytes,
            begins: flow.at,
            ends: flow.lasts.map(|lasts| Span(flow.at.0.saturating_add(lasts.0))),
            protocol: flow.protocol,
        })
    }
}
