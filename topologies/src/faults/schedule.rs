//! The fault schedule on one topology: names resolved.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::switched::{Link, LinkId, NodeId, NodeKind, Topology};

use super::document::{Background, FaultEvent, Faults, LinkFaults, Protocol};
use super::error::Error;
use super::quantity::{BitRate, Span};
use super::step::{Step, Victim};

/// The name of the controller in a fault schedule.
const CONTROLLER: &str = "controller";
const HOSTS: [NodeKind; 2] = [NodeKind::Worker, NodeKind::Server];
const ANY: [NodeKind; 3] = [NodeKind::Switch, NodeKind::Worker, NodeKind::Server];

/// What the runner of a schedule can do. Entries that need more are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// It can kill and start the controller.
    pub controller: bool,
    /// It can start a worker again that was killed.
    pub worker_restart: bool,
    /// It can send stale and forged frames.
    pub injection: bool,
    /// It can change the rate of a link.
    pub rates: bool,
    /// Its hosts have connections, which it can end.
    pub connections: bool,
    /// Its background traffic may be TCP.
    pub tcp: bool,
    /// Length of background frames, in bytes.
    pub frame_bytes: RangeInclusive<u16>,
}

/// A flow of other traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// The host that sends.
    pub from: NodeId,
    /// The host that receives.
    pub to: NodeId,
    /// Its rate, in bits of Ethernet frames per second: above 0, and at most one frame per nanosecond.
    pub rate_bps: f64,
    /// Bytes of each frame; of TCP, of the longest.
    pub frame_bytes: u16,
    /// When it begins, from the start of the run.
    pub begins: Span,
    /// When it ends; `None` with the run.
    pub ends: Option<Span>,
    /// What it consists of.
    pub protocol: Protocol,
}

impl Flow {
    /// The flow as text, like `udp at 1 Mbit/s from w1 to s1`.
    pub fn describe(&self, topology: &Topology) -> String {
        let name = |node: NodeId| topology.node(node).name.as_str();
        let Self { from, to, rate_bps, protocol, .. } = *self;
        format!("{} at {} Mbit/s from {} to {}", protocol.name(), rate_bps / 1e6, name(from), name(to))
    }
}

/// Faults with their names resolved on one topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The steps, by time since the start.
    pub steps: Vec<(Span, Step)>,
    /// What each link does to frames at random: from its first end to its second, then back.
    pub links: Vec<[LinkFaults; 2]>,
    /// Other traffic.
    pub flows: Vec<Flow>,
}

impl Schedule {
    /// Resolves the names of `faults`. A link that no entry is about loses what the network's document says.
    ///
    /// # Errors
    /// [`Error::Entry`] for a name that is not in the topology or is of the wrong kind, for an event that is
    /// not exactly one action with what it needs, for quantities out of range, and for what the runner cannot
    /// do.
    pub fn new(topology: &Topology, faults: &Faults, runner: &Capabilities) -> Result<Self, Error> {
        Self::with_default(topology, faults, runner, &LinkFaults::default())
    }

    /// Resolves the names as [`Schedule::new`] does, but a link that no entry is about does `default` to
    /// frames, beside the loss of the network's document.
    ///
    /// # Errors
    /// As [`Schedule::new`].
    pub fn with_default(
        topology: &Topology,
        faults: &Faults,
        runner: &Capabilities,
        default: &LinkFaults,
    ) -> Result<Self, Error> {
        let lossy = |link: &Link| LinkFaults { drop: default.drop.or(link.loss), ..default.clone() };
        let links = topology.links().iter().map(|link| [lossy(link), lossy(link)]).collect();
        let mut schedule = Self { steps: Vec::new(), links, flows: Vec::new() };
        let entry = |list: &str, index| Entry { topology, runner, place: format!("{list}[{index}]") };
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

    /// Whether any link does something to frames, or goes down.
    pub fn touches_links(&self) -> bool {
        let cuts = |(_, step): &(Span, Step)| matches!(step, Step::LinkDown(_));
        self.links.as_flattened().iter().any(|faults| !faults.is_none()) || self.steps.iter().any(cuts)
    }

    fn add_link(&mut self, entry: &Entry<'_>, faults: &LinkFaults) -> Result<(), Error> {
        for (what, share, by) in
            [("reorder", faults.reorder, faults.reorder_by), ("delay", faults.delay, faults.delay_by)]
        {
            if share.get() > 0.0 && by.is_none_or(|by| by == Span(0)) {
                return Err(entry.wrong(format!("{what} without {what}_by; say by how much, like 1 ms")));
            }
        }
        let nameless = LinkFaults { link: None, ..faults.clone() };
        match &faults.link {
            None => self.links.fill([nameless.clone(), nameless]),
            Some(ends) => {
                let (link, end) = entry.direction(ends)?;
                self.links[link.index()][end] = nameless;
            }
        }
        Ok(())
    }

    fn add_event(&mut self, entry: &Entry<'_>, event: &FaultEvent) -> Result<(), Error> {
        let (at, action) = (event.at, entry.action(event)?);
        let until = || match event.lasts {
            Some(lasts) => Ok(Span(at.0.saturating_add(lasts.0))),
            None => Err(entry.wrong("for is missing; say how long it lasts, like 10 ms".into())),
        };
        match action {
            Action::Restart(name) => {
                let victim = entry.restarted(name)?;
                self.add_span(at, until()?, Step::Kill(victim), Step::Start(victim));
            }
            Action::Crash(name) => {
                let host = entry.node(name, &HOSTS)?;
                self.steps.push((at, Step::Kill(Victim::Host(host))));
                if event.lasts.is_some() {
                    entry.may_start_again(host)?;
                    self.steps.push((until()?, Step::Start(Victim::Host(host))));
                }
            }
            Action::Pause(name) => {
                let host = entry.node(name, &HOSTS)?;
                self.add_span(at, until()?, Step::Pause(host), Step::Resume(host));
            }
            Action::Bounce(name) => {
                let host = entry.node(name, &HOSTS)?;
                self.add_span(at, until()?, Step::InterfaceDown(host), Step::InterfaceUp(host));
            }
            Action::LinkDown(ends) => {
                let (link, until) = (entry.direction(ends)?.0, until()?);
                self.add_span(at, until, Step::LinkDown(link), Step::LinkUp(link));
            }
            Action::Partition(names) => {
                let (links, until) = (entry.links_around(names)?, until()?);
                for link in links {
                    self.add_span(at, until, Step::LinkDown(link), Step::LinkUp(link));
                }
            }
            Action::Slow(ends, BitRate(bps)) => {
                let link = entry.direction(ends)?.0;
                self.steps.push((at, Step::Slow(link, bps)));
                if event.lasts.is_some() {
                    self.steps.push((until()?, Step::Fast(link)));
                }
            }
            Action::Disconnect(name) => {
                self.steps.push((at, Step::Disconnect(entry.node(name, &HOSTS)?)));
            }
            Action::Stale(name, count) => {
                self.steps.push((at, Step::Stale(entry.node(name, &HOSTS)?, count)));
            }
            Action::Forge(name, count) => {
                self.steps.push((at, Step::Forge(entry.node(name, &HOSTS)?, count)));
            }
        }
        Ok(())
    }

    fn add_span(&mut self, at: Span, until: Span, first: Step, last: Step) {
        self.steps.extend([(at, first), (until, last)]);
    }
}

/// What an event is about.
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
struct Entry<'a> {
    topology: &'a Topology,
    runner: &'a Capabilities,
    place: String,
}

impl Entry<'_> {
    fn wrong(&self, problem: String) -> Error {
        Error::Entry { place: self.place.clone(), problem }
    }

    /// The one action of an event; only stale and forge have a count, and only slow has a rate. Stale, forge
    /// and disconnect have no span.
    fn action<'a>(&self, event: &'a FaultEvent) -> Result<Action<'a>, Error> {
        let count = event.count.unwrap_or(0);
        let actions = [
            event.restart.as_deref().map(Action::Restart),
            event.link_down.as_ref().map(Action::LinkDown),
            event.bounce.as_deref().map(Action::Bounce),
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
            let all = "restart, link_down, bounce, pause, crash, partition, stale, forge, slow or disconnect";
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

    /// What only runners with links and connections of their own can do.
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
                return Err(self.wrong("connections are made again at once; leave `for` out".into()));
            }
        }
        Ok(())
    }

    fn restarted(&self, name: &str) -> Result<Victim, Error> {
        let is_controller = name == CONTROLLER && self.topology.node_named(name).is_none();
        match is_controller && self.runner.controller {
            true => Ok(Victim::Controller),
            false => self.node(name, &[NodeKind::Switch]).map(Victim::Switch),
        }
    }

    fn may_start_again(&self, host: NodeId) -> Result<(), Error> {
        match self.topology.node(host).kind == NodeKind::Worker && !self.runner.worker_restart {
            true => Err(self.wrong("a worker that was killed has lost its job: leave `for` out".into())),
            false => Ok(()),
        }
    }

    fn node(&self, name: &str, kinds: &[NodeKind]) -> Result<NodeId, Error> {
        let network = self.topology.name();
        let node = self
            .topology
            .node_named(name)
            .ok_or_else(|| self.wrong(format!("topology {network} has no node {name}; check the name")))?;
        let kind = self.topology.node(node).kind;
        match kinds.contains(&kind) {
            true => Ok(node),
            false => {
                let wanted = kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" or ");
                Err(self.wrong(format!("{name} is a {kind}; name a {wanted}")))
            }
        }
    }

    /// The link between two nodes, and which of its ends is the first of them.
    fn direction(&self, ends: &[String; 2]) -> Result<(LinkId, usize), Error> {
        let [from, to] = [self.node(&ends[0], &ANY)?, self.node(&ends[1], &ANY)?];
        let link = self.topology.link_between(from, to);
        let link =
            link.ok_or_else(|| self.wrong(format!("there is no link between {} and {}", ends[0], ends[1])))?;
        Ok((link, usize::from(self.topology.link(link).ends[0] != from)))
    }

    /// The links between these nodes and the others.
    fn links_around(&self, names: &[String]) -> Result<Vec<LinkId>, Error> {
        let inside: BTreeSet<_> = names.iter().map(|name| self.node(name, &ANY)).collect::<Result<_, _>>()?;
        let crosses = |link: &LinkId| {
            let [a, b] = self.topology.link(*link).ends.map(|end| inside.contains(&end));
            a != b
        };
        Ok(self.topology.link_ids().filter(crosses).collect())
    }

    fn flow(&self, flow: &Background) -> Result<Flow, Error> {
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
            return Err(self.wrong("it lasts for 0; leave `for` out, or give a time like 5 s".into()));
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
