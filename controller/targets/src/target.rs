//! Traits of a target.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use inart_tables::{Limits, PortNo, SwitchTables, Update};
use inart_wire::ValuesPerFrame;

use crate::counters::{SwitchCounters, Traffic};
use crate::endpoint::{Access, Endpoint, Precedence};
use crate::error::{ProgramError, SwitchError, SwitchErrors};
use crate::numbers::PortNumbers;
use crate::port_table::PortTable;

/// Kind of switch.
pub trait Target: Send + Sync {
    /// Returns the name, such as `v1model`.
    fn name(&self) -> &'static str;

    /// Returns the largest number of ports of a switch.
    fn ports(&self) -> u16;

    /// Returns the number of a port on a switch without stated numbers; `None` if the switch lacks the
    /// port.
    fn port_number(&self, port: PortNo) -> Option<u64>;

    /// Returns the port with a number on a switch without stated numbers; `None` if we do not use it.
    fn port_of(&self, number: u64) -> Option<PortNo>;

    /// Returns the number of a port on a switch with `stated` numbers; `None` if the switch lacks the port.
    /// By default a target has only its own rule, and ignores stated numbers.
    fn port_number_at(&self, port: PortNo, stated: &PortNumbers) -> Option<u64> {
        let _ = stated;
        self.port_number(port)
    }

    /// Opens the ports of a switch; by default returns `None`: ports of such a switch need no setup.
    ///
    /// # Errors
    /// An unreachable switch, or one without ports.
    fn open_ports(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Box<dyn PortTable>>, SwitchError>> {
        let _ = place;
        Box::pin(std::future::ready(Ok(None)))
    }

    /// Returns whether a program for a number of values per frame exists, built in or in a folder.
    fn has_program(&self, values: ValuesPerFrame, folder: Option<&Path>) -> bool {
        self.program(values, folder).is_ok()
    }

    /// Returns whether the number of values per frame may be chosen by default.
    fn prefers(&self, values: ValuesPerFrame, folder: Option<&Path>) -> bool {
        self.has_program(values, folder)
    }

    /// Returns the arguments of the embedded switch's command that serve sessions of this target at an
    /// address; by default over P4Runtime.
    fn embedded_switch(&self, address: &str) -> Vec<String> {
        vec!["--grpc-server-addr".to_owned(), address.to_owned()]
    }

    /// Returns the cost of a frame at the embedded switch, relative to the same number of values with the
    /// v1model program.
    fn frame_cost(&self) -> f64 {
        1.0
    }

    /// Returns our program for a number of values per frame: the built-in one, or the compiled one in a
    /// folder.
    ///
    /// # Errors
    /// A folder without such a program, or a program whose tables differ from the declared ones.
    fn program(
        &self,
        values: ValuesPerFrame,
        folder: Option<&Path>,
    ) -> Result<Arc<dyn Program>, ProgramError>;

    /// Returns our program that copies updates between peers, for a number of values per frame; by default
    /// the program that sums also copies.
    ///
    /// # Errors
    /// A target without such a program.
    fn multicast_program(&self, values: ValuesPerFrame) -> Result<Arc<dyn Program>, ProgramError> {
        self.program(values, None)
    }
}

/// Our program, compiled for a target.
pub trait Program: Send + Sync {
    /// Returns the number of values per frame.
    fn values(&self) -> ValuesPerFrame;

    /// Returns the limits of the program.
    fn limits(&self) -> Limits;

    /// Opens a session with a switch that runs the program or will run it.
    fn open(&self, place: Endpoint, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>>;

    /// Returns the greatest precedence that the switch has seen; `None` if it has seen none, or has no
    /// precedences. Changes nothing there.
    ///
    /// # Errors
    /// A switch that does not answer, or refuses.
    fn greatest(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>>;

    /// Returns whether the greatest precedence writes, which is the default. Without precedences the first
    /// client writes until it disconnects: clients of several switches must acquire them in the order of
    /// their names, and release the acquired ones when a switch is refused.
    fn has_precedence(&self) -> bool {
        true
    }
}

/// Opens sessions with all switches (by name) at once.
///
/// # Errors
/// The errors of the switches without a session.
pub async fn open_all(
    program: &dyn Program,
    places: BTreeMap<String, Endpoint>,
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

/// Program on a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// No program.
    Nothing,
    /// Program of the session.
    Ours,
    /// Another program, or the same one compiled differently.
    Other,
}

/// Session with one switch.
pub trait Session: Send {
    /// Returns the precedence under which this controller writes; `None` if it only reads.
    fn precedence(&self) -> Option<Precedence>;

    /// Returns what the switch runs now.
    fn running(&mut self) -> BoxFuture<'_, Result<Running, SwitchError>>;

    /// Loads our program, which clears the switch's tables.
    fn load_program(&mut self) -> BoxFuture<'_, Result<(), SwitchError>>;

    /// Reads all tables. The switch must be [`Running::Ours`].
    fn read(&mut self) -> BoxFuture<'_, Result<SwitchTables, SwitchError>>;

    /// Writes the updates in order. Not atomic: after an error any of them may have been applied, so the
    /// caller reads back.
    fn write<'a>(&'a mut self, updates: &'a [Update]) -> BoxFuture<'a, Result<(), SwitchError>>;

    /// Reads the counters. The switch must be [`Running::Ours`].
    fn counters(&mut self) -> BoxFuture<'_, Result<SwitchCounters, SwitchError>>;

    /// Reads the traffic of these ports, and the outcomes of gradients and partials. The switch must be
    /// [`Running::Ours`]. By default a target has no such counters.
    fn traffic<'a>(&'a mut self, ports: &'a [PortNo]) -> BoxFuture<'a, Result<Traffic, SwitchError>> {
        let _ = ports;
        Box::pin(std::future::ready(Ok(Traffic::default())))
    }

    /// Waits until the session ends or another controller writes. Returns the cause.
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
