//! Events of a flag that a run was too short for.

/// Warns of `count` events of a flag that come after the end of the run, at `end_s` seconds.
pub fn warn(flag: &str, count: usize, end_s: f64) {
    if count > 0 {
        let events = if count == 1 { "1 event occurs".to_owned() } else { format!("{count} events come") };
        tracing::warn!("--{flag}: {events} after the end of the run, at {end_s:.3} s; run more rounds");
    }
}
