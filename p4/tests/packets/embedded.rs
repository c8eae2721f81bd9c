//! The embedded switch, called directly.

use std::sync::Arc;

use inart_p4::Artifact;
use inart_p4runtime::{Match, TableAction};
use inart_softswitch::control::{self, EntryAction, Replica};
use inart_softswitch::{Port, Program, Sink, Switch};

use crate::network;

pub struct Embedded(Switch);

impl Embedded {
    pub fn new() -> Self {
        Self(Switch::new(0))
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

struct Frames(Vec<(u16, Vec<u8>)>);

impl Sink for Frames {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((port.0 as u16, frame.to_vec()));
    }
}

impl crate::Switch for Embedded {
    async fn load(&mut self, artifact: &Artifact) {
        let program = Program::compile(&artifact.json).expect("the program compiles");
        self.0.load(Arc::clone(&program)).expect("the program loads");
        for entry in network::entries() {
            let table = full(&entry.table);
            let call = Self::call(&program, &entry.action);
            if entry.is_default {
                self.0.set_default(&table, Some(call)).expect("the default action may change");
                continue;
            }
            let info = program.table(&table).expect("the program has the table");
            let key = info.keys.iter().map(|key| match &entry.matches[&key.name] {
                Match::Exact(value) => control::Match::Exact(value.as_bytes().to_vec()),
                other => panic!("our tables match exactly, not {other}"),
            });
            let entry = control::Entry::new(key.collect(), 0, EntryAction::Call(call));
            self.0.insert_entry(&table, entry).expect("the table takes the entry");
        }
        for (group, ports) in network::groups() {
            let replicas = ports.into_iter().map(|port| Replica { port: Port(port.into()), instance: 1 });
            self.0.put_multicast_group(group, replicas.collect(), false).expect("the group is new");
        }
    }

    async fn send(&mut self, port: u16, frame: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut frames = Frames(Vec::new());
        self.0.process(Port(port.into()), frame, 0, &mut frames);
        frames.0
    }

    async fn counter(&mut self, name: &str) -> Vec<u64> {
        let cells = self.0.counters(&full(name)).expect("the program has the counter");
        cells.iter().map(|cell| cell.packets).collect()
    }
}
