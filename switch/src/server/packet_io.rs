//! Packets between the controller and the data plane: the fields of the `@controller_header` headers, packed
//! in front of the frame.

use inart_p4runtime::p4::config::v1::ControllerPacketMetadata;
use inart_p4runtime::p4::v1::{PacketIn, PacketMetadata, PacketOut};
use inart_p4runtime::{Schema, Value};
use tonic::Status;

use super::check::{bits, invalid, known};

fn width(field_bits: i32) -> usize {
    field_bits.max(0) as usize
}

fn header_bytes(header: &ControllerPacketMetadata) -> usize {
    header.metadata.iter().map(|field| width(field.bitwidth)).sum::<usize>().div_ceil(8)
}

/// Returns the frame to inject at the CPU port for a packet out.
pub(super) fn frame(schema: &Schema, packet: &PacketOut) -> Result<Vec<u8>, Status> {
    let Ok(header) = schema.controller_header("packet_out") else {
        return match packet.metadata.is_empty() {
            true => Ok(packet.payload.clone()),
            false => Err(invalid("the program has no packet_out header, so packets out have no metadata")),
        };
    };
    for item in &packet.metadata {
        known(header.field_by_id(item.metadata_id))?;
    }
    let mut frame = vec![0; header_bytes(header)];
    let mut at = 0;
    for field in &header.metadata {
        let place = || format!("packet_out, field {}", field.name);
        let mut items = packet.metadata.iter().filter(|item| item.metadata_id == field.id);
        let (Some(item), None) = (items.next(), items.next()) else {
            return Err(invalid(format!("{} must be given once", place())));
        };
        let value = bits(&item.value, field.bitwidth, place)?;
        put(&mut frame, at, width(field.bitwidth), &value);
        at += width(field.bitwidth);
    }
    frame.extend_from_slice(&packet.payload);
    Ok(frame)
}

/// Returns the packet in for a frame that left by the CPU port; `None` when it is shorter than the header.
pub(super) fn packet_in(schema: &Schema, frame: &[u8]) -> Option<PacketIn> {
    let Ok(header) = schema.controller_header("packet_in") else {
        return Some(PacketIn { payload: frame.to_vec(), metadata: Vec::new() });
    };
    let (front, payload) = frame.split_at_checked(header_bytes(header))?;
    let mut at = 0;
    let mut metadata = Vec::with_capacity(header.metadata.len());
    for field in &header.metadata {
        let value = get(front, at, width(field.bitwidth)).as_bytes().to_vec();
        metadata.push(PacketMetadata { metadata_id: field.id, value });
        at += width(field.bitwidth);
    }
    Some(PacketIn { payload: payload.to_vec(), metadata })
}

/// Writes the `width` lowest bits of a value from bit `at` on; the bits are still zero.
fn put(bytes: &mut [u8], at: usize, width: usize, value: &Value) {
    let value = value.padded(width as u32);
    for bit in 0..width {
        let from = value.len() * 8 - width + bit;
        let set = value[from / 8] >> (7 - from % 8) & 1;
        bytes[(at + bit) / 8] |= set << (7 - (at + bit) % 8);
    }
}

fn get(bytes: &[u8], at: usize, width: usize) -> Value {
    let mut value = vec![0; width.div_ceil(8).max(1)];
    let first = value.len() * 8 - width;
    for bit in 0..width {
        let set = bytes[(at + bit) / 8] >> (7 - (at + bit) % 8) & 1;
        value[(first + bit) / 8] |= set << (7 - (first + bit) % 8);
    }
    Value::from_bytes(&value).unwrap_or_else(|_| Value::from(0u8))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_of_any_width_are_read_back(
            fields in proptest::collection::vec((1usize..100, any::<u128>()), 1..8),
        ) {
            let total: usize = fields.iter().map(|(width, _)| width).sum();
            let mut bytes = vec![0; total.div_ceil(8)];
            let mut at = 0;
            for (width, value) in &fields {
                put(&mut bytes, at, *width, &Value::from(value & (1u128 << width).wrapping_sub(1)));
                at += width;
            }
            at = 0;
            for (width, value) in &fields {
                let kept = value & (1u128 << width).wrapping_sub(1);
                prop_assert_eq!(get(&bytes, at, *width), Value::from(kept));
                at += width;
            }
        }
    }
}
