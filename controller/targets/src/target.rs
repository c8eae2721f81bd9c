//! The traits of a target.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use inart_tables::{Limits, PortNo, SwitchTables, Update};
use inart_wire::ValuesPerFrame;

use crate::counters::{SwitchCounters, Traffic};
use crate::error::{ProgramError, SwitchError, SwitchErrors};
use crate::numbers::PortNumbers;
use crate::place::{Access, Place, Precedence};
use crate::port_table::PortTable;

/// A kind of switch.
pub trait Target: Send + Sync {
    /// Its name, such as `v1model`.
    fn name(&self) -> &'static str;

    /// Number of ports that a switch can have at most.
    fn ports(&self) -> u16;

    /// What the switch itself calls a port where nobody says so; `None` if it does not have it.
    fn port_number(&self, port: PortNo) -> Option<u64>;

    /// The port of that number where nobody says so; `None` if it is none that we use.
    fn port_of(&self, number: u64) -> Option<PortNo>;

    /// What a switch of which `stated` is said calls a port; `None` if it does not have it. A target that
    /// has only its own rule, which is the default, does not heed what is said.
    fn port_number_at(&self, port: PortNo, stated: &PortNumbers) -> Option<u64> {
        let _ = stated;
        self.port_number(port)
    }

    /// Opens the ports of a switch; `None` if ports of such a switch need no setting up, which is the
    /// default.
    ///
    /// # Errors
    /// The switch cannot be reached, or has no ports yet.
    fn open_ports(&self, place: Place) -> BoxFuture<'_, Result<Option<Box<dyn PortTable>>, SwitchError>> {
        let _ = place;
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Whether there is a program for that many values per frame, built in or in a folder.
    fn has_program(&self, values: ValuesPerFrame, folder: Option<&Path>) -> bool {
        self.program(values, folder).is_ok()
    }

    /// Whether it may be chosen for users who do not say how many values frames shall carry.
    fn prefers(&self, values: ValuesPerFrame, folder: Option<&Path>) -> bool {
        self.has_program(values, folder)
    }

    /// What the command of the embedded switch is told so that it serves sessions of this target at an
    /// address: P4Runtime, where the target says nothing else.
    fn embedded_switch(&self, address: &str) -> Vec<String> {
        vec!["--grpc-server-addr".to_owned(), address.to_owned()]
    }

    /// What a frame costs the embedded switch: a multiple of what one of as many values costs it with the
    /// program for v1model.
    fn frame_cost(&self) -> f64 {
        1.0
    }

    /// Our program for that many values per frame: the built-in one, or the compiled one in a folder.
    ///
    /// # Errors
    /// The folder has no such program, or its tables are not those that are declared.
    fn program(
        &self,
        values: ValuesPerFrame,
        folder: Option<&Path>,
    ) -> Result<Arc<dyn Program>, ProgramError>;

    /// Our program that copies updates between peers, for that many values per frame: the one that sums,
    /// where that copies, too, which is the default.
    ///
    /// # Errors
    /// There is none.
    fn multicast_program(&self, values: ValuesPerFrame) -> Result<Arc<dyn Program>, ProgramError> {
        self.program(values, None)
    }
}

/// Our program, compiled for a target.
pub trait Program: Send + Sync {
    /// Values per frame that it is compiled for.
    fn values(&self) -> ValuesPerFrame;

    /// How much fits.
    fn limits(&self) -> Limits;

    /// Opens a session with a switch that runs the program, or shall.
    fn open(&self, place: Place, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>>;

    /// Returns the greatest precedence that the switch has seen; `None` if the switch has seen no precedence,
    /// or has no notion of one. Changes nothing there.
    ///
    /// # Errors
    /// A switch that does not answer, or that refuses to.
    fn greatest(&self, place: Place) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>>;

    /// Whether the greatest precedence writes, which is the default. Without precedences the first client
    /// writes until it leaves: clients of several switches have to take them in the order of their names, and
    /// to give back what they have when one is refused.
    fn has_precedence(&self) -> bool {
        true
    }
}

/// Opens sessions with all switches (by name) at once.
///
/// # Errors
/// What each switch that did not open one said.
pub async fn open_all(
    program: &dyn Program,
    places: BTreeMap<String, Place>,
    access: Access,
) -> Result<BTreeMap<String, Box<dyn Session>>, SwitchErrors> {
    let all = places.into_iter().map(async |(name, place)| (name, program.open(place, access).await));
    let (mut sessions, mut failed) = (BTreeMap::new(), Vec::new());
    for (name, opened) in join_all(all).await {
        match opened {
            Ok(session) => drop(sessions.insert(name, session)),
            Err(error) => failed.push((name, error)),
        }
    }
    if failed.is_empty() { Ok(sessions) } else { Err(SwitchErrors(failed)) }
}

/// What a switch runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// No program.
    Nothing,
    /// The program that the session was opened for.
    Ours,
    /// Another program, or the same one compiled otherwise.
    Other,
}

/// A session with one switch.
pub trait Session: Send {
    /// The precedence under which this controller writes; `None` if it only reads.
    fn precedence(&self) -> Option<Precedence>;

    /// What the switch runs now.
    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>>;

    /// Loads our program. Whatever the switch's tables held is gone.
    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>>;

    /// Reads all tables. The switch must be [`Running::Ours`].
    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>>;

    /// Writes the updates in order. Not atomic: after an error any of them may have been applied, so the
    /// caller reads back.
    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>>;

    /// Reads the counters. The switch must be [`Running::Ours`].
    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>>;

    /// Reads what went over these ports, and what became of gradients and partials. The switch must be
    /// [`Running::Ours`]. A target without such counters says nothing, which is the default.
    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        let _ = ports;
        Box::pin(std::future::ready(Ok(Traffic::default())))
    }

    /// Waits until the session is over, or another controller writes, and says why.
    fn lost(&mut self) -> BoxFuture<'_, SwitchError>;
}

impl<S: Session + ?Sized> Session for Box<S> {
    fn precedence(&self) -> Option<Precedence> {
        (**self).precedence()
    }

    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>> {
        (**self).running()
    }

    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>> {
        (**self).load_program()
    }

    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>> {
        (**self).read()
    }

    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>> {
        (**self).write(updates)
    }

    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>> {
        (**self).counters()
    }

    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        (**self).traffic(ports)
    }

    fn lost(&mut self) -> BoxFuture<'_, SwitchError> {
        (**self).lost()
    }
}
