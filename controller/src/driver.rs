//! What the controller needs of a switch. Two implementations: [`P4Runtime`] for real ones (the embedded switch,
//! bmv2) and [`Memory`] for tests.

mod memory;
mod p4runtime;

use std::fmt;
use std::future::Future;

pub use memory::{Failpoint, Memory};
pub use p4runtime::P4Runtime;
pub(crate) use p4runtime::steer_of;

use inart_p4runtime::ClientError;

use crate::diff::Update;
use crate::entries::SwitchTables;

/// What a switch runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Running {
    /// No program.
    Nothing,
    /// The program the driver was made for.
    Ours,
    /// Another program, or the same one compiled otherwise.
    Other,
}

/// One switch that the controller is primary for.
pub trait SwitchDriver: Send {
    /// What the switch runs now.
    fn running(&mut self) -> impl Future<Output = Result<Running, DriverError>> + Send;

    /// Loads our program. Whatever the switch's tables held is gone.
    fn set_pipeline(&mut self) -> impl Future<Output = Result<(), DriverError>> + Send;

    /// Reads everything back. The switch must be [`Running::Ours`].
    fn read(&mut self) -> impl Future<Output = Result<SwitchTables, DriverError>> + Send;

    /// Writes the updates in order. Not atomic: after an error any of them may have been applied, so the caller
    /// reads back.
    fn write(&mut self, updates: &[Update]) -> impl Future<Output = Result<(), DriverError>> + Send;
}

/// Why a switch did not do what it was asked. The switch's name is added by the caller.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DriverError {
    /// No connection, not primary, or refused: the client's words name the place and the mend.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The switch holds what no program of ours writes.
    #[error("it holds what no plan of ours is made of: {0}; remove that, or restart the switch")]
    Foreign(String),
    /// A switch in memory that was told to fail, or asked for what a switch refuses.
    #[error("{0}")]
    Memory(String),
}

impl DriverError {
    /// Whether the connection failed, rather than the switch refusing what it was asked.
    pub fn is_connection(&self) -> bool {
        use inart_p4runtime::Code;
        let broken = |code: &Code| {
            matches!(code, Code::Unavailable | Code::Unknown | Code::Cancelled | Code::Internal)
        };
        match self {
            DriverError::Client(ClientError::Rpc { code, .. }) => broken(code),
            DriverError::Client(error) => {
                matches!(
                    error,
                    ClientError::Connect { .. } | ClientError::Refused { .. } | ClientError::Timeout { .. }
                )
            }
            _ => false,
        }
    }
}

/// What went wrong, by switch; never empty.
#[derive(Debug)]
pub struct SwitchErrors(pub Vec<(String, DriverError)>);

impl std::error::Error for SwitchErrors {}

impl fmt::Display for SwitchErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (switch, error)) in self.0.iter().enumerate() {
            write!(f, "{}switch {switch}: {error}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
