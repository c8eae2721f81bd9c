//! Actions: parameters placed, bodies lowered with their jumps.

use std::collections::HashMap;

use super::build::Builder;
use super::layout::Field;
use super::{CompileError, Result};
use crate::json;
use crate::op::{Op, Pc, Span};
use crate::program::{ActionInfo, ParamInfo, Place};

impl Builder<'_> {
    /// Gives every action its parameters; all actions share one area of the state.
    pub(super) fn declare_actions(&mut self) -> Result<()> {
        let (mut most_words, mut most_bytes) = (0, 0);
        for action in &self.document.actions {
            let place = format!("actions {:?}", action.name);
            let (mut words, mut bytes) = (0, 0);
            let mut params = Vec::new();
            for param in &action.runtime_data {
                let bits = param.bitwidth;
                let at = match bits {
                    1..=64 => {
                        words += 1;
                        Place::Word { word: self.param_word + words - 1, bits, signed: false }
                    }
                    65..=0x10000 => {
                        let count = bits.div_ceil(8);
                        bytes += count;
                        let bit = (self.param_byte + bytes) * 8 - bits;
                        Place::Bits { span: Span { bit, bits }, signed: false }
                    }
                    _ => {
                        let problem =
                            format!("parameter {:?}: the width must be 1 to 65536 bits", param.name);
                        return Err(CompileError::new(place, problem));
                    }
                };
                params.push(ParamInfo { name: param.name.clone(), bits, place: at });
            }
            (most_words, most_bytes) = (words.max(most_words), bytes.max(most_bytes));
            if self.action_ids.insert(action.id, self.actions.len()).is_some() {
                return Err(CompileError::new(place, format!("the id {} is used twice", action.id)));
            }
            self.actions.push(ActionInfo {
                name: action.name.clone(),
                params,
                pc: 0,
                param_words: words as usize,
                param_bytes: bytes as usize,
            });
        }
        self.layout.words += most_words;
        self.constant_word = self.layout.words;
        self.layout.bytes += most_bytes;
        Ok(())
    }

    pub(super) fn action_by_id(&self, id: u64, place: &str) -> Result<usize> {
        let found = self.action_ids.get(&id).copied();
        found.ok_or_else(|| CompileError::new(place, format!("there is no action with id {id}")))
    }

    /// Lowers every action to a routine.
    pub(super) fn build_actions(&mut self) -> Result<()> {
        for index in 0..self.document.actions.len() {
            self.actions[index].pc = self.pc();
            self.lower_action(index)?;
            self.emit(Op::Return);
        }
        Ok(())
    }

    /// Lowers an action's body in place.
    pub(super) fn lower_action(&mut self, index: usize) -> Result<()> {
        let document = self.document;
        let action = &document.actions[index];
        self.params = self.actions[index]
            .params
            .iter()
            .map(|param| Field { place: param.place, bits: param.bits, signed: false })
            .collect();
        let place = format!("actions {:?}", action.name);
        let result = self.lower_primitives(&action.primitives, &place);
        self.params.clear();
        result
    }

    /// Lowers primitives in order. A jump's target is the index of a primitive.
    pub(super) fn lower_primitives(&mut self, primitives: &[json::Primitive], place: &str) -> Result<()> {
        let mut starts: Vec<Pc> = Vec::new();
        let mut jumps: HashMap<usize, usize> = HashMap::new();
        for (number, primitive) in primitives.iter().enumerate() {
            starts.push(self.pc());
            let place = format!("{place}, primitive {number} ({})", primitive.op);
            let target = |builder: &Self, n: usize| {
                let json = primitive.parameters.get(n).unwrap_or(&serde_json::Value::Null);
                let target = builder.value(json, &place)?.constant().map(|target| target as usize);
                target
                    .filter(|&target| target <= primitives.len())
                    .ok_or_else(|| CompileError::new(&place, "the target must be the index of a primitive"))
            };
            match primitive.op.as_str() {
                "_jump" => {
                    jumps.insert(self.code.len(), target(self, 0)?);
                    self.emit(Op::Jump(0));
                }
                "_jump_if_zero" => {
                    let to = target(self, 1)?;
                    let condition = self.param(primitive, 0, &place)?;
                    let condition = self.value(condition, &place)?;
                    let a = self.word(&condition);
                    jumps.insert(self.code.len(), to);
                    self.emit(Op::JumpIfZero { a, to: 0 });
                }
                _ => self.lower_primitive(primitive, &place)?,
            }
            self.release();
            self.check()?;
        }
        starts.push(self.pc());
        for (at, target) in jumps {
            if let Some(to) = self.code[at].target() {
                *to = starts[target];
            }
        }
        Ok(())
    }
}
