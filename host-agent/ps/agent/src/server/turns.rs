//! Start and end of the training, and the decisions in between.

use std::time::Duration;

use inart_protocol_ps::WorkerNo;

use super::link::Ticket;
use super::{ServerAgent, ServerReport};
use crate::message::{Body, NotPermitted, Over, Permit};
use crate::sequencer::{Decision, Sequencer};

impl<S: Sequencer> ServerAgent<S> {
    pub(super) fn settle(&mut self, now: Duration) {
        self.begin(now);
        self.decisions();
        if self.stopped.is_none() {
            self.close(now);
        }
        self.watch(now);
    }

    /// A late message of an ended connection may have joined a worker that has failed.
    fn watch(&mut self, now: Duration) {
        for worker in self.workers() {
            let link = &mut self.links[worker.index()];
            if !link.is_up && link.absent_at.is_none() && !self.sequencer.is_away(worker) {
                link.absent_at = Some(now.saturating_add(self.setup.absence));
            }
        }
    }

    fn begin(&mut self, now: Duration) {
        let all = self.workers().all(|worker| !self.sequencer.is_away(worker));
        if let Some(asked) = &self.gathering
            && (all && asked.len() == self.links.len() || now >= self.setup.gather && !asked.is_empty())
        {
            let asked = self.gathering.take().unwrap_or_default();
            asked.into_iter().for_each(|worker| self.sequencer.request(worker, now));
        }
    }

    fn decisions(&mut self) {
        while let Some(decision) = self.sequencer.next_decision() {
            match decision {
                Decision::Permit { who, iteration, batch } => self.permit(who, iteration, batch),
                Decision::Applied(applied) => {
                    self.checkpoints.is_due = true;
                    self.outputs.push_back(ServerReport::Applied(applied));
                }
                Decision::Discarded { who: worker, iteration, refusal } => {
                    self.outputs.push_back(ServerReport::Discarded { worker, iteration, refusal });
                }
                Decision::LeftOut { who: worker } => {
                    self.leave_out(worker);
                    self.outputs.push_back(ServerReport::LeftOut { worker });
                }
                Decision::Overflow { version, overflow } => {
                    // Later versions would lack the update.
                    self.stopped = Some(overflow.to_string());
                    self.outputs.push_back(ServerReport::Overflow { version, overflow });
                    return;
                }
                Decision::Gone { who: worker } => {
                    self.give_up(worker);
                    self.outputs.push_back(ServerReport::Gone { worker });
                }
            }
        }
    }

    /// Removes a worker: one that pulls is notified, since the rest of the model is not sent; one that
    /// computes is notified when it pushes.
    fn give_up(&mut self, worker: WorkerNo) {
        let link = &mut self.links[worker.index()];
        let is_pulling = link.outgoing.as_ref().is_some_and(|outgoing| !outgoing.is_done());
        let pulling = link.ticket.filter(|_| is_pulling).zip(link.incarnation);
        link.forget();
        if let Some((ticket, incarnation)) = pulling {
            self.send(worker, incarnation, Body::NotPermitted(NotPermitted { ticket: ticket.number }));
        }
    }

    fn permit(&mut self, worker: WorkerNo, iteration: u64, batch: u32) {
        let link = &mut self.links[worker.index()];
        if link.ticket.is_none_or(|ticket| ticket.iteration != iteration) {
            link.forget();
            link.ticket = Some(Ticket { number: self.next_ticket, iteration });
            self.next_ticket += 1;
        }
        let (Some(ticket), Some(incarnation)) = (link.ticket, link.incarnation) else { return };
        self.send(worker, incarnation, Body::Permit(Permit { ticket: ticket.number, iteration, batch }));
    }

    /// When all have done their iterations: accepts and applies updates in flight, and permits no more pulls.
    fn close(&mut self, now: Duration) {
        let is_over = |iterations| self.sequencer.have_done(iterations);
        self.is_closing |= self.gathering.is_none() && self.setup.iterations.is_some_and(is_over);
        if !self.is_closing {
            return;
        }
        for worker in self.workers() {
            if self.sequencer.is_working(worker) {
                continue;
            }
            let link = &mut self.links[worker.index()];
            if !self.sequencer.is_away(worker) {
                link.forget();
                self.sequencer.leave(worker, now);
            }
            if let (false, true, Some(incarnation)) = (link.is_notified, link.is_met, link.incarnation) {
                link.is_notified = true;
                self.send(worker, incarnation, Body::Over(Over { version: self.sequencer.version() }));
            }
        }
        self.decisions();
    }
}
