//! All possible next steps of a training.

use std::time::Duration;

use inart_connections::Machine as _;

use super::mistakes::Mistake;
use super::world::{Host, LONG, Packet, SERVER, State, World, number};

/// Next step.
#[derive(Debug, Clone)]
#[allow(dead_code, reason = "the steps of a state are read as text")]
pub enum Step {
    Arrives(Packet),
    /// Reported failure of a packet, and whether it arrives nevertheless.
    Fails(Packet, bool),
    Computed {
        worker: usize,
        is_finite: bool,
    },
    Connects(usize),
    IsCutOff(usize),
    IsGone(usize),
    StartsAgain(usize),
    ServerStartsAgain,
    ItIs(Duration),
}

impl State {
    /// Returns whether no step is pending without a failure.
    pub fn is_quiet(&self) -> bool {
        let rests =
            |host: &Host| host.agent.is_none() || host.computing.is_none() && host.connection.is_some();
        !self.net.iter().any(|packet| self.is_live(packet)) && self.hosts.iter().all(rests)
    }

    /// Returns all possible next steps, with their states.
    pub fn successors(&self, world: &World) -> Vec<(Step, State)> {
        let mut all = self.packets_end(world);
        for worker in 0..world.workers {
            self.compute(world, worker, &mut all);
            self.connect_or_cut(world, worker, &mut all);
            self.restart_or_fail(world, worker, &mut all);
        }
        self.restart_server(world, &mut all);
        self.wait(world, &mut all);
        all
    }

    fn packets_end(&self, world: &World) -> Vec<(Step, State)> {
        let mut all = Vec::new();
        for at in 0..self.net.len() {
            let mut next = self.clone();
            let packet = next.net.remove(at);
            let mut arrives = next.clone();
            arrives.arrive(world, &packet);
            arrives.end(&packet, true);
            all.push((Step::Arrives(packet.clone()), arrives));
            // A packet of an ended connection may be lost.
            if self.is_live(&packet) && self.budget.failures > 0 {
                next.budget.failures -= 1;
                let mut arrives = next.clone();
                arrives.arrive(world, &packet);
                for (has_arrived, mut next) in [(true, arrives), (false, next)] {
                    next.end(&packet, world.mistake == Mistake::LostIsTaken);
                    all.push((Step::Fails(packet.clone(), has_arrived), next));
                }
            }
        }
        all
    }

    fn compute(&self, world: &World, worker: usize, all: &mut Vec<(Step, State)>) {
        let host = &self.hosts[worker];
        let Some((ticket, base, values)) = &host.computing else { return };
        // Otherwise asynchronous workers could run ahead without end while others do nothing.
        let is_far = self.truth.done()[worker] > world.iterations;
        if host.agent.is_none() || is_far && !self.server.is_closing() {
            return;
        }
        for is_finite in [true, false] {
            let (mut next, mut values) = (self.clone(), values.clone());
            if !is_finite {
                if self.budget.not_finite == 0 {
                    continue;
                }
                next.budget.not_finite -= 1;
                values[world.values - 1] = f32::from_bits(0x7fc0_0000 + host.computed);
            }
            next.truth.computed(worker, *base, &world.arriving(&values));
            let host = &mut next.hosts[worker];
            host.computing = None;
            host.agent.as_mut().unwrap().computed(*ticket, values).unwrap();
            all.push((Step::Computed { worker, is_finite }, next));
        }
    }

    fn connect_or_cut(&self, world: &World, worker: usize, all: &mut Vec<(Step, State)>) {
        let host = &self.hosts[worker];
        if host.connection.is_none() && host.agent.is_some() {
            let mut next = self.clone();
            let host = &mut next.hosts[worker];
            host.connections += 1;
            host.connection = Some(host.connections);
            if world.mistake != Mistake::NoDown || host.connections == 1 {
                next.server.up(number(worker), self.now);
            }
            host.agent.as_mut().unwrap().up(SERVER, self.now);
            all.push((Step::Connects(worker), next));
        } else if host.connection.is_some() && self.budget.cuts > 0 {
            let mut next = self.clone();
            next.budget.cuts -= 1;
            next.cut(world, worker);
            all.push((Step::IsCutOff(worker), next));
        }
    }

    /// Drops packets to the worker's previous process.
    fn restart_or_fail(&self, world: &World, worker: usize, all: &mut Vec<(Step, State)>) {
        let may = self.budget.gone > 0 || self.budget.worker > 0;
        if !may || self.hosts[worker].connection.is_none() {
            return;
        }
        let mut next = self.clone();
        next.cut(world, worker);
        next.net.retain(|packet| packet.to_server || packet.worker != worker);
        next.hosts[worker].computing = None;
        if self.budget.gone > 0 {
            let mut next = next.clone();
            next.budget.gone -= 1;
            next.hosts[worker].agent = None;
            all.push((Step::IsGone(worker), next));
        }
        if self.budget.worker > 0 {
            let host = &mut next.hosts[worker];
            host.incarnations += 1;
            host.agent = Some(world.worker(world.incarnation(worker, host.incarnations)));
            next.budget.worker -= 1;
            all.push((Step::StartsAgain(worker), next));
        }
    }

    fn restart_server(&self, world: &World, all: &mut Vec<(Step, State)>) {
        if self.budget.server == 0 || self.hosts.iter().all(|host| host.connection.is_none()) {
            return;
        }
        let mut next = self.clone();
        next.budget.server -= 1;
        (0..world.workers).for_each(|worker| next.cut(world, worker));
        next.net.retain(|packet| !packet.to_server);
        next.server_incarnations += 1;
        let incarnation =
            if world.mistake == Mistake::ServersIncarnation { 1 } else { next.server_incarnations };
        let mut kept = next.kept.clone();
        match world.mistake {
            Mistake::Version => (kept.version, kept.done) = (0, vec![0; world.workers]),
            Mistake::Done => kept.done.fill(0),
            Mistake::Ahead => {
                let most = kept.done.iter().copied().max().unwrap_or_default();
                kept.done.fill(most);
            }
            Mistake::Left => kept.members[0] = false,
            _ => {}
        }
        next.truth.restarted();
        next.server = world.server(incarnation, kept, self.now);
        all.push((Step::ServerStartsAgain, next));
    }

    /// Advances the time: in short steps, with few long ones; timers run when no other step is possible.
    fn wait(&self, world: &World, all: &mut Vec<(Step, State)>) {
        let is_waited = world.is_patient || self.hosts.iter().any(|host| host.connection.is_none());
        let mut next = self.clone();
        match self.server.wake_at() {
            Some(at) if self.is_quiet() && !self.server.is_over() && at > self.now => next.now = at,
            _ if self.budget.long > 0 && is_waited => {
                next.budget.long -= 1;
                next.now += LONG;
            }
            _ => return,
        }
        next.server.tick(next.now);
        all.push((Step::ItIs(next.now), next));
    }
}
