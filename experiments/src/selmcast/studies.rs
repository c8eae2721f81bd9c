//! Figures of the SELMCAST paper's evaluation (Section IV, and Fig. 1), and where our numbers differ.

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

/// Sentence on figures whose text states some of the drawn values.
const DRAWN: Option<&str> = Some("values that are only drawn. The text states those shown.");

/// All studies, in the SELMCAST paper's order.
pub const STUDIES: [Study; 11] = [
    study(
        "selmcast-fig1",
        "How seldom random receivers are a balanced load",
        "Fig. 1",
        "Equation (1) gives the published values, and the receivers that Orpheus draws lie around \
            them. A choice that knows the loads is balanced for all p.",
        None,
    ),
    study(
        "selmcast-fig4",
        "Time of a round and receivers, by peers",
        "Fig. 4",
        "All ratios are as published, but with rates within 25 % of their mean. With the printed 50 % \
            (last two panels) Orpheus would take 2.3 times the ideal time.",
        Some(
            "computation times, which depend on the machine. The program `receivers` of the \
                benchmarks measures ours.",
        ),
    ),
    study(
        "selmcast-fig5",
        "Time of a round, by the fewest receivers",
        "Fig. 5",
        "Orpheus falls to 1.5 as published, and the other schemes stay near the ideal time for all p. \
            Rates lie within 25 % of their mean, as in Fig. 4.",
        DRAWN,
    ),
    study(
        "selmcast-fig6",
        "Receivers where ports up are as tight as ports down",
        "Fig. 6",
        "The gain is the published one: the slowest port up determines the time, in which other ports \
            down take a third more.",
        DRAWN,
    ),
    study(
        "selmcast-fig7",
        "Stale synchronous training of three workloads",
        "Fig. 7",
        "Orpheus is as published. SELMCAST computes more (by 0.07 for two workloads) and reaches \
            fewer peers: the SELMCAST paper prints no distribution of compute times, and with log-normal \
            times of little variation no peer waits. `optimized` reaches more peers than SELMCAST for \
            two workloads and computes less there.",
        Some("the spread over seeds of the drawn points."),
    ),
    study(
        "selmcast-fig8",
        "The fewest receivers in stale synchronous training",
        "Fig. 8",
        "The trends are the published ones. With p, SELMCAST loses less compute time and gains fewer \
            receivers than published, as in Fig. 7. `optimized` hardly depends on p, because it takes \
            all receivers that cost little.",
        DRAWN,
    ),
    study(
        "selmcast-fig9",
        "The rule of k",
        "Fig. 9",
        "Without the rule of k, LSTM is as published and the other workloads compute more, as in Fig. \
            7. With k below 4 most receivers are forced, and all schemes are close.",
        DRAWN,
    ),
    study(
        "selmcast-fig10",
        "The bound on staleness",
        "Fig. 10",
        "As published, a looser bound lets peers compute more and send to fewer, and SELMCAST is \
            ahead of Orpheus throughout.",
        DRAWN,
    ),
    study(
        "selmcast-fig11",
        "When receivers stay (eta)",
        "Fig. 11",
        "The trend is the published one, and the gain is less than half of the published one: \
            SELMCAST reaches more peers at eta = 0 than in the SELMCAST paper. `optimized` has no eta \
            and is shown for comparison.",
        DRAWN,
    ),
    study(
        "selmcast-fig12",
        "The size of updates",
        "Fig. 12",
        "The trends are the published ones. With updates four times as large or more, `optimized` \
            reaches more peers than SELMCAST and computes less.",
        DRAWN,
    ),
    study(
        "selmcast-fig13",
        "Rates that change",
        "Fig. 13",
        "The greatest gain of SELMCAST over Orpheus is near the published one. With gamma = 1 it \
            computes less than Orpheus for LSTM, as published. `optimized` computes less from gamma = \
            0.5 on: it treats current rates as permanent, chooses many receivers, and waits for the \
            slowest of them.",
        DRAWN,
    ),
];
