//! Context for lowering a block: the code so far, the names in scope, the declared instances.

use std::collections::HashMap;

use super::thing::Thing;
use super::types::{Type, Types};
use crate::compile::build::Builder;
use crate::compile::layout::Field;
use crate::error::Result;
use crate::op::{Op, Pc, Un, Word};
use crate::p4ir::Node;
use crate::program::Place;

/// A table's place in the program, and where an application leaves its outcome.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableSlot {
    pub index: u32,
    /// 1 after a hit.
    pub hit: Word,
    /// The action that ran, counted from 1 on; 0 for none.
    pub ran: Word,
}

/// The parts of a program that are declared before any code is made.
#[derive(Debug, Default)]
pub(super) struct Declared<'v> {
    /// Variables, and parameters of register actions, by the number of the node.
    pub variables: HashMap<u64, Thing<'v>>,
    /// Tables by node: position in the program.
    pub tables: HashMap<u64, u32>,
    /// Actions by node: position in the program.
    pub actions: HashMap<u64, usize>,
    /// Digests by node: the number of the list.
    pub digests: HashMap<u64, u64>,
}

/// Lowers blocks.
pub(super) struct Lowering<'d, 'v> {
    pub b: Builder<'d>,
    pub types: &'d Types<'v>,
    pub declared: &'d Declared<'v>,
    /// Instances, tables and actions by name: the program's, then the block's.
    pub known: Vec<HashMap<&'v str, Node<'v>>>,
    /// Variables by name, innermost scope last.
    pub scopes: Vec<HashMap<&'v str, Thing<'v>>>,
    pub slots: HashMap<u32, TableSlot>,
    pub depth: u32,
    /// Jumps of the parser's states that reject a packet.
    pub reject: Pc,
    /// Checksums and parser counters: the word that holds the present value, by node.
    pub units: HashMap<u64, Word>,
    pub port_metadata_bytes: u32,
    /// Registers that the present block might touch twice.
    pub watched: std::collections::HashSet<u64>,
}

impl<'v> Lowering<'_, 'v> {
    /// Returns a variable in scope.
    pub fn find(&self, name: &str) -> Option<Thing<'v>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned()
    }

    /// Returns an instance, table or action by name.
    pub fn known(&self, name: &str) -> Option<Node<'v>> {
        self.known.iter().rev().find_map(|known| known.get(name)).copied()
    }

    pub fn bind(&mut self, name: &'v str, thing: Thing<'v>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, thing);
        }
    }

    /// Binds a previously declared variable in the scope.
    pub fn bind_declared(&mut self, node: Node<'v>) {
        let thing = self.declared.variables.get(&node.id()).cloned().unwrap_or(Thing::Nothing);
        self.bind(node.name(), thing);
    }

    /// Returns a place that holds its value from statement to statement, but not from packet to packet.
    pub fn hidden(&mut self, bits: u32, signed: bool, at: Node<'v>) -> Result<Field> {
        let place = self.b.layout.allocate(bits, signed, &at.place())?;
        if let Place::Word { word, .. } = place {
            self.b.lasting.push(word);
        }
        Ok(Field { place, bits, signed })
    }

    /// As [`Lowering::hidden`], a word.
    pub fn hidden_word(&mut self) -> Word {
        let word = self.b.layout.word();
        self.b.lasting.push(word);
        word
    }

    /// Sets a word.
    pub fn set_word(&mut self, d: Word, value: u64) {
        let a = self.b.constant(value);
        self.b.emit(Op::Un { op: Un::Move, d, a });
    }

    /// Patches jumps to go to the next operation.
    pub fn land(&mut self, jumps: impl IntoIterator<Item = usize>) {
        let here = self.b.pc();
        for at in jumps {
            if let Some(to) = self.b.code[at].target() {
                *to = here;
            }
        }
    }

    /// Emits a jump that is filled in later.
    pub fn jump(&mut self) -> usize {
        self.b.emit(Op::Jump(0));
        self.b.code.len() - 1
    }

    /// Word in which an applied table leaves its outcome.
    pub fn slot(&mut self, index: u32) -> TableSlot {
        if let Some(&slot) = self.slots.get(&index) {
            return slot;
        }
        let slot = TableSlot { index, hit: self.hidden_word(), ran: self.hidden_word() };
        self.slots.insert(index, slot);
        slot
    }

    /// Returns the width of a type that has one.
    pub fn width(&self, ty: Node<'v>) -> Option<u32> {
        self.types.resolve(ty).ok().and_then(Type::scalar).map(|scalar| scalar.0)
    }

    /// Returns the type with which an instance was made, as the arguments of its generic type.
    pub fn type_arguments(&self, instance: Node<'v>) -> Result<Vec<Type<'v>>> {
        let arguments = instance.get("type").map_or(Vec::new(), |ty| ty.list("arguments"));
        arguments.into_iter().map(|argument| self.types.resolve(argument)).collect()
    }
}

/// Returns the name of the extern that an instance is of.
pub(super) fn extern_of(instance: Node<'_>) -> &str {
    let ty = instance.get("type");
    let base = ty.and_then(|ty| ty.get("baseType")).or(ty);
    base.and_then(Node::path).unwrap_or_default()
}

/// Returns an instance's constructor arguments.
pub(super) fn arguments(node: Node<'_>) -> Vec<Node<'_>> {
    node.list("arguments").into_iter().filter_map(|argument| argument.get("expression")).collect()
}
