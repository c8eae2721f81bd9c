//! Tensors of a view that a host may start, by the controller's orders. Pure.

use inart_controller_api::{Ending, HostProgress};

use crate::error::LeaveReason;

/// Number of tensors that a host has started in a view, and may still start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    started: u32,
    limit: Limit,
}

/// Tensors that may be started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Limit {
    /// All tensors.
    #[default]
    None,
    /// Tensors before that one; the others may have to wait.
    Hold(u32),
    /// Tensors before that one, at which the view ends.
    Leave(u32),
    /// No tensor: the view is over.
    Over,
}

impl Gate {
    /// Sets where the view ends, by the controller's order. Returns this host's state.
    pub fn set_ending(&mut self, ending: Ending) -> HostProgress {
        let started = self.started;
        let mut is_holding = true;
        self.limit = match (ending, self.limit) {
            // An agreed stop point stays.
            (_, Limit::Over) | (Ending::Now, _) => Limit::Over,
            (Ending::None | Ending::Prepare | Ending::Before(_), Limit::Leave(tensor)) => {
                Limit::Leave(tensor)
            }
            (Ending::None | Ending::Prepare, _) => Limit::None,
            (Ending::Before(tensor) | Ending::Agreed(tensor), _) if started > tensor => {
                is_holding = false;
                Limit::None
            }
            (Ending::Before(tensor), _) => Limit::Hold(tensor),
            (Ending::Agreed(tensor), _) => Limit::Leave(tensor),
        };
        HostProgress { started, is_holding, ..HostProgress::default() }
    }

    /// Starts the next tensor, and counts it, if it may be started now; whether it may.
    ///
    /// # Errors
    /// How the view has ended instead.
    pub fn start(&mut self) -> Result<bool, LeaveReason> {
        match self.limit {
            Limit::Over => Err(LeaveReason::Ordered),
            Limit::Leave(tensor) if self.started >= tensor => Err(LeaveReason::StopPoint(tensor)),
            Limit::Hold(tensor) if self.started >= tensor => Ok(false),
            Limit::None | Limit::Hold(_) | Limit::Leave(_) => {
                self.started += 1;
                Ok(true)
            }
        }
    }

    /// Returns whether the view is over, also for tensors in flight.
    pub fn is_over(&self) -> bool {
        self.limit == Limit::Over
    }
}
