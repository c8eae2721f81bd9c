//! Jobs that left the topology: they hold slots until they are removed.

use std::collections::BTreeSet;

use inart_targets::Session;
use inart_topologies::units::counted;
use inart_wire::JobId;

use crate::counters::LISTEN;
use crate::held::HeldJob;
use crate::install::Controller;
use crate::intent::Network;
use crate::peers::is_of_peers;

/// Finds jobs other than `installed` that left the topology, and removes those without traffic if `remove`
/// is set; else logs how to remove them. Returns the tables of the switches if they changed. Failures are
/// only logged: the plans are active.
pub(super) async fn look(
    controller: &mut Controller<impl Session>,
    installed: &BTreeSet<JobId>,
    remove: bool,
) -> Option<Network> {
    let held =
        controller.held().await.inspect_err(|error| tracing::warn!("cannot look for old jobs: {error}"));
    let mut departed: Vec<_> =
        held.ok()?.into_iter().filter(|job| job.has_left() && !installed.contains(&job.job)).collect();
    // The liveness timeout of peers is their own setting, so the controller cannot know whether they have
    // ended.
    departed.retain(|job| {
        let of_peers = is_of_peers(job.job);
        if of_peers {
            tracing::warn!(
                "job {job} of peers is not of this controller's, and switches copy its updates: when its peers have ended, \
                 stop the controller and run `inart remove {} TOPOLOGY`",
                job.job
            );
        }
        !of_peers
    });
    if departed.is_empty() {
        return None;
    }
    let topology = controller.topology().name().to_owned();
    if !remove {
        for job in departed {
            tracing::warn!(
                "job {job} is no longer in topology {topology}, and still holds {}: when its hosts have ended, let \
                 the controller remove departed jobs, or stop it and run `inart remove {} TOPOLOGY`",
                holdings(&job),
                job.job
            );
        }
        return None;
    }
    let moving = controller.moving(LISTEN).await;
    let moving =
        moving.inspect_err(|error| tracing::warn!("cannot look for frames of old jobs: {error}")).ok()?;
    let (busy, idle): (Vec<_>, Vec<_>) = departed.into_iter().partition(|job| moving.contains(&job.job));
    for job in busy {
        tracing::warn!(
            "job {job} is no longer in topology {topology}, but its hosts still send frames: stop its hosts and restart the \
             controller again"
        );
    }
    let numbers: BTreeSet<JobId> = idle.iter().map(|job| job.job).collect();
    if numbers.is_empty() {
        return None;
    }
    match controller.remove(&numbers).await {
        Ok(report) => {
            idle.iter().for_each(|job| tracing::info!("job {job}, which left topology {topology}, removed"));
            Some(report.desired)
        }
        Err(error) => {
            tracing::warn!("cannot remove the jobs that left topology {topology}: {error}");
            None
        }
    }
}

/// Describes what a job holds.
fn holdings(job: &HeldJob) -> String {
    match job.slots.is_empty() {
        true => "entries".to_owned(),
        false => {
            let slots =
                job.slots.iter().map(|(switch, slots)| format!("{} of {switch}", counted(*slots, "slot")));
            slots.collect::<Vec<_>>().join(", ")
        }
    }
}
