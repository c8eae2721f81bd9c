//! Handles messages of workers.

use std::time::Duration;

use inart_protocol_ps::WorkerNo;

use super::{ServerAgent, ServerReport};
use crate::chunk::{Precision, Tag};
use crate::incoming::{Incoming, spans};
use crate::message::{Arrived, Body, Hello, Message, NotPermitted, Pull, Span, Unknown, Welcome};
use crate::outgoing::Outgoing;
use crate::sequencer::Sequencer;

impl<S: Sequencer> ServerAgent<S> {
    pub(super) fn message(&mut self, worker: WorkerNo, message: Message, now: Duration) {
        let Message { worker_incarnation, server_incarnation, body } = message;
        if let Some(Body::Hello(hello)) = body {
            return self.hello(worker, worker_incarnation, &hello, now);
        }
        if self.links[worker.index()].incarnation != Some(worker_incarnation)
            || server_incarnation != self.setup.incarnation
        {
            self.counters.stale_incarnation += 1;
            return self.send(worker, worker_incarnation, Body::Unknown(Unknown {}));
        }
        match body {
            Some(Body::Request(_)) => self.request(worker, now),
            Some(Body::Pull(pull)) => self.pull(worker, worker_incarnation, &pull, now),
            _ => self.counters.malformed += 1,
        }
    }

    fn hello(&mut self, worker: WorkerNo, incarnation: u32, hello: &Hello, now: Duration) {
        if let Some(why) = self.reason(worker, hello) {
            return self.refuse(worker, incarnation, why);
        }
        if self.sequencer.is_left_out(worker) {
            let link = &mut self.links[worker.index()];
            (link.incarnation, link.is_notified) = (Some(incarnation), true);
            return self.leave_out(worker);
        }
        let link = &mut self.links[worker.index()];
        (link.is_met, link.is_notified) = (true, false);
        let is_new = link.incarnation != Some(incarnation);
        // An earlier hello of the previous connection may arrive late. The worker ignores its answer, and
        // what follows that, while it waits for the answer to this one.
        if is_new || hello.number > link.hellos {
            link.lane.clear_waiting();
            link.hellos = hello.number;
        }
        if is_new || self.sequencer.is_away(worker) && !self.is_closing {
            link.forget();
            (link.incarnation, link.arrived) = (Some(incarnation), link.arrived.filter(|_| !is_new));
            if !self.is_closing {
                self.sequencer.join(worker, now);
                self.outputs.push_back(ServerReport::Joined { worker });
            }
        }
        let (arrived, missing) = self.phase(worker, hello);
        let welcome = Welcome {
            number: hello.number,
            chunk_values: self.setup.chunk_values as u32,
            is_half: self.setup.precision == Precision::Half,
            arrived: arrived.into(),
            missing,
            training: self.training.number,
        };
        self.send(worker, incarnation, Body::Welcome(welcome));
    }

    /// Returns the state of the permission in a hello.
    fn phase(&self, worker: WorkerNo, hello: &Hello) -> (Arrived, Vec<Span>) {
        let link = &self.links[worker.index()];
        if hello.ticket_of != self.setup.incarnation || hello.ticket == 0 {
            return (Arrived::Void, Vec::new());
        }
        if link.ticket.is_some_and(|ticket| ticket.number == hello.ticket) {
            let chunks = self.sequencer.values().len().div_ceil(self.setup.chunk_values) as u32;
            let missing = link.incoming.as_ref().map_or_else(|| spans(0..chunks), Incoming::missing);
            return (Arrived::Open, missing);
        }
        let is_whole = link.arrived == Some(hello.ticket);
        (if is_whole { Arrived::Whole } else { Arrived::Void }, Vec::new())
    }

    fn request(&mut self, worker: WorkerNo, now: Duration) {
        if self.is_closing && !self.sequencer.is_working(worker) {
            return;
        }
        match &mut self.gathering {
            Some(asked) => drop(asked.insert(worker)),
            None => {
                if self.sequencer.is_away(worker) {
                    self.links[worker.index()].forget();
                    self.outputs.push_back(ServerReport::Joined { worker });
                }
                self.sequencer.request(worker, now);
            }
        }
    }

    fn pull(&mut self, worker: WorkerNo, incarnation: u32, pull: &Pull, now: Duration) {
        let link = &mut self.links[worker.index()];
        let ticket = pull.ticket;
        if link.ticket.is_none_or(|own| own.number != ticket) {
            self.counters.not_permitted += 1;
            return self.send(worker, incarnation, Body::NotPermitted(NotPermitted { ticket }));
        }
        if pull.attempt <= link.attempt {
            self.counters.pulls_repeated += 1;
            return;
        }
        link.attempt = pull.attempt;
        // A permission has one version: chunks in flight from the previous connection stay valid.
        if let Some(outgoing) = &mut link.outgoing {
            if outgoing.values().is_none() {
                // All chunks have been acknowledged since the worker sent this.
                self.counters.pulls_repeated += 1;
                return;
            }
            let all = [Span { first: 0, count: u32::MAX }];
            return outgoing.resume(if pull.resumes { &pull.missing } else { &all });
        }
        let Some(version) = self.sequencer.pull(worker, now) else {
            self.counters.not_permitted += 1;
            return self.send(worker, incarnation, Body::NotPermitted(NotPermitted { ticket }));
        };
        let tag = Tag {
            worker_incarnation: incarnation,
            server_incarnation: self.setup.incarnation,
            ticket,
            version,
        };
        let outgoing = Outgoing::new(tag, self.model(), self.flow(worker));
        let link = &mut self.links[worker.index()];
        (link.base, link.outgoing, link.pulled_at) = (version, Some(outgoing), Some(now));
        self.outputs.push_back(ServerReport::Pulls { worker, version });
    }
}
