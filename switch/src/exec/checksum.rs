//! Calculations over fields, headers and payload; checksums.

use super::Machine;
use crate::op::Span;
use crate::program::{CalculationInput, Place};
use crate::value::{copy_bits, get_bits, set_bits};

/// A buffer that grows bit by bit.
struct Bits<'a> {
    buffer: &'a mut Vec<u8>,
    bits: u32,
}

impl Bits<'_> {
    fn grow(&mut self, bits: u32) -> u32 {
        let at = self.bits;
        self.bits += bits;
        self.buffer.resize(self.bits.div_ceil(8) as usize, 0);
        at
    }

    fn push_span(&mut self, bytes: &[u8], span: Span) {
        let at = self.grow(span.bits);
        copy_bits(self.buffer, at, bytes, span.bit, span.bits);
    }

    fn push_word(&mut self, value: u64, bits: u32) {
        let at = self.grow(bits);
        set_bits(self.buffer, Span { bit: at, bits }, value);
    }
}

impl Machine<'_> {
    /// Runs a calculation on the present state.
    pub(super) fn calculate(&mut self, number: u32) -> u64 {
        let buffer = self.gather(number);
        let result = self.program.calculations[number as usize].algorithm.run(&buffer);
        self.scratch.buffer = buffer;
        result
    }

    /// Returns a calculation's input, in the buffer that the caller gives back.
    pub(super) fn gather(&mut self, number: u32) -> Vec<u8> {
        let program = self.program;
        let calculation = &program.calculations[number as usize];
        let mut buffer = std::mem::take(&mut self.scratch.buffer);
        buffer.clear();
        let mut bits = Bits { buffer: &mut buffer, bits: 0 };
        for input in &calculation.inputs {
            match input {
                CalculationInput::Field { valid, .. } if self.word(*valid) == 0 => {}
                CalculationInput::Field { place, bits: width, .. } => match *place {
                    Place::Word { word, .. } => bits.push_word(self.word(word), *width),
                    Place::Bits { span, .. } => bits.push_span(&self.state.bytes, span),
                    Place::Var { header } => {
                        if let Some(var) = program.headers[header as usize].var {
                            let length = self.word(var.length) as u32;
                            bits.push_span(&self.state.bytes, Span { bit: var.byte * 8, bits: length });
                        }
                    }
                },
                CalculationInput::Constant { bytes, bits: width } => {
                    let start = (bytes.len() as u32 * 8).saturating_sub(*width);
                    bits.push_span(bytes, Span { bit: start, bits: *width });
                }
                CalculationInput::Header(header) => {
                    if self.word(program.headers[*header as usize].valid) != 0 {
                        let count = self.wire_bytes(*header as usize);
                        let at = bits.grow(count * 8).div_ceil(8) as usize;
                        self.write_header(*header as usize, &mut bits.buffer[at..]);
                    }
                }
            }
        }
        if calculation.payload {
            buffer.extend_from_slice(&self.packet[self.position..]);
        }
        buffer
    }

    /// Writes a header as on the wire; `to` has room for it.
    pub(super) fn write_header(&self, index: usize, to: &mut [u8]) {
        let header = &self.program.headers[index];
        let bytes = &self.state.bytes;
        let Some(var) = header.var else {
            to[..header.bytes as usize]
                .copy_from_slice(&bytes[header.byte as usize..][..header.bytes as usize]);
            return;
        };
        let (base, length) = (header.byte * 8, self.word(var.length) as u32);
        copy_bits(to, 0, bytes, base, var.at_bit);
        copy_bits(to, var.at_bit, bytes, var.byte * 8, length);
        copy_bits(to, var.at_bit + length, bytes, base + var.at_bit, header.bytes * 8 - var.at_bit);
    }

    fn condition_met(&mut self, condition: Option<(u32, u32)>) -> bool {
        match condition {
            Some((code, word)) => {
                self.run(code);
                self.word(word) != 0
            }
            None => true,
        }
    }

    /// Returns whether every checksum that applies is right.
    pub fn verify_checksums(&mut self) -> bool {
        let program = self.program;
        let mut right = true;
        for checksum in program.checksums.iter().filter(|checksum| checksum.verify) {
            if self.word(checksum.target_valid) == 0 || !self.condition_met(checksum.condition) {
                continue;
            }
            let computed = self.calculate(checksum.calculation);
            let carried = match checksum.target {
                Place::Word { word, .. } => self.word(word),
                Place::Bits { span, .. } if span.bits <= 64 => get_bits(&self.state.bytes, span),
                _ => computed,
            };
            right &= computed == carried;
        }
        right
    }

    /// Writes the checksums, then the valid headers in order and the payload.
    pub fn deparse(&mut self, to: &mut Vec<u8>) {
        let program = self.program;
        for checksum in program.checksums.iter().filter(|checksum| checksum.update) {
            if !self.condition_met(checksum.condition) {
                continue;
            }
            let computed = self.calculate(checksum.calculation);
            match checksum.target {
                Place::Word { word, bits, .. } => {
                    self.set(word, computed & crate::op::low_mask(bits.min(64) as u8));
                }
                Place::Bits { span, .. } if span.bits <= 64 => {
                    set_bits(&mut self.state.bytes, span, computed)
                }
                _ => {}
            }
        }
        if let Some(code) = program.deparser_code {
            self.run(code);
        }
        to.clear();
        for &header in &program.deparse_order {
            let info = &program.headers[header as usize];
            if self.word(info.valid) == 0 {
                continue;
            }
            if info.var.is_none() {
                to.extend_from_slice(&self.state.bytes[info.byte as usize..][..info.bytes as usize]);
            } else {
                let at = to.len();
                to.resize(at + self.wire_bytes(header as usize) as usize, 0);
                self.write_header(header as usize, &mut to[at..]);
            }
        }
        to.extend_from_slice(&self.packet[self.position..]);
        if let Some(length) = self.state.asked.truncate {
            to.truncate(length);
        }
    }
}
