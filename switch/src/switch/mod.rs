//! The switch: a loaded program with its state, between ingress and egress, as simple_switch does it.
//!
//! No I/O and no clock: frames enter with the port and the time, and leave through a [`Sink`].

mod arrays;
mod entries;
mod keep;
mod kept;
mod pass;
mod profiles;
mod replication;
mod tna;
mod view;

pub(crate) use kept::Kept;
pub use view::EntryView;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::control::{CloneSession, ControlError, Port, Replica, Result};
use crate::exec::Scratch;
use crate::program::Program;
use crate::random::Random;
use crate::state::State;
use crate::tables::Tables;

/// The port that means "drop", as in simple_switch.
pub const DROP_PORT: Port = Port(511);

/// The port of each pipe of a chip that does nothing but take packets in again.
const RECIRCULATION_PORTS: [Port; 4] = [Port(68), Port(196), Port(324), Port(452)];

/// Receives the frames that the switch sends.
pub trait Sink {
    /// A frame leaves through a port. The CPU port is a port like any other here.
    fn packet(&mut self, port: Port, frame: &[u8]);

    /// Returns the number of frames queued at a port, for the program's `enq_qdepth` and `deq_qdepth`: the
    /// receiver of the frames has the queues.
    fn queue_depth(&mut self, port: Port) -> u32 {
        let _ = port;
        0
    }

    /// Cells of the packet buffer that wait at a port, for TNA's `enq_qdepth` and `deq_qdepth`.
    fn queue_cells(&mut self, port: Port) -> u32 {
        self.queue_depth(port)
    }

    /// The program reports a digest.
    fn digest(&mut self, digest: Digest) {
        let _ = digest;
    }
}

/// A digest message: one value per field, big endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// Name of the digest's type, as P4Info has it.
    pub name: String,
    /// The values.
    pub values: Vec<Vec<u8>>,
}

/// Counters of the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Frames taken in.
    pub received: u64,
    /// Frames sent.
    pub sent: u64,
    /// Frames or copies the program dropped.
    pub dropped: u64,
    /// Copies given up because one frame made too many of them.
    pub runaway: u64,
    /// Register actions of TNA programs that ran a second time in one pass, which the chip cannot do.
    pub touched_twice: u64,
    /// Reads and writes of TNA programs beyond the end of a register, where the chip's behavior is not
    /// documented.
    pub past_end: u64,
    /// Frames that arrived while no program was loaded.
    pub unprogrammed: u64,
}

/// A loaded program and all it changes.
#[derive(Debug)]
struct Loaded {
    program: Arc<Program>,
    tables: Tables,
    /// States that are not in use.
    pool: Vec<State>,
}

/// A copy of a packet that waits for its turn.
#[derive(Debug)]
struct Job {
    state: State,
    frame: Vec<u8>,
    /// Bytes of the frame the parser took, and the port, for a copy that goes to egress.
    egress: Option<(usize, Port)>,
}

/// The embedded switch.
#[derive(Debug)]
pub struct Switch {
    loaded: Option<Loaded>,
    groups: rustc_hash::FxHashMap<u32, Vec<Replica>>,
    sessions: rustc_hash::FxHashMap<u32, Arc<CloneSession>>,
    /// Ports of TNA programs whose packets return to the ingress.
    loopback: rustc_hash::FxHashSet<Port>,
    scratch: Scratch,
    random: Random,
    jobs: VecDeque<Job>,
    /// Buffers that are not in use.
    frames: Vec<Vec<u8>>,
    output: Vec<u8>,
    statistics: Statistics,
    now_us: u64,
}

impl Default for Switch {
    fn default() -> Switch {
        Switch::new(0)
    }
}

impl Switch {
    /// Returns a switch without a program: it drops everything until one is loaded. `seed` is for the
    /// program's `random`.
    pub fn new(seed: u64) -> Switch {
        Switch {
            loaded: None,
            groups: Default::default(),
            sessions: Default::default(),
            loopback: RECIRCULATION_PORTS.into_iter().collect(),
            scratch: Scratch::default(),
            random: Random::new(seed),
            jobs: VecDeque::new(),
            frames: Vec::new(),
            output: Vec::new(),
            statistics: Statistics::default(),
            now_us: 0,
        }
    }

    /// Replaces the current program by another: tables, arrays, groups and sessions start empty.
    ///
    /// # Errors
    /// Returns an error if the program's constant entries cannot be installed.
    pub fn load(&mut self, program: Arc<Program>) -> Result<()> {
        let tables = Tables::new(&program)?;
        self.loaded = Some(Loaded { program, tables, pool: Vec::new() });
        self.groups.clear();
        self.sessions.clear();
        self.jobs.clear();
        Ok(())
    }

    /// Runs the prepared contents of another switch (program, entries, groups, sessions) from the next frame
    /// on. Returns the previous contents in that other switch.
    pub fn take_over(&mut self, mut ready: Switch) -> Switch {
        std::mem::swap(&mut self.loaded, &mut ready.loaded);
        std::mem::swap(&mut self.groups, &mut ready.groups);
        std::mem::swap(&mut self.sessions, &mut ready.sessions);
        self.jobs.clear();
        ready
    }

    /// Sets the ports of a TNA program whose packets return to the ingress, as recirculation ports (the
    /// default: port 68 of each pipe) and ports in loopback mode do.
    pub fn set_loopback(&mut self, ports: impl IntoIterator<Item = Port>) {
        self.loopback = ports.into_iter().collect();
    }

    /// Returns the loaded program.
    pub fn program(&self) -> Option<&Arc<Program>> {
        self.loaded.as_ref().map(|loaded| &loaded.program)
    }

    /// Returns the counters of the frames since the switch was created.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn loaded(&self) -> Result<&Loaded> {
        self.loaded.as_ref().ok_or_else(no_program)
    }

    fn loaded_mut(&mut self) -> Result<&mut Loaded> {
        self.loaded.as_mut().ok_or_else(no_program)
    }
}

fn no_program() -> ControlError {
    ControlError::FailedPrecondition("no pipeline is loaded; set the forwarding pipeline config first".into())
}
