//! Who is left out for its data (Section IV-B2), mended: no group is emptied, and nobody is judged in rounds
//! in which most look like outliers.

use super::client::ClientNo;
use crate::part::Part;

/// Who is an outlier.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlierRule {
    /// β: the cosine with the reference below which a client's update counts against it.
    pub threshold: f64,
    /// In how many rounds of it, one after the other.
    pub rounds: u32,
    /// The most of a group that may be left out.
    pub most: Part,
}

impl Default for OutlierRule {
    /// The R²SP paper's 0.5 in 3 rounds, and at most half of a group.
    fn default() -> Self {
        OutlierRule { threshold: 0.5, rounds: 3, most: Part::percent(50) }
    }
}

/// What counts against each client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Strikes {
    rule: OutlierRule,
    by_client: Vec<u32>,
}

impl Strikes {
    pub fn new(rule: OutlierRule, clients: usize) -> Self {
        Strikes { rule, by_client: vec![0; clients] }
    }

    /// Whom a round's cosines show to be an outlier, the least alike first; `None` if nobody was judged. A
    /// group has `members` clients, of whom `excluded` are left out already.
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
