//! `$PORT_STAT`: frames and octets of each port since they were cleared. Octets are those of the interface:
//! without the FCS.

use std::collections::BTreeMap;

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::{Entry, Table, Value};
use tonic::Status;

use super::status::{invalid, unserved};
use crate::ports::PortStatistics;

/// Counter that a field shows.
type Count = fn(&PortStatistics) -> u64;

/// The fields that are served.
const FIELDS: [(&str, Count); 9] = [
    ("$FramesReceivedOK", |counts| counts.received),
    ("$FramesReceivedAll", |counts| counts.received),
    ("$OctetsReceivedinGoodFrames", |counts| counts.received_bytes),
    ("$OctetsReceived", |counts| counts.received_bytes),
    ("$FramesTransmittedOK", |counts| counts.sent),
    ("$FramesTransmittedAll", |counts| counts.sent + counts.refused),
    ("$FramesTransmittedwithError", |counts| counts.refused),
    ("$OctetsTransmittedwithouterror", |counts| counts.sent_bytes),
    ("$OctetsTransmittedTotal", |counts| counts.sent_bytes),
];

/// The counts of ports when they were last cleared, by field.
#[derive(Debug, Clone, Default)]
pub(super) struct Cleared(BTreeMap<(u32, &'static str), u64>);

impl Cleared {
    /// Returns the entry of a port.
    pub fn entry(&self, port: u32, counts: &PortStatistics) -> Entry {
        let entry = Entry::new("$PORT_STAT").exact("$DEV_PORT", port);
        FIELDS.iter().fold(entry, |entry, (field, count)| {
            let before = self.0.get(&(port, *field)).copied().unwrap_or(0);
            entry.with(*field, count(counts).saturating_sub(before))
        })
    }

    /// Clears the fields that an entry names, or all if it names none. As the driver has it, a count is only
    /// ever set to 0.
    pub fn clear(
        &mut self,
        table: &Table,
        kind: Type,
        port: u32,
        entry: &Entry,
        counts: &PortStatistics,
    ) -> Result<(), Status> {
        if kind != Type::Modify {
            return Err(unserved(format!("{}: counts are always there, modify them to 0", table.name)));
        }
        if let Some((field, _)) = entry.data.iter().find(|(_, value)| **value != Value::Number(0)) {
            return Err(invalid(format!("{}, port {port}: {field} can be set to 0 only", table.name)));
        }
        for (field, count) in &FIELDS {
            if entry.data.is_empty() || entry.data.contains_key(*field) {
                self.0.insert((port, *field), count(counts));
            }
        }
        Ok(())
    }

    /// Restarts the counts of a port at 0: the port was deleted, and may be added again.
    pub fn restart(&mut self, port: u32, counts: &PortStatistics) {
        for (field, count) in &FIELDS {
            self.0.insert((port, *field), count(counts));
        }
    }
}
