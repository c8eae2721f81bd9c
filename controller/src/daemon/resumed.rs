//! Jobs as the previous controller left them.

use inart_protocol_aggregation::Assignment;
use inart_targets::Session;

use super::config::Config;
use super::state::State;
use crate::assignment::JobPlan;
use crate::error::InstallError;
use crate::fabric::Fabric;
use crate::install::Controller;
use crate::membership::Roster;
use crate::records::{JobRecord, Push, Records};

/// Registers the rendezvous of elastic jobs.
pub(super) fn attend(config: &Config, state: &State, records: &Records, assignments: &[Assignment]) {
    for assignment in assignments {
        let job = config.topology.job_named(&assignment.name).filter(|job| job.elastic);
        if let Some(job) = job {
            let (roster, record) = (Roster::of(&config.topology, job), records.jobs.get(&assignment.job));
            state.attend(assignment.job, roster, config.timing, record, assignment);
        }
    }
}

/// Replaces plans that jobs started with by the plans that they migrated to since: this controller was
/// started with the former.
pub(super) fn moved_since(
    controller: &mut Controller<Box<dyn Session>>,
    jobs: &[JobPlan],
) -> Result<Vec<JobPlan>, InstallError> {
    controller.refresh_records()?;
    let jobs = jobs.iter().map(|job| {
        let record = controller.records().jobs.get(&job.job).filter(|_| !job.new_plan_version);
        let moved = record.and_then(|record| {
            if let Some(run) = record.live().filter(|live| is_current(controller.fabric(), record, live, job))
            {
                return Some(run);
            }
            let began = record.began.as_deref()?;
            (*began == controller.fabric().push(job, began.plan_version)).then(|| record.live())?
        });
        moved.map_or_else(|| job.clone(), |live| live.job_plan(job.job))
    });
    Ok(jobs.collect())
}

/// Returns whether a plan is the current view of an elastic job.
fn is_current(fabric: &Fabric, record: &JobRecord, live: &Push, job: &JobPlan) -> bool {
    let elastic = fabric.topology.job_named(&job.plan.job).is_some_and(|job| job.elastic);
    elastic
        && !record.claimed.is_empty()
        && live.plan.job == job.plan.job
        && live.is_on(&fabric.topology.to_yaml())
}
