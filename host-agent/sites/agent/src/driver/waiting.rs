//! Reports what the site waits for, and ends the job when it has waited too long.

use std::time::Duration;

use inart_protocol_sites::SiteNo;

use crate::wait::{Lacking, StallCause, Wait, Waiting};

use super::{Driver, DriverError, Peer, Phase};

/// Time until the first report of a wait for connections.
const FIRST: Duration = Duration::from_secs(1);
/// Time between reports of one wait, and until the first report of other waits.
const REPEAT: Duration = Duration::from_secs(5);
/// Both times for the site's own training program, which may take longer.
const PROGRAM: Duration = Duration::from_secs(60);

impl Driver {
    /// Returns the newest report of what this site waits for, once: after a second without a connection,
    /// after five seconds without progress of a round, and then every five seconds.
    pub fn next_waiting(&mut self) -> Option<Waiting> {
        self.watch.waiting.take()
    }

    /// Returns what this site waits for now, and for how long so far; `None` if it waits for nothing.
    pub fn waiting(&self, now: Duration) -> Option<Waiting> {
        let since = self.watch.progress_at.unwrap_or(now);
        self.wait().map(|wait| Waiting { wait, waited: now.saturating_sub(since) })
    }

    /// Records progress: an awaited message has arrived.
    pub(super) fn progress(&mut self, now: Duration) {
        (self.watch.progress_at, self.watch.reported_at) = (Some(now), None);
    }

    /// Reports what this site waits for, and ends the job if it has waited too long.
    pub(super) fn watch(&mut self, now: Duration) {
        let waited = now.saturating_sub(*self.watch.progress_at.get_or_insert(now));
        let (first, repeat) = self.report_times();
        let is_due = self.watch.reported_at.is_none_or(|last| now.saturating_sub(last) >= repeat);
        if waited >= first && is_due {
            self.watch.reported_at = Some(now);
            self.watch.waiting = self.wait().map(|wait| Waiting { wait, waited });
        }
        match self.phase {
            Phase::Meeting if waited >= self.setup.meeting_patience => self.meet_no_longer(waited, now),
            Phase::Joining { .. } | Phase::Lacks { .. } | Phase::Reducing
                if waited >= self.setup.patience =>
            {
                self.lose_patience(waited);
            }
            _ => {}
        }
    }

    /// Time until the first report of a wait, and between reports. The scheduler's first plan has its own
    /// time.
    fn report_times(&self) -> (Duration, Duration) {
        match self.phase {
            Phase::Meeting if self.met_at.is_none() => (FIRST, REPEAT),
            Phase::Ready { .. } => (PROGRAM, PROGRAM),
            _ => (REPEAT, REPEAT),
        }
    }

    fn wait(&self) -> Option<Wait> {
        match &self.phase {
            Phase::Meeting => {
                let neighbors = self.setup.my_neighbors().iter();
                let missing = neighbors.filter(|site| !self.heard.contains_key(site));
                let of: Vec<_> = missing.map(|&site| self.lacking(site)).collect();
                Some(if of.is_empty() { Wait::Scheduler } else { Wait::Neighbors(of) })
            }
            Phase::Joining { asked, .. } => {
                let (received, total) =
                    self.incoming.as_ref().map_or((0, None), |begun| (begun.received(), Some(begun.total())));
                Some(Wait::State { of: *asked, received, total })
            }
            Phase::Ready { round, .. } => Some(Wait::Program { round: *round }),
            Phase::Lacks { .. } => Some(Wait::Plan),
            Phase::Reducing => {
                let (round, awaited) = (self.site.round()?, self.site.awaited());
                let others = awaited.iter().filter(|site| **site != self.setup.me);
                let of: Vec<_> = others.map(|&site| self.lacking(site)).collect();
                Some(if of.is_empty() { Wait::Program { round } } else { Wait::Chunks { round, of } })
            }
            Phase::Finished { .. } => {
                let others = self.heard.iter().filter(|(_, heard)| !heard.is_finished);
                let of: Vec<_> = others.map(|(&site, _)| site).collect();
                (!of.is_empty()).then_some(Wait::Ends(of))
            }
            Phase::Over => None,
        }
    }

    fn lacking(&self, site: SiteNo) -> Lacking {
        let is_neighbor = self.setup.my_neighbors().contains(&site);
        let is_behind = self.heard.get(&site).is_some_and(|heard| heard.round < self.site.round());
        let cause = match is_neighbor && !self.up.contains(&Peer::Site(site)) {
            true => StallCause::NoConnection,
            false if is_behind => StallCause::Computing,
            false => StallCause::NoWord,
        };
        Lacking { site, cause }
    }

    /// Ends the wait for neighbors that have not connected. A restarted site joins the connected neighbors;
    /// any other site ends the job.
    fn meet_no_longer(&mut self, waited: Duration, now: Duration) {
        let Some(wait @ Wait::Neighbors(_)) = self.wait() else { return };
        let begun = self.heard.iter().filter(|(_, heard)| heard.round > Some(0));
        if let Some((&site, _)) = begun.min_by_key(|(_, heard)| heard.round) {
            self.progress(now);
            return self.want_state(site, now);
        }
        let site = self.setup.name(self.setup.me);
        self.end_for(DriverError::NotMet { site, missing: self.named(&wait), waited_s: waited.as_secs() });
    }

    /// Handles a round without progress. A site that waits for another waiting site lets that site end the
    /// job, because that site can name the missing site. That site may have made progress until much later,
    /// such as by the last chunks of a long round, so it has the patience once more. Where trees lead over
    /// routes, no site may wait for a missing neighbor: then the neighbors of the missing site name it.
    fn lose_patience(&mut self, waited: Duration) {
        let Some(mut wait) = self.wait() else { return };
        if matches!(wait, Wait::Program { .. }) {
            return;
        }
        let patience = self.setup.patience;
        let mut limit = patience;
        if !wait.names_the_cause() {
            limit = patience.saturating_mul(2);
            let suspects = self.suspects();
            if let (Wait::Chunks { of, .. }, Some(first)) = (&mut wait, suspects.first()) {
                // A site without a connection may be reached by a detour, so stragglers are listed first.
                let sooner = if first.cause == StallCause::Computing { 4 } else { 2 };
                limit = patience.saturating_add(patience / sooner);
                *of = suspects;
            }
        }
        if waited < limit {
            return;
        }
        let site = self.setup.name(self.setup.me);
        self.end_for(DriverError::Patience { site, missing: self.named(&wait), waited_s: waited.as_secs() });
    }

    /// Returns neighbors that this site does not wait for and that may be the cause: those that have not
    /// reported this round, or else those without a connection.
    fn suspects(&self) -> Vec<Lacking> {
        let all: Vec<_> = self.setup.my_neighbors().iter().map(|&site| self.lacking(site)).collect();
        let with = |cause| all.iter().copied().filter(|one| one.cause == cause).collect::<Vec<_>>();
        let late = with(StallCause::Computing);
        if late.is_empty() { with(StallCause::NoConnection) } else { late }
    }

    /// Describes the sites of a wait, or the wait itself.
    fn named(&self, wait: &Wait) -> String {
        let name = |one: &Lacking| match one.cause {
            StallCause::NoConnection => format!("{} (no connection)", self.setup.name(one.site)),
            StallCause::Computing => format!("{} (has not reported this round)", self.setup.name(one.site)),
            StallCause::NoWord => self.setup.name(one.site),
        };
        match wait {
            Wait::Neighbors(of) => {
                of.iter().map(|one| self.setup.name(one.site)).collect::<Vec<_>>().join(", ")
            }
            Wait::Chunks { of, .. } => {
                // Sites that only wait for other sites are not the cause.
                let is_cause = |one: &&Lacking| one.cause != StallCause::NoWord;
                let causes: Vec<_> = of.iter().filter(is_cause).map(name).collect();
                let all = || of.iter().map(name).collect();
                if causes.is_empty() { all() } else { causes }.join(", ")
            }
            Wait::State { of, .. } => format!("the state of {}", self.setup.name(*of)),
            Wait::Plan => "the plan that the sites agreed on".to_owned(),
            Wait::Scheduler | Wait::Program { .. } | Wait::Ends(_) => String::new(),
        }
    }
}
