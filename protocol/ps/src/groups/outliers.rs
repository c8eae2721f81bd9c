//! Exclusion of clients by their data (Section IV-B2), with two corrections: no group is emptied, and rounds
//! in which most clients look like outliers do not count.

use super::client::ClientNo;
use crate::part::Part;

/// Rule for outliers.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlierRule {
    /// β: the cosine with the reference below which an update counts against its client.
    pub threshold: f64,
    /// Number of consecutive rounds before an exclusion.
    pub rounds: u32,
    /// Largest part of a group that may be excluded.
    pub most: Part,
}

impl Default for OutlierRule {
    /// Returns the R²SP paper's 0.5 in 3 rounds, and at most half of a group.
    fn default() -> Self {
        OutlierRule { threshold: 0.5, rounds: 3, most: Part::percent(50) }
    }
}

/// Consecutive outlying rounds of each client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Strikes {
    rule: OutlierRule,
    by_client: Vec<u32>,
}

impl Strikes {
    pub fn new(rule: OutlierRule, clients: usize) -> Self {
        Strikes { rule, by_client: vec![0; clients] }
    }

    /// Returns the clients that a round's cosines show to be outliers, the least similar first; `None` if the
    /// round does not count. A group has `members` clients, of whom `excluded` are excluded already.
    pub fn judge(
        &mut self,
        cosines: &[(ClientNo, f64)],
        members: usize,
        excluded: usize,
    ) -> Option<Vec<ClientNo>> {
        let mut sorted: Vec<_> = cosines.iter().filter(|(_, cosine)| !cosine.is_nan()).copied().collect();
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        // The lower median: near convergence the updates of all are noise.
        let median = sorted.get(sorted.len().saturating_sub(1) / 2)?.1;
        if median < self.rule.threshold {
            return None;
        }
        for (client, cosine) in &sorted {
            let strikes = &mut self.by_client[client.index()];
            *strikes = if *cosine < self.rule.threshold { *strikes + 1 } else { 0 };
        }
        let most = self.rule.most.at_most_of(members).min(members.saturating_sub(1));
        let is_out = |client: &ClientNo| self.by_client[client.index()] >= self.rule.rounds;
        let out = sorted.into_iter().map(|(client, _)| client).filter(is_out);
        Some(out.take(most.saturating_sub(excluded)).collect())
    }
}
