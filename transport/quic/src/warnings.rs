//! Bounds warnings about connections that fail, however often they are tried.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A warning is repeated after this time, and another one about the same process is due after the second.
const SAME: Duration = Duration::from_secs(60);
const OTHER: Duration = Duration::from_secs(5);
/// Processes with warnings, and last warnings of each.
const MOST: usize = 256;
const MOST_EACH: usize = 4;

/// The last warnings about each process, the newest one last.
#[derive(Debug, Default)]
pub(crate) struct Warnings(BTreeMap<String, Vec<(Instant, String)>>);

impl Warnings {
    /// Returns whether a warning about a process is due; then it counts as printed. Of more than 256
    /// processes, each 5 s at most one more is warned of.
    pub fn is_due(&mut self, about: &str, text: &str, now: Instant) -> bool {
        let is_old = |at: Instant, pause| now.saturating_duration_since(at) >= pause;
        if !self.0.contains_key(about) && !self.has_room(is_old) {
            return false;
        }
        let said = self.0.entry(about.to_owned()).or_default();
        let place = said.iter().position(|(_, last)| last == text);
        let is_due = match place {
            Some(place) => is_old(said[place].0, SAME),
            None => said.last().is_none_or(|(at, _)| is_old(*at, OTHER)),
        };
        if is_due {
            place.or((said.len() >= MOST_EACH).then_some(0)).map(|place| said.remove(place));
            said.push((now, text.to_owned()));
        }
        is_due
    }

    /// Returns whether another process may be warned of; the one that was warned of longest ago is forgotten
    /// for it.
    fn has_room(&mut self, is_old: impl Fn(Instant, Duration) -> bool) -> bool {
        if self.0.len() < MOST {
            return true;
        }
        let newest = |said: &Vec<(Instant, String)>| said.last().map(|(at, _)| *at);
        if self.0.values().filter_map(newest).any(|at| !is_old(at, OTHER)) {
            return false;
        }
        let oldest = self.0.iter().min_by_key(|(_, said)| newest(said)).map(|(about, _)| about.clone());
        oldest.is_some_and(|oldest| self.0.remove(&oldest).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the seconds at which each of the causes is printed, if attempts fail each second for this many
    /// seconds.
    fn printed(seconds: u64, cause: impl Fn(u64) -> &'static str) -> Vec<(u64, &'static str)> {
        let (mut warnings, start) = (Warnings::default(), Instant::now());
        let all = (0..seconds).map(|second| (second, cause(second)));
        all.filter(|(second, cause)| warnings.is_due("a", cause, start + Duration::from_secs(*second)))
            .collect()
    }

    #[test]
    fn a_cause_is_named_at_once_and_again_after_a_minute_and_another_one_soon() {
        let all = printed(130, |second| if second < 100 { "expired" } else { "another authority" });
        assert_eq!(all, [(0, "expired"), (60, "expired"), (100, "another authority")]);
        // Both directions of a pair may fail for different causes.
        let all = printed(62, |second| if second % 2 == 0 { "expired" } else { "another authority" });
        assert_eq!(all, [(0, "expired"), (5, "another authority"), (60, "expired")]);
    }

    #[test]
    fn strangers_without_number_are_bounded() {
        let (mut warnings, start) = (Warnings::default(), Instant::now());
        let at = |tenths: u64| start + Duration::from_millis(100 * tenths);
        // For ten minutes, one each tenth of a second.
        let many = (0..6000).filter(|tenths| warnings.is_due(&format!("x{tenths}"), "why", at(*tenths)));
        assert!(many.count() <= MOST + 121);
        assert!(warnings.0.len() <= MOST);
    }
}
