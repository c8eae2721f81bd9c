#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

/// Creates the map of a switch whose tables hold `live`.
fn holding(slots: u32, live: &[SlotRange]) -> SlotMap {
    let mut map = SlotMap::new(slots);
    live.iter().for_each(|range| map.reserve(*range));
    map
}

#[test]
fn fills_to_the_last_slot_and_no_further() {
    let mut map = SlotMap::new(256);
    let taken: Vec<_> = std::iter::from_fn(|| map.allocate(64)).collect();
    assert_eq!(taken.iter().map(|r| r.base).collect::<Vec<_>>(), [0, 64, 128, 192]);
    assert_eq!(map.available(), 0);
    assert_eq!(map.allocate(1), None);
    assert_eq!(holding(256, &taken), map);
}

#[test]
fn a_fragmented_map_refuses_what_only_fits_in_pieces() {
    let mut map = SlotMap::new(128);
    let ranges: Vec<_> = (0..8).map(|_| map.allocate(16).unwrap()).collect();
    let mut odd: Vec<_> = ranges.into_iter().skip(1).step_by(2).collect();
    let mut map = holding(128, &odd);
    assert_eq!((map.available(), map.allocate(32)), (64, None));
    odd.remove(0);
    assert_eq!(holding(128, &odd).allocate(32), Some(SlotRange { base: 0, len: 32 }));
}

#[test]
fn reserving_twice_or_beyond_the_end_changes_nothing_more() {
    let mut map = SlotMap::new(100);
    map.reserve(SlotRange { base: 40, len: 20 });
    map.reserve(SlotRange { base: 50, len: 20 });
    map.reserve(SlotRange { base: 90, len: u32::MAX });
    assert_eq!(map.available(), 40 + 20);
    assert_eq!(SlotMap::new(0).allocate(1), None);
    assert_eq!(SlotMap::new(8).allocate(0), None);
}

#[derive(Debug, Clone)]
enum Op {
    Allocate(u32),
    Release(prop::sample::Index),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0u32..7).prop_map(|bits| Op::Allocate(1 << bits)),
        any::<prop::sample::Index>().prop_map(Op::Release),
    ]
}

proptest! {
    /// Fill, free, fragment, refill: no overlap, no leak, and a map independent of the order of
    /// allocations.
    #[test]
    fn ranges_never_overlap_and_never_leak(slots in 0u32..1000, ops in prop::collection::vec(op(), 0..200)) {
        let mut map = SlotMap::new(slots);
        let mut live: Vec<SlotRange> = Vec::new();
        for op in ops {
            match op {
                Op::Allocate(len) => {
                    let before = map.available();
                    match map.allocate(len) {
                        Some(range) => {
                            prop_assert_eq!(range.len, len);
                            prop_assert!(range.base + len <= slots);
                            prop_assert!(live.iter().all(|other| !range.overlaps(other)));
                            live.push(range);
                        }
                        None => prop_assert_eq!(map.available(), before),
                    }
                }
                Op::Release(index) if !live.is_empty() => {
                    live.swap_remove(index.index(live.len()));
                    map = holding(slots, &live);
                }
                Op::Release(_) => {}
            }
            prop_assert_eq!(map.available() + live.iter().map(|r| r.len).sum::<u32>(), slots);
            prop_assert_eq!(&holding(slots, &live), &map);
        }
    }
}
