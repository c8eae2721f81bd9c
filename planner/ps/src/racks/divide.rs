//! Divides workers into groups.

use inart_topologies::switched::{Job, NodeId, Topology};

/// Returns the job's racks: workers (by position in the job) whose first link leads to the same switch. Racks
/// are in the order of their switches in the topology.
pub fn racks_of(topology: &Topology, job: &Job) -> Vec<Vec<usize>> {
    let switch_of = |worker: NodeId| topology.neighbors(worker).min_by_key(|(_, link)| *link);
    let mut racks: Vec<(Option<NodeId>, Vec<usize>)> = Vec::new();
    for (at, &worker) in job.workers.iter().enumerate() {
        let switch = switch_of(worker).map(|(switch, _)| switch);
        match racks.iter_mut().find(|(known, _)| *known == switch) {
            Some((_, members)) => members.push(at),
            None => racks.push((switch, vec![at])),
        }
    }
    racks.sort_by_key(|(switch, _)| *switch);
    racks.into_iter().map(|(_, members)| members).collect()
}

/// Divides racks into `groups` groups, at most one per worker. With fewer groups than racks, the smallest
/// adjacent pair is merged repeatedly; with more, the largest group is halved repeatedly.
pub fn divide(racks: &[Vec<usize>], groups: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = racks.iter().filter(|rack| !rack.is_empty()).cloned().collect();
    let groups = groups.max(1);
    while all.len() > groups {
        let together = |at: &usize| all[*at].len() + all[*at + 1].len();
        let Some(at) = (0..all.len() - 1).min_by_key(together) else { break };
        let next = all.remove(at + 1);
        all[at].extend(next);
    }
    while all.len() < groups {
        // The first of the largest.
        let largest = (0..all.len()).rev().max_by_key(|&at| all[at].len());
        let Some(at) = largest.filter(|&at| all[at].len() > 1) else { break };
        let half = all[at].len().div_ceil(2);
        let rest = all[at].split_off(half);
        all.insert(at + 1, rest);
    }
    all
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn racks_are_by_switch_and_in_its_order() {
        let topology = Topology::from_yaml(include_str!("../../../../topologies/fig1.yaml")).unwrap();
        assert_eq!(racks_of(&topology, &topology.jobs()[0]), [vec![0, 1, 2, 3], vec![4, 5]]);
    }

    #[test]
    fn racks_are_merged_and_halved() {
        let racks = [vec![0, 1, 2, 3], vec![4, 5], vec![6]];
        assert_eq!(divide(&racks, 3), racks);
        assert_eq!(divide(&racks, 2), [vec![0, 1, 2, 3], vec![4, 5, 6]]);
        assert_eq!(divide(&racks, 1), [vec![0, 1, 2, 3, 4, 5, 6]]);
        assert_eq!(divide(&racks, 0), divide(&racks, 1));
        assert_eq!(divide(&racks, 4), [vec![0, 1], vec![2, 3], vec![4, 5], vec![6]]);
        assert_eq!(divide(&racks, 7), (0..7).map(|at| vec![at]).collect::<Vec<_>>());
        assert_eq!(divide(&racks, 100).len(), 7);
        assert!(divide(&[], 3).is_empty());
    }
}
