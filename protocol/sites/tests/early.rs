//! Chunks of the next round, and the sites that a round waits for.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use inart_protocol_sites::{
    Ask, AuxiliaryUse, ChunkNo, ChunkTransfer, Direction, MOST_NAMED, Output, Sending, Site, SiteNo, Summand,
    TransmissionPolicy, Tree, TreeNo,
};

/// Bytes of a VGG16 model's gradient, and of its chunks: counted, not allocated.
const MODEL: u64 = 528 << 20;
const CHUNK: u64 = 2 << 20;
const CHUNKS: u32 = (MODEL / CHUNK) as u32;

/// Sum that counts the bytes that are held.
#[derive(Debug)]
struct Counted {
    held: Rc<Cell<u64>>,
}

impl Counted {
    fn new(held: &Rc<Cell<u64>>) -> Self {
        held.set(held.get() + CHUNK);
        Counted { held: held.clone() }
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(&self.held)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.held.set(self.held.get() - CHUNK);
    }
}

impl Summand for Counted {
    fn add(&mut self, _: &Self) {}
}

/// Three sites on a line; site 1 is the root.
fn policy(version: u64) -> Arc<TransmissionPolicy> {
    let parents = vec![Some(SiteNo(1)), None, Some(SiteNo(1))];
    Arc::new(TransmissionPolicy {
        version,
        sites: (0..3).map(SiteNo).collect(),
        trees: vec![Tree { root: SiteNo(1), up: parents.clone(), down: parents }],
        chunk_trees: vec![TreeNo(0); CHUNKS as usize],
        routes: BTreeMap::new(),
        auxiliary: BTreeMap::new(),
    })
}

fn transfer(held: &Rc<Cell<u64>>, round: u32, version: u64, chunk: u32, from: u16) -> ChunkTransfer<Counted> {
    ChunkTransfer {
        round,
        version,
        chunk: ChunkNo(chunk),
        direction: Direction::Push,
        from: SiteNo(from),
        to: SiteNo(1),
        path: 0,
        route: Vec::new(),
        policies: Vec::new(),
        data: Counted::new(held),
    }
}

#[test]
fn a_site_holds_one_copy_of_each_chunk_of_the_next_round() {
    let held = Rc::new(Cell::new(0));
    let mut site: Site<Counted> = Site::new(SiteNo(1), Sending::AtOnce);
    site.begin(4, policy(3)).unwrap();
    for _ in 0..20 {
        for chunk in 0..CHUNKS {
            site.receive(transfer(&held, 5, 3, chunk, 0));
            assert!(held.get() <= MODEL, "{} bytes are held for one neighbor", held.get());
        }
    }
    let seen = site.counters();
    assert_eq!((seen.early, seen.repeated), (u64::from(CHUNKS), 19 * u64::from(CHUNKS)));
    // Chunks and senders outside every policy.
    site.receive(transfer(&held, 5, 3, CHUNKS, 0));
    site.receive(transfer(&held, 5, 3, 0, 9));
    assert_eq!((site.counters().strange, held.get()), (2, MODEL));
    // All kept chunks count in their round.
    site.begin(5, policy(3)).unwrap();
    (0..CHUNKS).for_each(|chunk| site.contribute(ChunkNo(chunk), Counted::new(&held)));
    assert_eq!(site.awaited(), [SiteNo(2)]);
    (0..CHUNKS).for_each(|chunk| site.receive(transfer(&held, 5, 3, chunk, 2)));
    assert!(site.is_complete());
}

#[test]
fn of_two_policies_the_copy_by_the_newer_one_counts() {
    let held = Rc::new(Cell::new(0));
    for (first, second) in [(3, 4), (4, 3)] {
        let mut site: Site<Counted> = Site::new(SiteNo(1), Sending::AtOnce);
        site.begin(4, policy(3)).unwrap();
        site.receive(transfer(&held, 5, first, 0, 0));
        site.receive(transfer(&held, 5, second, 0, 0));
        assert_eq!((site.counters().early, site.counters().other_policy, held.get()), (1, 1, CHUNK));
        site.begin(5, policy(4)).unwrap();
        site.contribute(ChunkNo(0), Counted::new(&held));
        site.receive(transfer(&held, 5, 4, 0, 2));
        assert!(site.next_output().is_some(), "chunk 0 is complete");
        drop(site);
        assert_eq!(held.get(), 0);
    }
}

#[test]
fn the_sites_that_a_round_waits_for_are_named() {
    let held = Rc::new(Cell::new(0));
    let mut root: Site<Counted> = Site::new(SiteNo(1), Sending::AtOnce);
    assert!(root.awaited().is_empty());
    root.begin(1, policy(3)).unwrap();
    assert_eq!(root.awaited(), [0, 1, 2].map(SiteNo));
    (0..CHUNKS).for_each(|chunk| root.contribute(ChunkNo(chunk), Counted::new(&held)));
    (0..CHUNKS).for_each(|chunk| root.receive(transfer(&held, 1, 3, chunk, 2)));
    assert_eq!(root.awaited(), [SiteNo(0)]);
    let mut leaf: Site<Counted> = Site::new(SiteNo(0), Sending::AtOnce);
    leaf.begin(1, policy(3)).unwrap();
    assert_eq!(leaf.awaited(), [SiteNo(0)]);
    (0..CHUNKS).for_each(|chunk| leaf.contribute(ChunkNo(chunk), Counted::new(&held)));
    assert_eq!(leaf.awaited(), [SiteNo(1)]);
}

/// A site whose link is busy keeps an answer once, independent of the number of requests.
#[test]
fn a_site_that_asks_again_and_again_is_answered_once() {
    let held = Rc::new(Cell::new(0));
    let mut root: Site<Counted> = Site::new(SiteNo(1), Sending::Auxiliary(AuxiliaryUse::default()));
    root.begin(1, policy(3)).unwrap();
    (0..CHUNKS).for_each(|chunk| root.contribute(ChunkNo(chunk), Counted::new(&held)));
    for from in [0, 2] {
        (0..CHUNKS).for_each(|chunk| root.receive(transfer(&held, 1, 3, chunk, from)));
    }
    assert!(root.is_complete());
    let question = Ask {
        round: 1,
        from: SiteNo(0),
        to: SiteNo(1),
        route: Vec::new(),
        chunks: (0..CHUNKS).map(ChunkNo).collect(),
    };
    (0..100).for_each(|_| root.asked(question.clone()));
    let (mut pulls, mut answers) = (0, 0);
    while let Some(output) = root.next_output() {
        if let Output::Send { next, transfer } = output {
            let count = if transfer.direction == Direction::Answer { &mut answers } else { &mut pulls };
            *count += 1;
            root.sent(next);
        }
    }
    assert_eq!((pulls, answers), (2 * CHUNKS, CHUNKS));
}

/// A scheduler that offers plan after plan during a round: messages stay short.
#[test]
fn a_chunk_names_the_newest_versions_up_to_a_number() {
    let held = Rc::new(Cell::new(0));
    let mut leaf: Site<Counted> = Site::new(SiteNo(0), Sending::AtOnce);
    leaf.begin(1, policy(3)).unwrap();
    (0..CHUNKS).for_each(|chunk| leaf.contribute(ChunkNo(chunk), Counted::new(&held)));
    let question = Ask {
        round: 1,
        from: SiteNo(1),
        to: SiteNo(0),
        route: Vec::new(),
        chunks: vec![ChunkNo(CHUNKS - 1)],
    };
    let (mut named, mut version) = (Vec::new(), 3);
    for _ in 0..8 {
        for _ in 0..16 {
            version += 1;
            leaf.offer(policy(version)).unwrap();
        }
        leaf.asked(question.clone());
        while let Some(output) = leaf.next_output() {
            if let Output::Send { transfer, .. } = output {
                assert!(transfer.policies.len() <= MOST_NAMED, "{} versions", transfer.policies.len());
                named = transfer.policies;
            }
        }
    }
    assert_eq!(named, (version - 63..=version).collect::<Vec<_>>());
}
