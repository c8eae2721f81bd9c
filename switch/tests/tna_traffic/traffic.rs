//! Random frames: valid ones most often, and arbitrary others.

use inart_wire::ValuesPerFrame;
use proptest::prelude::*;

use super::network::{ADDRESSES, RESULTS, senders};

pub const RESEND: u8 = 0x01;
pub const BYPASS: u8 = 0x02;
pub const OVERFLOW: u8 = 0x04;
pub const LAST: u8 = 0x10;
/// Flags overflow and congestion, which a slot keeps.
pub const STICKY: u8 = 0x0c;
pub const GRADIENT: u8 = 1;
pub const PARTIAL: u8 = 2;
const RESULT: u8 = 3;
/// Bytes before the values.
pub const HEADER: usize = 44;
/// Runs of a job: the second has, in plan version 2, the mark that the first has in plan version 1.
const RUN: u32 = 0x0a0b_0c0d;

/// A frame and its ingress port.
#[derive(Clone)]
pub struct Arrival {
    pub port: u16,
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Arrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "port {}: ", self.port)?;
        self.bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The fields of a header.
#[derive(Clone, Debug)]
pub struct Header {
    pub kind: u8,
    pub flags: u8,
    pub plan_version: u16,
    pub job: u16,
    pub shard: u16,
    pub worker: u16,
    pub sequence: u32,
    pub contributors: u64,
    pub group: u8,
    pub exponent: i8,
    pub length: u16,
    pub incarnation: u32,
}

impl Header {
    /// Returns that of an INART frame, if it is one.
    pub fn of(frame: &[u8]) -> Option<Self> {
        let at = |from: usize, bytes: usize| {
            frame[from..from + bytes].iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
        };
        (frame.len() >= HEADER && at(12, 2) == 0x88b5 && frame[14] >> 4 == 3).then(|| Header {
            kind: frame[14] & 15,
            flags: frame[15],
            plan_version: at(16, 2) as u16,
            job: at(18, 2) as u16,
            shard: at(20, 2) as u16,
            worker: at(22, 2) as u16,
            sequence: at(24, 4) as u32,
            contributors: at(28, 8),
            group: frame[36],
            exponent: frame[37] as i8,
            length: at(38, 2) as u16,
            incarnation: at(40, 4) as u32,
        })
    }

    fn bytes(&self, dst: [u8; 6], values: &[i32]) -> Vec<u8> {
        let mut bytes = [&dst[..], &[2, 0, 0, 0, 0, 0x11], &[0x88, 0xb5]].concat();
        bytes.extend([3 << 4 | self.kind, self.flags]);
        for field in [self.plan_version, self.job, self.shard, self.worker] {
            bytes.extend(field.to_be_bytes());
        }
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.contributors.to_be_bytes());
        bytes.extend([self.group, self.exponent as u8]);
        bytes.extend(self.length.to_be_bytes());
        bytes.extend(self.incarnation.to_be_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
        bytes
    }

    /// Returns the mark of its tag: the CRC-32 of IEEE 802.3.
    pub fn mark(&self) -> u32 {
        let mut tag = [self.plan_version, self.job, self.shard].map(u16::to_be_bytes).concat();
        tag.push(self.group);
        tag.extend(self.incarnation.to_be_bytes());
        let crc = tag.iter().fold(u32::MAX, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
        });
        !crc
    }

    /// Returns the header in the plan version's run with that mark: since a CRC is linear, and the
    /// incarnation is last, its bits are found one by one.
    fn with_mark(mut self, mark: u32) -> Self {
        let mut at = |incarnation| {
            self.incarnation = incarnation;
            self.mark()
        };
        let zero = at(0);
        let mut rows: Vec<(u32, u32)> = Vec::new();
        for bit in 0..u32::BITS {
            let row = without(&rows, (at(1 << bit) ^ zero, 1 << bit));
            let leading = row.0.ilog2();
            let has = |other: &&mut (u32, u32)| other.0 >> leading & 1 == 1;
            rows.iter_mut().filter(has).for_each(|other| *other = (other.0 ^ row.0, other.1 ^ row.1));
            rows.push(row);
        }
        self.incarnation = without(&rows, (mark ^ zero, 0)).1;
        self
    }
}

fn without(rows: &[(u32, u32)], row: (u32, u32)) -> (u32, u32) {
    rows.iter().fold(row, |row, taken| match row.0 >> taken.0.ilog2() & 1 {
        1 => (row.0 ^ taken.0, row.1 ^ taken.1),
        _ => row,
    })
}

fn values(n: usize) -> impl Strategy<Value = Vec<i32>> {
    let edge = prop_oneof![Just(i32::MIN), Just(i32::MAX), -1..=1i32];
    prop_oneof![
        6 => prop::collection::vec(-1_000_000..1_000_000i32, n),
        1 => prop::collection::vec(prop_oneof![20 => -9..9i32, 1 => edge], n),
        1 => prop::collection::vec(any::<i32>(), n)
    ]
}

/// Returns a gradient or partial, nearly always of a sender at its own port.
fn summed(n: ValuesPerFrame) -> impl Strategy<Value = Arrival> {
    let flags = prop_oneof![
        10 => Just(0),
        4 => Just(RESEND),
        1 => Just(BYPASS | RESEND),
        1 => Just(LAST),
        1 => Just(OVERFLOW),
        1 => Just(0x08u8),
        1 => Just(0x08u8 | RESEND),
    ];
    let sequence = prop_oneof![12 => 0..6u32, 2 => 6..10u32, 1 => 0xffff_fffcu32..];
    let tag = (prop_oneof![12 => Just(1u16), 2 => Just(2), 1 => Just(3)], 0..20u8);
    let shape = (
        prop_oneof![16 => Just(-20i8), 4 => Just(-128i8), 1 => Just(-19i8)],
        prop_oneof![16 => Just(n.get() as u16), 1 => 1..=n.get() as u16],
    );
    let port = prop_oneof![24 => Just(None), 1 => (1..32u16).prop_map(Some)];
    // Whether a frame from a trunk has all workers behind it.
    let whole = prop_oneof![5 => Just(true), 1 => Just(false)];
    let sender = prop::sample::select(senders());
    (sender, sequence, flags, tag, shape, (port, whole), values(n.get())).prop_map(
        |(sender, sequence, flags, (plan_version, run), (exponent, length), (port, whole), values)| {
            let own = 1 << (sender.worker % 64);
            let contributors = if whole { sender.members } else { own };
            let header = Header {
                kind: if contributors == own { GRADIENT } else { PARTIAL },
                flags,
                plan_version,
                job: sender.job,
                shard: sender.shard,
                worker: sender.worker,
                sequence,
                contributors,
                group: (sender.worker / 64) as u8,
                exponent,
                length,
                incarnation: RUN,
            };
            let header = match run {
                0 => Header { incarnation: RUN + 1, ..header },
                1 | 2 if plan_version != 1 => {
                    let mark = Header { plan_version: 1, ..header.clone() }.mark();
                    header.with_mark(mark)
                }
                _ => header,
            };
            Arrival { port: port.unwrap_or(sender.port), bytes: header.bytes([2, 0, 0, 0, 0, 0x55], &values) }
        },
    )
}

/// Returns a result, a message, or ordinary traffic.
fn switched(n: ValuesPerFrame) -> impl Strategy<Value = Arrival> {
    let kind = prop_oneof![2 => Just(RESULT), 1 => Just(4u8), 1 => Just(5u8), 1 => Just(0u8)];
    let from = prop::sample::select(RESULTS.to_vec());
    let dst = prop::sample::select(ADDRESSES.to_vec());
    let port = prop_oneof![3 => Just(None), 1 => (1..32u16).prop_map(Some)];
    (kind, from, dst, port, 0..4u16, any::<i32>()).prop_map(
        move |(kind, (job, shard, ingress, _), dst, port, worker, value)| {
            let port = port.unwrap_or(ingress);
            if kind == 0 {
                let mut bytes = [&dst[..], &[2, 0, 0, 0, 0, 0x11, 8, 0]].concat();
                bytes.resize(60, value as u8);
                return Arrival { port, bytes };
            }
            let header = Header {
                kind,
                flags: LAST,
                plan_version: 1,
                job,
                shard,
                worker,
                sequence: 3,
                contributors: 0,
                group: 0,
                exponent: 0,
                length: n.get() as u16,
                incarnation: RUN,
            };
            Arrival { port, bytes: header.bytes(dst, &vec![value; n.get()]) }
        },
    )
}

/// Forged part of a frame.
#[derive(Clone, Debug)]
enum Forgery {
    Nothing,
    /// A byte.
    Byte(usize, u8),
    /// Cut or extended end.
    Length(usize),
    /// VLAN tags.
    Tags(Vec<u16>),
}

fn forgery() -> impl Strategy<Value = Forgery> {
    let tags = prop::collection::vec(prop::sample::select(&[0x8100u16, 0x88a8, 0x9100][..]), 1..7);
    prop_oneof![
        30 => Just(Forgery::Nothing),
        // On Tofino another program takes updates, whose kind is 6.
        4 => (0..HEADER, any::<u8>())
            .prop_filter("no update", |(at, byte)| (*at, byte & 15) != (14, 6))
            .prop_map(|(at, byte)| Forgery::Byte(at, byte)),
        2 => (0..400usize).prop_map(Forgery::Length),
        1 => tags.prop_map(Forgery::Tags),
    ]
}

/// Returns any frame.
pub fn arrival(n: ValuesPerFrame) -> impl Strategy<Value = Arrival> {
    let frame = prop_oneof![8 => summed(n).boxed(), 1 => switched(n).boxed()];
    (frame, forgery()).prop_map(|(mut arrival, forgery)| {
        match forgery {
            Forgery::Nothing => {}
            Forgery::Byte(at, byte) => arrival.bytes[at] = byte,
            Forgery::Length(length) => arrival.bytes.resize(length.max(14), 0),
            Forgery::Tags(tags) => {
                let tags: Vec<u8> =
                    tags.iter().flat_map(|tag| [*tag, 7].map(u16::to_be_bytes).concat()).collect();
                arrival.bytes.splice(12..12, tags);
            }
        }
        arrival
    })
}
