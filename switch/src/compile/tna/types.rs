//! P4 types of the intermediate form.

use std::collections::HashMap;

use crate::error::Result;
use crate::p4ir::Node;

/// Structs and stacks may nest so deeply.
const MAX_NESTING: u32 = 32;
/// Widest value.
const MAX_BITS: u32 = 1 << 16;
/// Most elements of a header stack.
const MAX_STACK: u32 = 1 << 10;

/// A resolved type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type<'v> {
    /// A number of a width.
    Bits {
        bits: u32,
        signed: bool,
    },
    Bool,
    /// An integer without a width.
    Int,
    Varbit(u32),
    Header(Node<'v>),
    Struct(Node<'v>),
    /// Stack of headers.
    Stack(Node<'v>, u32),
    /// An extern, a parser, a type variable: nothing that has a value.
    Other,
}

/// Bits of an enum or error that has no representation of its own.
const ENUM_BITS: u32 = 32;

impl Type<'_> {
    /// Width and signedness of a value.
    pub fn scalar(self) -> Option<(u32, bool)> {
        match self {
            Type::Bits { bits, signed } => Some((bits, signed)),
            Type::Bool => Some((1, false)),
            _ => None,
        }
    }
}

/// The types that a program declares.
#[derive(Debug, Default)]
pub(super) struct Types<'v> {
    named: HashMap<&'v str, Node<'v>>,
}

impl<'v> Types<'v> {
    pub fn new(objects: &[Node<'v>]) -> Types<'v> {
        let named = objects.iter().filter(|object| object.kind().starts_with("Type_"));
        Types { named: named.map(|object| (object.name(), *object)).collect() }
    }

    /// Returns a declared type.
    pub fn get(&self, name: &str) -> Option<Node<'v>> {
        self.named.get(name).copied()
    }

    /// Resolves a type.
    ///
    /// # Errors
    /// For a type that is not declared, or beyond the bounds.
    pub fn resolve(&self, node: Node<'v>) -> Result<Type<'v>> {
        self.resolve_nested(node, 0)
    }

    fn resolve_nested(&self, node: Node<'v>, depth: u32) -> Result<Type<'v>> {
        if depth > MAX_NESTING {
            return Err(node.problem("types nest too deeply"));
        }
        let inner = |key: &str| self.resolve_nested(node.need(key)?, depth + 1);
        Ok(match node.kind() {
            "Type_Bits" => match node.number("size") {
                Some(bits @ 1..=MAX_BITS) => Type::Bits { bits, signed: node.flag("isSigned") },
                _ => return Err(node.problem(format!("a width must be 1 to {MAX_BITS} bits"))),
            },
            "Type_Boolean" => Type::Bool,
            "Type_InfInt" => Type::Int,
            "Type_Varbits" => match node.number("size") {
                Some(bits @ 1..=MAX_BITS) => Type::Varbit(bits),
                _ => return Err(node.problem(format!("a width must be 1 to {MAX_BITS} bits"))),
            },
            "Type_Header" => Type::Header(node),
            "Type_Struct" => Type::Struct(node),
            "Type_Enum" | "Type_Error" => Type::Bits { bits: ENUM_BITS, signed: false },
            "Type_SerEnum" | "Type_Typedef" | "Type_Newtype" => inner("type")?,
            "Type_Name" => {
                let name = node.path().unwrap_or_default();
                match self.get(name) {
                    Some(found) => self.resolve_nested(found, depth + 1)?,
                    None => Type::Other,
                }
            }
            "Type_Specialized" => inner("baseType")?,
            "Type_Type" => inner("type")?,
            "Type_Array" | "Type_Stack" => {
                let size = node.get("size").and_then(|size| size.number("value"));
                match (inner("elementType")?, size) {
                    (Type::Header(element), Some(size @ 1..=MAX_STACK)) => Type::Stack(element, size),
                    _ => return Err(node.problem(format!("a stack has 1 to {MAX_STACK} headers"))),
                }
            }
            _ => Type::Other,
        })
    }

    /// Names and types of a struct's or header's fields.
    ///
    /// # Errors
    /// As [`Types::resolve`].
    pub fn fields(&self, structure: Node<'v>) -> Result<Vec<(&'v str, Type<'v>)>> {
        let fields = structure.list("fields").into_iter();
        fields.map(|field| Ok((field.name(), self.resolve(field.need("type")?)?))).collect()
    }

    /// Returns the number that stands for a member of an enum or an error.
    pub fn member(&self, of: &str, member: &str) -> Option<num_bigint::BigInt> {
        let declared = self.get(of)?;
        let members = declared.list("members");
        let position = members.iter().position(|known| known.name() == member)?;
        match declared.kind() {
            "Type_SerEnum" => members[position].get("value")?.int("value"),
            _ => Some(position.into()),
        }
    }
}
