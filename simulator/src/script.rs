//! The faults, on the nodes and links of one network.

use std::collections::BTreeSet;

use inart_planner::{NodeId, NodeKind, Topology};

use crate::Error;
use crate::agenda::ChannelId;
use crate::faults::{Background, FaultEvent, Faults, LinkFaults};
use crate::quantity::{QueueLimit, Span};

/// Something that is done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The switch loses everything.
    Wipe(NodeId),
    /// The controller installs everything on it again.
    Install(NodeId),
    /// One direction of a link.
    Down(ChannelId),
    Up(ChannelId),
    /// A host.
    Pause(NodeId),
    Resume(NodeId),
    Crash(NodeId),
    /// The servers of a host that crashed.
    Start(NodeId),
    /// The host's last frames come again, as if of the epoch before.
    Stale(NodeId, u32),
    /// The host sends frames in the name of jobs that it is no part of.
    Forge(NodeId, u32),
}

/// Where a background flow runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub from: NodeId,
    pub to: NodeId,
    pub gap: Span,
    pub frame_bytes: u16,
}

/// Faults with their names resolved.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// By time.
    pub steps: Vec<(Span, Step)>,
    /// By channel.
    pub links: Vec<LinkFaults>,
    pub flows: Vec<Flow>,
    pub queue: QueueLimit,
    pub jitter: Span,
    pub bounces: u64,
    pub partitions: u64,
    /// Names of hosts that are killed: a job may be given up because of them.
    pub gone: BTreeSet<String>,
    /// Whether something is cut off or still for as long as hosts wait for each other: a job may be given up because of anybody.
    pub cut_off: bool,
}

/// The channel from one node to its neighbour.
pub(crate) fn channel(topology: &Topology, from: NodeId, to: NodeId) -> Option<ChannelId> {
    let link = topology.link_between(from, to)?;
    let backwards = topology.link(link).ends[0] != from;
    Some(ChannelId(2 * link.index() as u32 + u32::from(backwards)))
}

impl Script {
    /// Resolves the names; `patience` is how long hosts wait for each other.
    pub fn new(topology: &Topology, faults: &Faults, patience: Span) -> Result<Self, Error> {
        let channels = 2 * topology.links().len();
        let mut script = Self {
            steps: Vec::new(),
            links: vec![LinkFaults::default(); channels],
            flows: Vec::new(),
            queue: faults.queue,
            jitter: faults.jitter,
            bounces: 0,
            partitions: 0,
            gone: BTreeSet::new(),
            cut_off: false,
        };
        for (index, entry) in faults.links.iter().enumerate() {
            let reader = Reader { topology, place: format!("links[{index}]") };
            script.link(&reader, entry)?;
        }
        for (index, event) in faults.events.iter().enumerate() {
            let reader = Reader { topology, place: format!("events[{index}]") };
            script.event(&reader, event, patience)?;
        }
        script.steps.sort_by_key(|(at, _)| *at);
        for (index, flow) in faults.background.iter().enumerate() {
            let reader = Reader { topology, place: format!("background[{index}]") };
            script.flows.push(reader.flow(flow)?);
        }
        Ok(script)
    }

    fn link(&mut self, reader: &Reader<'_>, entry: &LinkFaults) -> Result<(), Error> {
        for (what, share, by) in
            [("reorder", entry.reorder, entry.reorder_by), ("delay", entry.delay, entry.delay_by)]
        {
            if share.get() > 0.0 && by.is_none_or(|by| by == Span(0)) {
                return Err(reader.wrong(format!("{what} without {what}_by; say by how much, like 1 ms")));
            }
        }
        match &entry.link {
            None => self.links.fill(entry.clone()),
            Some(ends) => self.links[reader.channel(ends)?.0 as usize] = entry.clone(),
        }
        Ok(())
    }

    fn event(&mut self, reader: &Reader<'_>, event: &FaultEvent, patience: Span) -> Result<(), Error> {
        let FaultEvent {
            at,
            lasts,
            restart,
            link_down,
            bounce,
            pause,
            crash,
            partition,
            stale,
            forge,
            count,
        } = event;
        let at = *at;
        let actions = [
            restart.is_some(),
            link_down.is_some(),
            bounce.is_some(),
            pause.is_some(),
            crash.is_some(),
            partition.is_some(),
            stale.is_some(),
            forge.is_some(),
        ];
        if actions.iter().filter(|given| **given).count() != 1 {
            let all = "restart, link_down, bounce, pause, crash, partition, stale or forge";
            return Err(reader.wrong(format!("it needs exactly one of {all}")));
        }
        let counted = stale.is_some() || forge.is_some();
        if counted != count.is_some() || (counted && lasts.is_some()) {
            let problem = "stale and forge take a count, and only they do; a span is for the others";
            return Err(reader.wrong(problem.into()));
        }
        let until = || match lasts {
            Some(lasts) => Ok(Span(at.0.saturating_add(lasts.0))),
            None => Err(reader.wrong("for is missing; say how long it lasts, like 10 ms".into())),
        };
        let long = lasts.is_some_and(|lasts| lasts.0 >= patience.0 / 2);
        if let Some(name) = restart {
            let switch = reader.node(name, &[NodeKind::Switch])?;
            self.span(at, until()?, Step::Wipe(switch), Step::Install(switch));
        }
        if let Some(name) = pause {
            let host = reader.node(name, &[NodeKind::Worker, NodeKind::Server])?;
            self.span(at, until()?, Step::Pause(host), Step::Resume(host));
        }
        if let Some(name) = crash {
            let host = reader.node(name, &[NodeKind::Worker, NodeKind::Server])?;
            self.steps.push((at, Step::Crash(host)));
            if lasts.is_some() {
                if reader.topology.node(host).kind == NodeKind::Worker {
                    let mend = "a worker that was killed has lost its job: leave `for` out";
                    return Err(reader.wrong(mend.to_owned()));
                }
                self.steps.push((until()?, Step::Start(host)));
            }
        }
        if let Some(ends) = link_down {
            let until = until()?;
            self.down(at, until, reader.channel(ends)?);
        }
        if let Some(name) = bounce {
            let host = reader.node(name, &[NodeKind::Worker, NodeKind::Server])?;
            let until = until()?;
            self.bounces += 1;
            for link in reader.topology.links().iter().filter(|link| link.ends.contains(&host)) {
                let [a, b] = link.ends;
                self.down(at, until, channel(reader.topology, a, b).expect("they are a link's ends"));
            }
        }
        if let Some(names) = partition {
            let all = [NodeKind::Switch, NodeKind::Worker, NodeKind::Server];
            let nodes =
                names.iter().map(|name| reader.node(name, &all)).collect::<Result<BTreeSet<_>, _>>()?;
            let until = until()?;
            self.partitions += 1;
            for link in reader.topology.links() {
                let [a, b] = link.ends;
                if nodes.contains(&a) != nodes.contains(&b) {
                    self.down(at, until, channel(reader.topology, a, b).expect("they are a link's ends"));
                }
            }
        }
        if let (Some(name), Some(count)) = (stale, count) {
            let host = reader.node(name, &[NodeKind::Worker, NodeKind::Server])?;
            self.steps.push((at, Step::Stale(host, *count)));
        }
        if let (Some(name), Some(count)) = (forge, count) {
            let host = reader.node(name, &[NodeKind::Worker, NodeKind::Server])?;
            self.steps.push((at, Step::Forge(host, *count)));
        }
        self.gone.extend(crash.clone());
        self.cut_off |= long && crash.is_none();
        Ok(())
    }

    fn span(&mut self, at: Span, until: Span, first: Step, last: Step) {
        self.steps.extend([(at, first), (until, last)]);
    }

    fn down(&mut self, at: Span, until: Span, channel: ChannelId) {
        for channel in [channel, ChannelId(channel.0 ^ 1)] {
            self.span(at, until, Step::Down(channel), Step::Up(channel));
        }
    }
}

/// One entry of the document, for errors that name it.
struct Reader<'a> {
    topology: &'a Topology,
    place: String,
}

impl Reader<'_> {
    fn wrong(&self, problem: String) -> Error {
        Error::Faults { place: self.place.clone(), problem }
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

    fn channel(&self, ends: &[String; 2]) -> Result<ChannelId, Error> {
        let all = [NodeKind::Switch, NodeKind::Worker, NodeKind::Server];
        let [from, to] = [self.node(&ends[0], &all)?, self.node(&ends[1], &all)?];
        let missing = || self.wrong(format!("there is no link between {} and {}", ends[0], ends[1]));
        channel(self.topology, from, to).ok_or_else(missing)
    }

    fn flow(&self, flow: &Background) -> Result<Flow, Error> {
        let hosts = [NodeKind::Worker, NodeKind::Server];
        let (from, to) = (self.node(&flow.from, &hosts)?, self.node(&flow.to, &hosts)?);
        if from == to {
            return Err(self.wrong(format!("from {0} to {0}; name two hosts", flow.from)));
        }
        if !Background::FRAME_BYTES.contains(&flow.frame_bytes) {
            let (least, most) = (Background::FRAME_BYTES.start(), Background::FRAME_BYTES.end());
            return Err(self.wrong(format!("frames of {} B; give {least} to {most}", flow.frame_bytes)));
        }
        let gap = 8e9 * f64::from(flow.frame_bytes) / flow.rate_bps;
        match flow.rate_bps > 0.0 && gap >= 1.0 {
            true => Ok(Flow { from, to, gap: Span(gap as u64), frame_bytes: flow.frame_bytes }),
            false => Err(self.wrong(format!("a rate of {} bit/s; give one like 1 Gbps", flow.rate_bps))),
        }
    }
}
