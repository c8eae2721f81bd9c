//! Scheme `optimized` for concurrent multicasts: a new multicast takes the receivers with which it delivers
//! most bits per second, and slows down no active one for more receivers than it needs. No active receiver is
//! dropped.

use super::selmcast_ssp::{Setting, Task};

/// Returns the receivers of a peer whose multicast starts, ascending.
pub fn join(setting: &Setting<'_>, from: usize, under_way: &[Task]) -> Vec<usize> {
    let Setting { ports, receivers, multicast, required, .. } = *setting;
    let n = ports.down_bps.len();
    let mut counts = vec![0usize; n];
    under_way.iter().flat_map(|task| &task.to).for_each(|&to| counts[to] += 1);
    // The rate of each active multicast, at its slowest receiver.
    let rate = |task: &Task| {
        let up = ports.up_bps[task.from] / multicast.copies(task.to.len()).max(1) as f64;
        task.to.iter().map(|&to| ports.down_bps[to] / counts[to] as f64).fold(up, f64::min)
    };
    let mut fastest = vec![0.0f64; n];
    for task in under_way {
        let rate = rate(task);
        task.to.iter().for_each(|&to| fastest[to] = fastest[to].max(rate));
    }
    let share = |to: usize| ports.down_bps[to] / (counts[to] + 1) as f64;
    let mut chosen: Vec<usize> = required.receivers(from).collect();
    let mut free: Vec<usize> = (0..n).filter(|&to| to != from && !required.has(from, to)).collect();
    free.sort_by(|&a, &b| share(b).total_cmp(&share(a)).then(a.cmp(&b)));
    let needed = receivers.saturating_sub(chosen.len()).min(free.len());
    let further = free.split_off(needed);
    chosen.extend(free);
    let down = chosen.iter().map(|&to| share(to)).fold(f64::INFINITY, f64::min);
    let delivered = |count: usize, down: f64| {
        count as f64 * down.min(ports.up_bps[from] / multicast.copies(count).max(1) as f64)
    };
    let (mut best, mut taken) = (delivered(chosen.len(), down), 0);
    let (mut slowest, fewest) = (down, chosen.len());
    let harmless = further.into_iter().filter(|&to| share(to) >= fastest[to]);
    for to in harmless {
        chosen.push(to);
        slowest = slowest.min(share(to));
        let bps = delivered(chosen.len(), slowest);
        if bps > best {
            (best, taken) = (bps, chosen.len() - fewest);
        }
    }
    chosen.truncate(fewest + taken);
    chosen.sort_unstable();
    chosen
}
