//! Output of a run of peers' processes in virtual time.

use inart_simulator_peers::{Figures, Outcome};
use inart_topologies::units::counted;

/// Largest number of chunks per update.
pub const MOST_CHUNKS: u32 = 100_000;

/// Returns the outcome as text.
pub fn table(outcome: &Outcome) -> String {
    let Outcome { scheme, multicast, .. } = outcome;
    let figures = match &outcome.figures {
        Figures::Rounds(run) => format!(
            "{}, the longest multicast of each {:.6} s ({:.6} s planned), {:.6} s from one to the next, \
             {:.2} receivers on average",
            counted(run.rounds, "round"),
            run.seconds,
            run.planned_s,
            run.round_s,
            run.receivers_mean
        ),
        Figures::Stale(run) => format!(
            "peers computed {:.1}% of the time, {} each reached {:.1}% of the peers; the first is {} \
             ahead of the last",
            run.utilization * 100.0,
            counted(run.rounds, "update"),
            run.scale * 100.0,
            counted(run.max_gap, "round")
        ),
    };
    let Outcome {
        updates_compared,
        averages_compared,
        given_up,
        withdrawn,
        gone,
        rounds_with_previous_receivers,
        ..
    } = outcome;
    let Outcome { repairs, lost, overflowed, virtual_s, .. } = outcome;
    format!(
        "{scheme}, copies by {multicast}: {figures}\n\
         {virtual_s:.3} s of virtual time: {updates_compared} updates that arrived and \
         {averages_compared} averages verified\n\
         receivers timed out {given_up}, withdrawn {withdrawn}; declared failed {gone}; \
         rounds without a choice {rounds_with_previous_receivers}; chunks retransmitted {repairs}, \
         lost {lost}, in full queues {overflowed}\n"
    )
}
