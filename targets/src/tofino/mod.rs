//! Tofino, reached by BFRuntime: the chip behind its driver (`bf_switchd`), and the embedded switch.
//!
//! BFRuntime has no election. One client is bound to the program and writes; who comes second waits for it,
//! and is told so if it does not go. A precedence is kept for those who ask, and decides nothing.

mod folder;
mod ports;
mod program;
mod rows;
mod session;
mod slots;

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_tables::{Limits, PortNo};
use inart_wire::ValuesPerPacket;

use crate::error::{ProgramError, SwitchError};
use crate::place::{Access, Place};
use crate::target::{Program, Session, Target};

pub use program::{Compiled, Image};
pub use session::BfRuntime;

/// The target.
#[derive(Debug, Clone, Copy)]
pub struct Tofino;

impl Target for Tofino {
    fn name(&self) -> &'static str {
        "tofino"
    }

    fn ports(&self) -> u16 {
        ports::PORTS
    }

    fn port_number(&self, port: PortNo) -> Option<u64> {
        ports::number(port)
    }

    fn port_of(&self, number: u64) -> Option<PortNo> {
        ports::port_of(number)
    }

    fn program(
        &self,
        values: ValuesPerPacket,
        folder: Option<&Path>,
    ) -> Result<Arc<dyn Program>, ProgramError> {
        Ok(Arc::new(folder::load(values, folder)?))
    }
}

impl Program for Compiled {
    fn values(&self) -> ValuesPerPacket {
        self.values()
    }

    fn limits(&self) -> Limits {
        self.limits()
    }

    fn open(&self, place: Place, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>> {
        let opened = BfRuntime::open(self.clone(), place, access);
        opened.map(|session| session.map(|session| Box::new(session) as Box<dyn Session>)).boxed()
    }
}
