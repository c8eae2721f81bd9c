//! Counters of faults and frames.

use std::collections::BTreeMap;

use inart_p4::{Outcome, Reason};
use inart_protocol_aggregation::NonFinite;
use inart_switch::Switch;

macro_rules! tally {
    ($($(#[$doc:meta])* $field:ident $text:literal,)+) => {
        /// Number of faults by kind.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Tally {
            $($(#[$doc])* pub $field: u64,)+
        }

        impl Tally {
            /// Returns the nonzero counters, by name.
            pub fn by_name(&self) -> BTreeMap<&'static str, u64> {
                [$(($text, self.$field)),+].into_iter().filter(|(_, count)| *count > 0).collect()
            }

            /// Adds those of another run.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)+
            }
        }
    };
}

tally! {
    /// Frames lost at random.
    dropped "frame lost",
    /// Frames that arrived twice.
    duplicated "frame duplicated",
    /// Frames that were delayed while others overtook them.
    reordered "frame reordered",
    /// Frames that were delayed, with all behind them.
    delayed "frame delayed",
    /// Frames discarded because of a wrong check sequence.
    corrupted "frame corrupted",
    /// Frames that found a queue full.
    overflowed "queue full",
    /// Frames on a link that went down, or sent to one that was down.
    cut "frame lost at a failed link",
    /// Frames to a host that was not running.
    undelivered "frame to a stopped host",
    /// Frames to a switch without a program.
    unprogrammed "frame to a switch without a program",
    /// Frames that a switch recirculated.
    recirculated "frame recirculated",
    /// Links that went down, per direction.
    links_down "link down",
    /// Interfaces of hosts that went down and up again.
    bounces "interface down",
    /// Groups of nodes that were partitioned from the others.
    partitions "partition",
    /// Switches that lost all state.
    restarts "switch restart",
    /// Jobs that were run again under the same plan version.
    reruns "plan version used again",
    /// Duplicates of frames of an earlier run that arrived in the next one.
    late "frame of an earlier run",
    /// Jobs of which one worker has a gradient of another length.
    odd "length mismatched",
    /// Jobs of which one worker skips a sum of the same length.
    skipped "sum skipped",
    /// Runs with values that are tiny, zeros, far larger now and then, or of any size.
    sizes "values of uncommon magnitudes",
    /// Gradients with a NaN or an infinity that passed.
    passed "NaN or infinity passed",
    /// Gradients with a NaN or an infinity that ended the job.
    ended_by_nan "NaN or infinity that aborts the job",
    /// Runs with several tensors in flight.
    tensors "several tensors",
    /// Changes of plans while jobs ran.
    changes "plan change",
    /// Changes that were undone.
    undone "plan change undone",
    /// Changes whose tables a switch refused.
    refused_writes "tables refused by a switch",
    /// Runs with replanning.
    follows "run with replanning",
    /// Changes by replanning.
    followed "plan change by replanning",
    /// Jobs that were installed while others ran.
    jobs_added "job added",
    /// Jobs that were not: no plan, no capacity, or a switch refused.
    jobs_refused "job not admitted",
    /// Jobs that were taken off the switches.
    jobs_removed "job removed",
    /// Jobs that were deleted while their hosts ran.
    jobs_deleted "running job deleted",
    /// Elastic jobs that were paused.
    pauses_of_jobs "job paused",
    /// Jobs that the daemon migrated.
    moves "job migrated",
    /// Migrations that were undone, since some host did not migrate.
    moves_undone "migration undone",
    /// Migrations that were not started.
    moves_refused "migration refused",
    /// Runs of elastic jobs.
    views "membership view",
    /// Views for which other jobs had left no capacity, and were slowed down.
    squeezed "view with slowed jobs",
    /// Workers that left their view at a stop point.
    stop_points "stop point",
    /// States that a worker loaded from another one.
    loads "state loaded",
    /// Hosts of elastic jobs that were killed.
    member_crashes "host crashed",
    /// Hosts that were restarted.
    member_restarts "host restarted",
    /// Second hosts of a name that were refused.
    doubles_refused "duplicate host refused",
    /// Hosts that left while they waited for a view.
    joins_interrupted "waiting host interrupted",
    /// Checks of jobs whose workers ran.
    looks "job usage check",
    /// Hosts that were still in a view when the next one started.
    hanging "host evicted",
    /// Forwarded sums.
    sums_forwarded "sum sent onward",
    /// Results that returned for forwarded sums.
    results_returned "sum of all received",
    /// Sums that were away for the peer timeout or longer.
    long_delayed "long-delayed sum",
    /// Larger jobs that ended elsewhere.
    ended_elsewhere "larger job ended",
    /// Controllers that were started.
    controllers "controller started",
    /// Controllers that were started where one had been killed.
    controllers_again "controller restarted",
    /// Controllers with other plans than the previous one on their machine.
    controllers_replanned "controller restarted with other plans",
    /// Controllers that were started while another one ran.
    controllers_concurrent "two controllers at once",
    /// Controllers that ended because another one replaced them.
    controllers_replaced "controller replaced",
    /// Attempts of a replaced controller to open a session again, refused by a switch.
    controllers_deposed "deposed controller at a reconnected switch",
    /// Sessions that a switch refused since it serves another controller.
    controllers_waiting "switch serving another controller",
    /// Sessions that a controller gave back since another switch was not to be had.
    switches_released "switch released",
    /// Controllers that were killed.
    controllers_killed "controller killed",
    /// Controllers that were killed with updates in flight.
    controllers_killed_writing "controller killed in the middle of an update",
    /// Controllers that were started with a clock that is behind.
    clocks_back "clock set back",
    /// Trials in which machines have records of their own.
    records_apart "machines with separate records",
    /// Controllers that were started while a switch was out of their reach.
    starts_without "controller started without a switch",
    /// Switches that became available after a start without them.
    switches_late "late switch installed",
    /// Switches that restarted empty while controllers ran.
    restarted_empty "switch restarted empty",
    /// Updates that a switch refused in the middle of others.
    updates_refused "update refused midway",
    /// Installs that were undone since a switch refused.
    installs_rolled_back "install rolled back",
    /// Switches that hung for a while.
    switches_hung "switch hung",
    /// Switches that lost rows.
    rows_lost "rows lost",
    /// Hosts that were paused.
    pauses "host pause",
    /// Workers that were killed.
    worker_crashes "worker crash",
    /// Servers that were killed.
    server_crashes "server crash",
    /// Servers that were started again.
    server_restarts "server restart",
    /// Frames of an older plan version that were injected.
    stale "stale frame",
    /// Forged frames of another job that a host sent.
    forged "forged frame",
    /// Forged frames that reached a host, tagged or not.
    forged_delivered "forged frame at a host",
}

impl Tally {
    /// Counts a gradient with a NaN or an infinity, of a worker that does that with it.
    pub(crate) fn spoilt(&mut self, handling: Option<NonFinite>) {
        match handling {
            Some(NonFinite::Pass) => self.passed += 1,
            Some(NonFinite::Abort) | None => self.ended_by_nan += 1,
        }
    }
}

const OUTCOMES: [&str; 2] = ["InArtIngress.outcomes", "InArtEgress.outcomes"];
const DROPS: [&str; 2] = ["InArtIngress.drops", "InArtEgress.drops"];

/// Counters of switches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Switched {
    /// Frames taken into a sum.
    pub summed: u64,
    /// Frames refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// Behavior that a real switch of this kind cannot have: a register accessed twice by a frame in one
    /// pass, or a frame that never left.
    pub impossible: u64,
}

impl Switched {
    /// Adds the counters of a switch since it was loaded.
    pub fn add(&mut self, switch: &Switch) {
        // A program that also counts in egress counts other frames there.
        let cell = |[ingress, egress]: [&str; 2], index: usize| {
            let cells = |counter| switch.counters(counter).unwrap_or_default();
            let packets = |counter| cells(counter).get(index).map_or(0, |cell| cell.packets);
            packets(ingress) + packets(egress)
        };
        let statistics = switch.statistics();
        self.impossible += statistics.touched_twice + statistics.past_end + statistics.runaway;
        for outcome in [Outcome::SlotClaimed, Outcome::Added, Outcome::Completed] {
            self.summed += cell(OUTCOMES, outcome.index());
        }
        for reason in Reason::ALL {
            match cell(DROPS, reason.index()) {
                0 => {}
                count => *self.refused.entry(reason.to_string()).or_default() += count,
            }
        }
    }
}
