//! Switch ports of links, if the document states them.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::board::{self, Board, DEVICE_PORTS, LANES};
use super::{LinkId, NodeId, NodeKind, Topology};
use crate::NetworkError;
use crate::switch_port::SwitchPort;

type Result<T> = std::result::Result<T, NetworkError>;

impl Topology {
    /// Returns the `dev_port` of a switch that a link is connected to; `None` if the document does not state
    /// it, or the link does not end there.
    pub fn device_port(&self, link: LinkId, switch: NodeId) -> Option<u32> {
        let link = self.link(link);
        let end = link.ends.iter().position(|end| *end == switch)?;
        match link.ports[end]? {
            SwitchPort::Device(number) => Some(number),
            SwitchPort::Front { front, lane } => self.node(switch).board?.device_port(front, lane),
        }
    }

    /// Returns the ports that a link's entry names, by end. `place` is the link in words.
    pub(super) fn ports_of_link(
        &self,
        at: u64,
        place: &str,
        ends: [NodeId; 2],
        ports: IndexMap<String, SwitchPort>,
    ) -> Result<[Option<SwitchPort>; 2]> {
        let wrong = |problem: String, fix: String| NetworkError::new(at, place, problem, fix);
        let mut found = [None; 2];
        for (name, port) in ports {
            let Some(end) = ends.iter().position(|end| self.node(*end).name == name) else {
                let [a, b] = ends.map(|end| &self.node(end).name);
                return Err(wrong(
                    format!("`ports` names \"{name}\", which is not an end of the link"),
                    format!("its ends are {a} and {b}"),
                ));
            };
            let node = self.node(ends[end]);
            if node.kind != NodeKind::Switch {
                return Err(wrong(
                    format!("`ports` gives a port to {name}, a {}", node.kind),
                    "give ports to switches only".to_owned(),
                ));
            }
            is_there(&name, node.board, port).map_err(|(problem, fix)| wrong(problem, fix))?;
            found[end] = Some(port);
        }
        Ok(found)
    }

    /// Rejects a switch port with two links, and a switch with ports stated for some links only. `lines` are
    /// those of the links.
    pub(super) fn check_ports(&self, lines: &[u64]) -> Result<()> {
        let stated = |link: LinkId, end: usize| self.link(link).ports[end].is_some();
        let ends = || self.link_ids().flat_map(|link| [(link, 0), (link, 1)]);
        let states: HashMap<NodeId, LinkId> = ends()
            .filter(|(link, end)| stated(*link, *end))
            .map(|(link, end)| (self.link(link).ends[end], link))
            .collect();
        let mut taken: HashMap<(NodeId, u32), LinkId> = HashMap::new();
        for (link, end) in ends() {
            let switch = self.link(link).ends[end];
            let name = &self.node(switch).name;
            let wrong = |problem, fix| NetworkError::new(lines[link.index()], self.words(link), problem, fix);
            if !stated(link, end)
                && let Some(other) = states.get(&switch)
            {
                return Err(wrong(
                    format!("it has no port of {name}, but {} does", self.words(*other)),
                    format!("give a port of {name} to all of its links, or to none"),
                ));
            }
            let Some(number) = self.device_port(link, switch) else { continue };
            if let Some(other) = taken.insert((switch, number), link) {
                return Err(wrong(
                    format!("{} is at the same port of {name}, dev_port {number}", self.words(other)),
                    "give each link a port of its own".to_owned(),
                ));
            }
        }
        Ok(())
    }

    fn words(&self, link: LinkId) -> String {
        let [a, b] = self.link(link).ends.map(|end| self.node(end).name.as_str());
        format!("link {a}-{b}")
    }
}

/// Returns whether a switch with that board has the port; else the problem and the fix.
fn is_there(
    switch: &str,
    board: Option<Board>,
    port: SwitchPort,
) -> std::result::Result<(), (String, String)> {
    let numbers = || format!("give {switch}'s dev_port, a number below {DEVICE_PORTS}");
    match (port, board) {
        (SwitchPort::Front { lane, .. }, _) if lane >= LANES => Err((
            format!("port {port} of {switch}: a front port has no lane {lane}"),
            format!("lanes are 0 to {}; a port of four lanes is called after lane 0", LANES - 1),
        )),
        (SwitchPort::Front { .. }, None) => Err((
            format!("port {port} of {switch} is a front port, and {switch} names no board"),
            format!("give {switch} a `board`, such as {}, or {}", Board::Wedge100Bf32X, numbers()),
        )),
        (SwitchPort::Front { front, lane }, Some(board)) => match board.front_ports() {
            None => Err((
                format!("port {port} of {switch}: the front ports of {board} are not known here"),
                numbers(),
            )),
            Some(last) if board.device_port(front, lane).is_none() => Err((
                format!("port {port} of {switch}: {board} has no front port {front}"),
                format!("its front ports are 1 to {last}"),
            )),
            Some(_) => Ok(()),
        },
        (SwitchPort::Device(number), Some(board)) if !board.has(number) => Err((
            format!("port {number} of {switch}: {board} has no such dev_port at its front"),
            "docs/how-to/deploy-tofino.md lists its ports".to_owned(),
        )),
        (SwitchPort::Device(number), _) if board::recirculates(number) => Err((
            format!("port {number} of {switch}: it is a loopback port on every Tofino"),
            format!("{}, and not 68 of a pipe", numbers()),
        )),
        (SwitchPort::Device(number), None) if number >= DEVICE_PORTS => {
            Err((format!("port {number} of {switch}: no Tofino has such a dev_port"), numbers()))
        }
        (SwitchPort::Device(_), _) => Ok(()),
    }
}
