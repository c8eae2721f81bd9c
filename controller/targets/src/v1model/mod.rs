//! Switches of P4's v1model architecture, over P4Runtime: bmv2's `simple_switch_grpc` and the embedded
//! switch.

mod ports;
mod program;
mod rows;
mod session;

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use inart_tables::{Limits, PortNo};
use inart_wire::ValuesPerFrame;

use crate::endpoint::{Access, Endpoint, Precedence};
use crate::error::{ProgramError, SwitchError};
use crate::target::{Program, Session, Target};

pub use program::Compiled;
pub use rows::{entry, row, update};
pub use session::P4Runtime;

/// Target v1model.
#[derive(Debug, Clone, Copy)]
pub struct V1Model;

impl Target for V1Model {
    fn name(&self) -> &'static str {
        "v1model"
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

    /// Built-in programs need not be read.
    fn has_program(&self, values: ValuesPerFrame, folder: Option<&Path>) -> bool {
        folder.is_none() || self.program(values, folder).is_ok()
    }

    fn program(
        &self,
        values: ValuesPerFrame,
        folder: Option<&Path>,
    ) -> Result<Arc<dyn Program>, ProgramError> {
        let artifact = match folder {
            Some(folder) => {
                inart_p4::load_dir(folder, values).map_err(|error| ProgramError::Folder(error.to_string()))?
            }
            None => inart_p4::artifact(values),
        };
        Ok(Arc::new(Compiled::new(values, &artifact.json, &artifact.p4info)?))
    }
}

impl Program for Compiled {
    fn values(&self) -> ValuesPerFrame {
        self.values()
    }

    fn limits(&self) -> Limits {
        self.limits()
    }

    fn open(&self, place: Endpoint, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>> {
        let opened = P4Runtime::open(self.clone(), place, access);
        opened.map(|session| session.map(|session| Box::new(session) as Box<dyn Session>)).boxed()
    }

    fn greatest(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>> {
        P4Runtime::greatest(place).boxed()
    }
}
