//! Admission to a server's training, and its early end.

use std::time::Duration;

use bytes::Bytes;
use inart_protocol_ps::WorkerNo;
use inart_terms::Terms;

use super::held::Training;
use super::{ServerAgent, ServerReport};
use crate::message::{Body, Hello, LeftOut, Refused, Stopped};
use crate::packet::{Packet, decode};
use crate::sequencer::Sequencer;

/// Reason of an exclusion, sent to the client.
const OUTLIER: &str =
    "its data: in three rounds its update differed from its group's, and the server excludes outliers";

impl<S: Sequencer> ServerAgent<S> {
    /// Returns why a worker may not join, if so.
    pub(super) fn reason(&mut self, worker: WorkerNo, hello: &Hello) -> Option<String> {
        let Training { number, server, agreement, .. } = &self.training;
        let name = self.training.name(worker);
        if hello.training != 0 && *number != 0 && hello.training != *number {
            let lost = hello.taken;
            return Some(format!(
                "{server} has started without the model that {name} has trained ({lost} updates of {name} were \
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
        self.send(worker, incarnation, Body::Refused(Refused { why }));
    }

    /// Notifies an excluded client, now and whenever it joins again.
    pub(super) fn leave_out(&mut self, worker: WorkerNo) {
        let link = &mut self.links[worker.index()];
        link.forget();
        if let Some(incarnation) = link.incarnation {
            self.send(worker, incarnation, Body::LeftOut(LeftOut { why: OUTLIER.to_owned() }));
        }
    }

    /// Ends the training early, and sends the reason to all workers that are connected or connect.
    pub(super) fn end_early(&mut self, why: &str, now: Duration) {
        self.stopped = Some(why.to_owned());
        self.ends.begin(now);
        for worker in self.workers() {
            let link = &mut self.links[worker.index()];
            link.forget();
            link.lane.clear_waiting();
            if let Some(incarnation) = link.incarnation {
                self.send(worker, incarnation, Body::Stopped(Stopped { why: why.to_owned() }));
            }
        }
    }

    /// Returns whether the training has ended early.
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Returns whether all connected workers have received the reason of the end.
    pub fn has_notified(&self) -> bool {
        self.links.iter().all(|link| !link.is_up || link.lane.is_empty())
    }

    pub(super) fn answer_stopped(&mut self, worker: WorkerNo, data: &Bytes) {
        let (Ok(Packet::Message(message)), Some(why)) = (decode(data), self.stopped.clone()) else { return };
        if let Some(Body::Hello(_)) = message.body {
            self.send(worker, message.worker_incarnation, Body::Stopped(Stopped { why }));
        }
    }

    /// Notifies waiting workers of the parties that the server waits for.
    pub fn notify_waiting(&mut self, why: &str) {
        for worker in self.workers() {
            let link = &self.links[worker.index()];
            if let (true, None, Some(incarnation)) = (link.is_met, link.ticket, link.incarnation) {
                let why = why.to_owned();
                self.send(worker, incarnation, Body::Waiting(crate::message::Waiting { why }));
            }
        }
    }
}
