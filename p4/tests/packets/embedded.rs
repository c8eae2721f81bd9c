//! The embedded switch, called directly.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use inart_switch::control::Replica;
use inart_switch::{Port, Program, Sink, Switch};

use super::network;
use super::program::Built;

pub struct Embedded {
    switch: Switch,
    program: Built,
    /// Frames that wait at each port, if any do.
    pub queues: BTreeMap<u16, u32>,
}

impl Embedded {
    pub fn new() -> Self {
        Self { switch: Switch::new(0), program: Built::N32, queues: BTreeMap::new() }
    }
}

/// Recirculation port of the chip.
const RECIRCULATED: Port = Port(68);

/// Compiled once for all cases.
fn compiled(program: Built) -> Arc<Program> {
    static PROGRAMS: Mutex<BTreeMap<Built, Arc<Program>>> = Mutex::new(BTreeMap::new());
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || Program::compile(&program.json()).expect("the program compiles");
    Arc::clone(programs.entry(program).or_insert_with(compile))
}

struct Frames<'q> {
    out: Vec<(u16, Vec<u8>)>,
    queues: &'q BTreeMap<u16, u32>,
    program: Built,
}

impl Sink for Frames<'_> {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.out.push((port.0 as u16, frame.to_vec()));
    }

    fn queue_depth(&mut self, port: Port) -> u32 {
        self.queues.get(&(port.0 as u16)).copied().unwrap_or(0)
    }

    fn queue_cells(&mut self, port: Port) -> u32 {
        self.program.cells(self.queue_depth(port))
    }
}

impl super::run::Switch for Embedded {
    async fn load(&mut self, program: Built) {
        self.program = program;
        self.switch.load(compiled(program)).expect("the program loads");
        self.switch.set_loopback([RECIRCULATED]);
        let tables = network::tables_of(program);
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
        let mut frames = Frames { out: Vec::new(), queues: &self.queues, program: self.program };
        self.switch.process(Port(port.into()), frame, 0, &mut frames);
        assert_eq!(self.switch.statistics().touched_twice, 0, "a register is touched once per pass");
        assert_eq!(self.switch.statistics().past_end, 0, "a register has every cell that is used");
        frames.out
    }

    /// Reads the sum over both controls, if both have one of that name: each counts frames that the other
    /// does not see.
    async fn counter(&mut self, name: &str) -> Vec<u64> {
        let names = ["InArtIngress", "InArtEgress"].map(|control| format!("{control}.{name}"));
        let of_controls: Vec<Vec<u64>> = names
            .iter()
            .filter_map(|name| {
                Some(self.switch.counters(name).ok()?.iter().map(|cell| cell.packets).collect())
            })
            .collect();
        let add = |sum: Vec<u64>, cells: Vec<u64>| sum.iter().zip(cells).map(|(a, b)| a + b).collect();
        of_controls.into_iter().reduce(add).expect("the program has the counter")
    }

    async fn slots(&mut self) -> Option<Vec<Vec<u8>>> {
        let program = compiled(self.program);
        let cells = program
            .registers()
            .iter()
            .flat_map(|register| network::SLOTS.map(move |slot| (register.name.as_str(), slot)));
        let cell = |(name, slot)| self.switch.register(name, slot).expect("the slot is there");
        Some(cells.map(cell).collect())
    }
}
