//! Status of a site's process.

use std::time::Duration;

use inart_connections::{Names, Transport};
use inart_host_agent::status::{ProcessStatus, ProcessWait};
use inart_sites_agent::{Lacking, Peer, SiteProcess, StallCause, Wait, Waiting};

use crate::workers_inside::WorkersInside;

/// Returns the status of a site.
pub(crate) fn of_site(
    names: &Names,
    network: &Transport,
    process: &SiteProcess,
    now: Duration,
) -> ProcessStatus {
    let driver = process.driver();
    let mut status = ProcessStatus {
        name: names.me.clone(),
        role: "site".to_owned(),
        progress: driver.round().unwrap_or(0).into(),
        ..ProcessStatus::default()
    };
    let Some(Waiting { wait, waited }) = driver.waiting(now) else { return status };
    let seconds = waited.as_secs_f64();
    let on = |peer: Peer, disconnected: bool, lacks: &str| {
        let number = process.number(peer);
        let why = match disconnected {
            true => network.why_not(number),
            false => lacks.to_owned(),
        };
        let on = Some(names.of(number).to_owned()).filter(|name| !name.is_empty())?;
        Some(ProcessWait { on, why, seconds, disconnected })
    };
    let each = |of: &[Lacking], lacks: &str| {
        let one =
            |one: &Lacking| on(Peer::Site(one.site), matches!(one.cause, StallCause::NoConnection), lacks);
        of.iter().filter_map(one).collect()
    };
    let scheduler = |lacks| on(Peer::Scheduler, !driver.is_up(Peer::Scheduler), lacks).into_iter().collect();
    let site = |site, lacks| {
        let peer = Peer::Site(site);
        on(peer, false, lacks)
    };
    match wait {
        Wait::Program { .. } => status.computing_seconds = Some(seconds),
        Wait::Neighbors(of) => status.waits = each(&of, "no hello has arrived"),
        Wait::Chunks { round, of } => status.waits = each(&of, &format!("no chunks of round {round}")),
        Wait::State { of, .. } => status.waits.extend(site(of, "the whole state has not arrived")),
        Wait::Scheduler => status.waits = scheduler("no first plan"),
        Wait::Plan => status.waits = scheduler("the plan of the next round has not arrived"),
        Wait::Ends(of) => {
            status.waits = of.into_iter().filter_map(|of| site(of, "has not finished")).collect()
        }
    }
    status
}

/// Adds the workers inside to the status of their site, as its training program.
pub(crate) fn add_inside(status: &mut ProcessStatus, inside: &WorkersInside) {
    status.inside.extend(inside.status());
    if status.computing_seconds.take().is_some() {
        status.waits = inside.awaited();
    }
}
