//! End of the job at all sites because of one site.

use inart_protocol_sites::SiteNo;
use inart_terms::one_line;

use crate::message::{Body, Ended};

use super::{Driver, DriverError, Output, Peer, Phase};

impl Driver {
    /// Ends the job at all sites. `reason` names the site and the cause.
    pub fn end_everywhere(&mut self, reason: &str) {
        if self.phase == Phase::Over {
            return;
        }
        self.notify_all(reason, None, false);
        self.give_up(DriverError::Elsewhere { reason: reason.to_owned() });
    }

    /// Ends the job at all sites because this site was stopped, unless the job has already ended.
    pub fn stop(&mut self) {
        self.end_for(DriverError::Stopped { site: self.setup.name(self.setup.me) });
    }

    /// Reports an order that this site cannot carry out. Other sites continue.
    pub fn refuse(&mut self, error: DriverError) {
        self.outputs.push_back(Output::Failed(error));
    }

    /// Ends the job at all sites because of an error of this site.
    pub(super) fn end_for(&mut self, error: DriverError) {
        if self.phase == Phase::Over {
            return;
        }
        if let Some(reason) = error.for_all() {
            self.notify_all(&reason, None, false);
        }
        self.give_up(error);
    }

    /// Whether a connection to a site may close without a fault: this site or the other one has finished, or
    /// the job has ended.
    pub fn may_end(&self, peer: Peer) -> bool {
        let has_finished = |site: SiteNo| self.heard.get(&site).is_some_and(|heard| heard.is_finished);
        let is_over = matches!(self.phase, Phase::Over | Phase::Finished { .. });
        is_over || matches!(peer, Peer::Site(site) if has_finished(site))
    }

    /// Whether all sent messages have been delivered, such as the report that the job has ended.
    pub fn has_delivered_all(&self) -> bool {
        self.farewells.is_empty() && self.sending.is_empty()
    }

    /// Handles a report that another site has ended the job.
    pub(super) fn ended_elsewhere(&mut self, from: SiteNo, ended: Ended) {
        self.final_report.knows(from);
        let (reason, is_before_start) = (one_line(&ended.reason), ended.is_before_start);
        if matches!(self.phase, Phase::Over | Phase::Finished { .. }) || is_before_start && self.has_a_sum() {
            return;
        }
        self.notify_all(&reason, Some(from), is_before_start);
        self.give_up(DriverError::Elsewhere { reason });
    }

    /// Whether this site takes part in a training that has the sum of a round. A site that has only started
    /// the first round may have connected to its neighbors before a distant site was refused.
    fn has_a_sum(&self) -> bool {
        match self.phase {
            Phase::Meeting => false,
            Phase::Joining { .. } => true,
            Phase::Ready { round, .. } => round > 1,
            _ => self.site.round() > Some(1),
        }
    }

    /// Reports to all neighbors except `but` that the job has ended or cannot start.
    pub(super) fn notify_all(&mut self, reason: &str, but: Option<SiteNo>, is_before_start: bool) {
        let sites = self.up.clone().into_iter().filter_map(|peer| match peer {
            Peer::Site(site) if Some(site) != but => Some(site),
            Peer::Site(_) | Peer::Scheduler => None,
        });
        for site in sites {
            let ended = Ended { reason: reason.to_owned(), is_before_start };
            let id = self.send(Peer::Site(site), Body::Ended(ended), i32::MAX);
            if let Some(id) = id {
                self.farewells.insert(id);
                self.final_report.sending(site, id);
            }
        }
    }
}
