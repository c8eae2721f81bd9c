//! The figures of SELMCAST's evaluation (Section IV, and Fig. 1), and what is to be said of each.

use crate::comparison::Study;

const fn study(
    name: &'static str,
    title: &'static str,
    place: &'static str,
    differs: &'static str,
    unreached: Option<&'static str>,
) -> Study {
    Study { name, title, place, paper: "SELMCAST", differs, unreached }
}

/// All of them, in the paper's order.
pub const STUDIES: [Study; 11] = [
    study("selmcast-fig1", "How seldom random receivers are a balanced load", "Fig. 1", "TBD", None),
    study("selmcast-fig4", "Time of a round and receivers, by peers", "Fig. 4", "TBD", None),
    study("selmcast-fig5", "Time of a round, by the fewest receivers", "Fig. 5", "TBD", None),
    study("selmcast-fig6", "Receivers where ports up are as tight as ports down", "Fig. 6", "TBD", None),
    study("selmcast-fig7", "Stale synchronous training of three workloads", "Fig. 7", "TBD", None),
    study("selmcast-fig8", "The fewest receivers in stale synchronous training", "Fig. 8", "TBD", None),
    study("selmcast-fig9", "The rule of k", "Fig. 9", "TBD", None),
    study("selmcast-fig10", "The bound on staleness", "Fig. 10", "TBD", None),
    study("selmcast-fig11", "When receivers stay (eta)", "Fig. 11", "TBD", None),
    study("selmcast-fig12", "The size of updates", "Fig. 12", "TBD", None),
    study("selmcast-fig13", "Rates that change", "Fig. 13", "TBD", None),
];
