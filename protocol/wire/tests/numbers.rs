//! Newtypes: ranges, strings, serial numbers, bitmaps.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use core::fmt::{Debug, Display};
use core::str::FromStr;

use inart_wire::*;
use proptest::prelude::*;

fn reads_back<T: Display + FromStr<Err: Debug> + PartialEq + Debug>(value: T) {
    assert_eq!(value.to_string().parse::<T>().unwrap(), value);
}

proptest! {
    #[test]
    fn strings_read_back(
        number in any::<u16>(),
        rank in 0..=16383u16,
        byte in any::<i8>(),
        word in any::<u32>(),
        mac in any::<[u8; 6]>(),
    ) {
        reads_back(PlanVersion::from(number));
        reads_back(JobId::from(number));
        reads_back(ShardId::from(number));
        reads_back(Rank::try_from(rank).unwrap());
        reads_back(Rank::try_from(rank).unwrap().bitmap_index());
        reads_back(Exponent::from(byte));
        reads_back(ChunkSeq::from(word));
        reads_back(MacAddr(mac));
        ValuesPerFrame::ALL.into_iter().for_each(reads_back);
    }

    #[test]
    fn serial_numbers_compare_across_the_wrap(start in any::<u32>(), steps in 1..0x8000_0000u32) {
        let (old, new) = (ChunkSeq::from(start), ChunkSeq::from(start).advance(steps));
        prop_assert!(new > old);
        prop_assert!(old < new);
        prop_assert_eq!(new.since(old), steps);
        prop_assert_eq!(old.partial_cmp(&old.advance(0x8000_0000)), None);
    }

    #[test]
    fn bitmaps_are_sets_of_ranks(
        ranks in proptest::collection::btree_set(0..64u16, 1..20),
        group in 0..=255u8,
    ) {
        let first = u16::from(group) * 64;
        let index = |rank| BitmapIndex::try_from(first + rank).unwrap();
        let workers: Vec<BitmapIndex> = ranks.iter().map(index).collect();
        let bitmap = workers.iter().fold(0, |bitmap, worker| bitmap | Contributors::one(*worker).bitmap);
        let set = Contributors { bitmap, group: Group(group) };
        prop_assert_eq!(set.bitmap_indices().collect::<Vec<_>>(), workers.clone());
        prop_assert_eq!(set.count() as usize, workers.len());
        prop_assert!(workers.iter().all(|worker| set.contains(*worker)));
        let other = Contributors { bitmap, group: Group(group ^ 1) };
        prop_assert!(!set.is_subset(other));
    }
}

#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    assert_eq!(
        Rank::try_from(16384u16).unwrap_err().to_string(),
        "worker rank 16384: expected a whole number from 0 to 16383"
    );
    assert_eq!(
        BitmapIndex::try_from(16384u16).unwrap_err().to_string(),
        "bitmap index 16384: expected a whole number from 0 to 16383"
    );
    assert_eq!(
        JobId::try_from(-1i64).unwrap_err().to_string(),
        "job -1: expected a whole number from 0 to 65535"
    );
    assert_eq!(ShardId::try_from(65536usize).unwrap_err().expected, "a whole number from 0 to 65535");
    assert_eq!(
        Exponent::try_from(128i64).unwrap_err().to_string(),
        "exponent 128: expected a whole number from -128 to 127"
    );
    assert_eq!(
        ValuesPerFrame::try_from(128i64).unwrap_err().to_string(),
        "values per frame 128: expected 32, 64, 256, 1024 or 2048"
    );
    assert_eq!(Exponent::saturating(1000), Exponent::MAX);
    assert_eq!(Exponent::saturating(-1000), Exponent::MIN);
    assert_eq!((Exponent::MIN.get(), Exponent::MAX.get()), (-126, 126));
    let unscaled = [Exponent::MAXIMA, Exponent::FLOATS, Exponent::DIGITS];
    assert_eq!(unscaled.map(Exponent::get), [-128, -127, 127]);
}

#[test]
fn frames_fit_the_mtu_that_they_ask_for() {
    // The MTU excludes 14 bytes of Ethernet header, and includes 30 of INART's, and 4 per value.
    let expected =
        [(32, 172, 158), (64, 300, 286), (256, 1068, 1054), (1024, 4140, 4126), (2048, 8236, 8222)];
    let seen = ValuesPerFrame::ALL.map(|n| (n.get(), n.frame_bytes(), n.mtu()));
    assert_eq!(seen, expected);
    for n in ValuesPerFrame::ALL {
        assert_eq!(ValuesPerFrame::of_frame(n.frame_bytes()), Some(n));
        assert!(n.frame_bytes() <= ValuesPerFrame::LONGEST_FRAME_BYTES);
    }
}

#[test]
fn strings_that_are_no_numbers_are_refused() {
    for text in ["", "x", "70000", "-1", "1 ", "0x1"] {
        assert!(text.parse::<PlanVersion>().is_err(), "{text:?}");
    }
    for text in [
        "",
        "02:00:00:00:00",
        "02:00:00:00:00:01:02",
        "2:0:0:0:0:1",
        "02-00-00-00-00-01",
        "+2:00:00:00:00:01",
    ] {
        assert!(text.parse::<MacAddr>().is_err(), "{text:?}");
    }
    assert_eq!(
        "33".parse::<ValuesPerFrame>().unwrap_err().to_string(),
        "not a number of values per frame: expected 32, 64, 256, 1024 or 2048"
    );
}

#[test]
fn groups_end_with_the_job() {
    assert_eq!(Contributors::all_of(Group(0), 6).bitmap, 0b11_1111);
    assert_eq!(Contributors::all_of(Group(0), 64).bitmap, u64::MAX);
    assert_eq!(Contributors::all_of(Group(1), 64).bitmap, 0);
    assert_eq!(Contributors::all_of(Group(1), 70).bitmap, 0b11_1111);
    assert_eq!(Contributors::default().to_string(), "{}");
}

#[test]
fn unknown_codes_survive() {
    for code in 0..16 {
        assert_eq!(Kind::from_code(code).code(), code);
    }
    assert_eq!(Kind::from_code(9).to_string(), "kind-9");
    assert_eq!(Flags::NONE.to_string(), "-");
    assert_eq!(Flags(0xc4).to_string(), "overflow|0xc0");
}

#[test]
fn addresses() {
    let results = MacAddr::results_of(0x0102.into());
    assert_eq!(results.to_string(), "03:49:4e:41:01:02");
    assert!(results.is_multicast());
    assert!(!MacAddr([2, 0, 0, 0, 0, 1]).is_multicast());
}
