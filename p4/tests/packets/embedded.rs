//! The embedded switch, called directly.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use inart_p4::Artifact;
use inart_softswitch::control::Replica;
use inart_softswitch::{Port, Program, Sink, Switch};
use inart_wire::ValuesPerPacket;

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
}

/// The artifact's program; compiled once for all cases.
fn compiled(artifact: &Artifact) -> Arc<Program> {
    static PROGRAMS: Mutex<BTreeMap<ValuesPerPacket, Arc<Program>>> = Mutex::new(BTreeMap::new());
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || Program::compile(&artifact.json).expect("the program compiles");
    Arc::clone(programs.entry(artifact.values).or_insert_with(compile))
}

fn full(name: &str) -> String {
    let control = if name.starts_with("egress") { "InArtEgress" } else { "InArtIngress" };
    format!("{control}.{name}")
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
        let program = compiled(artifact);
        self.switch.load(Arc::clone(&program)).expect("the program loads");
        let json: serde_json::Value = serde_json::from_slice(&artifact.json).expect("p4c printed JSON");
        let arrays = json["register_arrays"].as_array().expect("the program has registers");
        self.registers = arrays.iter().filter_map(|array| Some(array["name"].as_str()?.to_owned())).collect();
        let tables = network::tables();
        for row in tables.rows() {
            let (table, action) = (row.table.full_name, row.action.full_name);
            let put = self.switch.put_numbers(table, row.key.as_deref(), action, &row.params);
            put.expect("the table takes the entry");
        }
        for (group, ports) in tables.groups {
            let replicas = ports.iter().map(|port| Replica { port: Port(port.get().into()), instance: 1 });
            let put = self.switch.put_multicast_group(group.0.into(), replicas.collect(), false);
            put.expect("the group is new");
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
