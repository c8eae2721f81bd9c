//! Performs the offloads of a sender's network device: checksums, and the segmentation of long TCP and UDP
//! frames. Between two ends of a cable within one machine there is no device that does so.

/// `struct virtio_net_hdr` of linux/virtio_net.h, which the kernel puts before a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Header {
    needs_checksum: bool,
    kind: u8,
    /// Bytes of payload in each segment.
    segment_bytes: usize,
    /// Start of the checksummed part, and place of the checksum in it.
    start: usize,
    offset: usize,
}

/// Bytes of that header.
pub(crate) const HEADER_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const TCP_4: u8 = 1;
const TCP_6: u8 = 4;
const UDP: u8 = 5;
/// Flag next to the kind: explicit congestion notification.
const ECN: u8 = 0x80;

const VLAN_TYPES: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const ADDRESSES: usize = 12;

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Adds up words in one's complement.
fn sum(bytes: &[u8]) -> u64 {
    let pairs = bytes.chunks_exact(2);
    let last = pairs.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    pairs.map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]]))).sum::<u64>() + last
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

impl Header {
    /// Reads a header; `None` if the sender left nothing to its device.
    #[inline]
    pub fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (needs_checksum, kind) = (bytes[0] & NEEDS_CHECKSUM != 0, bytes[1] & !ECN);
        if !needs_checksum && kind == 0 {
            return None;
        }
        let native = |at: usize| usize::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]));
        Some(Self { needs_checksum, kind, segment_bytes: native(4), start: native(6), offset: native(8) })
    }

    /// Fills in the checksum that the sender left out. The field holds the sum of the pseudo header.
    pub fn fill_checksum(&self, frame: &mut [u8]) {
        let at = self.start + self.offset;
        if !self.needs_checksum || at + 2 > frame.len() {
            return;
        }
        let checksum = fold(sum(&frame[self.start..]));
        put(frame, at, if checksum == 0 { 0xffff } else { checksum });
    }

    /// Cuts a frame as a device would; false if it has to stay whole. `each` gets each part, with `tag` after
    /// the addresses.
    pub fn segment(&self, frame: &[u8], tag: Option<[u8; 4]>, each: &mut impl FnMut(&[u8])) -> bool {
        match Long::parse(self, frame) {
            Some(long) => {
                long.cut(frame, tag, each);
                true
            }
            None => false,
        }
    }
}

/// A frame to segment, with the starts of its parts.
struct Long {
    network: usize,
    is_v6: bool,
    transport: usize,
    payload: usize,
    is_tcp: bool,
    segment_bytes: usize,
}

impl Long {
    fn parse(header: &Header, frame: &[u8]) -> Option<Self> {
        let is_tcp = matches!(header.kind, TCP_4 | TCP_6);
        if !(is_tcp || header.kind == UDP) || header.segment_bytes == 0 {
            return None;
        }
        let mut kind = ADDRESSES;
        while VLAN_TYPES.contains(&word(frame, kind)?) {
            kind += 4;
        }
        let network = kind + 2;
        let is_v6 = frame.get(network)? >> 4 == 6;
        let behind = if is_v6 { 40 } else { usize::from(frame[network] & 0xf) * 4 };
        let transport = if header.start == 0 { network + behind } else { header.start };
        let bytes = if is_tcp { usize::from(frame.get(transport + 12)? >> 4) * 4 } else { 8 };
        let payload = transport + bytes;
        let fits = behind >= 20 && transport >= network + behind && bytes >= 8 && payload < frame.len();
        fits.then_some(Self {
            network,
            is_v6,
            transport,
            payload,
            is_tcp,
            segment_bytes: header.segment_bytes,
        })
    }

    fn cut(&self, frame: &[u8], tag: Option<[u8; 4]>, each: &mut impl FnMut(&[u8])) {
        let mut made = Vec::with_capacity(self.payload + self.segment_bytes + 4);
        let tag = tag.as_ref().map_or(&[][..], |tag| &tag[..]);
        let count = (frame.len() - self.payload).div_ceil(self.segment_bytes);
        for (n, part) in frame[self.payload..].chunks(self.segment_bytes).enumerate() {
            made.clear();
            made.extend_from_slice(&frame[..self.payload]);
            made.extend_from_slice(part);
            self.number(&mut made, n, n + 1 == count);
            self.check(&mut made);
            // The tag moves all that was counted from the front.
            made.splice(ADDRESSES..ADDRESSES, tag.iter().copied());
            each(&made);
        }
    }

    /// Lengths, sequence and flags of a segment.
    fn number(&self, made: &mut [u8], n: usize, is_last: bool) {
        let (network, transport) = (self.network, self.transport);
        let bytes = made.len() - network;
        if self.is_v6 {
            put(made, network + 4, (bytes - 40) as u16);
        } else {
            put(made, network + 2, bytes as u16);
            let number = word(made, network + 4).unwrap_or(0);
            put(made, network + 4, number.wrapping_add(n as u16));
        }
        if !self.is_tcp {
            return put(made, transport + 4, (made.len() - transport) as u16);
        }
        let sequence = &mut made[transport + 4..transport + 8];
        let first = u32::from_be_bytes([sequence[0], sequence[1], sequence[2], sequence[3]]);
        let here = first.wrapping_add((n * self.segment_bytes) as u32);
        sequence.copy_from_slice(&here.to_be_bytes());
        let (fin, psh, cwr) = (0x01, 0x08, 0x80);
        let flags = &mut made[transport + 13];
        if !is_last {
            *flags &= !(fin | psh);
        }
        if n > 0 {
            *flags &= !cwr;
        }
    }

    /// The checksums of a segment.
    fn check(&self, made: &mut [u8]) {
        let (network, transport) = (self.network, self.transport);
        let addresses = if self.is_v6 { network + 8..network + 40 } else { network + 12..network + 20 };
        if !self.is_v6 {
            put(made, network + 10, 0);
            let header = fold(sum(&made[network..network + usize::from(made[network] & 0xf) * 4]));
            put(made, network + 10, header);
        }
        let at = transport + if self.is_tcp { 16 } else { 6 };
        put(made, at, 0);
        let protocol: u64 = if self.is_tcp { 6 } else { 17 };
        let pseudo = sum(&made[addresses]) + protocol + (made.len() - transport) as u64;
        let checksum = fold(pseudo + sum(&made[transport..]));
        put(made, at, if checksum == 0 { 0xffff } else { checksum });
    }
}
