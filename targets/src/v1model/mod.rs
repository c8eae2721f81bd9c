//! Switches of P4's v1model architecture, reached by P4Runtime: bmv2's `simple_switch_grpc` and the embedded
//! switch.

mod program;
mod rows;
mod session;

use std::path::Path;
use std::sync::Arc;

use inart_tables::PortNo;
use inart_wire::ValuesPerPacket;

use crate::error::ProgramError;
use crate::target::{Program, Target};

pub use program::Compiled;
pub use rows::{entry, row, update};
pub use session::P4Runtime;

/// Ports have 9 bits; 511 means *drop*, and 0 is left to the processor.
const PORTS: u16 = 510;

/// The target.
#[derive(Debug, Clone, Copy)]
pub struct V1Model;

impl Target for V1Model {
    fn name(&self) -> &'static str {
        "v1model"
    }

    fn ports(&self) -> u16 {
        PORTS
    }

    fn port_number(&self, port: PortNo) -> Option<u64> {
        (port.get() <= PORTS).then(|| port.get().into())
    }

    fn port_of(&self, number: u64) -> Option<PortNo> {
        PortNo::try_from(number).ok().filter(|port| port.get() <= PORTS)
    }

    fn program(
        &self,
        values: ValuesPerPacket,
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
