//! `$PORT`: the existing ports, their configuration, and whether they are up.
//!
//! A port that has an interface in this machine is up while the interface has a link; another as soon as it
//! is enabled. Frames pass whatever the configuration, except for ports in loopback mode, whose frames return
//! to the ingress. So ports with interfaces exist and are enabled from the start, without a speed, until they
//! are added.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::{Entry, Match, Table, Value};
use tonic::Status;

use super::front::FrontPorts;
use super::interfaces::{Interfaces, Nowhere};
use super::port_counts::Cleared;
use super::status::{invalid, unserved};
use crate::control::Port;

/// Ports of a pipe, and bits of a port's number within its pipe.
const PORTS_OF_PIPE: u128 = 72;
const PORT_BITS: u32 = 7;
const PIPES: u32 = 4;
/// Port of each pipe whose frames always return to the ingress.
const RECIRCULATES: u32 = 68;

/// Defaults of a port.
const DEFAULTS: [(&str, &str); 2] = [("$AUTO_NEGOTIATION", "PM_AN_DEFAULT"), ("$LOOPBACK_MODE", NO_LOOPBACK)];
const NO_LOOPBACK: &str = "BF_LPBK_NONE";
/// Longest frame, bytes.
const MTU: u32 = 10240;

/// A port that went up or down.
pub(super) type PortChange = (u32, bool);

/// The ports of a switch.
#[derive(Clone)]
pub(super) struct Ports {
    /// Ports that controllers wrote, and those that exist from the start.
    rows: BTreeMap<u32, Entry>,
    /// Ports that no controller has written.
    unwritten: BTreeSet<u32>,
    cleared: Cleared,
    pub front: Arc<FrontPorts>,
    interfaces: Arc<dyn Interfaces>,
}

impl Default for Ports {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            unwritten: BTreeSet::new(),
            cleared: Cleared::default(),
            front: Arc::default(),
            interfaces: Arc::new(Nowhere),
        }
    }
}

impl Ports {
    /// Has these interfaces from the start.
    pub fn set_interfaces(&mut self, interfaces: Arc<dyn Interfaces>) {
        for Port(number) in interfaces.ports() {
            let row = Entry::new("$PORT").with("$SPEED", "BF_SPEED_NONE").with("$FEC", "BF_FEC_TYP_NONE");
            let row = completed(number, &row.with("$PORT_ENABLE", true));
            self.rows.insert(number, row);
            self.unwritten.insert(number);
        }
        self.interfaces = interfaces;
    }

    /// Changes a port, or removes all. Returns the ports that went up or down.
    pub fn write(&mut self, kind: Type, entry: &Entry) -> Result<Vec<PortChange>, Status> {
        if kind == Type::Delete && entry.key.is_empty() {
            let numbers: Vec<u32> = self.rows.keys().copied().collect();
            return Ok(numbers.into_iter().filter_map(|number| self.put(number, None)).collect());
        }
        let number = number(entry)?;
        let fresh = match (kind, self.rows.get(&number)) {
            (Type::Insert, Some(_)) if !self.unwritten.contains(&number) => {
                return Err(Status::already_exists(format!("$PORT {number} exists already")));
            }
            (Type::Modify | Type::Delete, None) => return Err(missing(number)),
            (Type::Insert, _) | (Type::InsertOrModify, None) => Some(added(number, entry)?),
            (Type::Modify | Type::InsertOrModify, Some(present)) => Some(modified(present, entry)),
            (Type::Delete, Some(_)) => None,
            _ => return Err(unserved(format!("$PORT: {} is not served", kind.as_str_name()))),
        };
        if let Some(fresh) = &fresh {
            self.has_room(number, fresh)?;
        }
        Ok(self.put(number, fresh).into_iter().collect())
    }

    /// Rejects a port that does not start at a lane of its own.
    fn has_room(&self, number: u32, row: &Entry) -> Result<(), Status> {
        let lanes = lanes(row);
        let lane = self.front.lane(number).map_or(0, |(_, lane)| lane);
        if lanes == 0 || lanes > 4 || !lane.is_multiple_of(lanes) {
            return Err(invalid(format!(
                "$PORT {number}: a port of {lanes} lanes cannot begin at lane {lane}"
            )));
        }
        let written = |(other, _): &(&u32, &Entry)| !self.unwritten.contains(other);
        let overlaps = |(other, theirs): &(&u32, &Entry)| match **other {
            other if other < number => number < other + self::lanes(theirs),
            other => number < other && other < number + lanes,
        };
        match self.rows.iter().filter(written).find(overlaps) {
            Some((other, _)) => Err(invalid(format!("$PORT {number}: port {other} has some of its lanes"))),
            None => Ok(()),
        }
    }

    /// Replaces the row of a port. Returns whether the port went up or down.
    fn put(&mut self, number: u32, row: Option<Entry>) -> Option<PortChange> {
        self.unwritten.remove(&number);
        let up = |ports: &Self| ports.rows.get(&number).is_some_and(|row| ports.is_up(number, row));
        let was = up(self);
        match row {
            Some(row) => drop(self.rows.insert(number, row)),
            None => {
                self.rows.remove(&number);
                self.cleared.restart(number, &self.interfaces.traffic(Port(number)));
            }
        }
        let is = up(self);
        (was != is).then_some((number, is))
    }

    /// Returns the ports, or the one of a key.
    pub fn read(&self, filter: &Entry) -> Result<Vec<Entry>, Status> {
        let tell = |(number, row): (&u32, &Entry)| {
            let entry = row.clone().with("$IS_VALID", true).with("$PORT_UP", self.is_up(*number, row));
            match self.front.lane(*number) {
                None => entry.with("$IS_INTERNAL", true),
                Some((front, lane)) => entry
                    .with("$IS_INTERNAL", false)
                    .with("$CONN_ID", front)
                    .with("$CHNL_ID", lane)
                    .with("$PORT_NAME", format!("{front}/{lane}")),
            }
        };
        Ok(self.selected(filter)?.map(tell).collect())
    }

    /// Reads the counters of all ports, or of the port of a key.
    pub fn read_counts(&self, filter: &Entry) -> Result<Vec<Entry>, Status> {
        let entry =
            |(number, _): (&u32, _)| self.cleared.entry(*number, &self.interfaces.traffic(Port(*number)));
        Ok(self.selected(filter)?.map(entry).collect())
    }

    /// Clears the counters of a port, or (a delete without a key) of all.
    pub fn write_counts(&mut self, table: &Table, kind: Type, entry: &Entry) -> Result<(), Status> {
        let all = kind == Type::Delete && entry.key.is_empty();
        let numbers = match all {
            true => self.rows.keys().copied().collect(),
            false => vec![number(entry)?],
        };
        for number in numbers {
            if !self.rows.contains_key(&number) {
                return Err(missing(number));
            }
            let kind = if all { Type::Modify } else { kind };
            let counts = self.interfaces.traffic(Port(number));
            self.cleared.clear(table, kind, number, entry, &counts)?;
        }
        Ok(())
    }

    /// Returns the ports whose frames return to the ingress.
    pub fn loopback(&self) -> impl Iterator<Item = Port> {
        let loops = self.rows.iter().filter(|(_, row)| is_enabled(row) && is_loopback(row));
        let recirculate = (0..PIPES).map(|pipe| (pipe << PORT_BITS) + RECIRCULATES);
        loops.map(|(number, _)| *number).chain(recirculate).map(Port)
    }

    fn selected(&self, filter: &Entry) -> Result<impl Iterator<Item = (&u32, &Entry)>, Status> {
        let wanted = if filter.key.is_empty() { None } else { Some(number(filter)?) };
        if let Some(number) = wanted.filter(|number| !self.rows.contains_key(number)) {
            return Err(missing(number));
        }
        Ok(self.rows.iter().filter(move |(number, _)| wanted.is_none_or(|wanted| wanted == **number)))
    }

    fn is_up(&self, number: u32, row: &Entry) -> bool {
        let has_link = || self.interfaces.has_carrier(Port(number)).unwrap_or(true);
        is_enabled(row) && (is_loopback(row) || has_link())
    }
}

/// Returns the row of an added port: speed and FEC are required.
fn added(number: u32, entry: &Entry) -> Result<Entry, Status> {
    match ["$SPEED", "$FEC"].into_iter().find(|field| !entry.data.contains_key(*field)) {
        Some(field) => Err(invalid(format!("$PORT {number}: {field} is missing"))),
        None => Ok(completed(number, entry)),
    }
}

/// Returns the row of a port, with defaults for omitted fields.
fn completed(number: u32, entry: &Entry) -> Entry {
    let row = Entry::new("$PORT").exact("$DEV_PORT", number);
    let row = DEFAULTS.into_iter().fold(row, |row, (field, value)| row.with(field, value));
    let mut row = row.with("$PORT_ENABLE", false).with("$TX_MTU", MTU).with("$RX_MTU", MTU);
    row.data.extend(entry.data.clone());
    with_lanes(row, entry)
}

/// Returns the row of a port with a changed configuration. As in the driver, another speed enables the port.
fn modified(present: &Entry, entry: &Entry) -> Entry {
    let mut row = present.clone();
    row.data.extend(entry.data.clone());
    match entry.data.contains_key("$SPEED") {
        true if entry.data.contains_key("$PORT_ENABLE") => with_lanes(row, entry),
        true => with_lanes(row, entry).with("$PORT_ENABLE", true),
        false => row,
    }
}

/// Returns the row with as many lanes as its speed needs, unless the entry sets them.
fn with_lanes(row: Entry, entry: &Entry) -> Entry {
    if entry.data.contains_key("$N_LANES") {
        return row;
    }
    let lanes: u32 = match row.data.get("$SPEED") {
        Some(Value::Text(speed)) if speed.starts_with("BF_SPEED_40G") || speed == "BF_SPEED_100G" => 4,
        Some(Value::Text(speed)) if speed == "BF_SPEED_50G" => 2,
        _ => 1,
    };
    row.with("$N_LANES", lanes)
}

fn lanes(row: &Entry) -> u32 {
    row.number("$N_LANES").and_then(|lanes| u32::try_from(lanes).ok()).unwrap_or(1)
}

fn is_enabled(row: &Entry) -> bool {
    row.data.get("$PORT_ENABLE") == Some(&Value::Flag(true))
}

fn is_loopback(row: &Entry) -> bool {
    matches!(row.data.get("$LOOPBACK_MODE"), Some(Value::Text(mode)) if mode != NO_LOOPBACK)
}

fn missing(number: u32) -> Status {
    Status::not_found(format!("there is no $PORT {number}; add it first"))
}

fn number(entry: &Entry) -> Result<u32, Status> {
    let table = &entry.table;
    let Some(Match::Exact(number)) = entry.key.get("$DEV_PORT") else {
        return Err(invalid(format!("{table}: the entry has no $DEV_PORT")));
    };
    let fits = number >> PORT_BITS < u128::from(PIPES) && number & ((1 << PORT_BITS) - 1) < PORTS_OF_PIPE;
    let number = u32::try_from(*number).ok().filter(|_| fits);
    number.ok_or_else(|| invalid(format!("{table}: $DEV_PORT is not a port of a chip with four pipes of 72")))
}
