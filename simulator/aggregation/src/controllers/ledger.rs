//! What each controller did, as the switches saw it, and what of that no controller may do.

use std::collections::BTreeSet;
use std::sync::Arc;

use inart_controller::daemon::State;
use tokio::time::Instant;

/// One controller.
pub(super) struct Entry {
    pub machine: usize,
    pub state: Arc<State>,
    /// The precedences that it opened sessions with.
    pub precedences: BTreeSet<u128>,
    /// The greatest precedence that switches reported before it wanted to open its first session.
    pub reported: u128,
    /// Whether it has wanted to.
    pub has_opened: bool,
    /// Switches that it has had sessions with.
    pub opened: BTreeSet<String>,
    /// Which switch reported first that another controller is in charge, and when.
    pub deposed: Option<(Instant, String)>,
    /// When it was told last that a switch serves another controller, and a number between those of the
    /// sessions before and after that.
    pub refused: Option<(Instant, u64)>,
    /// Writes under way.
    pub writing: u32,
    /// Whether a switch refused one of its updates, or lost rows while it ran.
    pub was_hindered: bool,
    /// Whether it was killed, or has ended by itself.
    pub is_over: bool,
}

impl Entry {
    pub fn new(machine: usize, state: Arc<State>) -> Self {
        Entry {
            machine,
            state,
            precedences: BTreeSet::new(),
            reported: 0,
            has_opened: false,
            opened: BTreeSet::new(),
            deposed: None,
            refused: None,
            writing: 0,
            was_hindered: false,
            is_over: false,
        }
    }

    /// Whether its plans are in force.
    pub fn has_installed(&self) -> bool {
        self.state.status().installed
    }
}
