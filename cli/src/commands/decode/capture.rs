//! Ethernet frames out of a capture file: pcap of either byte order and precision, or pcapng.

use std::io::Read;

use anyhow::bail;
use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock};
use pcap_parser::{Linktype, PcapBlockOwned, PcapError, create_reader};

/// A frame of a capture.
pub struct Captured<'a> {
    /// Seconds and nanoseconds; a capture without times has none.
    pub time: Option<(u64, u32)>,
    pub bytes: &'a [u8],
    /// Whether the capture truncated the frame.
    pub is_cut: bool,
}

/// End of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Complete,
    /// The file ends in the middle of a frame.
    Cut,
}

/// The longest block that is read: more than any snap length in use.
const BLOCK_BYTES: usize = 1 << 20;

/// Calls `each` with every frame, in the file's order.
pub fn read_frames(
    file: impl Read + Send,
    mut each: impl FnMut(Captured<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<End> {
    let mut reader = create_reader(BLOCK_BYTES, file).map_err(refusal)?;
    // Nanoseconds per fraction unit of classic pcap; interfaces of pcapng.
    let (mut unit_nanos, mut interfaces) = (1000, Vec::new());
    loop {
        match reader.next() {
            Ok((offset, block)) => {
                match block {
                    PcapBlockOwned::LegacyHeader(header) => {
                        ethernet_only(header.network)?;
                        unit_nanos = if header.is_nanosecond_precision() { 1 } else { 1000 };
                    }
                    PcapBlockOwned::Legacy(packet) => each(Captured {
                        time: Some((packet.ts_sec.into(), packet.ts_usec.saturating_mul(unit_nanos))),
                        bytes: packet.data,
                        is_cut: packet.caplen < packet.origlen,
                    })?,
                    PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
                    PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                        ethernet_only(interface.linktype)?;
                        interfaces.push(units_per_second(&interface));
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                        let units = interfaces.get(packet.if_id as usize).copied().unwrap_or(1_000_000);
                        let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                        let nanos = u128::from(ticks % units) * 1_000_000_000 / u128::from(units);
                        let bytes = packet.data.get(..packet.caplen as usize).unwrap_or(packet.data);
                        let is_cut = packet.caplen < packet.origlen;
                        each(Captured { time: Some((ticks / units, nanos as u32)), bytes, is_cut })?;
                    }
                    PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                        let bytes = packet.data.get(..packet.origlen as usize);
                        let is_cut = bytes.is_none();
                        each(Captured { time: None, bytes: bytes.unwrap_or(packet.data), is_cut })?;
                    }
                    PcapBlockOwned::NG(_) => {}
                }
                reader.consume(offset);
            }
            Err(PcapError::Eof) => return Ok(End::Complete),
            Err(PcapError::UnexpectedEof) => return Ok(End::Cut),
            Err(PcapError::Incomplete(_)) => {
                reader.refill().map_err(|error| error.to_owned_vec()).map_err(refusal)?;
            }
            Err(error) => return Err(refusal(error.to_owned_vec())),
        }
    }
}

/// Units of an interface's timestamps; microseconds if it states none that make sense.
fn units_per_second(interface: &InterfaceDescriptionBlock<'_>) -> u64 {
    interface.ts_resolution().filter(|units| *units > 0).unwrap_or(1_000_000)
}

fn ethernet_only(link: Linktype) -> anyhow::Result<()> {
    if link != Linktype::ETHERNET {
        bail!("a capture of link type {}; INART frames are Ethernet frames (link type 1)", link.0);
    }
    Ok(())
}

fn refusal(error: PcapError<&[u8]>) -> anyhow::Error {
    match error {
        PcapError::HeaderNotRecognized => anyhow::anyhow!("neither a pcap nor a pcapng file"),
        PcapError::Eof | PcapError::Incomplete(_) | PcapError::UnexpectedEof => {
            anyhow::anyhow!("too short for a pcap or pcapng file")
        }
        PcapError::BufferTooSmall => {
            anyhow::anyhow!("a frame longer than {BLOCK_BYTES} bytes: is the file damaged?")
        }
        PcapError::ReadError => anyhow::anyhow!("cannot be read"),
        PcapError::NomError(_, kind) | PcapError::OwnedNomError(_, kind) => {
            anyhow::anyhow!("damaged: the capture's own structure is broken ({kind:?})")
        }
    }
}
