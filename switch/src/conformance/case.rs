//! Runs one script: statements in order, then the packets of every port compared with those expected.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names;
use super::stf::{Statement, number};
use crate::control::{
    CloneSession, ControlError, CounterValue, Entry, EntryAction, MeterConfig, Port, Replica,
};
use crate::program::Program;
use crate::switch::{Sink, Switch};

/// Interval of the script's packets.
const PACKET_GAP_US: u64 = 1_000;
/// Duration of `wait` and of commands of the control plane.
const PAUSE_US: u64 = 1_000_000;

/// Frames by port.
#[derive(Default)]
struct Received(BTreeMap<u32, Vec<Vec<u8>>>);

impl Sink for Received {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.entry(port.0).or_default().push(frame.to_vec());
    }
}

/// Existing ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ports {
    /// Ports that the script names, as in p4c's own runner: packets to others are lost.
    Named,
    All,
}

struct Case {
    switch: Switch,
    program: Arc<Program>,
    now_us: u64,
    received: Received,
    /// Ports that the script names; others do not exist.
    expected: BTreeMap<u32, Vec<Option<String>>>,
    /// Refusals of the switch: they count only if packets differ, as in p4c's runner.
    refusals: Vec<String>,
    /// Replicas by group, and nodes as (instance, ports), for the CLI's multicast commands.
    nodes: Vec<(u16, Vec<u32>)>,
    groups: BTreeMap<u32, Vec<usize>>,
}

pub(super) fn run(program: Arc<Program>, script: &[Statement], ports: Ports) -> Result<(), String> {
    let mut switch = Switch::new(0);
    switch.load(Arc::clone(&program)).map_err(|error| error.to_string())?;
    let mut case = Case {
        switch,
        program,
        now_us: PAUSE_US,
        received: Received::default(),
        expected: BTreeMap::new(),
        refusals: Vec::new(),
        nodes: Vec::new(),
        groups: BTreeMap::new(),
    };
    for statement in script {
        if let Statement::Packet { port, .. } | Statement::Expect { port, .. } = statement {
            case.expected.entry(*port).or_default();
        }
    }
    for statement in script {
        case.step(statement)?;
    }
    case.compare(ports).map_err(|why| match case.refusals.first() {
        Some(refusal) => format!("{why} (the switch refused: {refusal})"),
        None => why,
    })
}

impl Case {
    fn step(&mut self, statement: &Statement) -> Result<(), String> {
        match statement {
            Statement::Add { table, priority, key, action } => {
                let info = names::table(&self.program, table)?;
                let call = names::action(&self.program, info, action)?;
                let matches = names::key(info, key)?;
                // Higher numbers win; p4c's scripts start at 0, the control API at 1.
                let priority =
                    if self.needs_priority(&info.name) { priority.unwrap_or(0).saturating_add(1) } else { 0 };
                let entry = Entry::new(matches, priority, EntryAction::Call(call));
                let name = info.name.clone();
                let done = self.switch.insert_entry(&name, entry);
                self.note(done);
            }
            Statement::SetDefault { table, action } => {
                let info = names::table(&self.program, table)?;
                let call = names::action(&self.program, info, action)?;
                let name = info.name.clone();
                let done = self.switch.set_default(&name, Some(call));
                self.note(done);
            }
            Statement::Packet { port, bytes } => {
                self.now_us += PACKET_GAP_US;
                self.switch.process(Port(*port), bytes, self.now_us, &mut self.received);
            }
            Statement::Expect { port, digits } => {
                self.expected.entry(*port).or_default().push(digits.clone());
            }
            Statement::CheckCounter { counter, cell, check } => {
                self.check_counter(counter, cell, check.as_ref())?
            }
            Statement::Command { name, arguments } => self.command(name, arguments)?,
            Statement::Wait => self.now_us += PAUSE_US,
        }
        Ok(())
    }

    fn needs_priority(&self, table: &str) -> bool {
        use crate::program::MatchKind::{Exact, Lpm};
        let keys = self.program.table(table).map_or(&[][..], |info| &info.keys);
        keys.iter().any(|key| !matches!(key.kind, Exact | Lpm))
            || keys.iter().filter(|key| key.kind == Lpm).count() > 1
    }

    fn note(&mut self, done: Result<(), ControlError>) {
        self.refusals.extend(done.err().map(|error| error.to_string()));
    }

    fn check_counter(
        &self,
        counter: &str,
        cell: &str,
        check: Option<&(String, String, u64)>,
    ) -> Result<(), String> {
        let info = names::array(&self.program.counters, |info| &info.name, counter)?;
        let cells = self.switch.counters(&info.name).map_err(|error| error.to_string())?;
        let index: usize =
            cell.parse().map_err(|_| format!("counter {counter}: cell {cell} is not a number"))?;
        let value: CounterValue =
            *cells.get(index).ok_or_else(|| format!("counter {counter} has no cell {index}"))?;
        let Some((what, test, wanted)) = check else { return Ok(()) };
        let value = if what == "bytes" { value.bytes } else { value.packets };
        let holds = match test.as_str() {
            "==" => value == *wanted,
            "!=" => value != *wanted,
            "<" => value < *wanted,
            "<=" => value <= *wanted,
            ">" => value > *wanted,
            ">=" => value >= *wanted,
            _ => return Err(format!("the comparison {test} is not known")),
        };
        if holds {
            Ok(())
        } else {
            Err(format!("counter {counter}({cell}): {what} is {value}, not {test} {wanted}"))
        }
    }

    fn command(&mut self, name: &str, arguments: &[String]) -> Result<(), String> {
        self.now_us += PAUSE_US;
        let int = |n: usize| -> Result<u32, String> {
            let text = arguments.get(n).ok_or_else(|| format!("{name}: argument {} is missing", n + 1))?;
            text.parse().map_err(|_| format!("{name}: {text} is not a number"))
        };
        match name {
            "mirroring_add" => {
                let replicas = vec![Replica { port: Port(int(1)?), instance: 0 }];
                let done =
                    self.switch.put_clone_session(int(0)?, CloneSession { replicas, max_bytes: 0 }, false);
                self.note(done);
            }
            "mirroring_add_mc" => {
                let replicas = self.replicas(int(1)?);
                let done =
                    self.switch.put_clone_session(int(0)?, CloneSession { replicas, max_bytes: 0 }, false);
                self.note(done);
            }
            "mirroring_delete" => {
                let done = self.switch.delete_clone_session(int(0)?);
                self.note(done);
            }
            "mc_mgrp_create" => {
                self.groups.insert(int(0)?, Vec::new());
            }
            "mc_node_create" => {
                let ports = (1..arguments.len()).map(int).collect::<Result<Vec<_>, _>>()?;
                self.nodes.push((int(0)? as u16, ports));
            }
            "mc_node_associate" => {
                let (group, node) = (int(0)?, int(1)? as usize);
                self.groups.entry(group).or_default().push(node);
                let replicas = self.replicas(group);
                let replace = self.switch.multicast_groups().any(|(present, _)| present == group);
                let done = self.switch.put_multicast_group(group, replicas, replace);
                self.note(done);
            }
            "register_write" | "register_reset" => self.write_registers(name, arguments)?,
            "counter_write" => {
                let info = names::array(&self.program.counters, |info| &info.name, &arguments[0])?;
                let value = CounterValue { packets: int(2)?.into(), bytes: int(3)?.into() };
                let (counter, cell) = (info.name.clone(), int(1)? as usize);
                let done = self.switch.set_counter(&counter, cell, value);
                self.note(done);
            }
            "meter_set_rates" | "meter_array_set_rates" => self.set_rates(name, arguments)?,
            "mirroring_get" | "register_read" | "counter_read" | "meter_get_rates" => {}
            _ => return Err(format!("the command {name} is not known")),
        }
        Ok(())
    }

    fn replicas(&self, group: u32) -> Vec<Replica> {
        let nodes = self.groups.get(&group).into_iter().flatten().filter_map(|&node| self.nodes.get(node));
        nodes
            .flat_map(|(instance, ports)| {
                ports.iter().map(|&port| Replica { port: Port(port), instance: *instance })
            })
            .collect()
    }

    fn write_registers(&mut self, name: &str, arguments: &[String]) -> Result<(), String> {
        let register = arguments.first().map(String::as_str).unwrap_or_default();
        let info = names::array(&self.program.registers, |info| &info.name, register)?;
        let (register, size) = (info.name.clone(), info.size);
        let (cells, value) = match (name, arguments.get(1), arguments.get(2)) {
            ("register_reset", ..) => (0..size, Some(vec![0])),
            (_, Some(cell), Some(value)) => {
                let cell: usize =
                    cell.parse().map_err(|_| format!("register_write: {cell} is not a number"))?;
                (cell..cell + 1, number(value).map(|(value, ..)| value))
            }
            _ => return Err("register_write: arguments are missing".into()),
        };
        let value = value.ok_or("register_write: the value is not a number")?;
        for cell in cells {
            let done = self.switch.set_register(&register, cell, &value);
            self.note(done);
        }
        Ok(())
    }

    /// Rates are given per microsecond, with bursts: `rate:burst rate:burst`.
    fn set_rates(&mut self, name: &str, arguments: &[String]) -> Result<(), String> {
        let meter = arguments.first().map(String::as_str).unwrap_or_default();
        let info = names::array(&self.program.meters, |info| &info.name, meter)?;
        let (meter, size) = (info.name.clone(), info.size);
        let rates = arguments
            .iter()
            .filter_map(|argument| argument.split_once(':'))
            .map(|(rate, burst)| {
                Some(((rate.parse::<f64>().ok()? * 1e6).round() as u64, burst.parse().ok()?))
            })
            .collect::<Option<Vec<(u64, u64)>>>();
        let Some([committed, peak]) = rates.as_deref() else {
            return Err(format!("{name}: two rates are needed"));
        };
        let config = MeterConfig {
            committed_rate: committed.0,
            committed_burst: committed.1,
            peak_rate: peak.0,
            peak_burst: peak.1,
        };
        let cells = match name {
            "meter_set_rates" => {
                let cell = arguments.get(1).and_then(|cell| cell.parse::<usize>().ok());
                let cell = cell.ok_or("meter_set_rates: the cell is not a number")?;
                cell..cell + 1
            }
            _ => 0..size,
        };
        for cell in cells {
            let done = self.switch.set_meter(&meter, cell, Some(config));
            self.note(done);
        }
        Ok(())
    }

    fn compare(&self, ports: Ports) -> Result<(), String> {
        let elsewhere = self.received.0.keys().find(|port| !self.expected.contains_key(port));
        if let (Ports::All, Some(port)) = (ports, elsewhere) {
            return Err(format!("port {port}: no packet expected"));
        }
        for (port, expected) in &self.expected {
            let received = self.received.0.get(port).map_or(&[][..], |frames| frames);
            for (number, (expected, frame)) in expected.iter().zip(received).enumerate() {
                if let Some(digits) = expected
                    && let Some(why) = difference(digits, frame)
                {
                    return Err(format!("port {port}, packet {number}: {why}"));
                }
            }
            if received.len() != expected.len() {
                return Err(format!(
                    "port {port}: {} packets expected, {} arrived",
                    expected.len(),
                    received.len()
                ));
            }
        }
        Ok(())
    }
}

/// Returns how a frame differs from the digits expected; `*` is any digit, a final `$` the end of the packet.
fn difference(expected: &str, frame: &[u8]) -> Option<String> {
    let (digits, whole) = match expected.strip_suffix('$') {
        Some(digits) => (digits, true),
        None => (expected, false),
    };
    let received: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
    let wanted = digits.to_ascii_lowercase();
    let same = wanted.bytes().zip(received.bytes()).all(|(wanted, got)| wanted == b'*' || wanted == got);
    if same && received.len() >= wanted.len() && (!whole || received.len() == wanted.len()) {
        return None;
    }
    Some(format!("expected {expected}, got {received}"))
}
