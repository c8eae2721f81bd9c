//! What goes wrong in an emulation: the faults of `docs/simulation.md` on the processes and links of one network.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use inart_planner::{NodeKind, Topology};
use inart_simulator::Faults;
use inart_simulator::faults::{Background, FaultEvent, LinkFaults};
use inart_simulator::quantity::{Share, Span};

use crate::error::Error;

/// What the controller is called in a document of faults.
const CONTROLLER: &str = "controller";
/// The longest frame that the emulator's interfaces send.
const LONGEST_FRAME: u16 = 1514;

/// What can be killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Victim {
    /// A switch's process.
    Switch(String),
    /// The controller.
    Controller,
    /// All processes of a host.
    Host(String),
}

/// Something that is done at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// By SIGKILL.
    Kill(Victim),
    /// Again.
    Start(Victim),
    /// All processes of a host, by SIGSTOP.
    Pause(String),
    /// By SIGCONT.
    Resume(String),
    /// A host's own interface, in the kernel.
    InterfaceDown(String),
    /// Again.
    InterfaceUp(String),
    /// A link, by its number in the topology, in both directions.
    Down(usize, String),
    /// Again.
    Up(usize, String),
}

impl Step {
    /// Whether it ends a fault, rather than beginning one.
    pub fn mends(&self) -> bool {
        matches!(self, Step::Start(_) | Step::Resume(_) | Step::InterfaceUp(_) | Step::Up(..))
    }
}

impl fmt::Display for Victim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Victim::Switch(name) => write!(f, "switch {name}"),
            Victim::Controller => f.write_str("the controller"),
            Victim::Host(name) => write!(f, "host {name}"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Kill(victim) => write!(f, "{victim} killed"),
            Step::Start(victim) => write!(f, "{victim} started again"),
            Step::Pause(host) => write!(f, "host {host} stopped"),
            Step::Resume(host) => write!(f, "host {host} goes on"),
            Step::InterfaceDown(host) => write!(f, "interface of host {host} down"),
            Step::InterfaceUp(host) => write!(f, "interface of host {host} up"),
            Step::Down(_, link) => write!(f, "link {link} down"),
            Step::Up(_, link) => write!(f, "link {link} up"),
        }
    }
}

/// Faults with their names resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// By time since the workers of a scheme are there.
    pub steps: Vec<(Duration, Step)>,
    /// By direction of the links: 2n from the first to the second end of link n, 2n + 1 back.
    pub links: Vec<LinkFaults>,
    /// Other traffic, at unscaled rates.
    pub flows: Vec<Background>,
}

impl Script {
    /// Resolves the names; every link drops the share `drop` if `faults` says nothing else of it.
    pub fn new(topology: &Topology, faults: &Faults, drop: Share) -> Result<Self, Error> {
        let every = LinkFaults { drop, ..LinkFaults::default() };
        let links = vec![every; 2 * topology.links().len()];
        let mut script = Self { steps: Vec::new(), links, flows: Vec::new() };
        for (index, entry) in faults.links.iter().enumerate() {
            script.link(&Reader { topology, place: format!("links[{index}]") }, entry)?;
        }
        for (index, event) in faults.events.iter().enumerate() {
            script.event(&Reader { topology, place: format!("events[{index}]") }, event)?;
        }
        script.steps.sort_by_key(|(at, _)| *at);
        for (index, flow) in faults.background.iter().enumerate() {
            let reader = Reader { topology, place: format!("background[{index}]") };
            reader.node(&flow.from, &HOSTS)?;
            reader.node(&flow.to, &HOSTS)?;
            if flow.from == flow.to
                || !(64..=LONGEST_FRAME).contains(&flow.frame_bytes)
                || flow.rate_bps <= 0.0
            {
                return Err(reader
                    .wrong(format!("name two hosts, a rate above 0 and frames of 64 to {LONGEST_FRAME} B")));
            }
            script.flows.push(flow.clone());
        }
        Ok(script)
    }

    /// Whether frames have to pass the relay.
    pub fn touches_links(&self) -> bool {
        let faulty =
            |faults: &LinkFaults| LinkFaults { link: None, ..faults.clone() } != LinkFaults::default();
        self.links.iter().any(faulty) || self.steps.iter().any(|(_, step)| matches!(step, Step::Down(..)))
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
            Some(ends) => {
                let (link, backwards) = reader.link(ends)?;
                self.links[2 * link + usize::from(backwards)] = entry.clone();
            }
        }
        Ok(())
    }

    fn event(&mut self, reader: &Reader<'_>, event: &FaultEvent) -> Result<(), Error> {
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
            count: _,
        } = event;
        if stale.is_some() || forge.is_some() {
            let problem = "stale and forged frames are for `inart simulate`; leave them out here";
            return Err(reader.wrong(problem.into()));
        }
        let given = [
            restart.is_some(),
            link_down.is_some(),
            bounce.is_some(),
            pause.is_some(),
            crash.is_some(),
            partition.is_some(),
        ];
        if given.iter().filter(|given| **given).count() != 1 {
            let all = "restart, link_down, bounce, pause, crash or partition";
            return Err(reader.wrong(format!("it needs exactly one of {all}")));
        }
        let at = Duration::from_nanos(at.0);
        let until = || match lasts {
            Some(lasts) => Ok(at + Duration::from_nanos(lasts.0)),
            None => Err(reader.wrong("for is missing; say how long it lasts, like 300 ms".into())),
        };
        if let Some(name) = restart {
            let victim = match name.as_str() {
                CONTROLLER if reader.topology.node_named(name).is_none() => Victim::Controller,
                _ => {
                    reader.node(name, &[NodeKind::Switch])?;
                    Victim::Switch(name.clone())
                }
            };
            self.steps.push((at, Step::Kill(victim.clone())));
            self.steps.push((until()?, Step::Start(victim)));
        }
        if let Some(name) = bounce {
            reader.node(name, &HOSTS)?;
            self.steps.push((at, Step::InterfaceDown(name.clone())));
            self.steps.push((until()?, Step::InterfaceUp(name.clone())));
        }
        if let Some(name) = pause {
            reader.node(name, &HOSTS)?;
            self.steps.push((at, Step::Pause(name.clone())));
            self.steps.push((until()?, Step::Resume(name.clone())));
        }
        if let Some(name) = crash {
            reader.node(name, &HOSTS)?;
            self.steps.push((at, Step::Kill(Victim::Host(name.clone()))));
            if lasts.is_some() {
                self.steps.push((until()?, Step::Start(Victim::Host(name.clone()))));
            }
        }
        if let Some(ends) = link_down {
            self.down(at, until()?, reader.link(ends)?.0, reader.topology);
        }
        if let Some(names) = partition {
            let inside = names.iter().map(|name| {
                reader.node(name, &[NodeKind::Switch, NodeKind::Worker, NodeKind::Server])?;
                Ok(name.as_str())
            });
            let inside = inside.collect::<Result<BTreeSet<&str>, Error>>()?;
            let until = until()?;
            for (index, link) in reader.topology.links().iter().enumerate() {
                let [a, b] = link.ends.map(|end| inside.contains(reader.topology.node(end).name.as_str()));
                if a != b {
                    self.down(at, until, index, reader.topology);
                }
            }
        }
        Ok(())
    }

    fn down(&mut self, at: Duration, until: Duration, link: usize, topology: &Topology) {
        let ends = topology.links()[link].ends.map(|end| topology.node(end).name.as_str());
        self.steps.push((at, Step::Down(link, ends.join("-"))));
        self.steps.push((until, Step::Up(link, ends.join("-"))));
    }
}

const HOSTS: [NodeKind; 2] = [NodeKind::Worker, NodeKind::Server];

/// One entry of the document, for errors that name it.
struct Reader<'a> {
    topology: &'a Topology,
    place: String,
}

impl Reader<'_> {
    fn wrong(&self, problem: String) -> Error {
        Error::Option { option: "--faults", problem: format!("{}: {problem}", self.place) }
    }

    fn node(&self, name: &str, kinds: &[NodeKind]) -> Result<inart_planner::NodeId, Error> {
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

    /// The number of the link between two nodes, and whether it is listed the other way round.
    fn link(&self, ends: &[String; 2]) -> Result<(usize, bool), Error> {
        let all = [NodeKind::Switch, NodeKind::Worker, NodeKind::Server];
        let [from, to] = [self.node(&ends[0], &all)?, self.node(&ends[1], &all)?];
        let link = self.topology.link_between(from, to);
        let link =
            link.ok_or_else(|| self.wrong(format!("there is no link between {} and {}", ends[0], ends[1])))?;
        Ok((link.index(), self.topology.link(link).ends[0] != from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPOLOGY: &str = "{name: t, nodes: [{name: w, kind: worker}, {name: v, kind: switch},
        {name: s, kind: server}], links: [{ends: [w, v], rate: 8 Mbps}, {ends: [s, v], rate: 5 Mbps}]}";

    fn script(faults: &str) -> Result<Script, String> {
        let topology = Topology::from_yaml(TOPOLOGY).expect("valid");
        let faults = Faults::from_yaml(faults).expect("a document");
        Script::new(&topology, &faults, "1%".parse().expect("a share")).map_err(|error| error.to_string())
    }

    #[test]
    fn names_become_processes_and_links() {
        let script = script(
            "{links: [{link: [v, s], duplicate: 5%}], events: [{at: 2 s, restart: v, for: 300 ms},
              {at: 1 s, restart: controller, for: 1 s}, {at: 0 s, partition: [w], for: 1 ms},
              {at: 3 s, bounce: s, for: 100 ms}]}",
        )
        .expect("valid");
        assert_eq!(script.links[0].drop.get(), 0.01);
        assert_eq!((script.links[3].drop.get(), script.links[3].duplicate.get()), (0.0, 0.05));
        let said: Vec<_> =
            script.steps.iter().map(|(at, step)| format!("{} {step}", at.as_millis())).collect();
        assert_eq!(
            said,
            [
                "0 link w-v down",
                "1 link w-v up",
                "1000 the controller killed",
                "2000 switch v killed",
                "2000 the controller started again",
                "2300 switch v started again",
                "3000 interface of host s down",
                "3100 interface of host s up"
            ]
        );
        assert!(script.touches_links());
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (faults, named) in [
            ("{events: [{at: 1 s, restart: w, for: 1 s}]}", "events[0]: w is a worker; name a switch"),
            ("{events: [{at: 1 s, restart: v}]}", "events[0]: for is missing"),
            ("{events: [{at: 1 s, crash: x}]}", "events[0]: topology t has no node x"),
            ("{events: [{at: 1 s}]}", "exactly one of"),
            (
                "{events: [{at: 1 s, bounce: v, for: 1 s}]}",
                "events[0]: v is a switch; name a worker or server",
            ),
            ("{events: [{at: 1 s, bounce: w}]}", "events[0]: for is missing"),
            ("{events: [{at: 1 s, stale: w, count: 1}]}", "inart simulate"),
            ("{events: [{at: 1 s, link_down: [w, s], for: 1 s}]}", "no link between w and s"),
            ("{links: [{reorder: 1%}]}", "links[0]: reorder without reorder_by"),
            ("{background: [{from: w, to: w, rate: 1 Mbps}]}", "background[0]: name two hosts"),
        ] {
            let problem = script(faults).expect_err(faults);
            assert!(problem.starts_with("--faults: ") && problem.contains(named), "{problem}");
        }
    }
}
