//! Names of a program's P4Info: lookups by name, alias and number.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};

use crate::p4::config::v1::{
    Action, ActionProfile, ControllerPacketMetadata, Counter, Digest, DirectCounter, DirectMeter, MatchField,
    Meter, P4Info, Preamble, Register, Table, ValueSet, action,
};

/// The kinds of named object in a P4Info.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    Table,
    Action,
    ActionProfile,
    Counter,
    DirectCounter,
    Meter,
    DirectMeter,
    ControllerHeader,
    ValueSet,
    Register,
    Digest,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Table => "table",
            Kind::Action => "action",
            Kind::ActionProfile => "action profile",
            Kind::Counter => "counter",
            Kind::DirectCounter => "direct counter",
            Kind::Meter => "meter",
            Kind::DirectMeter => "direct meter",
            Kind::ControllerHeader => "controller packet header",
            Kind::ValueSet => "value set",
            Kind::Register => "register",
            Kind::Digest => "digest",
        })
    }
}

/// Reason that a P4Info cannot be read, or lacks a name or number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The text is not a P4Info in protocol buffer text format.
    #[error("not a P4Info in text format: {0}")]
    Text(String),
    /// The bytes are not a binary P4Info.
    #[error("not a binary P4Info: {0}")]
    Binary(String),
    /// An object without a number or name, or two with the same.
    #[error("the P4Info is inconsistent: {0}")]
    Inconsistent(String),
    /// No object of this kind has this name or alias.
    #[error("{owner} has no {what} \"{name}\"{}", did_you_mean(.nearest))]
    NoName {
        /// Owner of the requested object: "the program", or its table, action or header.
        owner: String,
        /// Kind of the requested object.
        what: String,
        /// Requested name.
        name: String,
        /// The most similar name there is.
        nearest: Option<String>,
    },
    /// No object of this kind has this number.
    #[error("{owner} has no {what} with id {id} (0x{id:08x})")]
    NoId {
        /// Owner of the requested object: "the program", or its table, action or header.
        owner: String,
        /// Kind of the requested object.
        what: String,
        /// Requested number.
        id: u32,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

pub(crate) fn no_name<'a>(
    owner: impl fmt::Display,
    what: impl fmt::Display,
    name: &str,
    all: impl Iterator<Item = &'a str>,
) -> SchemaError {
    let nearest = all
        .map(|known| (strsim::jaro_winkler(&known.to_lowercase(), &name.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned());
    SchemaError::NoName { owner: owner.to_string(), what: what.to_string(), name: name.to_owned(), nearest }
}

pub(crate) fn no_id(owner: impl fmt::Display, what: impl fmt::Display, id: u32) -> SchemaError {
    SchemaError::NoId { owner: owner.to_string(), what: what.to_string(), id }
}

/// A program's P4Info, indexed. Objects are found by full name (`InArtIngress.steer`) or alias (`steer`).
#[derive(Debug, Clone)]
pub struct Schema {
    info: P4Info,
    by_id: HashMap<u32, (Kind, usize)>,
    by_name: HashMap<(Kind, String), usize>,
}

fn descriptor() -> &'static MessageDescriptor {
    static DESCRIPTOR: OnceLock<MessageDescriptor> = OnceLock::new();
    DESCRIPTOR.get_or_init(|| {
        DescriptorPool::decode(crate::FILE_DESCRIPTOR_SET)
            .expect("the build script wrote these descriptors")
            .get_message_by_name("p4.config.v1.P4Info")
            .expect("p4info.proto defines P4Info")
    })
}

impl Schema {
    /// Indexes a P4Info; rejects one in which a number or a name of a kind is missing or used twice.
    ///
    /// # Errors
    /// [`SchemaError`] names the object whose number or name is missing or used twice.
    pub fn new(info: P4Info) -> Result<Self, SchemaError> {
        let mut schema = Self { info, by_id: HashMap::new(), by_name: HashMap::new() };
        for (kind, position, preamble) in preambles(&schema.info) {
            let Some(Preamble { id, name, alias, .. }) = preamble else {
                return Err(SchemaError::Inconsistent(format!("{kind} number {position} has no preamble")));
            };
            if *id == 0 || name.is_empty() {
                return Err(SchemaError::Inconsistent(format!("{kind} \"{name}\" has id {id}")));
            }
            if schema.by_id.insert(*id, (kind, position)).is_some() {
                return Err(SchemaError::Inconsistent(format!(
                    "id {id} of {kind} {name} belongs to another object as well"
                )));
            }
            if schema.by_name.insert((kind, name.clone()), position).is_some_and(|other| other != position) {
                return Err(SchemaError::Inconsistent(format!("two objects are called {kind} {name}")));
            }
            schema.by_name.entry((kind, alias.clone())).or_insert(position);
        }
        Ok(schema)
    }

    /// Reads the text format that p4c prints (`.txtpb`).
    ///
    /// # Errors
    /// [`SchemaError`] for text that is no P4Info, or one that [`Schema::new`] refuses.
    pub fn from_text(text: &str) -> Result<Self, SchemaError> {
        let message = DynamicMessage::parse_text_format(descriptor().clone(), text)
            .map_err(|error| SchemaError::Text(error.to_string()))?;
        Self::new(message.transcode_to().map_err(|error| SchemaError::Text(error.to_string()))?)
    }

    /// Reads the binary format.
    ///
    /// # Errors
    /// [`SchemaError`] for bytes that are no P4Info, or one that [`Schema::new`] refuses.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SchemaError> {
        Self::new(P4Info::decode(bytes).map_err(|error| SchemaError::Binary(error.to_string()))?)
    }

    /// Returns the P4Info itself.
    pub fn info(&self) -> &P4Info {
        &self.info
    }

    /// Returns the kind and the alias of an object, by number: for messages.
    pub fn name_of(&self, id: u32) -> Option<(Kind, &str)> {
        let (kind, position) = *self.by_id.get(&id)?;
        let preamble = preambles(&self.info).find(|(k, p, _)| (*k, *p) == (kind, position))?.2.as_ref()?;
        Some((kind, short_name(preamble)))
    }

    fn position(&self, kind: Kind, name: &str) -> Result<usize, SchemaError> {
        self.by_name.get(&(kind, name.to_owned())).copied().ok_or_else(|| {
            let known = self.by_name.keys().filter(|key| key.0 == kind).map(|key| key.1.as_str());
            no_name("the program", kind, name, known)
        })
    }

    fn position_of_id(&self, kind: Kind, id: u32) -> Result<usize, SchemaError> {
        match self.by_id.get(&id) {
            Some((found, position)) if *found == kind => Ok(*position),
            _ => Err(no_id("the program", kind, id)),
        }
    }
}

/// Returns the alias, or the full name without one.
pub(crate) fn short_name(preamble: &Preamble) -> &str {
    if preamble.alias.is_empty() { &preamble.name } else { &preamble.alias }
}

macro_rules! objects {
    ($($kind:ident, $list:ident, $by_name:ident, $by_id:ident, $type:ty;)*) => {
        fn preambles(info: &P4Info) -> impl Iterator<Item = (Kind, usize, &Option<Preamble>)> {
            std::iter::empty()
                $(.chain(
                    info.$list.iter().enumerate().map(|(at, object)| (Kind::$kind, at, &object.preamble))
                ))*
        }

        impl Schema {
            $(
                #[doc = concat!("Finds one of `", stringify!($list), "` by full name or alias.")]
                ///
                /// # Errors
                /// [`SchemaError`] if no object has that name; it suggests a similar one.
                pub fn $by_name(&self, name: &str) -> Result<&$type, SchemaError> {
                    Ok(&self.info.$list[self.position(Kind::$kind, name)?])
                }

                #[doc = concat!("Finds one of `", stringify!($list), "` by number.")]
                ///
                /// # Errors
                /// [`SchemaError`] if no object has that number.
                pub fn $by_id(&self, id: u32) -> Result<&$type, SchemaError> {
                    Ok(&self.info.$list[self.position_of_id(Kind::$kind, id)?])
                }
            )*
        }

        $(
            impl $type {
                /// Returns the number; indexed objects have one.
                pub fn id(&self) -> u32 {
                    self.preamble.as_ref().map_or(0, |preamble| preamble.id)
                }

                /// Returns the name in full, such as `InArtIngress.steer`.
                pub fn full_name(&self) -> &str {
                    self.preamble.as_ref().map_or("", |preamble| &preamble.name)
                }

                /// Returns the alias, or the full name without one.
                pub fn short_name(&self) -> &str {
                    self.preamble.as_ref().map_or("", short_name)
                }
            }
        )*
    };
}

objects! {
    Table, tables, table, table_by_id, Table;
    Action, actions, action, action_by_id, Action;
    ActionProfile, action_profiles, action_profile, action_profile_by_id, ActionProfile;
    Counter, counters, counter, counter_by_id, Counter;
    DirectCounter, direct_counters, direct_counter, direct_counter_by_id, DirectCounter;
    Meter, meters, meter, meter_by_id, Meter;
    DirectMeter, direct_meters, direct_meter, direct_meter_by_id, DirectMeter;
    ControllerHeader, controller_packet_metadata, controller_header, controller_header_by_id,
        ControllerPacketMetadata;
    ValueSet, value_sets, value_set, value_set_by_id, ValueSet;
    Register, registers, register, register_by_id, Register;
    Digest, digests, digest, digest_by_id, Digest;
}

macro_rules! parts {
    ($(
        $owner:ident, $owner_word:literal, $list:ident, $by_name:ident, $by_id:ident, $what:literal, $type:ty;
    )*) => {$(
        impl $owner {
            #[doc = concat!("Finds a ", $what, " by name.")]
            ///
            /// # Errors
            /// [`SchemaError`] if no object has that name; it suggests a similar one.
            pub fn $by_name(&self, name: &str) -> Result<&$type, SchemaError> {
                self.$list.iter().find(|part| part.name == name).ok_or_else(|| {
                    let owner = format!(concat!($owner_word, " {}"), self.short_name());
                    no_name(owner, $what, name, self.$list.iter().map(|part| part.name.as_str()))
                })
            }

            #[doc = concat!("Finds a ", $what, " by number.")]
            ///
            /// # Errors
            /// [`SchemaError`] if no object has that number.
            pub fn $by_id(&self, id: u32) -> Result<&$type, SchemaError> {
                self.$list
                    .iter()
                    .find(|part| part.id == id)
                    .ok_or_else(|| no_id(format!(concat!($owner_word, " {}"), self.short_name()), $what, id))
            }
        }
    )*};
}

type Metadata = crate::p4::config::v1::controller_packet_metadata::Metadata;

parts! {
    Table, "table", match_fields, match_field, match_field_by_id, "match field", MatchField;
    Action, "action", params, param, param_by_id, "parameter", action::Param;
    ControllerPacketMetadata, "controller packet header", metadata, field, field_by_id, "field", Metadata;
    ValueSet, "value set", r#match, match_field, match_field_by_id, "match field", MatchField;
}
