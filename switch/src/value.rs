//! Values of any width as big-endian byte strings and as words.

use crate::control::{ControlError, Result};
use crate::op::{Span, low_mask};

/// Words a value of `bits` bits takes, most significant first.
pub(crate) fn words_for(bits: u32) -> usize {
    bits.div_ceil(64) as usize
}

/// Cuts a byte string into `words_for(bits)` words; refuses a value that does not fit.
pub(crate) fn to_words(value: &[u8], bits: u32, what: impl Fn() -> String) -> Result<Vec<u64>> {
    if value.is_empty() {
        return Err(ControlError::InvalidArgument(format!(
            "{}: the value is empty; give at least one byte",
            what()
        )));
    }
    let mut words = vec![0u64; words_for(bits)];
    let significant = value.iter().position(|&byte| byte != 0).unwrap_or(value.len());
    let value = &value[significant..];
    let top_bits = match value.first() {
        Some(first) => value.len() * 8 - first.leading_zeros() as usize,
        None => 0,
    };
    if top_bits > bits as usize {
        return Err(ControlError::OutOfRange(format!(
            "{}: the value needs {top_bits} bits, the field has {bits}",
            what()
        )));
    }
    for (place, &byte) in value.iter().rev().enumerate() {
        let word = words.len() - 1 - place / 8;
        words[word] |= u64::from(byte) << (place % 8 * 8);
    }
    Ok(words)
}

/// Returns the shortest byte string (at least one byte) of a value in words.
pub(crate) fn to_bytes(words: &[u64]) -> Vec<u8> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let start = bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len().saturating_sub(1));
    bytes[start..].to_vec()
}

/// Words of a mask with the first `prefix` of `bits` bits set.
pub(crate) fn prefix_mask(bits: u32, prefix: u32) -> Vec<u64> {
    let count = words_for(bits);
    let lead = count as u32 * 64 - bits;
    (0..count as u32)
        .map(|word| {
            // Bits of this word that belong to the field, then those within the prefix.
            let ones_until = (lead + prefix).saturating_sub(word * 64).min(64);
            let skipped = if word == 0 { lead } else { 0 };
            let until = if ones_until == 0 { 0 } else { !low_mask((64 - ones_until) as u8) };
            until & low_mask((64 - skipped) as u8)
        })
        .collect()
}

/// Reads up to 64 bits at a bit offset.
#[inline]
pub(crate) fn get_bits(bytes: &[u8], span: Span) -> u64 {
    debug_assert!(span.bits <= 64);
    let first = (span.bit / 8) as usize;
    let end = (span.bit + span.bits).div_ceil(8) as usize;
    let mut value = 0u128;
    for &byte in &bytes[first..end] {
        value = value << 8 | u128::from(byte);
    }
    let right = end as u32 * 8 - span.bit - span.bits;
    (value >> right) as u64 & low_mask(span.bits as u8)
}

/// Writes up to 64 bits at a bit offset.
#[inline]
pub(crate) fn set_bits(bytes: &mut [u8], span: Span, value: u64) {
    debug_assert!(span.bits <= 64);
    let end = (span.bit + span.bits).div_ceil(8) as usize;
    let first = (span.bit / 8) as usize;
    let right = end as u32 * 8 - span.bit - span.bits;
    let mut mask = u128::from(low_mask(span.bits as u8)) << right;
    let mut value = (u128::from(value) << right) & mask;
    for byte in bytes[first..end].iter_mut().rev() {
        *byte = *byte & !(mask as u8) | value as u8;
        mask >>= 8;
        value >>= 8;
    }
}

/// Copies bits between two byte strings.
pub(crate) fn copy_bits(to: &mut [u8], to_bit: u32, from: &[u8], from_bit: u32, bits: u32) {
    if (to_bit | from_bit | bits).is_multiple_of(8) {
        let (to_byte, from_byte, count) = (to_bit as usize / 8, from_bit as usize / 8, bits as usize / 8);
        to[to_byte..to_byte + count].copy_from_slice(&from[from_byte..from_byte + count]);
        return;
    }
    let mut done = 0;
    while done < bits {
        let step = (bits - done).min(56);
        let value = get_bits(from, Span { bit: from_bit + done, bits: step });
        set_bits(to, Span { bit: to_bit + done, bits: step }, value);
        done += step;
    }
}

/// Parses a hexadecimal string such as `0x0aff` into bytes.
pub(crate) fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let nibble = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    let digits = digits.as_bytes();
    let (head, rest) = digits.split_at(digits.len() % 2);
    Some(
        head.iter()
            .map(|&d| nibble(d))
            .chain(rest.chunks(2).map(|d| nibble(d[0]) << 4 | nibble(d[1])))
            .collect(),
    )
}
