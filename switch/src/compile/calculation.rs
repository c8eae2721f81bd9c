//! Calculations, checksums and the deparser.

use serde_json::Value;

use super::build::Builder;
use super::expr::Kind;
use super::{CompileError, Result};
use crate::hash::Algorithm;
use crate::json::Typed;
use crate::op::{Op, Pc};
use crate::program::{Calculation, CalculationInput, Checksum};

impl Builder<'_> {
    pub(super) fn build_calculations(&mut self) -> Result<()> {
        let document = self.document;
        for calculation in &document.calculations {
            let place = format!("calculations {:?}", calculation.name);
            let index = self.add_calculation(&calculation.algo, &calculation.input, &place)?;
            self.calculation_names.insert(calculation.name.clone(), index);
        }
        Ok(())
    }

    pub(super) fn add_calculation(&mut self, algorithm: &str, input: &[Typed], place: &str) -> Result<u32> {
        let algorithm = Algorithm::by_name(algorithm).ok_or_else(|| {
            CompileError::new(
                place,
                format!("the hash algorithm {algorithm:?} is not supported; use another one, such as crc32"),
            )
        })?;
        let (mut inputs, mut payload) = (Vec::new(), false);
        for typed in input {
            let name = |n: usize| typed.value.get(n).and_then(Value::as_str).unwrap_or_default();
            inputs.push(match typed.kind.as_str() {
                "payload" => {
                    payload = true;
                    continue;
                }
                "field" => {
                    let header = self.layout.header(name(0), place)?;
                    let field = self.layout.field(name(0), name(1), place)?;
                    let valid = self.layout.headers[header as usize].valid;
                    CalculationInput::Field { place: field.place, bits: field.bits, valid }
                }
                "header" => {
                    let header = self.layout.header(typed.value.as_str().unwrap_or_default(), place)?;
                    CalculationInput::Header(header)
                }
                "hexstr" => {
                    let digits = typed.value.as_str().and_then(crate::value::parse_hex);
                    let digits =
                        digits.ok_or_else(|| CompileError::new(place, "a constant must be hexadecimal"))?;
                    let bits = typed.bitwidth.unwrap_or(digits.len() as u32 * 8).clamp(1, 1 << 16);
                    // Padded or cut to whole bytes of its width.
                    let count = bits.div_ceil(8) as usize;
                    let mut bytes = vec![0; count.saturating_sub(digits.len())];
                    bytes.extend(&digits[digits.len().saturating_sub(count)..]);
                    CalculationInput::Constant { bytes, bits }
                }
                other => {
                    return Err(CompileError::new(
                        place,
                        format!("inputs of type {other:?} are not supported"),
                    ));
                }
            });
        }
        self.calculations.push(Calculation { algorithm, inputs, payload });
        Ok(self.calculations.len() as u32 - 1)
    }

    pub(super) fn build_checksums(&mut self) -> Result<Vec<Checksum>> {
        let document = self.document;
        let mut checksums = Vec::new();
        for checksum in &document.checksums {
            let place = format!("checksums {:?}", checksum.name);
            let calculation = self.calculation_names.get(&checksum.calculation).copied();
            let calculation = calculation.ok_or_else(|| {
                CompileError::new(&place, format!("no calculation {:?}", checksum.calculation))
            })?;
            let condition = match &checksum.if_cond {
                Some(typed) => {
                    let json = serde_json::json!({"type": typed.kind, "value": typed.value});
                    let condition = self.value(&json, &place)?;
                    let start = self.pc();
                    let word = self.truth(&condition);
                    self.emit(Op::Return);
                    self.release();
                    Some((start, word))
                }
                None => None,
            };
            let (header, field) = &checksum.target;
            let target_valid = self.layout.headers[self.layout.header(header, &place)? as usize].valid;
            checksums.push(Checksum {
                condition,
                calculation,
                target: self.layout.field(header, field, &place)?.place,
                target_valid,
                update: checksum.update,
                verify: checksum.verify,
            });
        }
        Ok(checksums)
    }

    /// Returns the order of the headers, and code that runs before them.
    pub(super) fn build_deparser(&mut self) -> Result<(Vec<u32>, Option<Pc>)> {
        let Some(deparser) = self.document.deparsers.first() else { return Ok((Vec::new(), None)) };
        let place = format!("deparsers {:?}", deparser.name);
        let order =
            deparser.order.iter().map(|name| self.layout.header(name, &place)).collect::<Result<Vec<_>>>()?;
        if deparser.primitives.is_empty() {
            return Ok((order, None));
        }
        let start = self.pc();
        self.lower_primitives(&deparser.primitives, &place)?;
        self.emit(Op::Return);
        Ok((order, Some(start)))
    }

    /// Returns the field that a JSON operand names, for keys and meters.
    pub(super) fn field_operand(
        &self,
        header: &str,
        field: &str,
        place: &str,
    ) -> Result<super::layout::Field> {
        let json = serde_json::json!({"type": "field", "value": [header, field]});
        match self.value(&json, place)?.kind {
            Kind::Field(field) => Ok(field),
            _ => Err(CompileError::new(place, "a field is needed")),
        }
    }
}
