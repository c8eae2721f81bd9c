//! The workers that a server of groups waits for.

use std::time::Duration;

use inart_connections::WaitWatch;
use inart_host_agent::status::{ProcessStatus, ProcessWait, awaited_workers};

use crate::group_state::GroupState;
use crate::part::Part;

/// Schedule of logged waits.
pub(crate) type Watch = WaitWatch<Vec<String>>;

/// Returns the workers that the turns wait for, of groups with iterations left.
pub(crate) fn awaited(part: &Part, group_states: &[GroupState], iterations: u32) -> Vec<ProcessWait> {
    let groups = part.awaited().into_iter().filter(|group| part.iterations(*group) < iterations);
    let of_group = |group: usize| {
        let group_state = &group_states[group];
        let Some((status, age)) = group_state.status() else { return Vec::new() };
        let mut waits = awaited_workers(&status, &group_state.workers, age);
        for wait in &mut waits {
            wait.why = format!("job {}: {}", group_state.job, wait.why);
        }
        waits
    };
    groups.flat_map(of_group).collect()
}

/// Returns the status of the server `name`.
pub(crate) fn status(
    name: &str,
    part: &Part,
    group_states: &[GroupState],
    waits: Vec<ProcessWait>,
) -> ProcessStatus {
    ProcessStatus {
        name: name.to_owned(),
        role: "group-server".to_owned(),
        progress: part.turns(),
        waits,
        computing_seconds: None,
        inside: group_states.iter().filter_map(|group_state| Some(group_state.status()?.0)).collect(),
    }
}

/// Logs the waits when due.
pub(crate) fn log(watch: &mut Watch, waits: &[ProcessWait], has_begun: bool) {
    let names: Vec<_> = waits.iter().map(|wait| wait.on.clone()).collect();
    let Some(waited) = watch.due(Some(names).filter(|names| !names.is_empty()), !has_begun) else { return };
    let each: Vec<_> = waits.iter().map(|wait| format!("{} ({})", wait.on, wait.why)).collect();
    tracing::warn!("waiting for {}, for {} s", each.join(", "), waited.as_secs());
}

/// Time without a worker of a group after which the server ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);
