//! Offsets of the fields of a frame, defined only here.

use core::ops::Range;

/// EtherType of INART frames: IEEE 802 local experimental 1.
pub const ETHER_TYPE: u16 = 0x88b5;
/// Supported version of the header.
pub const VERSION: u8 = 3;
/// Length of the Ethernet II header in bytes.
pub const ETHERNET_BYTES: usize = 14;
/// Length of the INART header in bytes.
pub const HEADER_BYTES: usize = 30;

pub(crate) const DESTINATION: Range<usize> = 0..6;
pub(crate) const SOURCE: Range<usize> = 6..12;
pub(crate) const TYPE: Range<usize> = 12..14;
pub(crate) const VERSION_KIND: usize = 14;
pub(crate) const FLAGS: usize = 15;
pub(crate) const PLAN_VERSION: Range<usize> = 16..18;
pub(crate) const JOB: Range<usize> = 18..20;
pub(crate) const SHARD: Range<usize> = 20..22;
pub(crate) const WORKER: Range<usize> = 22..24;
pub(crate) const SEQUENCE: Range<usize> = 24..28;
pub(crate) const CONTRIBUTORS: Range<usize> = 28..36;
pub(crate) const GROUP: usize = 36;
pub(crate) const EXPONENT: usize = 37;
pub(crate) const LENGTH: Range<usize> = 38..40;
pub(crate) const INCARNATION: Range<usize> = 40..44;
pub(crate) const VALUES: usize = ETHERNET_BYTES + HEADER_BYTES;
