//! Making a switch hold again what it should.

use inart_tables::SwitchTables;
use inart_tables::diff;
use inart_targets::{Running, Session, SwitchError};
use inart_topologies::units::counted;

/// What had to be done to a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconciled {
    /// Whether the program was loaded.
    pub loaded: bool,
    /// Updates that were written.
    pub updates: usize,
}

/// Why a switch could not be put in order.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReconcileError {
    /// It failed.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// It runs another program.
    #[error("it runs another program; allow the controller to replace it by ours")]
    OtherProgram,
    /// Jobs that this controller does not know have what it needs there.
    #[error("{0}")]
    Taken(String),
    /// It took the updates but does not hold them.
    #[error(
        "read back, it still differs in {}; does another controller write to it?",
        counted(*.0, "entry")
    )]
    Differs(usize),
}

/// Loads the program if it is gone, writes what differs from `desired`, and reads it back. Safe to stop
/// anywhere.
///
/// # Errors
/// A switch that refuses, lost its session, or holds something else than was written.
pub async fn reconcile<S: Session + ?Sized>(
    session: &mut S,
    desired: &SwitchTables,
    replace_program: bool,
) -> Result<Reconciled, ReconcileError> {
    let loaded = match session.running().await? {
        Running::Ours => false,
        Running::Other if !replace_program => return Err(ReconcileError::OtherProgram),
        Running::Nothing | Running::Other => true,
    };
    if loaded {
        session.load_program().await?;
    }
    let updates = diff(&session.read().await?, desired);
    if !updates.is_empty() {
        session.write(&updates).await?;
        match diff(&session.read().await?, desired).len() {
            0 => {}
            left => return Err(ReconcileError::Differs(left)),
        }
    }
    Ok(Reconciled { loaded, updates: updates.len() })
}
