//! Sites that exchange chunks in any order.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use inart_protocol_sites::{
    AuxiliaryChoice, AuxiliaryUse, BeginError, ChunkNo, ChunkTransfer, Direction, Output, PolicyError,
    Sending, Site, SiteNo, TransmissionPolicy, Tree, TreeNo,
};
use proptest::prelude::*;

const SITES: u16 = 4;

/// Two trees over a ring of four sites 0-1-2-3-0: a path rooted at 0, and a star-like one rooted at 2.
fn policy(version: u64, chunks: u32) -> TransmissionPolicy {
    let parents = |list: [Option<u16>; 4]| list.map(|parent| parent.map(SiteNo)).to_vec();
    let path = parents([None, Some(0), Some(1), Some(2)]);
    let star = parents([Some(1), Some(2), None, Some(2)]);
    TransmissionPolicy {
        version,
        sites: (0..SITES).map(SiteNo).collect(),
        trees: vec![
            Tree { root: SiteNo(0), up: path.clone(), down: path },
            Tree { root: SiteNo(2), up: star.clone(), down: star },
        ],
        chunk_trees: (0..chunks).map(|chunk| TreeNo((chunk % 2) as u16)).collect(),
        routes: BTreeMap::new(),
        auxiliary: BTreeMap::from([
            ((SiteNo(1), SiteNo(0)), vec![vec![SiteNo(1), SiteNo(2), SiteNo(3), SiteNo(0)]]),
            ((SiteNo(3), SiteNo(2)), vec![vec![SiteNo(3), SiteNo(0), SiteNo(1), SiteNo(2)]]),
        ]),
    }
}

fn own(round: u32, chunk: u32, site: usize) -> [i64; 1] {
    [(i64::from(round) + 1) * 1_000_000 + i64::from(chunk) * 100 + 7i64.pow(site as u32)]
}

/// Chunks in flight, each on its link; a link's chunks arrive in order, links in any order.
type Wire = BTreeMap<(u16, u16), std::collections::VecDeque<ChunkTransfer<[i64; 1]>>>;

fn take_outputs(at: u16, site: &mut Site<[i64; 1]>, wire: &mut Wire, got: &mut Vec<(u16, u32, i64)>) {
    while let Some(output) = site.next_output() {
        match output {
            Output::Send { next, transfer } => wire.entry((at, next.0)).or_default().push_back(transfer),
            Output::Complete { chunk, data } => got.push((at, chunk.0, data[0])),
            Output::Ask { .. } => panic!("no site asks here"),
        }
    }
}

proptest! {
    /// For every interleaving of links and every choice of paths, every site has every sum once, and rounds
    /// do not mix: sites start the next round as soon as they have completed the last.
    #[test]
    fn every_site_has_every_sum_once(
        picks in prop::collection::vec(any::<prop::sample::Index>(), 4000),
        chunks in 1u32..9,
        way in 0..4,
    ) {
        const ROUNDS: u32 = 3;
        let by = |choice| Sending::Auxiliary(AuxiliaryUse { choice, busy_bound: 0, queue_length: 1 });
        let sending = match way {
            0 => Sending::AtOnce,
            1 => Sending::InOrder { on_link: 1 },
            2 => by(AuxiliaryChoice::Lazy),
            _ => by(AuxiliaryChoice::Eager),
        };
        let mut sites: Vec<_> = (0..SITES).map(|at| Site::new(SiteNo(at), sending)).collect();
        let (mut wire, mut got) = (Wire::new(), vec![Vec::new(); ROUNDS as usize]);
        let mut round = [0u32; SITES as usize];
        let policies: Vec<_> = (0..ROUNDS).map(|round| Arc::new(policy(round.into(), chunks))).collect();
        let begin = |at: usize, round: u32, site: &mut Site<[i64; 1]>| {
            site.begin(round, policies[round as usize].clone()).unwrap();
            (0..chunks).for_each(|chunk| site.contribute(ChunkNo(chunk), own(round, chunk, at)));
        };
        for (at, site) in sites.iter_mut().enumerate() {
            begin(at, 0, site);
            take_outputs(at as u16, site, &mut wire, &mut got[0]);
        }
        let mut picks = picks.iter().cycle();
        loop {
            wire.retain(|_, queue| !queue.is_empty());
            if wire.is_empty() {
                break;
            }
            let pick = picks.next().unwrap().index(wire.len());
            let (&(from, to), queue) = wire.iter_mut().nth(pick).unwrap();
            let transfer = queue.pop_front().unwrap();
            let before = round[from as usize] as usize;
            sites[from as usize].sent(SiteNo(to));
            take_outputs(from, &mut sites[from as usize], &mut wire, &mut got[before]);
            let at = usize::from(to);
            sites[at].receive(transfer);
            let before = round[at] as usize;
            take_outputs(to, &mut sites[at], &mut wire, &mut got[before]);
            while sites[at].is_complete() && round[at] + 1 < ROUNDS {
                round[at] += 1;
                begin(at, round[at], &mut sites[at]);
                take_outputs(to, &mut sites[at], &mut wire, &mut got[round[at] as usize]);
            }
        }
        for (round, mut got) in (0..).zip(got) {
            got.sort_unstable();
            let sum = |chunk| (0..SITES).map(|at| own(round, chunk, at.into())[0]).sum::<i64>();
            let all = (0..SITES).flat_map(|at| (0..chunks).map(move |chunk| (at, chunk)));
            prop_assert_eq!(got, all.map(|(at, chunk)| (at, chunk, sum(chunk))).collect::<Vec<_>>());
        }
        for site in &sites {
            let seen = site.counters();
            prop_assert_eq!((seen.late, seen.ahead, seen.strange, seen.repeated), (0, 0, 0, 0));
        }
    }
}

fn push(round: u32, version: u64, chunk: u32, from: u16, to: u16) -> ChunkTransfer<[i64; 1]> {
    let (direction, route) = (Direction::Push, Vec::new());
    let (from, to, chunk) = (SiteNo(from), SiteNo(to), ChunkNo(chunk));
    ChunkTransfer { round, version, chunk, direction, from, to, path: 0, route, policies: vec![0], data: [1] }
}

#[test]
fn chunks_outside_the_round_are_counted_and_dropped() {
    let mut site: Site<[i64; 1]> = Site::new(SiteNo(0), Sending::AtOnce);
    site.begin(5, Arc::new(policy(2, 2))).unwrap();
    site.receive(push(4, 2, 0, 1, 0));
    site.receive(push(5, 1, 0, 1, 0));
    site.receive(push(7, 2, 0, 1, 0));
    site.receive(push(5, 2, 9, 1, 0));
    site.receive(push(5, 2, 0, 3, 0));
    site.receive(push(5, 2, 0, 60_000, 0));
    site.receive(push(5, 2, 0, 1, 0));
    site.receive(push(5, 2, 0, 1, 0));
    site.receive(ChunkTransfer { direction: Direction::Pull, ..push(5, 2, 0, 1, 0) });
    let seen = site.counters();
    assert_eq!((seen.late, seen.other_policy, seen.ahead), (1, 1, 1));
    assert_eq!((seen.strange, seen.repeated, seen.early), (4, 1, 0));
    assert_eq!(site.next_output(), None);
    site.contribute(ChunkNo(0), [40]);
    assert!(matches!(site.next_output(), Some(Output::Send { next: SiteNo(1), .. })));
    assert_eq!(site.next_output(), Some(Output::Complete { chunk: ChunkNo(0), data: [41] }));
}

#[test]
fn a_chunk_that_is_early_waits_for_its_round() {
    let mut site: Site<[i64; 1]> = Site::new(SiteNo(0), Sending::AtOnce);
    site.begin(0, Arc::new(policy(1, 1))).unwrap();
    site.receive(push(1, 2, 0, 1, 0));
    assert_eq!((site.counters().early, site.is_complete()), (1, false));
    site.begin(1, Arc::new(policy(2, 1))).unwrap();
    site.contribute(ChunkNo(0), [1]);
    assert!(site.is_complete());
    // A chunk of the next round that arrived by the previous policy is not added.
    site.receive(push(2, 2, 0, 1, 0));
    site.begin(2, Arc::new(policy(3, 1))).unwrap();
    site.contribute(ChunkNo(0), [1]);
    assert_eq!((site.counters().other_policy, site.is_complete()), (1, false));
}

#[test]
fn rounds_and_policies_never_go_back() {
    let mut site: Site<[i64; 1]> = Site::new(SiteNo(0), Sending::AtOnce);
    site.begin(3, Arc::new(policy(4, 1))).unwrap();
    let again = site.begin(3, Arc::new(policy(4, 1)));
    assert_eq!(again, Err(BeginError::Round { asked: 3, current: 3 }));
    let older = site.begin(4, Arc::new(policy(3, 1)));
    assert_eq!(older, Err(BeginError::Older { asked: 3, current: 4 }));
    let mut stranger: Site<[i64; 1]> = Site::new(SiteNo(9), Sending::AtOnce);
    let absent = stranger.begin(0, Arc::new(policy(1, 1)));
    assert_eq!(absent, Err(BeginError::Absent { version: 1, site: 9 }));
}

#[test]
fn policies_that_do_not_hold_together_are_refused_by_name() {
    let mut circle = policy(1, 1);
    circle.trees[0].up[1] = Some(SiteNo(3));
    let mut no_tree = policy(1, 1);
    no_tree.chunk_trees[0] = TreeNo(2);
    let mut short = policy(1, 1);
    short.trees[1].down.truncate(2);
    let mut detour = policy(1, 1);
    detour.auxiliary.insert((SiteNo(0), SiteNo(1)), vec![vec![SiteNo(0), SiteNo(2), SiteNo(0), SiteNo(1)]]);
    let mut nowhere = policy(1, 1);
    nowhere.routes.insert((SiteNo(0), SiteNo(2)), vec![SiteNo(0)]);
    for (policy, named) in [
        (circle, "tree 0: site 1 has no path up to the root"),
        (no_tree, "chunk 0 takes tree 2, and there are 2"),
        (short, "tree 1 has parents of 2 sites; give one for each site up to number 3"),
        (detour, "the route from site 0 to site 1 is [0, 2, 0, 1]"),
        (nowhere, "the route from site 0 to site 2 is [0]"),
    ] {
        let error: PolicyError = policy.check().unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    }
    assert_eq!(policy(1, 1).check(), Ok(()));
}
