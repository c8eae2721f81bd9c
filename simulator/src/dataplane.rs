//! The real switch pipeline with the real controller's tables in it.

use std::sync::Arc;

use inart_controller::Limits;
use inart_controller::entries::{MacAction, ResultsAction, SteerAction, SwitchTables};
use inart_softswitch::control::{ActionCall, Entry, EntryAction, Match, Replica};
use inart_softswitch::{ControlError, Port, Program, Switch};
use inart_wire::ValuesPerPacket;

use crate::Error;

/// Our P4 program as p4c compiled it, ready to be loaded into switches. Made once, used by many runs.
#[derive(Clone, Debug)]
pub struct Dataplane {
    pub(crate) values: ValuesPerPacket,
    pub(crate) limits: Limits,
    program: Arc<Program>,
}

impl Dataplane {
    /// The built-in program for that many values per frame.
    pub fn new(values: ValuesPerPacket) -> Result<Self, Error> {
        let artifact = inart_p4::artifact(values);
        let limits = inart_controller::Program::new(values, &artifact.json, &artifact.p4info)?.limits;
        let program = Program::compile(&artifact.json).map_err(|error| Error::Program(error.to_string()))?;
        Ok(Self { values, limits, program })
    }

    /// A switch that runs the program with these tables; its registers are empty.
    pub(crate) fn switch(&self, tables: &SwitchTables) -> Result<Switch, ControlError> {
        let mut switch = Switch::new(0);
        switch.load(Arc::clone(&self.program))?;
        let port = |port: inart_controller::PortNo| port.get().to_be_bytes().to_vec();
        for (group, ports) in &tables.groups {
            let replicas = ports.iter().map(|port| Replica { port: Port(port.get().into()), instance: 1 });
            switch.put_multicast_group(group.0.into(), replicas.collect(), false)?;
        }
        for (key, action) in &tables.steer {
            let key = [key.epoch.get(), key.job.get(), key.shard.get(), key.worker.get(), key.ingress.get()];
            let call = match action {
                SteerAction::Forward { port: to, members } => {
                    call("forward", [port(*to), members.bitmap.to_be_bytes().to_vec()])
                }
                SteerAction::Add { port: to, slots, members, expected } => {
                    let words =
                        [slots.base, slots.len.saturating_sub(1)].map(|word| word.to_be_bytes().to_vec());
                    let bitmaps = [members, expected].map(|ranks| ranks.bitmap.to_be_bytes().to_vec());
                    call("add", [port(*to)].into_iter().chain(words).chain(bitmaps))
                }
                SteerAction::Refuse => call("refuse", []),
            };
            switch.insert_entry(
                "InArtIngress.steer",
                entry(key.map(|word| word.to_be_bytes().to_vec()), call),
            )?;
        }
        for (key, action) in &tables.results {
            let key = [key.epoch.get(), key.job.get(), key.shard.get(), key.ingress.get()];
            let call = match action {
                ResultsAction::Replicate(group) => call("replicate", [group.0.to_be_bytes().to_vec()]),
                ResultsAction::Refuse => call("refuse", []),
            };
            switch.insert_entry(
                "InArtIngress.results",
                entry(key.map(|word| word.to_be_bytes().to_vec()), call),
            )?;
        }
        let mac_call = |action: &MacAction| match action {
            MacAction::Send(to) => call("send", [port(*to)]),
            MacAction::Flood(group) => call("flood", [group.0.to_be_bytes().to_vec()]),
            MacAction::Refuse => call("refuse", []),
        };
        for (address, action) in &tables.mac {
            switch.insert_entry("InArtIngress.mac", entry([address.0.to_vec()], mac_call(action)))?;
        }
        for trunk in &tables.trunks {
            switch.insert_entry("InArtIngress.trunks", entry([port(*trunk)], call("trust", [])))?;
        }
        switch.set_default("InArtIngress.mac", Some(mac_call(&tables.mac_default)))?;
        Ok(switch)
    }
}

fn call(action: &str, params: impl IntoIterator<Item = Vec<u8>>) -> ActionCall {
    ActionCall { action: format!("InArtIngress.{action}"), params: params.into_iter().collect() }
}

fn entry(key: impl IntoIterator<Item = Vec<u8>>, call: ActionCall) -> Entry {
    Entry::new(key.into_iter().map(Match::Exact).collect(), 0, EntryAction::Call(call))
}
