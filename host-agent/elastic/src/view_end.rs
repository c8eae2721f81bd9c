//! End of a view as a host knows it: set by the thread that follows the controller, read by the one that
//! starts tensors.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use inart_controller_api::{Ending, HostProgress};

use crate::error::LeaveReason;
use crate::gate::Gate;

/// Interval at which a wait checks whether it is to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Outcome of a wait for the next tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Permission; the tensor counts as started.
    Started,
    /// End of the wait on request.
    Ended,
    /// Silence of the controller about the view's end for the longest allowed time.
    Silence,
}

/// A host's knowledge of its view's end.
#[derive(Clone, Default)]
pub(crate) struct ViewEnd(Arc<Shared>);

#[derive(Default)]
struct Shared {
    gate: Mutex<Gate>,
    changed: Condvar,
}

impl ViewEnd {
    fn lock(&self) -> MutexGuard<'_, Gate> {
        self.0.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets where the view ends, by the controller's order. Returns this host's state.
    pub fn set_ending(&self, ending: Ending) -> HostProgress {
        let held = self.lock().set_ending(ending);
        self.0.changed.notify_all();
        held
    }

    /// Waits until the next tensor may be started, and counts it. The wait takes up to `patience`, and ends
    /// when `is_ended` (which is polled) returns true.
    ///
    /// # Errors
    /// How the view has ended instead.
    pub fn start(
        &self,
        patience: Duration,
        mut is_ended: impl FnMut() -> bool,
    ) -> Result<Start, LeaveReason> {
        let began = Instant::now();
        let mut gate = self.lock();
        while !gate.start()? {
            if is_ended() {
                return Ok(Start::Ended);
            }
            if began.elapsed() >= patience {
                return Ok(Start::Silence);
            }
            let interval = POLL_INTERVAL.min(patience);
            gate = self.0.changed.wait_timeout(gate, interval).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(Start::Started)
    }

    /// Returns whether the view is over, also for tensors in flight.
    pub fn is_over(&self) -> bool {
        self.lock().is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bound that only ends a hang.
    const LONG: Duration = Duration::from_secs(60);

    fn start(end: &ViewEnd) -> Result<(), LeaveReason> {
        end.start(LONG, || false).map(|start| assert_eq!(start, Start::Started))
    }

    fn held(started: u32, holds: bool) -> HostProgress {
        HostProgress { started, is_holding: holds, ..HostProgress::default() }
    }

    #[test]
    fn no_tensor_from_the_boundary_on_is_started() {
        let end = ViewEnd::default();
        start(&end).expect("there is no order");
        assert_eq!(end.set_ending(Ending::Prepare), held(1, true));
        assert_eq!(end.set_ending(Ending::Before(2)), held(1, true));
        start(&end).expect("below the stop point");
        assert_eq!(end.set_ending(Ending::Agreed(2)), held(2, true));
        assert_eq!(start(&end), Err(LeaveReason::StopPoint(2)));
        // A restarted controller does not know it.
        assert_eq!(end.set_ending(Ending::None), held(2, true));
        assert_eq!(start(&end), Err(LeaveReason::StopPoint(2)));
        end.set_ending(Ending::Now);
        assert_eq!(start(&end), Err(LeaveReason::Ordered));
        assert!(end.is_over());
    }

    #[test]
    fn a_worker_past_the_stop_point_refuses_and_continues() {
        let end = ViewEnd::default();
        (0..3).for_each(|_| start(&end).expect("there is no order"));
        assert_eq!(end.set_ending(Ending::Before(2)), held(3, false));
        start(&end).expect("the host continues");
        assert_eq!(end.set_ending(Ending::Agreed(3)), held(4, false));
    }

    #[test]
    fn a_holding_worker_continues_when_the_stop_point_moves() {
        for (moved, outcome) in [
            (Ending::Before(1), Ok(())),
            (Ending::Prepare, Ok(())),
            (Ending::None, Ok(())),
            (Ending::Agreed(0), Err(LeaveReason::StopPoint(0))),
            (Ending::Now, Err(LeaveReason::Ordered)),
        ] {
            let end = ViewEnd::default();
            assert_eq!(end.set_ending(Ending::Before(0)), held(0, true));
            let holder = end.clone();
            let (began, begins) = std::sync::mpsc::channel();
            let holds = std::thread::spawn(move || {
                began.send(()).expect("waited for");
                start(&holder)
            });
            begins.recv().expect("the thread starts");
            end.set_ending(moved);
            assert_eq!(holds.join().expect("no panic"), outcome, "{moved:?}");
        }
    }
    #[test]
    fn a_holding_worker_waits_up_to_its_patience() {
        let end = ViewEnd::default();
        end.set_ending(Ending::Before(0));
        assert_eq!(end.start(Duration::from_millis(20), || false), Ok(Start::Silence));
        assert_eq!(end.start(LONG, || true), Ok(Start::Ended));
        // The controller is back.
        end.set_ending(Ending::Prepare);
        start(&end).expect("the host continues");
    }
}
