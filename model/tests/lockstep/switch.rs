//! The compiled P4 program in the embedded switch, as one of the model's switches.

use std::sync::{Arc, LazyLock};

use inart_model::{Config, Entry, Ranks, Run, Slot, Slots, one, slot_of};
use inart_p4::{Outcome, artifact};
use inart_softswitch::{Port, Program, Sink, Switch};
use inart_tables::{PortNo, SlotRange, Steer, SteerAction, SteerKey, Table};
use inart_wire::{Contributors, Seat, ValuesPerPacket};

use crate::codec::{JOB, epoch_of, server_of};

/// First slot of the job's range.
const BASE: u32 = 4092;
/// The port towards the server; workers' are numbered from 1 by rank, and the other switch's is the one after
/// theirs.
const UP: u32 = 9;

fn port(number: u32) -> PortNo {
    PortNo::try_from(u64::from(number)).expect("ports count from 1")
}

pub struct RealSwitch {
    config: Config,
    number: u8,
    switch: Switch,
}

struct Frames(Vec<Vec<u8>>);

impl Sink for Frames {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        assert_eq!(port.0, UP, "gradients and partials go up");
        self.0.push(frame.to_vec());
    }
}

impl RealSwitch {
    pub fn new(config: Config, number: u8) -> Self {
        let mut real = Self { config, number, switch: Switch::new(0) };
        real.restart();
        real
    }

    /// Loses the registers; the controller brings the entries back.
    pub fn restart(&mut self) {
        static PROGRAM: LazyLock<Arc<Program>> = LazyLock::new(|| {
            Program::compile(&artifact(ValuesPerPacket::N32).json).expect("the program compiles")
        });
        self.switch = Switch::new(0);
        self.switch.load(Arc::clone(&PROGRAM)).expect("the program loads");
        let first = (0..self.config.workers).filter(|worker| self.config.switch_of(*worker) <= self.number);
        let runs = [Run::First, if self.config.moves { Run::Moved } else { Run::OldEpoch }];
        for (worker, run) in first.flat_map(|worker| runs.map(|run| (worker, run))) {
            let seat = self.config.seat_of(run, worker);
            let key = SteerKey {
                epoch: epoch_of(run).into(),
                job: JOB.into(),
                shard: 0.into(),
                worker: Seat::try_from(u16::from(seat)).expect("a low seat"),
                ingress: port(self.port(worker)),
            };
            let ranks = |bitmap| Contributors { bitmap, ..Contributors::one(key.worker) };
            let members = ranks(self.config.seats_of(run, self.members(worker)).into());
            let action = match self.config.entry(run, self.number, seat) {
                Entry::Forward => SteerAction::Forward { port: port(UP), members },
                Entry::Add { expected } => {
                    let base = BASE + slot_of(&self.config, run, 0) as u32;
                    let slots = SlotRange { base, len: self.config.window.into() };
                    SteerAction::Add { port: port(UP), slots, members, expected: ranks(expected.into()) }
                }
            };
            let row = Steer::row(&key, &action);
            let (table, action) = (row.table.full_name, row.action.full_name);
            let put = self.switch.put_numbers(table, row.key.as_deref(), action, &row.params);
            put.expect("the table takes the entry");
        }
    }

    /// Where frames with that rank come in.
    fn port(&self, worker: u8) -> u32 {
        let below = self.config.switch_of(worker) < self.number;
        1 + u32::from(if below { self.config.workers } else { worker })
    }

    /// Everybody who comes in with that worker, by rank.
    fn members(&self, worker: u8) -> Ranks {
        let from_below = (0..self.config.workers).filter(|other| self.port(*other) == self.port(worker));
        from_below.map(one).sum()
    }

    /// A gradient or partial with the seat of that worker comes in: how it was counted, and what left.
    pub fn step(&mut self, worker: u8, frame: &[u8]) -> (Outcome, Vec<Vec<u8>>) {
        let counts = |switch: &Switch, name| -> Vec<u64> {
            let cells = switch.counters(name).expect("the program has the counter");
            cells.iter().map(|cell| cell.packets).collect()
        };
        let outcomes = "InArtIngress.outcomes";
        let before = counts(&self.switch, outcomes);
        let mut frames = Frames(Vec::new());
        self.switch.process(Port(self.port(worker)), frame, 0, &mut frames);
        let after = counts(&self.switch, outcomes);
        let drops = counts(&self.switch, "InArtIngress.drops");
        assert!(drops.iter().all(|count| *count == 0), "no frame of the model is dropped: {drops:?}");
        let counted = Outcome::ALL.iter().find(|outcome| after[outcome.index()] > before[outcome.index()]);
        (*counted.expect("a frame that is not dropped is counted"), frames.0)
    }

    /// Compares the registers of every slot.
    pub fn check(&mut self, slots: &Slots) {
        let ranges = if self.config.moves { 2 } else { 1 };
        for (place, slot) in slots.iter().enumerate().take(ranges * usize::from(self.config.window)) {
            // The 4096 slots are a ring.
            let cell = (BASE as usize + place) % 4096;
            let mut read = |name: &str| {
                let bytes = self.switch.register(&format!("InArtIngress.aggregate.{name}"), cell);
                bytes
                    .expect("the program has the register")
                    .iter()
                    .fold(0, |number, byte| number << 8 | u64::from(*byte))
            };
            let seen = read("contributors");
            assert_eq!(seen, u64::from(slot.seen), "slot {place}: {slot:?}");
            if seen == 0 {
                assert_eq!(*slot, Slot::default());
                continue;
            }
            assert_eq!(slot_of(&self.config, slot.run, slot.sequence), place);
            assert_eq!(read("tags") >> 40, u64::from(epoch_of(slot.run)), "slot {place}: {slot:?}");
            let incarnation = server_of(slot.run).get();
            assert_eq!(read("incarnations"), u64::from(incarnation), "slot {place}: {slot:?}");
            assert_eq!(read("shapes") & 0x10 != 0, slot.last, "slot {place}: {slot:?}");
            assert_eq!(read("sequences"), u64::from(slot.sequence), "slot {place}: {slot:?}");
            assert_eq!(read("flags") & 4 != 0, slot.overflow, "slot {place}: {slot:?}");
        }
    }
}
