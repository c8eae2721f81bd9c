//! The tables of control `InArtIngress` (`p4/include/ingress.p4`): the one place to add a table, an action,
//! or a field. What they mean is in `docs/protocol.md`.

use std::collections::{BTreeMap, BTreeSet};

use inart_wire::{Contributors, Epoch, JobId, MacAddr, Seat, ShardId};

use crate::check::ProgramTable;
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
            /// Port the frame comes in by.
            ingress: PortNo = [ingress: 9],
        }
        /// Action of table `switch_ports`.
        action SwitchPortsAction {
            /// Messages from there were looked at where they came into the network.
            Trust = "trust",
        }
    }

    /// Table `steer`: the way of gradients and partials.
    steer: Steer = "steer" {
        /// Key of table `steer`: one worker's frames of one shard, at the port they come in by.
        key SteerKey {
            /// The installed plan.
            epoch: Epoch = [epoch: 16],
            /// The job.
            job: JobId = [job: 16],
            /// The parameter server and its part of the model.
            shard: ShardId = [shard: 16],
            /// Seat of the sender; in a partial, of the worker whose frame completed it.
            worker: Seat = [worker: 16],
            /// Port the frame comes in by.
            ingress: PortNo = [ingress: 9],
        }
        /// Action of table `steer`.
        action SteerAction {
            /// Send out of `port`, untouched.
            Forward = "forward" {
                /// Egress port.
                port: PortNo = [port: 9],
                /// Ranks that may come in through this entry.
                members: Contributors = [members: 64],
            },
            /// Add into a slot of `slots`; when the contributors are `expected`, send the partial out of
            /// `port`.
            Add = "add" {
                /// Egress port of the partial, and of frames that are not added.
                port: PortNo = [port: 9],
                /// The slots of this (job, shard, block of ranks, epoch) here.
                slots: SlotRange = [base: 32, mask: 32],
                /// Ranks that may come in through this entry.
                members: Contributors = [members: 64],
                /// Ranks that make the sum complete.
                expected: Contributors = [expected: 64],
            },
            /// Drop and count.
            Refuse = "refuse",
        }
    }

    /// Table `results`: the way of results.
    results: Results = "results" {
        /// Key of table `results`.
        key ResultsKey {
            /// The installed plan.
            epoch: Epoch = [epoch: 16],
            /// The job.
            job: JobId = [job: 16],
            /// The parameter server and its part of the model.
            shard: ShardId = [shard: 16],
            /// Port the result comes in by.
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

    /// Table `mac`: the way of everything else.
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
