//! The mark of a tag on Tofino: the CRC-32 of IEEE 802.3 over plan version, job, shard, group and
//! incarnation.

use super::frame::Inart;

/// The polynomial, its lowest bit first.
const POLYNOMIAL: u32 = 0xedb8_8320;

pub fn of(frame: &Inart) -> u32 {
    let mut tag = [frame.plan_version, frame.job, frame.shard].map(u16::to_be_bytes).concat();
    tag.push(frame.group);
    tag.extend(frame.incarnation.to_be_bytes());
    let crc = tag.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 })
    });
    !crc
}

/// Returns the frame in the one incarnation in which its tag has this mark.
pub fn with(frame: &Inart, mark: u32) -> Inart {
    let at = |incarnation| of(&frame.clone().with(|f| f.incarnation = incarnation));
    let zero = at(0);
    // A CRC is linear: each bit of the incarnation turns some of its bits. By elimination, so that each row
    // leads with a bit that no other row has.
    let mut rows: Vec<(u32, u32)> = Vec::new();
    for bit in 0..u32::BITS {
        let row = reduced(&rows, (at(1 << bit) ^ zero, 1 << bit));
        let leading = row.0.ilog2();
        for other in &mut rows {
            if other.0 >> leading & 1 == 1 {
                *other = (other.0 ^ row.0, other.1 ^ row.1);
            }
        }
        rows.push(row);
    }
    let (_, incarnation) = reduced(&rows, (mark ^ zero, 0));
    frame.clone().with(|f| f.incarnation = incarnation)
}

/// Returns the remainder of a row after those rows are eliminated.
fn reduced(rows: &[(u32, u32)], row: (u32, u32)) -> (u32, u32) {
    rows.iter().fold(row, |row, taken| match row.0 >> taken.0.ilog2() & 1 {
        1 => (row.0 ^ taken.0, row.1 ^ taken.1),
        _ => row,
    })
}
