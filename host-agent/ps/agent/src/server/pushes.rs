//! Handles incoming updates.

use std::sync::Arc;
use std::time::Duration;

use inart_protocol_ps::WorkerNo;

use super::{ServerAgent, ServerReport};
use crate::chunk::Tag;
use crate::incoming::{Incoming, InsertOutcome};
use crate::message::{Body, Pushed, Unknown};
use crate::sequencer::Sequencer;

impl<S: Sequencer> ServerAgent<S> {
    pub(super) fn chunk(&mut self, worker: WorkerNo, tag: Tag, number: u32, values: &[f32], now: Duration) {
        let link = &mut self.links[worker.index()];
        if link.incarnation != Some(tag.worker_incarnation)
            || tag.server_incarnation != self.setup.incarnation
        {
            self.counters.stale_incarnation += 1;
            return self.send(worker, tag.worker_incarnation, Body::Unknown(Unknown {}));
        }
        if link.ticket.is_none_or(|own| own.number != tag.ticket) || link.attempt == 0 {
            let is_taken = link.arrived == Some(tag.ticket);
            match is_taken {
                true => self.counters.repeated += 1,
                false => self.counters.unasked += 1,
            }
            let pushed = Pushed { ticket: tag.ticket, is_taken, refusal: String::new() };
            return self.send(worker, tag.worker_incarnation, Body::Pushed(pushed));
        }
        if tag.version != link.base {
            self.counters.malformed += 1;
            return;
        }
        let length = self.sequencer.values().len();
        let new = || Incoming::new(tag, length, self.setup.chunk_values);
        let incoming = link.incoming.get_or_insert_with(new);
        match incoming.take(number, values) {
            InsertOutcome::New => {}
            InsertOutcome::Repeated => self.counters.repeated += 1,
            InsertOutcome::Wrong => self.counters.malformed += 1,
        }
        if incoming.is_whole() {
            self.whole(worker, tag, now);
        }
    }

    fn whole(&mut self, worker: WorkerNo, tag: Tag, now: Duration) {
        let link = &mut self.links[worker.index()];
        let (Some(ticket), Some(incoming)) = (link.ticket, link.incoming.take()) else { return };
        link.forget();
        link.arrived = Some(ticket.number);
        let (iteration, base) = (ticket.iteration, tag.version);
        let values = Arc::new(incoming.into_values());
        let verdict = self.sequencer.push(worker, iteration, values.to_vec(), now);
        let refusal = verdict.refusal;
        if verdict.is_taken {
            self.outputs.push_back(ServerReport::Pushed { worker, iteration, base, values, refusal });
        } else {
            self.counters.unasked += 1;
        }
        let refusal = refusal.map_or(String::new(), |refusal| refusal.to_string());
        let pushed = Pushed { ticket: ticket.number, is_taken: verdict.is_taken, refusal };
        self.send(worker, tag.worker_incarnation, Body::Pushed(pushed));
    }
}
