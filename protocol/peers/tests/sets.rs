//! Sets of chunk numbers, and cuts of updates.
#![allow(clippy::unwrap_used)]

use inart_protocol_peers::{Cut, Ranges, round_near};
use std::collections::BTreeSet;

use proptest::prelude::*;

proptest! {
    #[test]
    fn ranges_are_sets(steps in proptest::collection::vec((any::<bool>(), 0u32..40, 0u32..9), 0..60)) {
        let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
        for (inserts, first, count) in steps {
            if inserts {
                let before = set.len();
                set.extend(first..first + count);
                let new = ranges.insert(first..first + count);
                prop_assert_eq!(new as usize, set.len() - before);
            } else {
                prop_assert_eq!(ranges.remove(first), set.remove(&first));
            }
            prop_assert_eq!(ranges.len() as usize, set.len());
            let held: Vec<_> = ranges.iter().flatten().collect();
            prop_assert_eq!(held, set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(ranges.contains(first), set.contains(&first));
            let runs: Vec<_> = ranges.iter().collect();
            prop_assert!(runs.windows(2).all(|two| two[0].end < two[1].start), "{} is not merged", ranges);
        }
    }
}

#[test]
fn rounds_are_distinguished_across_the_wrap_of_16_bits() {
    for (known, seen, is) in
        [(0, 5, 5), (65_535, 0, 65_536), (65_536, 65_535, 65_535), (70_000, 4_400, 69_936)]
    {
        assert_eq!(round_near(known, seen), is, "{known} {seen}");
    }
}

#[test]
fn chunks_cover_an_update_without_overlap() {
    for (values, chunk_values) in [(1, 32), (32, 32), (33, 32), (100, 7)] {
        let cut = Cut::new(values, chunk_values).expect("values");
        let all: Vec<usize> = (0..cut.chunks()).flat_map(|chunk| cut.range(chunk)).collect();
        assert_eq!(all, (0..values).collect::<Vec<_>>());
        assert!(cut.range(cut.chunks()).is_empty() && cut.is_last(cut.chunks() - 1));
    }
    assert_eq!(Cut::new(0, 32), None);
    assert_eq!(Cut::new(32, 0), None);
}
