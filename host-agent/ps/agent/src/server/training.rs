//! Who may join a server's training, and how it ends early.

use std::time::Duration;

use bytes::Bytes;
use inart_protocol_ps::WorkerNo;
use inart_terms::Terms;

use super::held::Training;
use super::{ServerAgent, ServerReport};
use crate::message::{Body, Hello, LeftOut, Refused, Stopped};
use crate::packet::{Packet, decode};
use crate::sequencer::Sequencer;

/// Why a client is left out, for the client.
const OUTLIER: &str =
    "its data: in three rounds its update differed from its group's, and the server excludes outliers";

impl<S: Sequencer> ServerAgent<S> {
    /// Why the worker that says hello may not join, if it may not.
    pub(super) fn reason(&mut self, worker: WorkerNo, hello: &Hello) -> Option<String> {
        let Training { number, server, agreement, .. } = &self.training;
        let name = self.training.name(worker);
        if hello.training != 0 && *number != 0 && hello.training != *number {
            let lost = hello.taken;
            return Some(format!(
                "{server} has begun without the model that {name} has trained ({lost} updates of {name} were \
                 taken): start {server} with the file in which that model is kept, or start all workers again"
            ));
        }
        let terms = match Terms::from_message(hello.terms.clone()) {
            Ok(terms) => terms,
            Err(error) => return Some(format!("{name}: {error}")),
        };
        let mut agreement = agreement.clone();
        if let Err(difference) = agreement.admit(server, &name, terms) {
            return Some(format!("{difference}; start both with the same"));
        }
        let own = self.sequencer.values().len() as u64;
        if (hello.model, hello.values) != (self.setup.model, own) {
            return Some(format!(
                "it trains model {:016x} of {} values, and the server has {:016x} of {own}: start all with \
                 one model",
                hello.model, hello.values, self.setup.model
            ));
        }
        self.training.agreement = agreement;
        None
    }

    pub(super) fn refuse(&mut self, worker: WorkerNo, incarnation: u32, why: String) {
        self.counters.other_model += 1;
        self.outputs.push_back(ServerReport::Rejected { worker, why: why.clone() });
        self.say(worker, incarnation, Body::Refused(Refused { why }));
    }

    /// A client that is left out hears so, now and whenever it joins again.
    pub(super) fn leave_out(&mut self, worker: WorkerNo) {
        let link = &mut self.links[worker.index()];
        link.forget();
        if let Some(incarnation) = link.incarnation {
            self.say(worker, incarnation, Body::LeftOut(LeftOut { why: OUTLIER.to_owned() }));
        }
    }

    /// Ends the training early: all workers that are connected, or connect, hear why.
    pub(super) fn end_early(&mut self, why: &str, now: Duration) {
        self.stopped = Some(why.to_owned());
        self.ends.begin(now);
        for worker in self.workers() {
            let link = &mut self.links[worker.index()];
            link.forget();
            link.lane.clear_waiting();
            if let Some(incarnation) = link.incarnation {
                self.say(worker, incarnation, Body::Stopped(Stopped { why: why.to_owned() }));
            }
        }
    }

    /// Whether the training has ended early.
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Whether all workers that are connected have heard why the training has ended.
    pub fn has_notified(&self) -> bool {
        self.links.iter().all(|link| !link.is_up || link.lane.is_empty())
    }

    pub(super) fn answer_stopped(&mut self, worker: WorkerNo, data: &Bytes) {
        let (Ok(Packet::Message(message)), Some(why)) = (decode(data), self.stopped.clone()) else { return };
        if let Some(Body::Hello(_)) = message.body {
            self.say(worker, message.worker_incarnation, Body::Stopped(Stopped { why }));
        }
    }

    /// Those that wait for their turn hear for whom the server waits.
    pub fn say_waiting(&mut self, why: &str) {
        for worker in self.workers() {
            let link = &self.links[worker.index()];
            if let (true, None, Some(incarnation)) = (link.is_met, link.ticket, link.incarnation) {
                let why = why.to_owned();
                self.say(worker, incarnation, Body::Waiting(crate::message::Waiting { why }));
            }
        }
    }
}
