//! What happened to frames, counted.

use std::collections::BTreeMap;

use inart_p4::{Outcome, Reason};
use inart_protocol_aggregation::NonFinite;
use inart_switch::Switch;

macro_rules! tally {
    ($($(#[$doc:meta])* $field:ident $text:literal,)+) => {
        /// How often each fault happened.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Tally {
            $($(#[$doc])* pub $field: u64,)+
        }

        impl Tally {
            /// Those that happened, by name.
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
    duplicated "frame doubled",
    /// Frames that were held back while others overtook them.
    reordered "frame reordered",
    /// Frames that were delayed, with all behind them.
    delayed "frame delayed",
    /// Frames discarded because of a wrong check sequence.
    corrupted "frame corrupted",
    /// Frames that found a queue full.
    overflowed "queue full",
    /// Frames that were on a link when it went down, or were sent into one that was.
    cut "frame cut off by a link",
    /// Frames that came to a host that was gone.
    unheard "frame to a dead host",
    /// Frames that came to a switch without a program.
    unprogrammed "frame to a switch without a program",
    /// Frames that a switch took in again.
    recirculated "frame recirculated",
    /// Links that went down, each direction.
    links_down "link down",
    /// Interfaces of hosts that went down and came up again.
    bounces "interface down",
    /// Groups of nodes that were cut off from the others.
    partitions "partition",
    /// Switches that lost everything.
    restarts "switch restart",
    /// Jobs that were run again under the same plan version.
    reruns "plan version used again",
    /// Frames of a run before that came into the next one, late and once more.
    late "frame of the run before",
    /// Jobs of which one worker has a gradient of another length.
    odd "length mismatched",
    /// Jobs of which one worker skips a sum of the same length.
    skipped "sum skipped",
    /// Runs with values that are tiny, zeros, far larger now and then, or of any size.
    sizes "values of uncommon sizes",
    /// Gradients with a NaN or an infinity that was let pass.
    passed "NaN or infinity let pass",
    /// Gradients with a NaN or an infinity that ended the job.
    ended_by_nan "NaN or infinity that ends the job",
    /// Runs with several tensors in flight.
    tensors "several tensors",
    /// Changes of plans while jobs ran.
    changes "change of plans",
    /// Those that were undone.
    undone "change of plans undone",
    /// Those whose tables a switch refused.
    refused_writes "tables refused by a switch",
    /// Runs in which plans followed what was seen of the network.
    follows "plans that follow",
    /// Changes that followed.
    followed "change that follows",
    /// Jobs that were installed while others ran.
    jobs_come "job that came",
    /// Those that were not: without a plan, room, or since a switch refused.
    jobs_refused "job that was not admitted",
    /// Jobs that were taken off the switches.
    jobs_gone "job that went",
    /// Those that were deleted while their hosts ran.
    jobs_deleted "job deleted while it ran",
    /// Elastic jobs that were paused.
    pauses_of_jobs "job paused",
    /// Jobs that were moved by the daemon.
    moves "job moved",
    /// Moves that were undone, since some host did not follow.
    moves_undone "move undone",
    /// Moves that were not begun.
    moves_refused "move not begun",
    /// Runs of elastic jobs.
    views "membership view",
    /// Those for which other jobs had left nothing, and were slowed down.
    squeezed "run that others made room for",
    /// Workers that left their view at a stop point.
    stop_points "stop point",
    /// States that a worker loaded from another one.
    loads "state loaded",
    /// Hosts of elastic jobs that were killed.
    member_deaths "host that died",
    /// Those that were started again.
    member_returns "host restarted",
    /// Second hosts of a name that were refused.
    doubles_refused "second host of a name refused",
    /// Hosts that left while they waited for a run.
    joins_interrupted "host interrupted while it waited for a run",
    /// Looks at jobs whose workers ran.
    looks "look whether a job is used",
    /// Hosts that were still in a run when the next one began.
    hanging "host evicted",
    /// Sums that went on to others.
    gone_on "sum sent onward",
    /// Sums of all that came back.
    came_back "sum of all received",
    /// Sums that were away for the peer timeout or longer.
    long_away "sum that was long away",
    /// Larger jobs that ended elsewhere.
    ended_elsewhere "larger job that ended",
    /// Controllers that were started.
    controllers "controller started",
    /// Those that were started where one had been killed.
    controllers_again "controller restarted",
    /// Those that had other plans than the one before on their machine.
    controllers_replanned "controller restarted with other plans",
    /// Those that were started while another one ran.
    controllers_beside "two controllers at once",
    /// Those that another one replaced, which ended them.
    controllers_replaced "controller that another one replaced",
    /// Sessions that a replaced controller wanted to open again, and a switch refused.
    controllers_deposed "deposed controller at a reconnected switch",
    /// Sessions that a switch refused since it serves another controller.
    controllers_waiting "switch that serves another controller",
    /// Sessions that a controller gave back since another switch was not to be had.
    switches_given_back "switch given back",
    /// Controllers that were killed.
    controllers_killed "controller killed",
    /// Those that were killed while updates of theirs were under way.
    controllers_killed_writing "controller killed in the middle of an update",
    /// Those that were started by a clock that is behind.
    clocks_back "clock that went back",
    /// Trials in which machines have records of their own.
    records_apart "machines with records of their own",
    /// Controllers that were started while a switch was out of their reach.
    starts_without "controller started while a switch was away",
    /// Switches that came after a start without them.
    switches_late "switch filled in when it came",
    /// Switches that came back empty while controllers ran.
    restarted_empty "switch restarted empty",
    /// Updates that a switch refused in the middle of others.
    updates_refused "update refused half way",
    /// Installs that were undone since a switch refused.
    installs_rolled_back "install rolled back",
    /// Switches that answered nothing for a while.
    switches_stood "switch that stood still",
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
    /// Those that came to a host, tagged or not.
    heard "forged frame at a host",
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

/// What switches count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Switched {
    /// Frames taken into a sum.
    pub summed: u64,
    /// Frames refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// What a switch of its kind could not have done, and this one did: a register touched again by a frame
    /// in one pass, or a frame that never left.
    pub impossible: u64,
}

impl Switched {
    /// Adds what a switch has counted since it was loaded.
    pub fn add(&mut self, switch: &Switch) {
        // A program that counts in egress, too, counts other frames there.
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
