//! Where a run ends, as far as a host knows: told by the thread that follows the controller, kept by the one
//! that starts tensors.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use inart_control::{Ending, Held};

use crate::error::Left;

/// A host's knowledge of its run's end.
#[derive(Clone, Default)]
pub(crate) struct RunEnd(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Tensors that were started in the run.
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
    /// Those before that one, and the run ends there.
    Leave(u32),
    /// None: the run is over.
    Over,
}

impl RunEnd {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The controller says where the run ends; how far this host is with that.
    pub fn tell(&self, ending: Ending) -> Held {
        let mut state = self.lock();
        let started = state.started;
        let mut holds = true;
        state.limit = match (ending, state.limit) {
            // What all have agreed on stays.
            (_, Limit::Over) | (Ending::Now, _) => Limit::Over,
            (Ending::None | Ending::Prepare | Ending::Before(_), Limit::Leave(tensor)) => {
                Limit::Leave(tensor)
            }
            (Ending::None | Ending::Prepare, _) => Limit::None,
            (Ending::Before(tensor) | Ending::Agreed(tensor), _) if started > tensor => {
                holds = false;
                Limit::None
            }
            (Ending::Before(tensor), _) => Limit::Hold(tensor),
            (Ending::Agreed(tensor), _) => Limit::Leave(tensor),
        };
        drop(state);
        self.0.changed.notify_all();
        Held { started, holds, ..Held::default() }
    }

    /// Waits until the next tensor may be started, and counts it.
    ///
    /// # Errors
    /// How the run has ended instead.
    pub fn start(&self) -> Result<(), Left> {
        let mut state = self.lock();
        loop {
            match state.limit {
                Limit::Over => return Err(Left::Told),
                Limit::Leave(tensor) if state.started >= tensor => return Err(Left::Boundary(tensor)),
                Limit::Hold(tensor) if state.started >= tensor => {
                    state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                Limit::None | Limit::Hold(_) | Limit::Leave(_) => {
                    state.started += 1;
                    return Ok(());
                }
            }
        }
    }

    /// Whether the run is over, in the middle of tensors too.
    pub fn is_over(&self) -> bool {
        self.lock().limit == Limit::Over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(started: u32, holds: bool) -> Held {
        Held { started, holds, ..Held::default() }
    }

    #[test]
    fn no_tensor_from_the_boundary_on_is_started() {
        let end = RunEnd::default();
        end.start().expect("nothing is told");
        assert_eq!(end.tell(Ending::Prepare), held(1, true));
        assert_eq!(end.tell(Ending::Before(2)), held(1, true));
        end.start().expect("below the boundary");
        assert_eq!(end.tell(Ending::Agreed(2)), held(2, true));
        assert_eq!(end.start(), Err(Left::Boundary(2)));
        // A controller that starts again knows nothing of it.
        assert_eq!(end.tell(Ending::None), held(2, true));
        assert_eq!(end.start(), Err(Left::Boundary(2)));
        end.tell(Ending::Now);
        assert_eq!(end.start(), Err(Left::Told));
        assert!(end.is_over());
    }

    #[test]
    fn who_has_started_the_tensor_refuses_and_goes_on() {
        let end = RunEnd::default();
        (0..3).for_each(|_| end.start().expect("nothing is told"));
        assert_eq!(end.tell(Ending::Before(2)), held(3, false));
        end.start().expect("it goes on");
        assert_eq!(end.tell(Ending::Agreed(3)), held(4, false));
    }

    #[test]
    fn who_holds_goes_on_when_the_boundary_is_moved() {
        for (moved, outcome) in [
            (Ending::Before(1), Ok(())),
            (Ending::Prepare, Ok(())),
            (Ending::None, Ok(())),
            (Ending::Agreed(0), Err(Left::Boundary(0))),
            (Ending::Now, Err(Left::Told)),
        ] {
            let end = RunEnd::default();
            assert_eq!(end.tell(Ending::Before(0)), held(0, true));
            let holder = end.clone();
            let (began, begins) = std::sync::mpsc::channel();
            let holds = std::thread::spawn(move || {
                began.send(()).expect("waited for");
                holder.start()
            });
            begins.recv().expect("it begins");
            end.tell(moved);
            assert_eq!(holds.join().expect("no panic"), outcome, "{moved:?}");
        }
    }
}
