//! Which tensors of a view a host may start, as the controller has told it. Pure.

use inart_controller_api::{Ending, HostProgress};

use crate::error::Left;

/// What a host has started in a view, and what it may still start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    started: u32,
    limit: Limit,
}

/// Which tensors may be started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Limit {
    /// All.
    #[default]
    None,
    /// Those before that one; the others may have to wait.
    Hold(u32),
    /// Those before that one, and the view ends there.
    Leave(u32),
    /// None: the view is over.
    Over,
}

impl Gate {
    /// The controller says where the view ends; how far this host is with that.
    pub fn tell(&mut self, ending: Ending) -> HostProgress {
        let started = self.started;
        let mut is_holding = true;
        self.limit = match (ending, self.limit) {
            // What all have agreed on stays.
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
    pub fn start(&mut self) -> Result<bool, Left> {
        match self.limit {
            Limit::Over => Err(Left::Told),
            Limit::Leave(tensor) if self.started >= tensor => Err(Left::Boundary(tensor)),
            Limit::Hold(tensor) if self.started >= tensor => Ok(false),
            Limit::None | Limit::Hold(_) | Limit::Leave(_) => {
                self.started += 1;
                Ok(true)
            }
        }
    }

    /// Whether the view is over, in the middle of tensors too.
    pub fn is_over(&self) -> bool {
        self.limit == Limit::Over
    }
}
