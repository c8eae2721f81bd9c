//! Objects that names stand for, and the locations of their parts.

use std::rc::Rc;

use serde_json::json;

use super::types::{Type, Types};
use crate::error::Result;
use crate::json::{Document, Header, HeaderType, Stack};
use crate::p4ir::Node;

/// Fields that all instances of structs together may have.
const MAX_FIELDS: usize = 1 << 18;

/// A variable, a parameter, or a part of one.
#[derive(Debug, Clone)]
pub(super) enum Thing<'v> {
    /// A field of the document.
    Value {
        header: Rc<str>,
        field: Rc<str>,
        ty: Type<'v>,
    },
    Header {
        name: Rc<str>,
        ty: Node<'v>,
    },
    Stack {
        name: Rc<str>,
        ty: Node<'v>,
    },
    Struct(Rc<Vec<(&'v str, Thing<'v>)>>),
    /// A parameter of the action that is being lowered.
    Param {
        index: usize,
        ty: Type<'v>,
    },
    /// The packet, an extern, a table: it has no value.
    Nothing,
}

impl<'v> Thing<'v> {
    /// Returns a part of a struct.
    pub fn part(&self, name: &str) -> Option<Thing<'v>> {
        match self {
            Thing::Struct(parts) => parts.iter().find(|part| part.0 == name).map(|part| part.1.clone()),
            _ => None,
        }
    }
}

/// Puts instances into a document.
pub(super) struct Declarer<'t, 'v> {
    pub types: &'t Types<'v>,
    pub document: &'t mut Document,
    fields: usize,
}

impl<'t, 'v> Declarer<'t, 'v> {
    pub fn new(types: &'t Types<'v>, document: &'t mut Document) -> Declarer<'t, 'v> {
        Declarer { types, document, fields: 0 }
    }

    /// Makes room for an instance of a type. Values are fields of the metadata `pool`.
    ///
    /// # Errors
    /// For a type that cannot have instances, or too many of them.
    pub fn instance(&mut self, pool: &Rc<str>, path: &str, ty: Type<'v>, at: Node<'v>) -> Result<Thing<'v>> {
        self.fields += 1;
        if self.fields > MAX_FIELDS {
            return Err(at.problem(format!("the program has more than {MAX_FIELDS} fields")));
        }
        Ok(match ty {
            Type::Bits { .. } | Type::Bool => {
                self.value(pool, path, ty);
                Thing::Value { header: Rc::clone(pool), field: path.into(), ty }
            }
            Type::Header(node) => {
                let name = format!("{pool}.{path}");
                self.header(&name, node)?;
                Thing::Header { name: name.into(), ty: node }
            }
            Type::Stack(node, size) => {
                let name = format!("{pool}.{path}");
                let ids = (0..size)
                    .map(|index| self.header(&format!("{name}[{index}]"), node))
                    .collect::<Result<Vec<_>>>()?;
                self.document.header_stacks.push(Stack { name: name.clone(), header_ids: ids });
                Thing::Stack { name: name.into(), ty: node }
            }
            Type::Struct(node) => {
                let parts = self.types.fields(node)?.into_iter();
                let parts = parts
                    .map(|(name, ty)| Ok((name, self.instance(pool, &format!("{path}.{name}"), ty, node)?)))
                    .collect::<Result<Vec<_>>>()?;
                Thing::Struct(Rc::new(parts))
            }
            Type::Varbit(_) | Type::Int => {
                return Err(at.problem("a value of this type is supported in headers and constants only"));
            }
            Type::Other => Thing::Nothing,
        })
    }

    fn value(&mut self, pool: &str, path: &str, ty: Type<'v>) {
        let (bits, signed) = ty.scalar().unwrap_or((1, false));
        let kind = match self.document.header_types.iter().position(|known| known.name == pool) {
            Some(kind) => kind,
            None => {
                self.document.header_types.push(HeaderType {
                    name: pool.to_owned(),
                    fields: Vec::new(),
                    max_length: None,
                });
                let id = self.document.headers.len() as u64;
                let (name, header_type) = (pool.to_owned(), pool.to_owned());
                self.document.headers.push(Header { name, id, header_type, metadata: true });
                self.document.header_types.len() - 1
            }
        };
        self.document.header_types[kind].fields.push(vec![json!(path), json!(bits), json!(signed)]);
    }

    /// Declares a header; its id.
    fn header(&mut self, name: &str, node: Node<'v>) -> Result<u64> {
        let kind = format!("header {}", node.name());
        if self.document.header_types.iter().all(|known| known.name != kind) {
            let (mut fields, mut max_length, mut fixed) = (Vec::new(), None, 0);
            for (field, ty) in self.types.fields(node)? {
                fields.push(match ty {
                    Type::Bits { bits, signed } => {
                        fixed += bits;
                        vec![json!(field), json!(bits), json!(signed)]
                    }
                    Type::Bool => {
                        fixed += 1;
                        vec![json!(field), json!(1), json!(false)]
                    }
                    Type::Varbit(bits) => {
                        max_length = Some(bits.div_ceil(8));
                        vec![json!(field), json!("*")]
                    }
                    _ => return Err(node.problem(format!("field {field:?}: a header holds numbers only"))),
                });
            }
            // The bound is of the whole header.
            let max_length = max_length.map(|bytes| bytes + fixed / 8);
            self.document.header_types.push(HeaderType { name: kind.clone(), fields, max_length });
        }
        let id = self.document.headers.len() as u64;
        let name = name.to_owned();
        self.document.headers.push(Header { name, id, header_type: kind, metadata: false });
        Ok(id)
    }
}
