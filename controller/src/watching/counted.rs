//! Differences between counters.

use inart_p4::Outcome;
use inart_targets::{Counts, PortTraffic, Traffic};

/// Differences of [`PortTraffic`] over an interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub ours_in: Counts,
    pub others_in: Counts,
    pub ours_out: Counts,
    pub others_out: Counts,
}

impl Counted {
    pub fn frames_in(&self) -> i64 {
        self.ours_in.packets + self.others_in.packets
    }

    pub fn frames_out(&self) -> i64 {
        self.ours_out.packets + self.others_out.packets
    }
}

/// Returns the differences between two reads; `None` if the counters restarted.
pub(super) fn since(before: PortTraffic, now: PortTraffic) -> Option<Counted> {
    let less = |now: Counts, before: Counts| {
        let counts = Counts { packets: now.packets - before.packets, bytes: now.bytes - before.bytes };
        (counts.packets >= 0 && counts.bytes >= 0).then_some(counts)
    };
    Some(Counted {
        ours_in: less(now.ours_in, before.ours_in)?,
        others_in: less(now.others_in, before.others_in)?,
        ours_out: less(now.ours_out, before.ours_out)?,
        others_out: less(now.others_out, before.others_out)?,
    })
}

/// Returns the frames of these outcomes between two reads.
pub(super) fn frames_of(before: &Traffic, now: &Traffic, outcomes: &[Outcome]) -> i64 {
    let of = |traffic: &Traffic, outcome: &Outcome| {
        traffic.outcomes.get(outcome.index()).map_or(0, |counts| counts.packets)
    };
    outcomes.iter().map(|outcome| (of(now, outcome) - of(before, outcome)).max(0)).sum()
}
