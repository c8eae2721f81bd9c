//! Forwarding of sums from parameter servers to a larger job, and of its results back.

use inart_protocol_aggregation::Assignment;

use crate::Error;
use crate::event_queue::{EventKind, ProcessId};
use crate::host::{Process, Role};
use crate::larger::{ENDED, ReturningSum, sum_of_all};
use crate::options::Options;
use crate::server::Server;
use crate::simulation::{Node, Simulation};

/// Delay before a result is delivered to a paused host again.
const AGAIN_NANOS: u64 = 1_000_000;

impl Simulation<'_> {
    /// Checks which jobs forward their sums.
    ///
    /// # Errors
    /// The first that cannot be so.
    pub(crate) fn check_onward(options: &Options, assignments: &[Assignment]) -> Result<(), Error> {
        let Some(onward) = &options.onward else { return Ok(()) };
        let wrong = |problem: String| Err(Error::Option { option: "onward", problem });
        for job in &onward.jobs {
            if assignments.iter().all(|assignment| assignment.name != *job) {
                return wrong(format!("the run has no job {job}; give a name of the topology"));
            }
        }
        if options.live.is_some() {
            return wrong("jobs come and go in this run; expected one of both".to_owned());
        }
        if onward.ends.is_some() && options.runs > 1 {
            let runs = options.runs;
            return wrong(format!("the larger job ends, and its parts run {runs} times; expected once"));
        }
        Ok(())
    }

    /// Returns whether that job forwards its sums.
    pub(crate) fn forwards_sums(&self, job: &str) -> bool {
        self.options.onward.as_ref().is_some_and(|onward| onward.jobs.iter().any(|name| name == job))
    }

    /// Plans that the larger job ends, if it does.
    pub(crate) fn plan_end_elsewhere(&mut self) {
        let Some(ends) = self.options.onward.as_ref().and_then(|onward| onward.ends) else { return };
        for id in (0..self.processes.len() as u32).map(ProcessId) {
            if self.forwards_sums(&self.processes[id.0 as usize].assignment.name) {
                self.wire.events.at(ends.0.max(1), EventKind::EndElsewhere(id));
            }
        }
    }

    /// Takes forwarded sums from a process, if it is such a server, and schedules the sum of all.
    pub(crate) fn take_sums(&mut self, id: ProcessId) {
        let (now, larger) = (self.wire.now, &mut self.larger);
        let Process { job, role, .. } = &mut self.processes[id.0 as usize];
        let Role::Server(Server::Onward(server, incarnation), shard) = role else { return };
        let state = &mut self.jobs[*job];
        let (Some(onward), Some(forwarded)) = (&self.options.onward, &mut state.rounds.forwarded) else {
            return;
        };
        while let Some(own) = server.next_sum() {
            self.wire.tally.sums_forwarded += 1;
            let others: Vec<_> = (0..forwarded.others()).map(|_| larger.drawn(&own)).collect();
            let all = sum_of_all(&own.values, &others);
            let (answer, read) = own.answer(&all);
            if let Err(problem) = forwarded.add(*shard, &own, &all, read) {
                state.wrong.get_or_insert(problem);
            }
            let delay = larger.delay(onward.within);
            self.wire.tally.long_delayed +=
                u64::from(u128::from(delay) >= self.options.peer_timeout.as_nanos());
            larger.returning.insert(larger.next, ReturningSum { to: id, incarnation: *incarnation, answer });
            self.wire.events.at(now + delay, EventKind::Back(larger.next));
            larger.next += 1;
        }
    }

    /// The sum of all for a chunk is back.
    pub(crate) fn deliver_result(&mut self, number: u32) {
        let Some(ReturningSum { to, .. }) = self.larger.returning.get(&number) else { return };
        let id = *to;
        let Process { job, host, role, .. } = &mut self.processes[id.0 as usize];
        if matches!(&self.nodes[*host], Node::Host(host) if host.paused > 0) {
            self.wire.events.at(self.wire.now + AGAIN_NANOS, EventKind::Back(number));
            return;
        }
        let Some(ReturningSum { incarnation, answer, .. }) = self.larger.returning.remove(&number) else {
            return;
        };
        // The server that forwarded the sum may have restarted; then no process receives the result.
        match role {
            Role::Server(Server::Onward(server, alive), shard)
                if *alive == incarnation && !self.larger.has_ended =>
            {
                let sequence = answer.sequence;
                if !server.sum_is_back(answer) && server.aborted().is_none() {
                    let wrong = format!("shard {shard}: the sum of all for chunk {sequence} is not taken");
                    self.jobs[*job].wrong.get_or_insert(wrong);
                }
                self.wire.tally.results_returned += 1;
                self.pump(id);
            }
            _ => {}
        }
    }

    /// Notifies a server of a part that the larger job has ended.
    pub(crate) fn end_elsewhere(&mut self, id: ProcessId) {
        self.wire.tally.ended_elsewhere += u64::from(!std::mem::replace(&mut self.larger.has_ended, true));
        let Process { host, role, .. } = &mut self.processes[id.0 as usize];
        if matches!(&self.nodes[*host], Node::Host(host) if host.paused > 0) {
            self.wire.events.at(self.wire.now + AGAIN_NANOS, EventKind::EndElsewhere(id));
        } else if let Role::Server(Server::Onward(server, _), _) = role {
            server.abort_elsewhere(ENDED);
            self.pump(id);
        }
    }

    /// Notifies a restarted server that the larger job has ended.
    pub(crate) fn notify_of_end(&mut self, id: ProcessId) {
        if self.larger.has_ended {
            self.end_elsewhere(id);
        }
    }
}
