//! The compiled P4 program in the embedded switch, as one of the model's switches.

use std::sync::{Arc, LazyLock};

use inart_model::{Config, Entry, Ranks, Run, Slots, one, slot_of};
use inart_p4::{Chip, Outcome, Variant, artifact, tofino_artifact};
use inart_switch::{Port, Program, Sink, Switch};
use inart_tables::{PortNo, SlotRange, Steer, SteerAction, SteerKey, Table};
use inart_wire::{BitmapIndex, Contributors, ValuesPerFrame};

use super::codec::{JOB, plan_version_of};
use super::numbers::values_per_frame;
use super::registers;

/// First slot of the job's ranges, a multiple of their length. With a second range they pass the last slot,
/// but on Tofino, where a controller installs no such range.
pub fn base(config: &Config) -> u32 {
    if config.tofino.is_some() { 4088 } else { 4092 }
}

/// The port towards the server; workers' are numbered from 1 by rank, and the other switch's is the one after
/// theirs.
const UP: u32 = 9;

/// Port of a frame's second pass.
const AROUND: u32 = 68;

fn port(number: u32) -> PortNo {
    PortNo::try_from(u64::from(number)).expect("ports count from 1")
}

pub struct RealSwitch {
    config: Config,
    number: u8,
    switch: Switch,
}

/// Returns the compiled program of the model's switches.
fn program(config: &Config) -> Arc<Program> {
    static V1MODEL: LazyLock<Arc<Program>> = LazyLock::new(|| v1model(ValuesPerFrame::N32));
    static LONG_FRAMES: LazyLock<Arc<Program>> = LazyLock::new(|| v1model(ValuesPerFrame::N1024));
    static ONE_PASS: LazyLock<Arc<Program>> = LazyLock::new(|| tofino(ValuesPerFrame::N32));
    static TWO_PASSES: LazyLock<Arc<Program>> = LazyLock::new(|| tofino(ValuesPerFrame::N64));
    Arc::clone(match (config.tofino, config.halves) {
        (None, _) if values_per_frame(config) == ValuesPerFrame::N1024 => &LONG_FRAMES,
        (None, _) => &V1MODEL,
        (Some(_), false) => &ONE_PASS,
        (Some(_), true) => &TWO_PASSES,
    })
}

fn v1model(values: ValuesPerFrame) -> Arc<Program> {
    Program::compile(&artifact(values).json).expect("it compiles")
}

fn tofino(values: ValuesPerFrame) -> Arc<Program> {
    let built = tofino_artifact(Variant { chip: Chip::Tofino1, values }).expect("it is built in");
    Program::compile(&built.json).expect("it compiles")
}

struct Frames(Vec<(u32, Vec<u8>)>);

impl Sink for Frames {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.0.push((port.0, frame.to_vec()));
    }
}

/// Result of a pass of a switch of two passes.
#[derive(Debug)]
pub enum Passed {
    /// Output to the server.
    Up(Vec<u8>),
    /// Frame in flight to the second pass.
    Around(Vec<u8>),
    Nowhere,
}

impl RealSwitch {
    pub fn new(config: Config, number: u8) -> Self {
        let mut real = Self { config, number, switch: Switch::new(0) };
        real.restart();
        real
    }

    /// Loses the registers; the controller installs the entries again.
    pub fn restart(&mut self) {
        self.switch = Switch::new(0);
        self.switch.load(program(&self.config)).expect("the program loads");
        // Frames between two passes are in flight for as long as a test likes.
        self.switch.set_loopback([]);
        let first = (0..self.config.workers).filter(|worker| self.config.switch_of(*worker) <= self.number);
        let runs = [Run::First, if self.config.moves { Run::Moved } else { Run::OldPlanVersion }];
        for (worker, run) in first.flat_map(|worker| runs.map(|run| (worker, run))) {
            let bitmap_index = self.config.bitmap_index_of(run, worker);
            let key = SteerKey {
                plan_version: plan_version_of(run).into(),
                job: JOB.into(),
                shard: 0.into(),
                worker: BitmapIndex::try_from(u16::from(bitmap_index)).expect("a low bitmap index"),
                ingress: port(self.port(worker)),
            };
            let ranks = |bitmap| Contributors { bitmap, ..Contributors::one(key.worker) };
            let members = ranks(self.config.bitmap_indices_of(run, self.members(worker)).into());
            let action = match self.config.entry(run, self.number, bitmap_index) {
                Entry::Forward => SteerAction::Forward { port: port(UP), members },
                Entry::Add { expected } => {
                    let base = base(&self.config) + slot_of(&self.config, run, 0) as u32;
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

    /// Returns the port where frames with that rank arrive.
    fn port(&self, worker: u8) -> u32 {
        let below = self.config.switch_of(worker) < self.number;
        1 + u32::from(if below { self.config.workers } else { worker })
    }

    /// Returns the workers that arrive by the same entry as that worker, by rank.
    fn members(&self, worker: u8) -> Ranks {
        let from_below = (0..self.config.workers).filter(|other| self.port(*other) == self.port(worker));
        from_below.map(one).sum()
    }

    /// Delivers a gradient or partial with the bitmap index of that worker. Returns the counted outcome, and
    /// the frame that left.
    pub fn step(&mut self, worker: u8, frame: &[u8]) -> (Outcome, Vec<Vec<u8>>) {
        // The program for Tofino counts some of them in egress.
        let counts = |switch: &Switch, name| -> Vec<u64> {
            let of = |control: &str| switch.counters(&format!("{control}.{name}"));
            let ingress = of("InArtIngress").expect("the program has the counter");
            let egress = of("InArtEgress").unwrap_or_default();
            let also = |cell: usize| egress.get(cell).map_or(0, |cell| cell.packets);
            ingress.iter().enumerate().map(|(number, cell)| cell.packets + also(number)).collect()
        };
        let before = counts(&self.switch, "outcomes");
        let left = self.process(self.port(worker), frame);
        let after = counts(&self.switch, "outcomes");
        let drops = counts(&self.switch, "drops");
        assert!(drops.iter().all(|count| *count == 0), "no frame of the model is dropped: {drops:?}");
        let counted = Outcome::ALL.iter().find(|outcome| after[outcome.index()] > before[outcome.index()]);
        let up = |(port, frame)| {
            assert_eq!(port, UP, "gradients and partials go up");
            frame
        };
        (*counted.expect("a frame that is not dropped is counted"), left.into_iter().map(up).collect())
    }

    fn process(&mut self, port: u32, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut frames = Frames(Vec::new());
        self.switch.process(Port(port), frame, 0, &mut frames);
        assert_eq!(self.switch.statistics().touched_twice, 0, "a register is touched once per pass");
        assert_eq!(self.switch.statistics().past_end, 0, "a register has every cell that is used");
        frames.0
    }

    /// Returns the first pass of a gradient or partial with the bitmap index of that worker.
    pub fn first_pass(&mut self, worker: u8, frame: &[u8]) -> Passed {
        self.pass(self.port(worker), frame)
    }

    /// Runs the second pass of a frame in flight to it.
    pub fn second_pass(&mut self, frame: &[u8]) -> Passed {
        self.pass(AROUND, frame)
    }

    fn pass(&mut self, port: u32, frame: &[u8]) -> Passed {
        let mut left = self.process(port, frame);
        assert!(left.len() <= 1, "a frame is never copied");
        match left.pop() {
            None => Passed::Nowhere,
            Some((UP, frame)) => Passed::Up(frame),
            Some((AROUND, frame)) => Passed::Around(frame),
            Some((port, _)) => panic!("a frame left by port {port}"),
        }
    }

    /// Compares the registers of every slot.
    pub fn check(&mut self, slots: &Slots) {
        registers::check(&self.config, &mut self.switch, slots);
    }
}
