//! Frames written byte by byte from the layout, so that they also check the programs that share `inart-wire`.

use inart_wire::ValuesPerFrame;

pub const RESEND: u8 = 0x01;
pub const BYPASS: u8 = 0x02;
pub const OVERFLOW: u8 = 0x04;
pub const CONGESTION: u8 = 0x08;
pub const LAST: u8 = 0x10;

/// The exponent of a frame whose values are sizes.
pub const MAXIMA: i8 = -128;

/// EtherTypes of VLAN tags: IEEE 802.1Q, IEEE 802.1ad, and their predecessor.
pub const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// Returns an Ethernet address with this last byte.
pub fn mac(last: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, last]
}

/// An INART frame. Nothing here keeps it from being malformed.
#[derive(Clone, Debug)]
pub struct Inart {
    pub dst: [u8; 6],
    pub version: u8,
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
    pub values: Vec<i32>,
}

/// Returns the value in `lane` of the gradient of `worker`: differs in every lane, both signs, exact in every
/// sum of a few.
pub fn value(worker: u16, lane: usize) -> i32 {
    let size = (i32::from(worker) + 1) * 1_000_003 + lane as i32 * 7_919;
    if (lane + usize::from(worker)).is_multiple_of(3) { -size } else { size }
}

impl Inart {
    /// Returns the gradient of plan version 1, job 1 in run 0x0a0b0c0d that `worker` sends.
    pub fn gradient(n: ValuesPerFrame, shard: u16, worker: u16, sequence: u32) -> Self {
        Self {
            dst: mac(0x55),
            version: 3,
            kind: 1,
            flags: 0,
            plan_version: 1,
            job: 1,
            shard,
            worker,
            sequence,
            contributors: 1 << (worker % 64),
            group: (worker / 64) as u8,
            exponent: -20,
            length: n.get() as u16,
            incarnation: 0x0a0b_0c0d,
            values: (0..n.get()).map(|lane| value(worker, lane)).collect(),
        }
    }

    /// Returns the partial of the frame as the last of `workers`, with values that saturate where required.
    pub fn completing(&self, workers: &[u16]) -> Self {
        let sum = |lane| workers.iter().fold(0i32, |sum, &worker| sum.saturating_add(value(worker, lane)));
        Self {
            kind: 2,
            contributors: workers.iter().fold(0, |bits, worker| bits | 1 << (worker % 64)),
            values: (0..self.values.len()).map(sum).collect(),
            ..self.clone()
        }
    }

    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.dst);
        bytes.extend(mac(0x11));
        bytes.extend(0x88b5u16.to_be_bytes());
        bytes.push(self.version << 4 | self.kind);
        bytes.push(self.flags);
        for field in [self.plan_version, self.job, self.shard, self.worker] {
            bytes.extend(field.to_be_bytes());
        }
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.contributors.to_be_bytes());
        bytes.push(self.group);
        bytes.push(self.exponent as u8);
        bytes.extend(self.length.to_be_bytes());
        bytes.extend(self.incarnation.to_be_bytes());
        for value in &self.values {
            bytes.extend(value.to_be_bytes());
        }
        bytes
    }
}

/// Returns the frame behind VLAN tags of these EtherTypes, the outermost first; VLAN 0, then 7, then 0 again.
pub fn tagged(frame: &[u8], tags: &[u16]) -> Vec<u8> {
    let (addresses, rest) = frame.split_at(12);
    let tag =
        |(place, ether_type): (usize, &u16)| [*ether_type, [0, 7][place % 2]].map(u16::to_be_bytes).concat();
    let tags: Vec<u8> = tags.iter().enumerate().flat_map(tag).collect();
    [addresses, &tags, rest].concat()
}

/// Returns a frame of another EtherType.
pub fn ordinary(dst: [u8; 6]) -> Vec<u8> {
    [&dst[..], &mac(0x11), &0x0800u16.to_be_bytes(), &[0x45; 46]].concat()
}
