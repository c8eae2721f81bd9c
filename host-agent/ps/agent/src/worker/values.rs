//! The pulled model, and the pushed update.

use std::sync::Arc;

use inart_protocol_ps::{PushOutcome, Step};
use inart_terms::one_line;

use super::{Server, Start, WorkerAgent, WorkerReport};
use crate::chunk::Tag;
use crate::incoming::{Incoming, InsertOutcome};
use crate::message::{Body, Pull, Pushed, Request};

impl WorkerAgent {
    pub(super) fn pull(&mut self) {
        let Some(current) = &mut self.current else { return };
        current.pulls += 1;
        let mut pull = Pull { ticket: current.ticket, attempt: current.pulls, ..Pull::default() };
        if let Some(incoming) = &self.incoming {
            (pull.resumes, pull.missing) = (true, incoming.missing());
        }
        self.send(Body::Pull(pull));
    }

    pub(super) fn chunk(&mut self, tag: Tag, number: u32, values: &[f32]) {
        let Some(server) = self.server.filter(|server| server.incarnation == tag.server_incarnation) else {
            self.counters.stale_incarnation += 1;
            return;
        };
        if tag.worker_incarnation != self.setup.incarnation {
            self.counters.stale_incarnation += 1;
            return;
        }
        let is_pulling = matches!(self.machine.reconnected(), Step::Pull { .. });
        let is_current = self.current.is_some_and(|current| current.ticket == tag.ticket);
        if !is_pulling || !is_current {
            self.counters.repeated += 1;
            return;
        }
        let new = || Incoming::new(tag, self.setup.values, server.chunk_values);
        let incoming = self.incoming.get_or_insert_with(new);
        // A permission has one version.
        if incoming.tag != tag {
            self.counters.malformed += 1;
            return;
        }
        match incoming.take(number, values) {
            InsertOutcome::New => {}
            InsertOutcome::Repeated => self.counters.repeated += 1,
            InsertOutcome::Wrong => self.counters.malformed += 1,
        }
        if incoming.is_whole() {
            self.pulled(tag.version);
        }
    }

    fn pulled(&mut self, version: u64) {
        let (Some(current), Some(server)) = (&mut self.current, self.server) else { return };
        let Some(incoming) = self.incoming.take() else { return };
        (current.version, self.version) = (version, version);
        let (ticket, model) = (current.ticket, Arc::new(incoming.into_values()));
        if let Some(Step::Compute { iteration, batch }) = self.machine.pulled() {
            let Server { chunk_values, precision, .. } = server;
            let start = Start { ticket, iteration, batch, version, model, chunk_values, precision };
            self.report(WorkerReport::Compute(start));
        }
    }

    /// Takes the server's outcome of a push.
    pub(super) fn pushed(&mut self, pushed: Pushed) {
        let is_pushing = matches!(self.machine.reconnected(), Step::Push { .. });
        let Some(current) = self.current.filter(|own| own.ticket == pushed.ticket && is_pushing) else {
            self.counters.repeated += 1;
            return;
        };
        let iteration = current.iteration;
        if pushed.is_taken {
            self.trained = (self.server.map_or(0, |server| server.training), self.trained.1 + 1);
            let refusal = Some(one_line(&pushed.refusal)).filter(|why| !why.is_empty());
            self.report(WorkerReport::Pushed { iteration, refusal });
        } else {
            self.counters.unasked += 1;
        }
        (self.current, self.outgoing) = (None, None);
        let taken = if pushed.is_taken { PushOutcome::Held } else { PushOutcome::Unasked };
        if self.machine.pushed(iteration, taken).is_some() {
            self.send(Body::Request(Request {}));
        }
    }
}
