//! Tofino 1 and 2 over BFRuntime: the chip behind its driver (`bf_switchd`), and the embedded switch.
//!
//! BFRuntime has no election. One client is bound to the program and writes; a second client waits, and
//! gets an error if the first one stays. Precedences are kept for callers, and decide nothing.

mod cells;
mod folder;
mod port_table;
mod ports;
mod program;
mod rows;
mod session;
mod slots;

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use inart_p4::{Chip, MULTICAST, Variant};
use inart_tables::{Limits, PortNo, SwitchTables, diff};
use inart_wire::ValuesPerFrame;

use crate::endpoint::{Access, Endpoint, Precedence};
use crate::error::{ProgramError, SwitchError};
use crate::numbers::PortNumbers;
use crate::port_table::PortTable;
use crate::target::{Program, Session, Target};

pub use program::{Compiled, Image};
pub use session::BfRuntime;

/// Target for one generation of the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tofino {
    chip: Chip,
}

/// Tofino 1.
pub const TOFINO: Tofino = Tofino { chip: Chip::Tofino1 };
/// Tofino 2.
pub const TOFINO2: Tofino = Tofino { chip: Chip::Tofino2 };

/// Checks tables for entries that the chip would process wrongly; errors name the entry and the fix.
///
/// # Errors
/// Slots that are not aligned, frames of a sum from two pipes, or members that overlap or are not expected.
pub fn check_tables(tables: &SwitchTables) -> Result<(), String> {
    let numbering = ports::Numbering::new(PortNumbers::default());
    slots::Held::default().after(&diff(&SwitchTables::default(), tables), &numbering).map(drop)
}

impl Target for Tofino {
    fn name(&self) -> &'static str {
        match self.chip {
            Chip::Tofino1 => "tofino",
            Chip::Tofino2 => "tofino2",
        }
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

    /// As many values as the chip sums in one pass, if there is a program for them: more need a second
    /// pass.
    fn prefers(&self, values: ValuesPerFrame, folder: Option<&Path>) -> bool {
        let one_pass = match self.chip {
            Chip::Tofino1 => ValuesPerFrame::N32,
            Chip::Tofino2 => ValuesPerFrame::N64,
        };
        values == one_pass && self.has_program(values, folder)
    }

    fn port_number_at(&self, port: PortNo, stated: &PortNumbers) -> Option<u64> {
        ports::Numbering::new(stated.clone()).number(port)
    }

    fn open_ports(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Box<dyn PortTable>>, SwitchError>> {
        port_table::Ports::open(place).map_ok(|ports| Some(Box::new(ports) as Box<dyn PortTable>)).boxed()
    }

    fn program(
        &self,
        values: ValuesPerFrame,
        folder: Option<&Path>,
    ) -> Result<Arc<dyn Program>, ProgramError> {
        let variant = Variant { chip: self.chip, values };
        Ok(Arc::new(match folder {
            Some(folder) => folder::load(variant, folder)?,
            None => built_in(variant)?,
        }))
    }

    fn multicast_program(&self, values: ValuesPerFrame) -> Result<Arc<dyn Program>, ProgramError> {
        let variant = Variant { chip: self.chip, values };
        let Some(artifact) = inart_p4::tofino_multicast_artifact(variant) else {
            let there = MULTICAST.iter().filter(|built| built.chip == self.chip);
            let there: Vec<_> = there.map(|built| built.values.to_string()).collect();
            return Err(ProgramError::Folder(format!(
                "no program that copies updates of {values} values per frame on {} is built in: give {}",
                self.chip,
                there.join(" or ")
            )));
        };
        let image = Image { binary: artifact.json.into_owned(), ..Image::default() };
        Ok(Arc::new(Compiled::new(values, &artifact.bf_rt, image)?))
    }

    fn embedded_switch(&self, address: &str) -> Vec<String> {
        vec!["--bfrt".to_owned(), address.to_owned()]
    }

    /// The ratio of durations of whole simulations with this program and with v1model's, for the same
    /// number of values (docs/evidence/tofino.md, *Time of emulations and simulations*).
    fn frame_cost(&self) -> f64 {
        4.0
    }
}

/// Returns the built-in program, for the embedded switch.
fn built_in(variant: Variant) -> Result<Compiled, ProgramError> {
    let values = variant.values;
    let Some(artifact) = inart_p4::tofino_artifact(variant) else {
        let there = Variant::ALL.iter().filter(|built| built.chip == variant.chip);
        let there: Vec<_> = there.map(|built| built.values.to_string()).collect();
        return Err(ProgramError::Folder(format!(
            "no program for {values} values per frame on {} is built in: give {}, or the folder of one",
            variant.chip,
            there.join(" or ")
        )));
    };
    Compiled::new(values, &artifact.bf_rt, Image { binary: artifact.json.into_owned(), ..Image::default() })
}

impl Program for Compiled {
    fn values(&self) -> ValuesPerFrame {
        self.values()
    }

    fn limits(&self) -> Limits {
        self.limits()
    }

    fn open(&self, place: Endpoint, access: Access) -> BoxFuture<'_, Result<Box<dyn Session>, SwitchError>> {
        let opened = BfRuntime::open(self.clone(), place, access);
        opened.map(|session| session.map(|session| Box::new(session) as Box<dyn Session>)).boxed()
    }

    /// BFRuntime has no precedences: only checks that the server answers.
    fn greatest(&self, place: Endpoint) -> BoxFuture<'_, Result<Option<Precedence>, SwitchError>> {
        session::connect(place).map_ok(|_| None).boxed()
    }

    fn has_precedence(&self) -> bool {
        false
    }
}
