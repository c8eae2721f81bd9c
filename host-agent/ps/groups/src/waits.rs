//! The workers that a server of groups waits for.

use std::time::Duration;

use inart_connections::WaitWatch;
use inart_host_agent::status::{ProcessStatus, ProcessWait, awaited_workers};

use crate::part::Part;
use crate::seat::Seat;

/// When waits are logged.
pub(crate) type Watch = WaitWatch<Vec<String>>;

/// The workers that the turns wait for, of groups that have iterations to do.
pub(crate) fn awaited(part: &Part, seats: &[Seat], iterations: u32) -> Vec<ProcessWait> {
    let groups = part.awaited().into_iter().filter(|group| part.iterations(*group) < iterations);
    let of_group = |group: usize| {
        let seat = &seats[group];
        let Some((status, age)) = seat.status() else { return Vec::new() };
        let mut waits = awaited_workers(&status, &seat.workers, age);
        for wait in &mut waits {
            wait.why = format!("job {}: {}", seat.job, wait.why);
        }
        waits
    };
    groups.flat_map(of_group).collect()
}

/// What the server `name` does.
pub(crate) fn status(name: &str, part: &Part, seats: &[Seat], waits: Vec<ProcessWait>) -> ProcessStatus {
    ProcessStatus {
        name: name.to_owned(),
        role: "group-server".to_owned(),
        progress: part.turns(),
        waits,
        computing_seconds: None,
        inside: seats.iter().filter_map(|seat| Some(seat.status()?.0)).collect(),
    }
}

/// Logs the waits if that is due.
pub(crate) fn log(watch: &mut Watch, waits: &[ProcessWait], has_begun: bool) {
    let names: Vec<_> = waits.iter().map(|wait| wait.on.clone()).collect();
    let Some(waited) = watch.due(Some(names).filter(|names| !names.is_empty()), !has_begun) else { return };
    let each: Vec<_> = waits.iter().map(|wait| format!("{} ({})", wait.on, wait.why)).collect();
    tracing::warn!("waiting for {}, for {} s", each.join(", "), waited.as_secs());
}

/// The server ends if no worker of a group has joined within this time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);
