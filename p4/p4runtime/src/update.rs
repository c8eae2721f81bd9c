//! Updates and entities: constructors, and names for messages.

use crate::p4::v1::{self, entity, packet_replication_engine_entry as pre, replica, update};
use crate::schema::Schema;
use crate::value::Value;

macro_rules! entities {
    ($($variant:ident, $type:ty;)*) => {$(
        impl From<$type> for v1::Entity {
            fn from(entry: $type) -> Self {
                Self { entity: Some(entity::Entity::$variant(entry)) }
            }
        }
    )*};
}

entities! {
    TableEntry, v1::TableEntry;
    ActionProfileMember, v1::ActionProfileMember;
    ActionProfileGroup, v1::ActionProfileGroup;
    MeterEntry, v1::MeterEntry;
    DirectMeterEntry, v1::DirectMeterEntry;
    CounterEntry, v1::CounterEntry;
    DirectCounterEntry, v1::DirectCounterEntry;
    PacketReplicationEngineEntry, v1::PacketReplicationEngineEntry;
    ValueSetEntry, v1::ValueSetEntry;
    RegisterEntry, v1::RegisterEntry;
    DigestEntry, v1::DigestEntry;
}

impl From<v1::MulticastGroupEntry> for v1::Entity {
    fn from(entry: v1::MulticastGroupEntry) -> Self {
        v1::PacketReplicationEngineEntry { r#type: Some(pre::Type::MulticastGroupEntry(entry)) }.into()
    }
}

impl From<v1::CloneSessionEntry> for v1::Entity {
    fn from(entry: v1::CloneSessionEntry) -> Self {
        v1::PacketReplicationEngineEntry { r#type: Some(pre::Type::CloneSessionEntry(entry)) }.into()
    }
}

impl From<v1::Action> for v1::TableAction {
    fn from(action: v1::Action) -> Self {
        v1::table_action::Type::Action(action).into()
    }
}

impl From<v1::table_action::Type> for v1::TableAction {
    fn from(kind: v1::table_action::Type) -> Self {
        Self { r#type: Some(kind) }
    }
}

impl v1::Update {
    /// Adds an entity that must not be there yet.
    pub fn insert(entity: impl Into<v1::Entity>) -> Self {
        Self { r#type: update::Type::Insert.into(), entity: Some(entity.into()) }
    }

    /// Changes an entity that must be there.
    pub fn modify(entity: impl Into<v1::Entity>) -> Self {
        Self { r#type: update::Type::Modify.into(), entity: Some(entity.into()) }
    }

    /// Removes an entity that must be there; only its key counts.
    pub fn delete(entity: impl Into<v1::Entity>) -> Self {
        Self { r#type: update::Type::Delete.into(), entity: Some(entity.into()) }
    }

    /// Returns one line for messages: `insert steer[plan_version=1] -> refuse()`.
    pub fn describe(&self, schema: Option<&Schema>) -> String {
        let verb = self.r#type().as_str_name().to_lowercase();
        match &self.entity {
            Some(entity) => format!("{verb} {}", entity.describe(schema)),
            None => format!("{verb} nothing"),
        }
    }
}

impl v1::Entity {
    /// Returns one line for messages, in the program's names where they are known.
    pub fn describe(&self, schema: Option<&Schema>) -> String {
        use entity::Entity;
        let name = |what: &str, id: u32| match schema.and_then(|schema| schema.name_of(id)) {
            Some((_, name)) => name.to_owned(),
            None => format!("{what} {id}"),
        };
        let at =
            |index: Option<v1::Index>| index.map_or("[*]".to_owned(), |index| format!("[{}]", index.index));
        let table = |entry: &v1::TableEntry| match schema.map(|schema| schema.decode(entry)) {
            Some(Ok(entry)) => entry.to_string(),
            _ => format!("entry of {}", name("table", entry.table_id)),
        };
        match &self.entity {
            None => "an empty entity".to_owned(),
            Some(Entity::ExternEntry(entry)) => format!("extern {}", entry.extern_id),
            Some(Entity::TableEntry(entry)) => table(entry),
            Some(Entity::ActionProfileMember(member)) => {
                format!("member {} of {}", member.member_id, name("action profile", member.action_profile_id))
            }
            Some(Entity::ActionProfileGroup(group)) => {
                format!("group {} of {}", group.group_id, name("action profile", group.action_profile_id))
            }
            Some(Entity::MeterEntry(entry)) => name("meter", entry.meter_id) + &at(entry.index),
            Some(Entity::DirectMeterEntry(entry)) => match &entry.table_entry {
                Some(entry) => format!("meter of {}", table(entry)),
                None => "direct meter".to_owned(),
            },
            Some(Entity::CounterEntry(entry)) => name("counter", entry.counter_id) + &at(entry.index),
            Some(Entity::DirectCounterEntry(entry)) => match &entry.table_entry {
                Some(entry) => format!("counter of {}", table(entry)),
                None => "direct counter".to_owned(),
            },
            Some(Entity::PacketReplicationEngineEntry(entry)) => match &entry.r#type {
                Some(pre::Type::MulticastGroupEntry(group)) => {
                    format!("multicast group {}", group.multicast_group_id)
                }
                Some(pre::Type::CloneSessionEntry(session)) => {
                    format!("clone session {}", session.session_id)
                }
                None => "empty replication entry".to_owned(),
            },
            Some(Entity::ValueSetEntry(entry)) => name("value set", entry.value_set_id),
            Some(Entity::RegisterEntry(entry)) => name("register", entry.register_id) + &at(entry.index),
            Some(Entity::DigestEntry(entry)) => format!("digest {}", name("digest", entry.digest_id)),
        }
    }
}

impl v1::Replica {
    /// Creates a copy out of a port.
    pub fn new(port: u32, instance: u32) -> Self {
        let port = Value::from(port).as_bytes().to_vec();
        Self { port_kind: Some(replica::PortKind::Port(port)), instance }
    }

    /// Returns the port, however it is written; `None` if it is not set or does not fit 32 bits.
    pub fn port_number(&self) -> Option<u32> {
        #[allow(deprecated)]
        match self.port_kind.as_ref()? {
            replica::PortKind::EgressPort(port) => Some(*port),
            replica::PortKind::Port(port) => Value::from_bytes(port).ok()?.to_u64()?.try_into().ok(),
        }
    }
}

impl v1::MulticastGroupEntry {
    /// Creates a group that copies a packet to each (port, instance).
    pub fn new(id: u32, replicas: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let replicas =
            replicas.into_iter().map(|(port, instance)| v1::Replica::new(port, instance)).collect();
        Self { multicast_group_id: id, replicas, ..Default::default() }
    }
}
