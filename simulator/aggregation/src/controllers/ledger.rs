//! Actions of each controller as seen by the switches, and the violations among them.

use std::collections::BTreeSet;
use std::sync::Arc;

use inart_controller::daemon::State;
use tokio::time::Instant;

/// Record of one controller.
pub(super) struct Entry {
    pub machine: usize,
    pub state: Arc<State>,
    /// The precedences that it opened sessions with.
    pub precedences: BTreeSet<u128>,
    /// Greatest precedence that switches reported before it opened its first session.
    pub reported: u128,
    /// Whether it has tried to open a session.
    pub has_opened: bool,
    /// Switches that it has had sessions with.
    pub opened: BTreeSet<String>,
    /// First switch that reported another active controller, and when.
    pub deposed: Option<(Instant, String)>,
    /// Last refusal by a switch that serves another controller: when, and a number between those of the
    /// sessions before and after.
    pub refused: Option<(Instant, u64)>,
    /// Number of writes in flight.
    pub writing: u32,
    /// Whether a switch refused one of its updates, or lost rows meanwhile.
    pub was_hindered: bool,
    /// Whether it was killed or has ended.
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

    /// Returns whether its plans are active.
    pub fn has_installed(&self) -> bool {
        self.state.status().installed
    }
}
