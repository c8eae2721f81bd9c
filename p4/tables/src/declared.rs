//! Tables of the controls `InArtIngress` and `InArtEgress` (`p4/include/ingress.p4`, `egress.p4`): the one
//! place to add a table, an action, or a field. `docs/protocol/switch-rules.md` explains them.

use std::collections::{BTreeMap, BTreeSet};

use inart_wire::{BitmapIndex, Contributors, Group, JobId, MacAddr, PlanVersion, ShardId};

use crate::check::{self, Mismatch, ProgramTable};
use crate::full::TableFull;
use crate::macros::tables;
use crate::numbers::{GroupId, PortNo, SlotRange};
use crate::row::{Foreign, Row};
use crate::spec::TableSpec;
use crate::table::Table;
use crate::update::{self, ApplyError, Entity, Op};

tables! {
    /// Table `switch_ports`: ports with a switch behind them.
    switch_ports: SwitchPorts = "switch_ports" {
        /// Key of table `switch_ports`.
        key SwitchPortsKey {
            /// Ingress port of the frame.
            ingress: PortNo = [ingress: 9],
        }
        /// Action of table `switch_ports`.
        action SwitchPortsAction {
            /// Messages from there were checked where they entered the network.
            Trust = "trust",
        }
    }

    /// Table `steer`: forwarding of gradients and partials.
    steer: Steer = "steer" {
        /// Key of table `steer`: one worker's frames of one shard, at their ingress port.
        key SteerKey {
            /// The installed plan.
            plan_version: PlanVersion = [epoch: 16],
            /// The job.
            job: JobId = [job: 16],
            /// The parameter server and its part of the model.
            shard: ShardId = [shard: 16],
            /// Bitmap index of the sender; in a partial, of the worker whose frame completed it.
            worker: BitmapIndex = [worker: 16],
            /// Ingress port of the frame.
            ingress: PortNo = [ingress: 9],
        }
        /// Action of table `steer`.
        action SteerAction {
            /// Send out of `port`, untouched.
            Forward = "forward" {
                /// Egress port.
                port: PortNo = [port: 9],
                /// Ranks allowed through this entry.
                members: Contributors = [members: 64],
            },
            /// Add into a slot of `slots`; when the contributors are `expected`, send the partial out of
            /// `port`.
            Add = "add" {
                /// Egress port of the partial, and of frames that are not added.
                port: PortNo = [port: 9],
                /// The slots of this (job, shard, block of ranks, plan version) here.
                slots: SlotRange = [base: 32, mask: 32],
                /// Ranks allowed through this entry.
                members: Contributors = [members: 64],
                /// Ranks that make the sum complete.
                expected: Contributors = [expected: 64],
            },
            /// Drop and count.
            Refuse = "refuse",
        }
    }

    /// Table `results`: forwarding of results.
    results: Results = "results" {
        /// Key of table `results`.
        key ResultsKey {
            /// The installed plan.
            plan_version: PlanVersion = [epoch: 16],
            /// The job.
            job: JobId = [job: 16],
            /// The parameter server and its part of the model.
            shard: ShardId = [shard: 16],
            /// Ingress port of the result.
            ingress: PortNo = [ingress: 9],
        }
        /// Action of table `results`.
        action ResultsAction {
            /// Copy to every port of the group.
            Replicate = "replicate" {
                /// The group.
                group: GroupId = [group: 16],
            },
            /// Drop and count.
            Refuse = "refuse",
        }
    }

    /// Table `updates`: allowed senders of updates, and the ports of their copies.
    updates: Updates = "updates" {
        /// Key of table `updates`: one peer's updates for peers of one block, at their ingress port.
        key UpdatesKey {
            /// The installed plan.
            plan_version: PlanVersion = [epoch: 16],
            /// The job.
            job: JobId = [job: 16],
            /// The block of 64 ranks that the receivers are in.
            group: Group = [group: 8],
            /// Rank of the sender.
            worker: BitmapIndex = [worker: 16],
            /// Ingress port of the update.
            ingress: PortNo = [ingress: 9],
        }
        /// Action of table `updates`.
        action UpdatesAction {
            /// Copy to every port of the group; table `receivers` keeps the copies with a receiver.
            Replicate = "replicate" {
                /// The group.
                group: GroupId = [group: 16],
            },
            /// Drop and count.
            Refuse = "refuse",
        }
    }

    /// Table `receivers`: which peers are behind a port.
    receivers: Receivers = "receivers" in "InArtEgress" {
        /// Key of table `receivers`: one block of a job's ranks, at a port that copies of updates leave by.
        key ReceiversKey {
            /// The installed plan.
            plan_version: PlanVersion = [epoch: 16],
            /// The job.
            job: JobId = [job: 16],
            /// The block of 64 ranks.
            group: Group = [group: 8],
            /// Port the copy leaves by.
            egress: PortNo = [egress: 9],
        }
        /// Action of table `receivers`.
        action ReceiversAction {
            /// Leave these of the receivers in the copy; drop and count it if none is left.
            Narrow = "narrow" {
                /// Ranks behind the port.
                members: Contributors = [members: 64],
            },
        }
    }

    /// Table `mac`: forwarding of all other frames.
    mac: Mac = "mac" default mac_default: MacDefault = MacAction::Refuse {
        /// Key of table `mac`.
        key MacKey {
            /// The Ethernet destination.
            dst: MacAddr = [dst: 48],
        }
        /// Action of table `mac`.
        action MacAction {
            /// Send out of the port.
            Send = "send" {
                /// Egress port.
                port: PortNo = [port: 9],
            },
            /// Copy to every port of the group but the ingress port.
            Flood = "flood" {
                /// The group.
                group: GroupId = [group: 16],
            },
            /// Drop and count.
            Refuse = "refuse",
        }
    }
}

/// The tables that a program may lack, all of them together: it then copies no updates.
pub const OPTIONAL: &[&TableSpec] = &[Updates::SPEC, Receivers::SPEC];

/// Tables that a program which copies updates may lack, all of them together: it then sums nothing.
pub const SUMS: &[&TableSpec] = &[Steer::SPEC, Results::SPEC];

/// Compares a program's tables with those declared; the tables that it has.
///
/// # Errors
/// As [`check()`](crate::check()), for tables that a program may not lack, and for [`OPTIONAL`] ones if it
/// has one.
pub fn tables_of(program: &[ProgramTable]) -> Result<Vec<&'static TableSpec>, Mismatch> {
    let has = |spec: &TableSpec| program.iter().any(|table| table.name == spec.name);
    let copies = OPTIONAL.iter().any(|spec| has(spec));
    let sums = !copies || SUMS.iter().any(|spec| has(spec));
    let is_wanted =
        |spec: &&TableSpec| (copies || !OPTIONAL.contains(spec)) && (sums || !SUMS.contains(spec));
    let wanted = SPECS.iter().copied().filter(is_wanted);
    let wanted: Vec<_> = wanted.collect();
    check::check(&wanted, program)?;
    Ok(wanted)
}
