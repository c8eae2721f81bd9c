//! Jobs that left the topology: they hold slots until somebody removes them.

use std::collections::BTreeSet;

use inart_targets::Session;
use inart_topologies::units::counted;
use inart_wire::JobId;

use crate::counters::LISTEN;
use crate::held::HeldJob;
use crate::install::Controller;
use crate::intent::Network;
use crate::peers::is_of_peers;

/// Looks for jobs other than `installed` that left the topology, and removes those of which no frames move,
/// if `remove` allows it; else says how that is done. Returns what the switches hold, if that was changed.
/// What fails is said, and is no reason to end: the plans are in force.
pub(super) async fn look(
    controller: &mut Controller<impl Session>,
    installed: &BTreeSet<JobId>,
    remove: bool,
) -> Option<Network> {
    let held =
        controller.held().await.inspect_err(|error| tracing::warn!("cannot look for old jobs: {error}"));
    let mut left: Vec<_> =
        held.ok()?.into_iter().filter(|job| job.has_left() && !installed.contains(&job.job)).collect();
    // How long peers may be silent is their own setting, so nothing here tells whether they have ended.
    left.retain(|job| {
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
    if left.is_empty() {
        return None;
    }
    let topology = controller.topology().name().to_owned();
    if !remove {
        for job in left {
            tracing::warn!(
                "job {job} is no longer in topology {topology}, and still holds {}: when its hosts have ended, let \
                 the controller remove departed jobs, or stop it and run `inart remove {} TOPOLOGY`",
                what(&job),
                job.job
            );
        }
        return None;
    }
    let moving = controller.moving(LISTEN).await;
    let moving =
        moving.inspect_err(|error| tracing::warn!("cannot look for frames of old jobs: {error}")).ok()?;
    let (busy, idle): (Vec<_>, Vec<_>) = left.into_iter().partition(|job| moving.contains(&job.job));
    for job in busy {
        tracing::warn!(
            "job {job} is not in topology {topology} any more, but its frames are on the way: stop its hosts and start the \
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

/// What a job holds, in words.
fn what(job: &HeldJob) -> String {
    match job.slots.is_empty() {
        true => "entries".to_owned(),
        false => {
            let slots =
                job.slots.iter().map(|(switch, slots)| format!("{} of {switch}", counted(*slots, "slot")));
            slots.collect::<Vec<_>>().join(", ")
        }
    }
}
