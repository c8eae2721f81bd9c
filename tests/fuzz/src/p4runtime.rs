//! P4Runtime messages: any bytes are rejected, or updates and reads of a pipeline, which keeps its
//! guarantees: inserted entries are read back, and entries that were read can be deleted until none is left.

use std::cell::RefCell;

use arbitrary::{Result, Unstructured};
use inart_p4runtime::Schema;
use inart_p4runtime::p4::v1::entity::Entity as Kind;
use inart_p4runtime::p4::v1::{
    Action, Entity, FieldMatch, ForwardingPipelineConfig, StreamMessageRequest, TableAction, TableEntry,
    Update, WriteRequest, action, field_match, table_action, update,
};
use inart_switch::server::Messages;
use prost::Message;

const JSON: &[u8] = include_bytes!("../programs/small.json");
const P4INFO: &str = include_str!("../programs/small.txtpb");

struct Loaded {
    pipeline: Messages,
    schema: Schema,
}

thread_local! {
    static LOADED: RefCell<Loaded> = RefCell::new(loaded());
}

fn loaded() -> Loaded {
    let schema = Schema::from_text(P4INFO).expect("p4c printed P4Info");
    let config = ForwardingPipelineConfig {
        p4info: Some(schema.info().clone()),
        p4_device_config: JSON.to_vec(),
        cookie: None,
    };
    Loaded { pipeline: Messages::new(config).expect("the program loads"), schema }
}

/// See the module.
pub fn run(bytes: &[u8]) {
    let Some((mode, rest)) = bytes.split_first() else { return };
    let _ = StreamMessageRequest::decode(rest);
    LOADED.with_borrow_mut(|loaded| {
        let updates = match mode & 1 {
            0 => WriteRequest::decode(rest).map(|request| request.updates).unwrap_or_default(),
            _ => loaded.updates(&mut Unstructured::new(rest)),
        };
        for update in &updates {
            loaded.write(update);
        }
        loaded.clear();
    });
}

impl Loaded {
    /// Updates that are nearly right.
    fn updates(&self, input: &mut Unstructured) -> Vec<Update> {
        let mut updates = Vec::new();
        while !input.is_empty() {
            let Ok(entry) = self.table_entry(input) else { break };
            let kind = input.int_in_range(0..=3).unwrap_or(1);
            updates.push(Update {
                r#type: kind,
                entity: Some(Entity { entity: Some(Kind::TableEntry(entry)) }),
            });
        }
        updates
    }

    fn table_entry(&self, input: &mut Unstructured) -> Result<TableEntry> {
        let info = self.schema.info();
        let table = input.choose(&info.tables)?;
        let mut matches = Vec::new();
        for field in &table.match_fields {
            if input.ratio(1, 8)? {
                continue;
            }
            let kind = match input.int_in_range(0..=5)? {
                0..=2 => self.fitting(field.bitwidth, field.r#match.as_ref(), input)?,
                3 => field_match::FieldMatchType::Exact(field_match::Exact { value: bytes(input)? }),
                4 => field_match::FieldMatchType::Optional(field_match::Optional { value: bytes(input)? }),
                _ => field_match::FieldMatchType::Range(field_match::Range {
                    low: bytes(input)?,
                    high: bytes(input)?,
                }),
            };
            matches.push(FieldMatch { field_id: field.id, field_match_type: Some(kind) });
        }
        let chosen = input.choose(&info.actions)?;
        let param = |param: &inart_p4runtime::p4::config::v1::action::Param, input: &mut Unstructured| {
            Ok(action::Param { param_id: param.id, value: bytes(input)? })
        };
        let params = chosen.params.iter().map(|of| param(of, input)).collect::<Result<_>>()?;
        let call = Action { action_id: chosen.preamble.as_ref().map_or(0, |preamble| preamble.id), params };
        Ok(TableEntry {
            table_id: table.preamble.as_ref().map_or(0, |preamble| preamble.id),
            r#match: matches,
            action: Some(TableAction { r#type: Some(table_action::Type::Action(call)) }),
            priority: input.int_in_range(-1..=3)?,
            is_default_action: input.ratio(1, 8)?,
            ..Default::default()
        })
    }

    fn fitting(
        &self,
        width: i32,
        kind: Option<&inart_p4runtime::p4::config::v1::match_field::Match>,
        input: &mut Unstructured,
    ) -> Result<field_match::FieldMatchType> {
        use inart_p4runtime::p4::config::v1::match_field::{Match, MatchType};
        let value = bytes(input)?;
        Ok(match kind {
            Some(Match::MatchType(kind)) if *kind == MatchType::Lpm as i32 => {
                field_match::FieldMatchType::Lpm(field_match::Lpm {
                    value,
                    prefix_len: input.int_in_range(-1..=width + 1)?,
                })
            }
            Some(Match::MatchType(kind)) if *kind == MatchType::Ternary as i32 => {
                let mask = bytes(input)?;
                let value = value.iter().zip(&mask).map(|(value, mask)| value & mask).collect();
                field_match::FieldMatchType::Ternary(field_match::Ternary { value, mask })
            }
            _ => field_match::FieldMatchType::Exact(field_match::Exact { value }),
        })
    }

    fn write(&mut self, update: &Update) {
        let _ = update.describe(Some(&self.schema));
        let done = self.pipeline.write(update);
        let Some(entity) = &update.entity else { return };
        let _ = self.pipeline.read(entity);
        let Some(Kind::TableEntry(entry)) = &entity.entity else { return };
        let _ = self.schema.decode(entry);
        if done.is_ok() && update.r#type == update::Type::Insert as i32 {
            let found = self.pipeline.read(entity).expect("an inserted entity can be read");
            // Without any match it is also the filter that selects every entry of its priority.
            assert!(found.len() == 1 || entry.r#match.is_empty(), "an entry is there once: {found:?}");
            let Some(Entity { entity: Some(Kind::TableEntry(found)) }) = found.first() else {
                panic!("an entry that was inserted is not there: {entry:?}");
            };
            let decoded = self.schema.decode(found).expect("an accepted entry can be decoded");
            let again = self.schema.encode(&decoded).expect("a decoded entry can be encoded");
            assert_eq!(self.schema.decode(&again).as_ref(), Ok(&decoded));
        }
    }

    /// Deletes all that can be read.
    fn clear(&mut self) {
        let entities = self.read_all();
        for entity in entities {
            let default = matches!(&entity.entity, Some(Kind::TableEntry(entry)) if entry.is_default_action);
            let undo = match entity.entity {
                Some(Kind::TableEntry(entry)) if default => {
                    Update::modify(TableEntry { action: None, ..entry })
                }
                Some(entity) => Update::delete(Entity { entity: Some(entity) }),
                None => continue,
            };
            self.pipeline
                .write(&undo)
                .unwrap_or_else(|status| panic!("a read entity can be deleted: {status}"));
        }
        let left = self.read_all();
        assert!(left.is_empty(), "deleted, and still there: {left:?}");
    }

    fn read_all(&self) -> Vec<Entity> {
        use inart_p4runtime::p4::v1::packet_replication_engine_entry::Type as Pre;
        use inart_p4runtime::p4::v1::{CloneSessionEntry, MulticastGroupEntry, PacketReplicationEngineEntry};
        let replication =
            |of| Kind::PacketReplicationEngineEntry(PacketReplicationEngineEntry { r#type: Some(of) });
        let filters = [
            Kind::TableEntry(TableEntry::default()),
            replication(Pre::MulticastGroupEntry(MulticastGroupEntry::default())),
            replication(Pre::CloneSessionEntry(CloneSessionEntry::default())),
        ];
        let read = |kind| self.pipeline.read(&Entity { entity: Some(kind) }).expect("everything can be read");
        filters.into_iter().flat_map(read).collect()
    }
}

/// Up to six bytes: wider than most fields.
fn bytes(input: &mut Unstructured) -> Result<Vec<u8>> {
    let length = input.int_in_range(0..=6)?;
    Ok(input.bytes(length)?.to_vec())
}
