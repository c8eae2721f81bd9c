//! Formation of views.

use std::time::Duration;

use inart_wire::PlanVersion;

use super::Membership;
use super::names::MemberRole;
use super::phase::{Attendance, Formation, Order, Phase};
use super::view::{Member, View};

impl Membership {
    /// Checks gathered hosts. Returns whether a view is to be formed.
    pub(super) fn gather(&mut self, now: Duration, until: Duration) -> bool {
        let formation = self.formation();
        let is_possible = !formation.workers.is_empty() && !formation.servers.is_empty();
        let is_complete = self.roster.hosts().all(|host| self.present.contains_key(host));
        if self.is_paused || !is_possible || !(now >= until || is_complete && self.problem.is_none()) {
            return false;
        }
        self.problem = None;
        self.orders.push(Order::Form(formation.clone()));
        self.phase = Phase::Forming(formation);
        true
    }

    /// Returns the waiting hosts, in the roster's order.
    pub(super) fn formation(&self) -> Formation {
        let there = |names: &[String]| {
            let there = |name: &String| Some((name.clone(), self.present.get(name)?.incarnation));
            names.iter().filter_map(there).collect::<Vec<_>>()
        };
        Formation { workers: there(&self.roster.workers), servers: there(&self.roster.servers) }
    }

    /// Handles the result of a formation: the installed view with its number, or why it failed.
    pub fn formed(&mut self, now: Duration, outcome: Result<PlanVersion, String>) {
        let Phase::Forming(formation) = &self.phase else { return };
        let formation = formation.clone();
        match outcome {
            Ok(number) => self.begin(now, number, &formation),
            Err(why) => {
                self.problem = Some(why);
                self.phase = Phase::Gathering { until: now + self.timing.retry_after };
            }
        }
        self.advance(now);
    }

    fn begin(&mut self, now: Duration, number: PlanVersion, formation: &Formation) {
        let attending: Vec<_> =
            formation.workers.iter().filter_map(|(host, _)| self.present.get(host)).collect();
        let (newest, rounds) = newest(&attending);
        let differ = attending.iter().any(|there| there.must_load_state || there.rounds != rounds);
        let must_load_state = differ || self.before != formation.workers;
        let workers =
            formation.workers.iter().enumerate().map(|(rank, host)| (host, MemberRole::Worker(rank)));
        let servers =
            formation.servers.iter().enumerate().map(|(shard, host)| (host, MemberRole::Server(shard)));
        let members = workers
            .chain(servers)
            .map(|((host, incarnation), place)| Member::new(host.clone(), *incarnation, place));
        let members: Vec<_> = members.collect();
        for member in &members {
            self.present.remove(&member.host);
        }
        self.view =
            Some(View { number, members, since: now, state: Some((newest, rounds, must_load_state)) });
        self.phase = Phase::Running;
    }
}

/// Returns the rank and rounds of the worker with the newest state. Among equal rounds, workers that need
/// no state of another one come first, then lower ranks.
fn newest(workers: &[&Attendance]) -> (usize, u64) {
    let key = |there: &Attendance| (there.rounds, !there.must_load_state);
    let mut best = 0;
    for (rank, there) in workers.iter().enumerate() {
        if key(there) > key(workers[best]) {
            best = rank;
        }
    }
    (best, workers.get(best).map_or(0, |there| there.rounds))
}
