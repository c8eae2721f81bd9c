//! Handles messages between a worker and the server.

use inart_protocol_ps::Step;
use inart_terms::one_line;

use super::{Current, Server, WorkerAgent, WorkerError, WorkerReport};
use crate::chunk::Precision;
use crate::message::{
    Arrived, Body, Hello, Message, Permit, Pushed, Request, Span, Waiting, Welcome, message_packet,
};

impl WorkerAgent {
    pub(super) fn send(&mut self, body: Body) {
        let server_incarnation = self.server.map_or(0, |server| server.incarnation);
        self.lane.push(message_packet(self.setup.incarnation, server_incarnation, body));
    }

    pub(super) fn hello(&mut self) {
        self.hellos += 1;
        self.is_welcome = false;
        let (ticket, ticket_of) =
            self.current.map_or((0, 0), |current| (current.ticket, current.server_incarnation));
        let values = self.setup.values as u64;
        let ((training, taken), terms) = (self.trained, self.terms.message());
        let (number, model) = (self.hellos, self.setup.model);
        let hello = Hello { number, model, values, ticket, ticket_of, terms, training, taken };
        self.lane.push(message_packet(self.setup.incarnation, 0, Body::Hello(hello)));
    }

    pub(super) fn message(&mut self, message: Message) {
        let Message { worker_incarnation, server_incarnation, body } = message;
        if worker_incarnation != self.setup.incarnation {
            self.counters.stale_incarnation += 1;
            // A late hello of the previous process of this worker has reached the server, which has admitted
            // that one.
            if self.is_up && matches!(body, Some(Body::Welcome(_))) {
                self.hello();
            }
            return;
        }
        match body {
            Some(Body::Welcome(welcome)) => return self.welcome(server_incarnation, &welcome),
            Some(Body::Refused(refused)) => {
                self.alone_since = None;
                return self.report(WorkerReport::Failed(WorkerError::Refused(one_line(&refused.why))));
            }
            Some(Body::Stopped(stopped)) => {
                self.alone_since = None;
                return self.report(WorkerReport::Failed(WorkerError::Stopped(one_line(&stopped.why))));
            }
            Some(Body::LeftOut(left_out)) => {
                (self.alone_since, self.is_over) = (None, true);
                return self.report(WorkerReport::LeftOut { why: one_line(&left_out.why) });
            }
            // The hello's answer is on its way: no request is needed.
            Some(Body::Unknown(_)) if self.is_welcome => return self.hello(),
            _ => {}
        }
        if !self.is_welcome || self.server.is_none_or(|server| server.incarnation != server_incarnation) {
            self.counters.stale_incarnation += 1;
            return;
        }
        match body {
            Some(Body::Permit(permit)) => self.permit(server_incarnation, &permit),
            Some(Body::Pushed(pushed)) => self.pushed(pushed),
            Some(Body::NotPermitted(not)) if self.current.is_some_and(|own| own.ticket == not.ticket) => {
                self.start_again();
            }
            Some(Body::Over(over)) => {
                self.is_over = true;
                self.report(WorkerReport::Over { version: over.version });
            }
            Some(Body::Waiting(Waiting { why })) => {
                self.report(WorkerReport::Waiting { why: one_line(&why) });
            }
            Some(Body::NotPermitted(_)) => self.counters.repeated += 1,
            _ => self.counters.malformed += 1,
        }
    }

    fn welcome(&mut self, incarnation: u32, welcome: &Welcome) {
        // A late answer may belong to an ended connection.
        if !self.is_up || self.is_welcome || welcome.number != self.hellos {
            self.counters.repeated += 1;
            return;
        }
        let precision = if welcome.is_half { Precision::Half } else { Precision::Single };
        let chunk_values = welcome.chunk_values as usize;
        if chunk_values == 0 {
            self.counters.malformed += 1;
            return;
        }
        if self.server.is_none_or(|server| server.incarnation != incarnation) {
            self.newest = 0;
        }
        self.server = Some(Server { incarnation, chunk_values, precision, training: welcome.training });
        (self.is_welcome, self.alone_since) = (true, None);
        let arrived = Arrived::try_from(welcome.arrived).unwrap_or(Arrived::Void);
        match (self.current, arrived) {
            (Some(_), Arrived::Open) => self.resume(&welcome.missing),
            (Some(current), Arrived::Whole) => {
                let taken = Pushed { ticket: current.ticket, is_taken: true, refusal: String::new() };
                self.pushed(taken);
            }
            _ => self.start_again(),
        }
    }

    /// Resumes on a new connection with a valid permission.
    fn resume(&mut self, missing: &[Span]) {
        match (self.machine.reconnected(), &mut self.outgoing) {
            (Step::Pull { .. }, _) => self.pull(),
            (Step::Push { .. }, Some(outgoing)) => outgoing.resume(missing),
            // The worker computes.
            _ => {}
        }
    }

    /// Voids the current permission and requests a new one.
    fn start_again(&mut self) {
        self.machine.start();
        (self.current, self.incoming, self.outgoing) = (None, None, None);
        self.send(Body::Request(Request {}));
    }

    fn permit(&mut self, server_incarnation: u32, permit: &Permit) {
        let &Permit { ticket, iteration, batch } = permit;
        // Permission numbers ascend. A late permission of an ended connection may arrive when its iteration
        // is done.
        if ticket <= self.newest || self.machine.permitted(iteration, batch).is_none() {
            self.counters.repeated += 1;
            return;
        }
        self.newest = ticket;
        self.current = Some(Current { ticket, server_incarnation, iteration, pulls: 0, version: 0 });
        (self.incoming, self.outgoing) = (None, None);
        self.pull();
    }
}
