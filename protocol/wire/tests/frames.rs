//! Frames as bytes: round trips, dirty buffers, byte vectors, and invalid frames.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use inart_wire::*;
use proptest::prelude::*;

fn header() -> impl Strategy<Value = HeaderRepr> {
    let ids = (any::<u16>(), any::<u16>(), any::<u16>(), 0..=BitmapIndex::MAX.get());
    let numbers = (any::<u32>(), any::<i8>(), 0..=32u16, any::<u64>(), any::<u32>());
    (0..16u8, any::<u8>(), ids, numbers).prop_map(|(kind, flags, ids, numbers)| {
        let (plan_version, job, shard, rank) = ids;
        let (sequence, exponent, length, bitmap, incarnation) = numbers;
        let worker = BitmapIndex::try_from(rank).unwrap();
        let one = Contributors::one(worker);
        let kind = Kind::from_code(kind);
        let bitmap = if kind == Kind::Gradient { one.bitmap } else { bitmap | one.bitmap };
        HeaderRepr {
            kind,
            flags: Flags(flags),
            plan_version: plan_version.into(),
            job: job.into(),
            shard: shard.into(),
            worker,
            sequence: sequence.into(),
            contributors: Contributors { bitmap, ..one },
            exponent: exponent.into(),
            length,
            incarnation: incarnation.into(),
        }
    })
}

fn frame() -> impl Strategy<Value = (FrameRepr, Vec<i32>)> {
    let values = proptest::collection::vec(any::<i32>(), 32);
    (header(), any::<[u8; 6]>(), any::<[u8; 6]>(), 0..ValuesPerFrame::ALL.len(), values).prop_map(
        |(header, destination, source, size, mut values)| {
            values.truncate(header.length.into());
            let values_per_frame = ValuesPerFrame::ALL[size];
            let (destination, source) = (MacAddr(destination), MacAddr(source));
            (FrameRepr { destination, source, values_per_frame, header }, values)
        },
    )
}

proptest! {
    #[test]
    fn written_assignments_are_read((repr, values) in frame()) {
        let mut clean = vec![0; repr.buffer_len() + 7];
        let mut dirty = vec![0xa5; repr.buffer_len() + 7];
        let length = repr.emit(&values, &mut clean).unwrap();
        prop_assert_eq!(repr.emit(&values, &mut dirty), Ok(length));
        prop_assert_eq!(&clean[..length], &dirty[..length], "every byte is written");
        prop_assert_eq!(&dirty[length..], &[0xa5; 7], "bytes after the frame are unchanged");

        let frame = Frame::new_checked(&dirty[..length]).unwrap();
        prop_assert_eq!(FrameRepr::parse(&frame), Ok(repr));
        let mut padded = values.clone();
        padded.resize(repr.values_per_frame.get(), 0);
        prop_assert_eq!(frame.values().collect::<Vec<_>>(), &padded[..]);
        let middle = 5..padded.len() - 5;
        prop_assert_eq!(frame.values_at(middle.clone()).collect::<Vec<_>>(), &padded[middle]);
        prop_assert!(!repr.to_string().contains('\n'));
    }

    /// Any bound, values at it and next to it, and sums short of the frame's end.
    #[test]
    fn values_are_added_if_all_are_within_the_bound(
        (repr, mut values) in frame(),
        most in prop_oneof![Just(0), Just(i32::MAX), Just(i32::MAX - 1), 0..=i32::MAX],
        at_bound in proptest::collection::vec((any::<prop::sample::Index>(), -1..=1i32, any::<bool>()), 0..3),
        shrink in 0..32u32,
        begin in any::<i32>(),
        short in 0..3usize,
    ) {
        values.iter_mut().for_each(|value| *value >>= shrink);
        for (index, above, is_negative) in at_bound {
            if !values.is_empty() {
                let size = most.saturating_add(above);
                *index.get_mut(&mut values) = if is_negative { -size } else { size };
            }
        }
        let mut bytes = vec![0xa5; repr.buffer_len()];
        repr.emit(&values, &mut bytes).unwrap();
        let frame = Frame::new_checked(&bytes[..]).unwrap();
        values.resize(repr.values_per_frame.get() - short, 0);
        let before: Vec<i32> = (0..values.len() as i32).map(|place| begin.wrapping_mul(place | 1)).collect();
        let fit = values.iter().all(|value| i64::from(*value).abs() <= i64::from(most));
        let mut sums = before.clone();
        prop_assert_eq!(frame.add_values_to(&mut sums, most), fit);
        for ((sum, before), value) in sums.into_iter().zip(before).zip(values) {
            let exact = i64::from(before) + if fit { i64::from(value) } else { 0 };
            prop_assert_eq!(sum, exact as i32);
        }
    }

    /// Always-run counterpart of tests/fuzz/fuzz_targets/frame.rs: damaged frames parse to the content of
    /// their bytes, or fail.
    #[test]
    fn no_bytes_make_a_panic(
        (repr, values) in frame(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = vec![0xa5; repr.buffer_len()];
        repr.emit(&values, &mut bytes).unwrap();
        for (index, byte) in damage {
            let index = index.index(ETHERNET_BYTES + HEADER_BYTES);
            bytes[index] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let Ok(frame) = Frame::new_checked(&bytes[..]) else { return Ok(()) };
        let _ = ControlMessage::parse(&frame).map(|(message, _)| message.to_string());
        let Ok(read) = FrameRepr::parse(&frame) else { return Ok(()) };
        let mut again = vec![0; read.buffer_len()];
        let values: Vec<_> = frame.values().take(read.header.length.into()).collect();
        read.emit(&values, &mut again).unwrap();
        prop_assert_eq!(&again[..ETHERNET_BYTES + HEADER_BYTES], &bytes[..ETHERNET_BYTES + HEADER_BYTES]);
    }
}

fn vector() -> FrameRepr {
    FrameRepr {
        destination: MacAddr([0x02, 0, 0, 0, 0, 0x51]),
        source: MacAddr([0x02, 0, 0, 0, 0, 0x01]),
        values_per_frame: ValuesPerFrame::N32,
        header: HeaderRepr {
            kind: Kind::Partial,
            flags: Flags::RESEND | Flags::LAST | Flags(0x80),
            plan_version: 0x0102.into(),
            job: 0x0304.into(),
            shard: 0x0506.into(),
            worker: BitmapIndex::try_from(66u16).unwrap(),
            sequence: 0x0708_090a.into(),
            contributors: Contributors { bitmap: 0x8000_0000_0000_002f, group: Group(1) },
            exponent: (-20).into(),
            length: 3,
            incarnation: 0x0b0c_0d0e.into(),
        },
    }
}

#[rustfmt::skip]
const VECTOR: [u8; 60] = [
    0x02, 0, 0, 0, 0, 0x51, 0x02, 0, 0, 0, 0, 0x01, 0x88, 0xb5, // Ethernet
    0x32, 0x91, // version 3, kind 2; resend, last, one unknown
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, // plan version, job, shard
    0x00, 0x42, 0x07, 0x08, 0x09, 0x0a, // worker, sequence
    0x80, 0, 0, 0, 0, 0, 0, 0x2f, 0x01, // contributors, group
    0xec, 0x00, 0x03, 0x0b, 0x0c, 0x0d, 0x0e, // exponent, length, incarnation
    0x00, 0x00, 0x00, 0x01, 0xff, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, // 1, -1, the least
    0, 0, 0, 0, // padding
];

#[test]
fn a_frame_byte_by_byte() {
    let mut bytes = [0xa5; 172];
    assert_eq!(vector().emit(&[1, -1, i32::MIN], &mut bytes), Ok(172));
    assert_eq!(bytes[..60], VECTOR);
    assert!(bytes[60..].iter().all(|byte| *byte == 0));
    assert_eq!(
        vector().to_string(),
        "02:00:00:00:00:01 > 02:00:00:00:00:51 partial plan version 258 job 772 shard 1286 worker 66 sequence 117967114 \
         contributors {64-67,69,127} exponent -20 length 3 flags resend|last|0x80 run 0b0c0d0e"
    );
}

#[test]
fn errors_name_the_field_and_what_was_seen() {
    let mut right = [0; 172];
    vector().emit(&[1, -1, i32::MIN], &mut right).unwrap();
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = right.to_vec();
        change(&mut bytes);
        let parsed = Frame::new_checked(&bytes[..]).and_then(|frame| FrameRepr::parse(&frame));
        parsed.unwrap_err().to_string()
    };
    assert_eq!(error(&|bytes| bytes.truncate(43)), "frame: 43 bytes, the headers alone take 44");
    assert_eq!(
        error(&|bytes| bytes.truncate(171)),
        "frame: 171 bytes, INART frames have 172, 300, 1068, 4140 or 8236"
    );
    assert_eq!(error(&|bytes| bytes[13] = 0xb6), "EtherType: 0x88b6, INART has 0x88b5");
    assert_eq!(error(&|bytes| bytes[14] = 0x12), "version: 1, this program supports 3");
    assert_eq!(error(&|bytes| bytes[22] = 0x40), "worker: bitmap index 16450, the highest is 16383");
    assert_eq!(error(&|bytes| bytes[39] = 33), "length: 33 values, the frame has room for 32");
    assert_eq!(error(&|bytes| bytes[35] = 0x02), "contributors: {65,127}, which does not fit worker 66");
    assert_eq!(
        error(&|bytes| bytes[14] = 0x31),
        "contributors: {64-67,69,127}, which does not fit worker 66"
    );
    // An update without receivers.
    assert_eq!(
        error(&|bytes| {
            bytes[14] = 0x36;
            bytes[28..36].fill(0);
        }),
        "contributors: {}, which does not fit worker 66"
    );
}

#[test]
fn the_receivers_of_an_update_may_be_anybody() {
    let mut repr = vector();
    repr.header.kind = Kind::Update;
    repr.header.contributors = Contributors { bitmap: 0x5, group: Group(3) };
    let mut bytes = [0; 172];
    repr.emit(&[1, -1, i32::MIN], &mut bytes).unwrap();
    assert_eq!(FrameRepr::parse(&Frame::new_checked(&bytes[..]).unwrap()), Ok(repr));
    assert_eq!(bytes[14], 0x36);
    assert!(repr.to_string().contains(" update plan version 258 "), "{repr}");
    assert!(repr.to_string().contains(" receivers {192,194} "), "{repr}");
}

#[test]
fn invalid_headers_are_not_written() {
    let mut repr = vector();
    assert_eq!(repr.emit(&[1, 2], &mut [0; 172]), Err(WireError::ValueCount { seen: 2, length: 3 }));
    assert_eq!(repr.emit(&[1, 2, 3], &mut [0; 171]), Err(WireError::Buffer { seen: 171, needed: 172 }));
    repr.header.length = 33;
    assert_eq!(repr.emit(&[0; 33], &mut [0; 172]), Err(WireError::Length { seen: 33, values: 32 }));
}

#[test]
fn control_messages_round_trip() {
    let culprit = Rank::try_from(9u16).unwrap();
    use AbortReason::*;
    for message in [
        NotFinite,
        Silent,
        Stopped,
        Mismatch { seen: 64, expected: 96 },
        ServerLost(0x1234.into()),
        ServerRestarted(7.into()),
        OtherNumbers,
        OtherTensors { first: 7, last: u32::MAX },
        WorkerRestarted,
        Elsewhere(ShortText::new("site n1: worker w3 was stopped")),
        Elsewhere(ShortText::new(&"ä".repeat(40))),
        Unknown(77),
    ]
    .map(|reason| ControlMessage::Abort { reason, culprit })
    .into_iter()
    .chain([
        ControlMessage::RequestBypass,
        ControlMessage::KeepAlive { oldest: 5.into(), tensor_len: None, transcript: Transcript::default() },
        ControlMessage::KeepAlive {
            oldest: 5.into(),
            tensor_len: Some(0),
            transcript: Transcript { started: u32::MAX, marks: std::array::from_fn(|mark| 77 + mark as u32) },
        },
        ControlMessage::KeepAliveAnswer { bound: true, awaited: None },
        ControlMessage::KeepAliveAnswer { bound: false, awaited: None },
        ControlMessage::KeepAliveAnswer {
            bound: true,
            awaited: Some(Awaited { first: culprit, count: 1, has_joined: false }),
        },
        ControlMessage::KeepAliveAnswer {
            bound: false,
            awaited: Some(Awaited { first: culprit, count: u16::MAX, has_joined: true }),
        },
        ControlMessage::Unknown(9),
    ]) {
        let mut repr = vector();
        repr.header.kind = Kind::Control;
        let host = Incarnation::from(0xfedc_ba98);
        let words = message.words(host);
        repr.header.length = words.len() as u16;
        let mut bytes = [0xa5; 172];
        repr.emit(&words, &mut bytes).unwrap();
        assert_eq!(ControlMessage::parse(&Frame::new_checked(&bytes[..]).unwrap()), Ok((message, host)));
    }
    let mut bytes = [0; 172];
    let mut repr = vector();
    repr.header.length = 6;
    repr.emit(&[3, 1, 99_999, 0, 0, 0], &mut bytes).unwrap();
    let parse = |bytes: &[u8]| ControlMessage::parse(&Frame::new_checked(bytes).unwrap());
    assert_eq!(parse(&bytes), Err(WireError::Worker { seen: u16::MAX }));
    bytes[39] = 5;
    assert_eq!(parse(&bytes), Err(WireError::Message { seen: 5 }));
}
