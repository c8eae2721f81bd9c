//! Effects of the steps of the fault schedule.

use inart_switch::Switch;
use inart_topologies::faults::{Step, Victim};
use inart_topologies::switched::{LinkId, NodeId, NodeKind};
use inart_wire::{Frame, FrameRepr, HeaderRepr, PlanVersion};

use crate::Error;
use crate::event_queue::ChannelId;
use crate::host::{End, Process, Role};
use crate::simulation::{Node, Simulation};

impl Simulation<'_> {
    /// Executes a step of the fault schedule.
    pub(crate) fn step(&mut self, index: usize) -> Result<(), Error> {
        let step = self.schedule.steps[index].1;
        let now = self.wire.now;
        let name = |node: NodeId| self.network.topology.node(node).name.clone();
        match step {
            Step::Kill(Victim::Switch(node)) => {
                self.wire.log.note(now, || format!("{} restarts", name(node)));
                self.wire.tally.restarts += 1;
                if let Node::Switch(switch) = &mut self.nodes[node.index()] {
                    self.switched_before.add(&switch.switch);
                    switch.switch = Switch::new(0);
                    switch.switch.set_loopback([]);
                    switch.incarnation += 1;
                }
            }
            Step::Start(Victim::Switch(node)) => {
                self.wire.log.note(now, || format!("{} is installed again", name(node)));
                let follows = self.options.watch.as_ref().is_some_and(|watch| watch.follow.is_some());
                let tables = match self.options.changes.is_some() || self.options.live.is_some() || follows {
                    true => self.changing.tables[&name(node)].clone(),
                    false => self.network.reinstall(&name(node))?,
                };
                let ready = self.switch(&name(node), &tables)?;
                if let Node::Switch(switch) = &mut self.nodes[node.index()] {
                    (switch.switch, switch.tables) = (ready, tables);
                }
            }
            // The capabilities rule them out.
            Step::Kill(Victim::Controller) | Step::Start(Victim::Controller) => {}
            Step::LinkDown(link) => self.link_down(link),
            Step::LinkUp(link) => self.link_up(link),
            Step::InterfaceDown(host) => self.links_of(host).for_each(|link| self.link_down(link)),
            Step::InterfaceUp(host) => self.links_of(host).for_each(|link| self.link_up(link)),
            Step::Pause(node) => {
                self.wire.log.note(now, || format!("{} pauses", name(node)));
                self.wire.tally.pauses += 1;
                if let Node::Host(host) = &mut self.nodes[node.index()] {
                    host.paused += 1;
                }
            }
            Step::Resume(node) => {
                self.wire.log.note(now, || format!("{} resumed", name(node)));
                self.resume(node);
            }
            Step::Kill(Victim::Host(node)) => {
                self.wire.log.note(now, || format!("{} is killed", name(node)));
                self.crash(node);
            }
            Step::Start(Victim::Host(node)) => {
                self.wire.log.note(now, || format!("{} is started again", name(node)));
                self.start(node)?;
            }
            Step::Stale(node, count) => self.repeat_stale(node, count as usize),
            Step::Forge(node, count) => self.forge(node, count),
            // Its capabilities leave these out.
            Step::Slow(..) | Step::Fast(_) | Step::Disconnect(_) => {}
        }
        Ok(())
    }

    /// The links of a node.
    fn links_of(&self, node: NodeId) -> impl Iterator<Item = LinkId> + use<> {
        let links: Vec<_> = self.network.topology.neighbors(node).map(|(_, link)| link).collect();
        links.into_iter()
    }

    fn link_down(&mut self, link: LinkId) {
        for channel in ChannelId::of_link(link) {
            self.wire.log.link(self.wire.now, channel, "goes down");
            self.wire.tally.links_down += 1;
            self.wire.channels[channel.0 as usize].cut(self.wire.now);
        }
    }

    fn link_up(&mut self, link: LinkId) {
        for channel in ChannelId::of_link(link) {
            self.wire.log.link(self.wire.now, channel, "comes up");
            self.wire.channels[channel.0 as usize].down -= 1;
        }
    }

    /// Delivers the host's queued frames, then its timers.
    fn resume(&mut self, node: NodeId) {
        let Node::Host(host) = &mut self.nodes[node.index()] else { return };
        host.paused -= 1;
        if host.paused > 0 {
            return;
        }
        let (inbox, processes) = (std::mem::take(&mut host.inbox), host.processes.clone());
        for frame in inbox {
            self.deliver(node.index(), frame);
        }
        processes.into_iter().for_each(|id| self.pump(id));
    }

    fn crash(&mut self, node: NodeId) {
        match self.network.topology.node(node).kind {
            NodeKind::Worker => self.wire.tally.worker_crashes += 1,
            _ => self.wire.tally.server_crashes += 1,
        }
        let Node::Host(host) = &mut self.nodes[node.index()] else { return };
        for id in host.processes.clone() {
            self.kill_member(id);
            match &mut self.processes[id.0 as usize].role {
                Role::Worker(worker) if worker.end.is_none() => {
                    worker.end = Some(End::Killed);
                    self.ended(id);
                }
                Role::Worker(_) | Role::Gone(_) | Role::Absent => {}
                Role::Server(_, shard) => {
                    let gone = Role::Gone(*shard);
                    self.processes[id.0 as usize].role = gone;
                }
            }
        }
    }

    /// The servers of the host restart without their state.
    fn start(&mut self, node: NodeId) -> Result<(), Error> {
        let Node::Host(host) = &self.nodes[node.index()] else { return Ok(()) };
        for id in host.processes.clone() {
            self.revive_member(id);
            let Process { job, host, role, .. } = &self.processes[id.0 as usize];
            if let (Role::Gone(shard), job, host) = (role, *job, *host) {
                let (shard, peer_timeout) = (*shard, self.options.peer_timeout);
                let assignment = self.processes[id.0 as usize].assignment.clone();
                let incarnation = self.new_incarnation();
                let patience = (peer_timeout, self.forwards_sums(&assignment.name));
                self.processes[id.0 as usize] =
                    Process::server(&assignment, job, host, shard, incarnation, patience)?;
                self.wire.tally.server_restarts += 1;
                self.pump(id);
                self.instruct_restarted(id);
                self.notify_of_end(id);
            }
        }
        Ok(())
    }

    /// The host's last frames arrive again, with the number of the previous plan version.
    fn repeat_stale(&mut self, node: NodeId, count: usize) {
        let Node::Host(host) = &self.nodes[node.index()] else { return };
        let mut older = Vec::new();
        for bytes in host.sent.iter().take(count).rev() {
            let Ok(frame) = Frame::new_checked(bytes.as_slice()) else { continue };
            let Ok(header) = HeaderRepr::parse(&frame) else { continue };
            let repr = FrameRepr {
                destination: frame.destination(),
                source: frame.source(),
                values_per_frame: frame.values_per_frame(),
                header: HeaderRepr {
                    plan_version: PlanVersion::from(header.plan_version.get().wrapping_sub(1)),
                    ..header
                },
            };
            let mut stale = vec![0; repr.buffer_len()];
            let values: Vec<i32> = frame.values().take(header.length.into()).collect();
            if repr.emit(&values, &mut stale).is_ok() {
                older.push(stale);
            }
        }
        let channel = host.channel;
        for bytes in older {
            self.wire.tally.stale += 1;
            let frame = self.wire.frames.copy_of(&bytes);
            self.wire.transmit(channel, frame);
        }
    }
}
