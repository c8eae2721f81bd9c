//! The embedded switch, called directly.

use std::collections::BTreeMap;
use std::sync::Arc;

use inart_p4::Artifact;
use inart_p4runtime::{Match, TableAction};
use inart_softswitch::control::{self, EntryAction, Replica};
use inart_softswitch::{Port, Program, Sink, Switch};

use crate::network;

pub struct Embedded {
    switch: Switch,
    /// Names of the program's registers.
    registers: Vec<String>,
    /// Frames that wait at each port, if any do.
    pub queues: BTreeMap<u16, u32>,
}

impl Embedded {
    pub fn new() -> Self {
        Self { switch: Switch::new(0), registers: Vec::new(), queues: BTreeMap::new() }
    }

    /// An action as the embedded switch takes it: full name, parameters in order.
    fn call(program: &Program, action: &Option<TableAction>) -> control::ActionCall {
        let Some(TableAction::Call(call)) = action else { panic!("our tables have no action profiles") };
        let name = full(&call.action);
        let info =
            program.actions().iter().find(|info| info.name == name).expect("the program has the action");
        let params = info.params.iter().map(|param| call.params[&param.name].as_bytes().to_vec()).collect();
        control::ActionCall { action: name, params }
    }
}

fn full(name: &str) -> String {
    format!("InArtIngress.{name}")
}

struct Frames<'q> {
    out: Vec<(u16, Vec<u8>)>,
    queues: &'q BTreeMap<u16, u32>,
}

impl Sink for Frames<'_> {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.out.push((port.0 as u16, frame.to_vec()));
    }

    fn queue_depth(&mut self, port: Port) -> u32 {
        self.queues.get(&(port.0 as u16)).copied().unwrap_or(0)
    }
}

impl crate::Switch for Embedded {
    async fn load(&mut self, artifact: &Artifact) {
        let program = Program::compile(&artifact.json).expect("the program compiles");
        self.switch.load(Arc::clone(&program)).expect("the program loads");
        let json: serde_json::Value = serde_json::from_slice(&artifact.json).expect("p4c printed JSON");
        let arrays = json["register_arrays"].as_array().expect("the program has registers");
        self.registers = arrays.iter().filter_map(|array| Some(array["name"].as_str()?.to_owned())).collect();
        for entry in network::entries() {
            let table = full(&entry.table);
            let call = Self::call(&program, &entry.action);
            if entry.is_default {
                self.switch.set_default(&table, Some(call)).expect("the default action may change");
                continue;
            }
            let info = program.table(&table).expect("the program has the table");
            let key = info.keys.iter().map(|key| match &entry.matches[&key.name] {
                Match::Exact(value) => control::Match::Exact(value.as_bytes().to_vec()),
                other => panic!("our tables match exactly, not {other}"),
            });
            let entry = control::Entry::new(key.collect(), 0, EntryAction::Call(call));
            self.switch.insert_entry(&table, entry).expect("the table takes the entry");
        }
        for (group, ports) in network::groups() {
            let replicas = ports.into_iter().map(|port| Replica { port: Port(port.into()), instance: 1 });
            self.switch.put_multicast_group(group, replicas.collect(), false).expect("the group is new");
        }
    }

    async fn send(&mut self, port: u16, frame: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut frames = Frames { out: Vec::new(), queues: &self.queues };
        self.switch.process(Port(port.into()), frame, 0, &mut frames);
        frames.out
    }

    async fn counter(&mut self, name: &str) -> Vec<u64> {
        let cells = self.switch.counters(&full(name)).expect("the program has the counter");
        cells.iter().map(|cell| cell.packets).collect()
    }

    async fn slots(&mut self) -> Option<Vec<Vec<u8>>> {
        let cells = self.registers.iter().flat_map(|name| network::SLOTS.map(move |slot| (name, slot)));
        let cell =
            |(name, slot): (&String, usize)| self.switch.register(name, slot).expect("the slot is there");
        Some(cells.map(cell).collect())
    }
}
