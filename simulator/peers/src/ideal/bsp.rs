//! Rounds of bulk synchronous training in virtual time: all peers send, and the round ends with the last
//! copy.

use inart_planner_peers::{
    Multicast, Options, Pairs, PlanError, Round as _, Scheme, Session, Sharing, Waits, rates,
    receivers_random, select,
};
use inart_topologies::peers::{Mesh, PeerJob, Ports};
use serde::Serialize;

use super::draw::Draw;

/// A multicast with less left than this part of its update is done: rounding.
const DONE: f64 = 1e-9;

/// Statistics of rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Maker of the copies.
    pub multicast: &'static str,
    /// Mean time of a round's communication, in seconds.
    pub seconds: f64,
    /// Mean number of receivers of an update.
    pub receivers_mean: f64,
    /// Number of rounds.
    pub rounds: u32,
    /// Longest wait of a receiver for a sender, in rounds.
    pub longest_wait: u32,
}

/// Runs rounds, whose receivers are chosen before each by the current rates.
///
/// # Errors
/// There is no plan.
pub fn run_rounds(
    mesh: &Mesh,
    job: &PeerJob,
    options: &Options,
    draw: Draw,
    sharing: Sharing,
    rounds: u32,
) -> Result<Rounds, PlanError> {
    let mut random = receivers_random(options.seed, job.peers.len());
    let mut waited = job.waits();
    let (mut now_s, mut receivers, mut longest) = (0.0, 0, 0);
    let mut first: Option<Pairs> = None;
    for round in 0..rounds {
        let mut problem = job.problem(mesh.ports_at(job, now_s), options.multicast, None);
        let mut required = waited.forced(options.force_after);
        if round == 0 {
            job.required.iter().for_each(|&(from, to)| required.insert(from, to));
        }
        if let (Draw::Fixed, Some(first)) = (draw, &first) {
            first.iter().for_each(|(from, to)| required.insert(from, to));
        }
        options.require_given(&mut required)?;
        (problem.required, problem.waited) = (required, waited.clone());
        let chosen = select(&problem, options.scheme, options.second_pass, &mut random, &job.name)?;
        // Scheme `optimized` paces each update so that all end when the fullest port is done; then no port is
        // idle while another waits for it.
        let is_paced = matches!(options.scheme, Scheme::Optimized | Scheme::Own);
        let pace_s = is_paced.then(|| problem.seconds(&chosen));
        let played = Played { bits: &problem.bits, chosen: &chosen, multicast: options.multicast, pace_s };
        let change = |now_s: f64| mesh.next_change(job, now_s).map(|at| (at, mesh.ports_at(job, at)));
        now_s += played.seconds(problem.ports.clone(), sharing, now_s, &change);
        receivers += chosen.len();
        end_round(&mut waited, &chosen);
        longest = longest.max(waited.longest());
        first = first.filter(|_| round > 0).or(Some(chosen));
    }
    let count = f64::from(rounds.max(1));
    Ok(Rounds {
        scheme: options.scheme.name(),
        multicast: options.multicast.name(),
        seconds: now_s / count,
        receivers_mean: receivers as f64 / job.peers.len() as f64 / count,
        rounds,
        longest_wait: longest,
    })
}

fn end_round(waited: &mut Waits, chosen: &Pairs) {
    (0..chosen.peers()).for_each(|from| waited.ended(from, chosen.receivers(from)));
}

/// A round.
struct Played<'p> {
    /// Size of each peer's update in bits.
    bits: &'p [f64],
    chosen: &'p Pairs,
    multicast: Multicast,
    /// Time over which updates are paced, in seconds; `None` without pacing.
    pace_s: Option<f64>,
}

impl Played<'_> {
    fn sessions(&self) -> Vec<Session> {
        let session = |from: usize, to: Vec<usize>| {
            let pace_bps = self.pace_s.map_or(f64::INFINITY, |seconds| self.bits[from] / seconds);
            Session { from, copies: 1, to, pace_bps }
        };
        match self.multicast {
            Multicast::Switch => {
                let all = (0..self.chosen.peers()).map(|from| (from, self.chosen.receivers(from).collect()));
                all.filter(|(_, to): &(_, Vec<_>)| !to.is_empty())
                    .map(|(from, to)| session(from, to))
                    .collect()
            }
            Multicast::Hosts => self.chosen.iter().map(|(from, to)| session(from, vec![to])).collect(),
        }
    }

    /// Returns the time until the last copy has arrived, in seconds. `change` returns when rates of ports
    /// change next, and the new rates.
    fn seconds(
        &self,
        mut ports: Ports,
        sharing: Sharing,
        start_s: f64,
        change: &dyn Fn(f64) -> Option<(f64, Ports)>,
    ) -> f64 {
        let bits = self.bits;
        let mut sessions = self.sessions();
        let mut left: Vec<f64> = sessions.iter().map(|session| bits[session.from]).collect();
        let mut now_s = start_s;
        let mut next = change(now_s);
        while !sessions.is_empty() {
            let rates = rates(sharing, &ports, &sessions);
            let ends = left.iter().zip(&rates).map(|(bits, bps)| bits / bps).fold(f64::INFINITY, f64::min);
            let step_s = match &next {
                Some((at, _)) if at - now_s < ends => at - now_s,
                _ => ends,
            };
            now_s += step_s;
            // The first to end has nothing left, however small its update is.
            let after = |bits: f64, bps: f64| if bits / bps <= step_s { 0.0 } else { bits - bps * step_s };
            left.iter_mut().zip(&rates).for_each(|(bits, bps)| *bits = after(*bits, *bps));
            if let Some((_, after)) = next.take_if(|(at, _)| *at <= now_s) {
                ports = after;
                next = change(now_s);
            }
            let is_left: Vec<bool> =
                left.iter().zip(&sessions).map(|(left, session)| *left > DONE * bits[session.from]).collect();
            let mut keep = is_left.iter();
            sessions.retain(|_| keep.next().copied().unwrap_or(false));
            let mut keep = is_left.iter();
            left.retain(|_| keep.next().copied().unwrap_or(false));
        }
        now_s - start_s
    }
}
