//! Places headers, metadata, stacks and unions in the flat state.

use std::collections::HashMap;

use serde_json::Value;

use super::{CompileError, Result};
use crate::json::Document;
use crate::op::{Span, Word};
use crate::program::{Header, Place, Stack, TypeField, VarField};

/// Widest field, in bits, and most state in bytes, that a program may ask for.
const MAX_BITS: u64 = 1 << 16;
const MAX_BYTES: u64 = 1 << 24;
/// Fields of all headers together, words of state next to the bytes, and pairs of members of one union.
const MAX_FIELDS: usize = 1 << 20;

/// A field of a header type.
#[derive(Debug, Clone)]
pub(super) struct FieldType {
    pub name: String,
    /// `None` for the variable-length field.
    pub bits: Option<u32>,
    pub signed: bool,
}

#[derive(Debug)]
pub(super) struct Type {
    pub fields: Vec<FieldType>,
    max_bytes: Option<u32>,
    /// First in `type_fields`.
    first: u32,
}

/// A resolved field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub place: Place,
    pub bits: u32,
    pub signed: bool,
}

/// The state's shape and the names in it.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub types: Vec<Type>,
    type_names: HashMap<String, usize>,
    pub headers: Vec<Header>,
    pub header_types: Vec<usize>,
    pub header_names: HashMap<String, u32>,
    header_ids: HashMap<u64, u32>,
    /// By header, in the type's order.
    pub fields: Vec<Vec<Field>>,
    pub metadata: Vec<bool>,
    pub stacks: Vec<Stack>,
    pub stack_names: HashMap<String, u32>,
    pub unions: Vec<Vec<u32>>,
    pub union_names: HashMap<String, u32>,
    /// Member names by union, through its type.
    pub union_members: Vec<Vec<String>>,
    pub type_fields: Vec<TypeField>,
    pub wide_metadata: Vec<Span>,
    pub words: u32,
    pub bytes: u32,
    field_count: usize,
}

fn unknown(place: &str, kind: &str, name: &str) -> CompileError {
    CompileError::new(
        place,
        format!("there is no {kind} {name:?} in the document; compile the program again"),
    )
}

impl Layout {
    pub fn new(document: &Document) -> Result<Layout> {
        let mut layout = Layout::default();
        layout.add_types(document)?;
        layout.add_headers(document)?;
        layout.add_stacks_and_unions(document)?;
        Ok(layout)
    }

    fn add_types(&mut self, document: &Document) -> Result<()> {
        for header_type in &document.header_types {
            let place = format!("header_types {:?}", header_type.name);
            let mut fields = Vec::new();
            for field in &header_type.fields {
                let bad = || CompileError::new(&place, "a field must be [name, width in bits, signed]");
                let name = field.first().and_then(Value::as_str).ok_or_else(bad)?.to_owned();
                let bits = match field.get(1) {
                    Some(Value::String(star)) if star == "*" => None,
                    Some(width) => match width.as_u64() {
                        Some(bits @ 1..=MAX_BITS) => Some(bits as u32),
                        _ => {
                            let problem = format!("field {name:?}: the width must be 1 to {MAX_BITS} bits");
                            return Err(CompileError::new(&place, problem));
                        }
                    },
                    None => return Err(bad()),
                };
                let signed = field.get(2).and_then(Value::as_bool).unwrap_or(false);
                fields.push(FieldType { name, bits, signed });
            }
            if fields.iter().filter(|field| field.bits.is_none()).count() > 1 {
                return Err(CompileError::new(&place, "a header type has at most one variable-length field"));
            }
            let first = self.type_fields.len() as u32;
            let mut bit = 0;
            for field in &fields {
                let bits = field.bits.unwrap_or(0);
                self.type_fields.push(TypeField { bit, bits, signed: field.signed });
                bit += bits;
            }
            self.type_names.insert(header_type.name.clone(), self.types.len());
            self.types.push(Type { fields, max_bytes: header_type.max_length, first });
        }
        Ok(())
    }

    pub fn word(&mut self) -> Word {
        self.words += 1;
        self.words - 1
    }

    fn take_bytes(&mut self, count: u32, place: &str) -> Result<u32> {
        let start = self.bytes;
        match start.checked_add(count) {
            Some(end) if u64::from(end) <= MAX_BYTES => self.bytes = end,
            _ => {
                let problem = format!("the headers take more than {MAX_BYTES} bytes");
                return Err(CompileError::limit(place, problem));
            }
        }
        Ok(start)
    }

    /// Counts fields before there is room for them.
    fn take_fields(&mut self, count: usize, place: &str) -> Result<()> {
        self.field_count = self.field_count.saturating_add(count);
        if self.field_count > MAX_FIELDS {
            let problem = format!("all headers together have more than {MAX_FIELDS} fields");
            return Err(CompileError::limit(place, problem));
        }
        Ok(())
    }

    /// Place for a value: a word, or bytes when wider than 64 bits.
    pub fn allocate(&mut self, bits: u32, signed: bool, place: &str) -> Result<Place> {
        if bits <= 64 {
            return Ok(Place::Word { word: self.word(), bits, signed });
        }
        let count = bits.div_ceil(8);
        let byte = self.take_bytes(count, place)?;
        Ok(Place::Bits { span: Span { bit: byte * 8 + count * 8 - bits, bits }, signed })
    }

    fn add_headers(&mut self, document: &Document) -> Result<()> {
        for header in &document.headers {
            let place = format!("headers {:?}", header.name);
            let type_index = *self
                .type_names
                .get(&header.header_type)
                .ok_or_else(|| unknown(&place, "header type", &header.header_type))?;
            self.take_fields(self.types[type_index].fields.len(), &place)?;
            let index = self.headers.len() as u32;
            let (built, fields) = if header.metadata {
                self.place_metadata(index, type_index, &place)?
            } else {
                self.place_header(index, type_index, &place)?
            };
            self.headers.push(Header { name: header.name.clone(), ..built });
            self.fields.push(fields);
            self.header_types.push(type_index);
            self.metadata.push(header.metadata);
            let again = self.header_names.insert(header.name.clone(), index).is_some();
            if again | self.header_ids.insert(header.id, index).is_some() {
                return Err(CompileError::new(place, "its name or id is used twice"));
            }
        }
        Ok(())
    }

    fn type_range(&self, type_index: usize) -> (u32, u32) {
        (self.types[type_index].first, self.types[type_index].fields.len() as u32)
    }

    fn place_metadata(&mut self, index: u32, type_index: usize, place: &str) -> Result<(Header, Vec<Field>)> {
        let types = self.types[type_index].fields.clone();
        let (mut fields, mut words, mut var) = (Vec::new(), Vec::new(), None);
        for field in &types {
            let Some(bits) = field.bits else {
                let max_bytes = self.types[type_index].max_bytes.unwrap_or(0);
                let byte = self.take_bytes(max_bytes, place)?;
                var = Some(VarField { at_bit: 0, length: self.word(), byte, max_bytes });
                fields.push(Field { place: Place::Var { header: index }, bits: 0, signed: field.signed });
                continue;
            };
            let at = self.allocate(bits, field.signed, place)?;
            match at {
                Place::Word { word, .. } => words.push(word),
                Place::Bits { span, .. } => self.wide_metadata.push(span),
                Place::Var { .. } => {}
            }
            fields.push(Field { place: at, bits, signed: field.signed });
        }
        let header = Header {
            name: String::new(),
            valid: self.word(),
            byte: 0,
            bytes: 0,
            var,
            siblings: Vec::new(),
            fields: (self.type_range(type_index).0, 0),
            words,
        };
        Ok((header, fields))
    }

    fn place_header(&mut self, index: u32, type_index: usize, place: &str) -> Result<(Header, Vec<Field>)> {
        let types = self.types[type_index].fields.clone();
        let total: u64 = types.iter().map(|field| u64::from(field.bits.unwrap_or(0))).sum();
        if !total.is_multiple_of(8) || total / 8 > MAX_BYTES {
            return Err(CompileError::new(
                place,
                format!("a header takes whole bytes, this one {total} bits"),
            ));
        }
        let bytes = (total / 8) as u32;
        let byte = self.take_bytes(bytes, place)?;
        let (mut fields, mut var, mut bit) = (Vec::new(), None, 0);
        for field in &types {
            let signed = field.signed;
            let Some(bits) = field.bits else {
                let max_bytes = self.types[type_index].max_bytes.unwrap_or(0).saturating_sub(bytes);
                let area = self.take_bytes(max_bytes, place)?;
                var = Some(VarField { at_bit: bit, length: self.word(), byte: area, max_bytes });
                fields.push(Field { place: Place::Var { header: index }, bits: 0, signed });
                continue;
            };
            fields.push(Field {
                place: Place::Bits { span: Span { bit: byte * 8 + bit, bits }, signed },
                bits,
                signed,
            });
            bit += bits;
        }
        let header = Header {
            name: String::new(),
            valid: self.word(),
            byte,
            bytes,
            var,
            siblings: Vec::new(),
            fields: self.type_range(type_index),
            words: Vec::new(),
        };
        Ok((header, fields))
    }

    fn add_stacks_and_unions(&mut self, document: &Document) -> Result<()> {
        let mut union_ids = HashMap::new();
        for union in &document.header_unions {
            let place = format!("header_unions {:?}", union.name);
            let members = self.resolve_ids(&union.header_ids, &place)?;
            // Each member knows all others.
            self.take_fields(members.len().saturating_mul(members.len()), &place)?;
            for &member in &members {
                let siblings = members.iter().copied().filter(|&other| other != member).collect();
                self.headers[member as usize].siblings = siblings;
            }
            let kind = document.header_union_types.iter().find(|kind| kind.name == union.union_type);
            let kind = kind.ok_or_else(|| unknown(&place, "header union type", &union.union_type))?;
            let index = self.unions.len() as u32;
            union_ids.insert(union.id, index);
            self.union_names.insert(union.name.clone(), index);
            self.unions.push(members);
            self.union_members.push(kind.headers.iter().map(|(name, _)| name.clone()).collect());
        }
        for stack in &document.header_stacks {
            let place = format!("header_stacks {:?}", stack.name);
            let elements = self.resolve_ids(&stack.header_ids, &place)?;
            if elements
                .windows(2)
                .any(|pair| self.header_types[pair[0] as usize] != self.header_types[pair[1] as usize])
            {
                return Err(CompileError::new(place, "its headers must have one type"));
            }
            self.add_stack(&stack.name, elements, false);
        }
        for stack in &document.header_union_stacks {
            let place = format!("header_union_stacks {:?}", stack.name);
            let elements = stack
                .header_union_ids
                .iter()
                .map(|id| union_ids.get(id).copied())
                .collect::<Option<Vec<u32>>>()
                .ok_or_else(|| CompileError::new(place, "it names a header union id that does not exist"))?;
            self.add_stack(&stack.name, elements, true);
        }
        Ok(())
    }

    fn add_stack(&mut self, name: &str, elements: Vec<u32>, of_unions: bool) {
        let next = self.word();
        self.stack_names.insert(name.to_owned(), self.stacks.len() as u32);
        self.stacks.push(Stack { elements, of_unions, next });
    }

    fn resolve_ids(&self, ids: &[u64], place: &str) -> Result<Vec<u32>> {
        ids.iter()
            .map(|id| {
                let header = self.header_ids.get(id).copied();
                header
                    .filter(|&header| !self.metadata[header as usize])
                    .ok_or_else(|| CompileError::new(place, format!("there is no header with id {id}")))
            })
            .collect()
    }

    pub fn header(&self, name: &str, place: &str) -> Result<u32> {
        self.header_names.get(name).copied().ok_or_else(|| unknown(place, "header", name))
    }

    pub fn stack(&self, name: &str, place: &str) -> Result<u32> {
        self.stack_names.get(name).copied().ok_or_else(|| unknown(place, "header stack", name))
    }

    pub fn union(&self, name: &str, place: &str) -> Result<u32> {
        self.union_names.get(name).copied().ok_or_else(|| unknown(place, "header union", name))
    }

    /// Returns a field of a header by name; `$valid$` is the header's validity.
    pub fn field_of(&self, header: u32, name: &str) -> Option<Field> {
        if name == "$valid$" {
            let word = self.headers[header as usize].valid;
            return Some(Field {
                place: Place::Word { word, bits: 1, signed: false },
                bits: 1,
                signed: false,
            });
        }
        self.field_position(header, name).map(|position| self.fields[header as usize][position])
    }

    pub fn field_position(&self, header: u32, name: &str) -> Option<usize> {
        let kind = &self.types[self.header_types[header as usize]];
        kind.fields.iter().position(|field| field.name == name)
    }

    /// `[header, field]`.
    pub fn field(&self, header: &str, name: &str, place: &str) -> Result<Field> {
        self.field_of(self.header(header, place)?, name)
            .ok_or_else(|| unknown(place, "field", &format!("{header}.{name}")))
    }
}
