//! Watches the controller's instructions in a view.

use inart_controller_api::{Ending, Following, HostProgress, Instruction, NotDone, Role, ViewMembership};
use inart_host_agent::{MigrationError, Migrator};

use crate::error::Error;
use crate::host::Host;
use crate::view_end::ViewEnd;

impl Host {
    /// Follows the controller in a view, until the returned value is dropped: migrates to other plans of the
    /// same shares, and calls `over` at the end of the view.
    pub(crate) fn follow(
        &self,
        membership: &ViewMembership,
        migrator: Migrator,
        end: &ViewEnd,
        over: impl Fn() + Send + 'static,
    ) -> Result<Option<Following>, Error> {
        let end = end.clone();
        let apply = move |instruction: Option<&Instruction>| -> Result<HostProgress, NotDone> {
            let Some(Instruction { assignment, previous_plan_version, step, ending }) = instruction else {
                // It was evicted, and the others have started another view.
                end.set_ending(Ending::Now);
                over();
                return Err(NotDone::Ended);
            };
            let held = end.set_ending(*ending);
            if end.is_over() {
                over();
                return Ok(held);
            }
            match migrator.take(*step, assignment.clone(), *previous_plan_version) {
                Ok(moving) => Ok(HostProgress { moving, ..held }),
                Err(MigrationError::Refused(why)) => Err(NotDone::Refused(why.to_string())),
                Err(MigrationError::Ended) => {
                    // No controller can lift the hold any more.
                    end.set_ending(Ending::Now);
                    Err(NotDone::Ended)
                }
            }
        };
        Ok(self.source.attend(
            membership.assignment.job,
            &membership.role.to_string(),
            self.incarnation,
            apply,
        )?)
    }

    /// Returns the error of a host that was started in another role than its own.
    pub(crate) fn other_role(&self, role: Role, wanted: &'static str) -> Error {
        let is = match role {
            Role::Worker(rank) => format!("worker {rank}"),
            Role::Server(shard) => format!("the server of shard {shard}"),
        };
        Error::OtherRole { host: self.name.clone(), is, wanted }
    }
}
