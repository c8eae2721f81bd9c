//! State of a packet in the pipeline: words, header bytes, and its requests.

use crate::op::{NOTHING, Span, Word};
use crate::program::Program;

/// The flat state of one packet.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub words: Vec<u64>,
    pub bytes: Vec<u8>,
    pub asked: Asked,
}

/// Requests of the program for the packet.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    pub exit: bool,
    /// Session and field list.
    pub clone: Option<(u64, u64)>,
    pub resubmit: Option<u64>,
    pub recirculate: Option<u64>,
    pub digest: Option<u64>,
    /// Bytes the packet is cut to.
    pub truncate: Option<usize>,
    /// Length in bytes as headers are added and removed, for `packet_length` at egress.
    pub length: u32,
    /// Bytes of the arriving packet, which counters and meters count.
    pub ingress_length: u32,
}

impl State {
    pub fn new(program: &Program) -> State {
        State { words: program.initial.clone(), bytes: vec![0; program.bytes], asked: Asked::default() }
    }

    /// Resets the state to the start of a packet.
    #[inline]
    pub fn clear(&mut self, program: &Program) {
        self.words[..program.cleared_words].fill(0);
        self.bytes[..program.cleared_bytes].fill(0);
        self.asked = Asked::default();
    }

    /// Takes over another state of the same program.
    pub fn copy_from(&mut self, program: &Program, other: &State) {
        self.words[..program.cleared_words].copy_from_slice(&other.words[..program.cleared_words]);
        self.bytes[..program.cleared_bytes].copy_from_slice(&other.bytes[..program.cleared_bytes]);
        self.asked = other.asked;
    }

    /// Returns a word that holds a header or union index.
    #[inline]
    pub fn index(&self, word: Word) -> Option<usize> {
        let index = self.words[word as usize];
        (index != NOTHING).then_some(index as usize)
    }

    /// Returns where field `field` of the header whose index is in `h` lies, and whether it is signed.
    pub fn field_span(&self, program: &Program, h: Word, field: u32) -> Option<(Span, bool)> {
        let header = &program.headers[self.index(h)?];
        if field >= header.fields.1 {
            return None;
        }
        let field = program.type_fields[(header.fields.0 + field) as usize];
        Some((Span { bit: header.byte * 8 + field.bit, bits: field.bits }, field.signed))
    }
}

impl State {
    /// Loads a field that one eight-byte load covers.
    #[inline(always)]
    pub fn load(&self, from: crate::op::Slice) -> u64 {
        let byte = from.byte as usize;
        let whole = self.bytes[byte..].first_chunk().map_or(0, |chunk| u64::from_be_bytes(*chunk));
        whole >> from.shift & crate::op::low_mask(from.bits)
    }

    /// Stores the low bits of `value`.
    #[inline(always)]
    pub fn store(&mut self, to: crate::op::Slice, value: u64) {
        if let Some(chunk) = self.bytes[to.byte as usize..].first_chunk_mut() {
            let mask = crate::op::low_mask(to.bits) << to.shift;
            let whole = u64::from_be_bytes(*chunk) & !mask | value << to.shift & mask;
            *chunk = whole.to_be_bytes();
        }
    }
}

impl State {
    /// Zeroes all metadata; headers stay.
    pub fn clear_metadata(&mut self, program: &Program) {
        for header in &program.headers {
            for &word in &header.words {
                self.words[word as usize] = 0;
            }
        }
        for span in &program.wide_metadata {
            crate::wide::write_span(&mut self.bytes, *span, &Default::default());
        }
    }
}
