//! A host in a run follows the controller.

use inart_controller_api::{Ending, Following, Held, Instruction, NotDone, Role, Seat};
use inart_host_agent::{MoveError, Mover};

use crate::error::Error;
use crate::host::Host;
use crate::run_end::RunEnd;

impl Host {
    /// Follows the controller in a run, until that is dropped: to other plans of the same shares, and to the
    /// run's end, at which `over` is called.
    pub(crate) fn follow(
        &self,
        seat: &Seat,
        mover: Mover,
        end: &RunEnd,
        over: impl Fn() + Send + 'static,
    ) -> Result<Option<Following>, Error> {
        let end = end.clone();
        let apply = move |told: Option<&Instruction>| -> Result<Held, NotDone> {
            let Some(Instruction { assignment, beside, step, ending }) = told else {
                // It was given up, and the others have begun another run.
                end.tell(Ending::Now);
                over();
                return Err(NotDone::Ended);
            };
            let held = end.tell(*ending);
            if end.is_over() {
                over();
                return Ok(held);
            }
            match mover.take(*step, assignment.clone(), *beside) {
                Ok(moving) => Ok(Held { moving, ..held }),
                Err(MoveError::Refused(why)) => Err(NotDone::Refused(why.to_string())),
                Err(MoveError::Ended) => {
                    // Nobody tells it any more when it may go on.
                    end.tell(Ending::Now);
                    Err(NotDone::Ended)
                }
            }
        };
        Ok(self.source.attend(seat.assignment.job, &seat.role.to_string(), self.life, apply)?)
    }

    /// The error of a host that was started as something else than it is.
    pub(crate) fn other_role(&self, role: Role, wanted: &'static str) -> Error {
        let is = match role {
            Role::Worker(rank) => format!("worker {rank}"),
            Role::Server(shard) => format!("the server of shard {shard}"),
        };
        Error::OtherRole { host: self.name.clone(), is, wanted }
    }
}
