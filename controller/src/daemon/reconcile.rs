//! Repair of a switch's program and tables.

use inart_tables::SwitchTables;
use inart_tables::diff;
use inart_targets::{Running, Session, SwitchError};
use inart_topologies::units::counted;

/// Repair of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconciled {
    /// Whether the program was loaded.
    pub loaded: bool,
    /// Table writes.
    pub updates: usize,
}

/// Error of a repair.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReconcileError {
    /// Failure of the switch.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// Another program on the switch.
    #[error("it runs another program; allow the controller to replace it by ours")]
    OtherProgram,
    /// Unknown jobs that hold what this controller needs there.
    #[error("{0}")]
    Conflict(String),
    /// Entries that still differ after the writes.
    #[error(
        "read back, it still differs in {}; does another controller write to it?",
        counted(*.0, "entry")
    )]
    Differs(usize),
}

/// Loads the program if the switch has none, writes the entries that differ from `desired`, and reads them
/// back. Safe to stop anywhere.
///
/// # Errors
/// If the switch refuses, lost its session, or holds other entries than were written.
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
