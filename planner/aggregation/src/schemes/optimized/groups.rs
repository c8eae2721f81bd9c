//! Group construction: rates F_s that the integral bound allows, groups of floor(C / F_s) workers, each at a
//! separate nearby switch. On homogeneous fat-trees this alone reaches the bound.

use crate::bounds::whole;
use crate::model::{Model, NodeIx};
use crate::router::Router;
use crate::routes::FAR;

/// Returns the rates F_s with the largest sum for which every server has enough separate switches (a knapsack
/// over servers and numbers of switches), all switches counted as equal to the median one.
pub(crate) fn sending(model: &Model<'_>, equal: bool) -> Vec<f64> {
    let mut capacities: Vec<f64> =
        model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).collect();
    capacities.sort_by(f64::total_cmp);
    let capacity = capacities.get(capacities.len() / 2).copied().unwrap_or(0.0);
    let switches = capacities.len();
    let choices: Vec<Vec<(usize, f64)>> =
        model.servers.iter().map(|&s| steps(model, model.intake_bps(s), capacity, switches)).collect();
    share_out(&choices, switches, equal)
}

/// Returns the rates with the largest sum, given every server's (number of switches, rate they allow) and the
/// number of switches. `equal`: the largest common rate.
pub(crate) fn share_out(choices: &[Vec<(usize, f64)>], switches: usize, equal: bool) -> Vec<f64> {
    if equal {
        return at_equal_rates(choices, switches);
    }
    // sums[s][k]: the largest sum of the first s servers with k switches between them, and the step server s
    // took.
    let mut sums: Vec<Vec<Option<(f64, usize)>>> = vec![vec![None; switches + 1]];
    sums[0][0] = Some((0.0, 0));
    for of_server in choices {
        let before = sums.last().expect("starts with one row");
        let mut next: Vec<Option<(f64, usize)>> = vec![None; switches + 1];
        for (held, &(sum, _)) in before.iter().enumerate().filter_map(|(k, best)| Some((k, best.as_ref()?))) {
            for (step, &(used, rate)) in of_server.iter().enumerate() {
                let Some(slot) = next.get_mut(held + used) else { break };
                if slot.is_none_or(|(most, _)| sum + rate > most) {
                    *slot = Some((sum + rate, step));
                }
            }
        }
        sums.push(next);
    }
    let last = sums.last().expect("starts with one row").iter().enumerate();
    let best = last.filter_map(|(k, best)| Some((k, best.as_ref()?.0))).max_by(|a, b| a.1.total_cmp(&b.1));
    let (mut held, _) = best.expect("every server can receive without switches");
    let mut rates = vec![0.0; choices.len()];
    for s in (0..choices.len()).rev() {
        let (_, step) = sums[s + 1][held].expect("on the best path");
        let (used, rate) = choices[s][step];
        rates[s] = rate;
        held -= used;
    }
    rates
}

fn at_equal_rates(choices: &[Vec<(usize, f64)>], switches: usize) -> Vec<f64> {
    let mut rates: Vec<f64> = choices.iter().flatten().map(|&(_, rate)| rate).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    let needed = |rate: f64| -> Option<usize> {
        let of_server = |steps: &Vec<(usize, f64)>| {
            steps.iter().filter(|step| step.1 >= rate * (1.0 - 1e-12)).map(|step| step.0).min()
        };
        choices.iter().map(of_server).sum()
    };
    let fits = rates.iter().find(|&&rate| needed(rate).is_some_and(|k| k <= switches));
    vec![*fits.expect("the rate without switches fits"); choices.len()]
}

/// Returns for every useful number of switches (0 first) the best rate of one server: (switches, F).
fn steps(model: &Model<'_>, intake: f64, capacity: f64, switches: usize) -> Vec<(usize, f64)> {
    let workers = model.workers.len() as f64;
    let top = model.min_uplink_bps().min(intake);
    let mut steps: Vec<(usize, f64)> = vec![(0, (intake / workers).min(top))];
    // The rate changes where a group loses a worker or the server receives one unit less.
    for group in 2..=model.workers.len() {
        for units in 1..=model.workers.len() {
            let rate = (capacity / group as f64).min(intake / units as f64).min(top);
            let (received, size) = (whole(intake, rate).min(workers), whole(capacity, rate).max(1.0));
            let needed = ((workers - received) / (size - 1.0).max(1e-9)).ceil();
            if needed <= switches as f64 && received >= (workers / size).ceil() {
                steps.push((needed as usize, rate));
            }
            if intake / units as f64 <= capacity / (group + 1) as f64 {
                break;
            }
        }
    }
    steps.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut most = 0.0;
    steps.retain(|&(_, rate)| {
        let gains = rate > most;
        most = rate.max(most);
        gains
    });
    steps
}

/// Ends for every (server, worker) at rates F_s: groups as large as their switch allows, as few as the server
/// needs, the rest direct. `[server][worker]`
pub(crate) fn construct(router: &Router<'_>, sending: &[f64]) -> Vec<Vec<NodeIx>> {
    construct_around(router, sending, &[])
}

/// Like [`construct`], with groups (server, workers) at switches that servers share, which are placed first.
pub(crate) fn construct_around(
    router: &Router<'_>,
    sending: &[f64],
    shared: &[Vec<(usize, usize)>],
) -> Vec<Vec<NodeIx>> {
    let model = router.model;
    let mut ends: Vec<Vec<NodeIx>> = model.servers.iter().map(|&s| vec![s; model.workers.len()]).collect();
    let mut room: Vec<f64> = model.aggregators.iter().map(|&v| model.capacity_of(model.own(v))).collect();
    let mut unplaced: Vec<Vec<usize>> = vec![(0..model.workers.len()).collect(); sending.len()];
    // Units each server still has to lose.
    let mut excess: Vec<f64> = model
        .servers
        .iter()
        .zip(sending)
        .map(|(&s, &f)| model.workers.len() as f64 - whole(model.intake_bps(s), f))
        .collect();
    for groups in shared {
        let at_switch = |at: usize| -> Option<(u32, Vec<Vec<usize>>)> {
            let open = room[at] == model.capacity_of(model.own(model.aggregators[at]));
            let mut hops = 0;
            let nearest = groups.iter().filter(|_| open).map(|&(s, size)| {
                let (of_group, members) = nearest(router, s, at, size, &unplaced[s])?;
                hops += of_group;
                Some(members)
            });
            let members: Vec<Vec<usize>> = nearest.collect::<Option<_>>()?;
            (!members.is_empty()).then_some((hops, members))
        };
        let best = (0..room.len()).filter_map(|at| Some((at_switch(at)?, at))).min_by_key(|found| found.0.0);
        let Some(((_, members), at)) = best else { continue };
        for (&(s, _), members) in groups.iter().zip(&members) {
            room[at] -= members.len() as f64 * sending[s];
            excess[s] -= members.len() as f64 - 1.0;
            members.iter().for_each(|&w| ends[s][w] = model.aggregators[at]);
            unplaced[s].retain(|w| !members.contains(w));
        }
    }
    // The neediest server picks next, so scarce switches are shared out evenly.
    while let Some(s) =
        (0..sending.len()).filter(|&s| excess[s] > 0.0).max_by(|&a, &b| excess[a].total_cmp(&excess[b]))
    {
        match nearest_group(router, sending[s], s, &unplaced[s], &room) {
            None => excess[s] = 0.0,
            Some((at, members)) => {
                room[at] -= members.len() as f64 * sending[s];
                excess[s] -= members.len() as f64 - 1.0;
                members.iter().for_each(|&w| ends[s][w] = model.aggregators[at]);
                unplaced[s].retain(|w| !members.contains(w));
            }
        }
    }
    ends
}

/// Returns the largest group that any switch can still aggregate, at the switch with the fewest hops to it
/// and to the server.
fn nearest_group(
    router: &Router<'_>,
    sending: f64,
    s: usize,
    unplaced: &[usize],
    room: &[f64],
) -> Option<(usize, Vec<usize>)> {
    let mut best: Option<(usize, u32, usize, Vec<usize>)> = None;
    for (at, &left) in room.iter().enumerate() {
        let size = (whole(left, sending) as usize).min(unplaced.len());
        if size < 2 || best.as_ref().is_some_and(|b| b.0 > size) {
            continue;
        }
        let Some((total, members)) = nearest(router, s, at, size, unplaced) else { continue };
        if best.as_ref().is_none_or(|&(most, least, ..)| size > most || total < least) {
            best = Some((size, total, at, members));
        }
    }
    best.map(|(_, _, at, members)| (at, members))
}

/// Returns the `size` workers nearest to a switch, with the hops from all of them to it and from there to the
/// server; `None` if not enough can reach it, or it cannot reach the server.
fn nearest(
    router: &Router<'_>,
    s: usize,
    at: usize,
    size: usize,
    unplaced: &[usize],
) -> Option<(u32, Vec<usize>)> {
    let model = router.model;
    let onward = router.routes.hops(model.aggregators[at], model.servers[s]);
    if onward == FAR || size == 0 || size > unplaced.len() {
        return None;
    }
    let hops = router.routes.hops_to(model.aggregators[at]);
    let mut near: Vec<(u16, usize)> =
        unplaced.iter().map(|&w| (hops[model.workers[w] as usize], w)).collect();
    near.select_nth_unstable(size - 1);
    near.truncate(size);
    if near.iter().any(|&(hops, _)| hops == FAR) {
        return None;
    }
    let total = near.iter().map(|&(hops, _)| u32::from(hops)).sum::<u32>() + u32::from(onward);
    Some((total, near.into_iter().map(|(_, w)| w).collect()))
}
