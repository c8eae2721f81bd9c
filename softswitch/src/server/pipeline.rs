//! A forwarding pipeline with the entities that controllers wrote: what they are told of when they read.

use std::collections::BTreeMap;
use std::sync::Arc;

use inart_p4runtime::Schema;
use inart_p4runtime::p4::v1::entity::Entity as Kind;
use inart_p4runtime::p4::v1::packet_replication_engine_entry::Type as Pre;
use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, CounterData, DigestEntry, Entity,
    ForwardingPipelineConfig, MeterConfig, MulticastGroupEntry, TableEntry, Update, ValueSetEntry,
};
use tonic::Status;

use super::check::{invalid, known};
use super::clock::Clock;
use super::digests::Digests;
use super::plane::Plane;
use super::tables::Entries;
use super::verify::Verified;

/// A pipeline on a switch.
pub(super) struct Pipeline {
    pub schema: Arc<Schema>,
    /// As the controller sent it.
    pub config: ForwardingPipelineConfig,
    pub plane: Plane,
    pub clock: Clock,
    /// By table id.
    pub tables: BTreeMap<u32, Entries>,
    /// By ids of profile and member.
    pub members: BTreeMap<(u32, u32), ActionProfileMember>,
    /// By ids of profile and group.
    pub groups: BTreeMap<(u32, u32), ActionProfileGroup>,
    pub multicast: BTreeMap<u32, MulticastGroupEntry>,
    pub clones: BTreeMap<u32, CloneSessionEntry>,
    pub value_sets: BTreeMap<u32, ValueSetEntry>,
    pub digests: Digests,
}

impl Pipeline {
    /// Makes a pipeline ready on a switch of its own, in the program's initial state.
    pub fn stage(verified: Verified, clock: Clock) -> Result<Self, Status> {
        let mut pipeline = Self {
            schema: Arc::new(verified.schema),
            config: verified.config,
            plane: Plane::detached(verified.program)?,
            clock,
            tables: BTreeMap::new(),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            multicast: BTreeMap::new(),
            clones: BTreeMap::new(),
            value_sets: BTreeMap::new(),
            digests: Digests::default(),
        };
        pipeline.adopt_initial_entries()?;
        Ok(pipeline)
    }

    /// Makes a pipeline ready that has all that `old` holds. Refuses when the new program has no place for some of it.
    pub fn reconcile(old: &Pipeline, verified: Verified) -> Result<Self, Status> {
        let mut pipeline = Self::stage(verified, old.clock)?;
        pipeline.drop_initial_entries()?;
        for update in old.history()? {
            pipeline.write(&update).map_err(|status| {
                invalid(format!(
                    "the new pipeline cannot keep {}: {}; delete it first or use VERIFY_AND_COMMIT",
                    update.describe(Some(&old.schema)),
                    status.message()
                ))
            })?;
        }
        pipeline.copy_registers(old)?;
        Ok(pipeline)
    }

    /// Lets packets run through this pipeline from now on.
    pub fn commit(mut self, plane: &Plane) -> Self {
        plane.take_over(std::mem::replace(&mut self.plane, plane.clone()));
        self
    }

    /// Applies one update.
    pub fn write(&mut self, update: &Update) -> Result<(), Status> {
        let kind = match update.r#type() {
            Type::Unspecified => return Err(invalid("the update is neither INSERT, MODIFY nor DELETE")),
            kind => kind,
        };
        match update.entity.as_ref().and_then(|entity| entity.entity.as_ref()) {
            None => Err(invalid("the update has no entity")),
            Some(Kind::TableEntry(entry)) => self.write_table(kind, entry),
            Some(Kind::ActionProfileMember(member)) => self.write_member(kind, member),
            Some(Kind::ActionProfileGroup(group)) => self.write_group(kind, group),
            Some(Kind::MeterEntry(entry)) => self.write_meter(kind, entry),
            Some(Kind::DirectMeterEntry(entry)) => self.write_direct_meter(kind, entry),
            Some(Kind::CounterEntry(entry)) => self.write_counter(kind, entry),
            Some(Kind::DirectCounterEntry(entry)) => self.write_direct_counter(kind, entry),
            Some(Kind::PacketReplicationEngineEntry(entry)) => self.write_replication(kind, entry),
            Some(Kind::ValueSetEntry(entry)) => self.write_value_set(kind, entry),
            Some(Kind::RegisterEntry(entry)) => self.write_register(kind, entry),
            Some(Kind::DigestEntry(entry)) => {
                let name = known(self.schema.digest_by_id(entry.digest_id))?.short_name();
                self.digests.configure(kind, entry, name)
            }
            Some(Kind::ExternEntry(entry)) => Err(no_extern(entry.extern_type_id)),
        }
    }

    /// Reads the entities that a filter selects.
    pub fn read(&self, filter: &Entity) -> Result<Vec<Entity>, Status> {
        fn all<T: Into<Entity>>(found: Vec<T>) -> Vec<Entity> {
            found.into_iter().map(Into::into).collect()
        }
        Ok(match &filter.entity {
            None => return Err(invalid("the filter has no entity: say what to read")),
            Some(Kind::TableEntry(entry)) => all(self.read_table(entry)?),
            Some(Kind::ActionProfileMember(member)) => all(self.read_member(member)?),
            Some(Kind::ActionProfileGroup(group)) => all(self.read_group(group)?),
            Some(Kind::MeterEntry(entry)) => all(self.read_meter(entry)?),
            Some(Kind::DirectMeterEntry(entry)) => all(self.read_direct_meter(entry)?),
            Some(Kind::CounterEntry(entry)) => all(self.read_counter(entry)?),
            Some(Kind::DirectCounterEntry(entry)) => all(self.read_direct_counter(entry)?),
            Some(Kind::PacketReplicationEngineEntry(entry)) => all(self.read_replication(entry)?),
            Some(Kind::ValueSetEntry(entry)) => all(self.read_value_set(entry)?),
            Some(Kind::RegisterEntry(entry)) => all(self.read_register(entry)?),
            Some(Kind::DigestEntry(entry)) => {
                if entry.digest_id != 0 {
                    known(self.schema.digest_by_id(entry.digest_id))?;
                }
                all(self.digests.read(entry.digest_id))
            }
            // Nothing of ours is an extern, so reading all of them finds none.
            Some(Kind::ExternEntry(entry)) if entry.extern_type_id == 0 => Vec::new(),
            Some(Kind::ExternEntry(entry)) => return Err(no_extern(entry.extern_type_id)),
        })
    }

    /// The updates that lead from an empty pipeline to this one, without registers.
    fn history(&self) -> Result<Vec<Update>, Status> {
        let with_direct = TableEntry {
            counter_data: Some(CounterData::default()),
            meter_config: Some(MeterConfig::default()),
            ..Default::default()
        };
        let entries = self.read_table(&with_direct)?.into_iter().filter(|entry| !entry.is_const);
        let defaults = self.tables.values().filter_map(|entries| entries.default.clone());
        let multicast = self.multicast.values().cloned();
        let clones = self.clones.values().cloned();
        let inserts = (self.members.values().cloned().map(Entity::from))
            .chain(self.groups.values().cloned().map(Into::into))
            .chain(entries.map(Into::into))
            .chain(multicast.map(Into::into))
            .chain(clones.map(Into::into))
            .chain(self.digests.read(0).into_iter().map(|entry: DigestEntry| entry.into()));
        let modifies = (defaults.map(Entity::from))
            .chain(self.value_sets.values().cloned().map(Into::into))
            .chain(self.read_counter(&Default::default())?.into_iter().map(Into::into))
            .chain(self.read_meter(&Default::default())?.into_iter().map(Into::into));
        Ok(inserts.map(Update::insert).chain(modifies.map(Update::modify)).collect())
    }

    fn drop_initial_entries(&mut self) -> Result<(), Status> {
        let initial = self.tables.values().flat_map(|entries| entries.by_key.values());
        let initial: Vec<_> =
            initial.map(|stored| stored.entry.clone()).filter(|entry| !entry.is_const).collect();
        initial.iter().try_for_each(|entry| self.write_table(Type::Delete, entry))
    }

    /// Copies the registers that both programs have in the same shape; others start at zero.
    fn copy_registers(&mut self, old: &Pipeline) -> Result<(), Status> {
        let schema = self.schema.clone();
        let (mut from, mut to) = (old.plane.lock(), self.plane.lock());
        for register in &schema.info().registers {
            let name = register.full_name();
            let same = old
                .schema
                .register(name)
                .is_ok_and(|before| (before.size, &before.type_spec) == (register.size, &register.type_spec));
            for cell in 0..if same { register.size.max(0) as usize } else { 0 } {
                let value = from.register(name, cell)?;
                if value != [0] {
                    to.set_register(name, cell, &value)?;
                }
            }
        }
        Ok(())
    }

    /// Applies a batch whole or not at all: at the first failure what was done is undone, in reverse.
    pub fn write_or_roll_back(&mut self, updates: &[Update]) -> Vec<Result<(), Status>> {
        let mut undo = Vec::with_capacity(updates.len());
        for (index, update) in updates.iter().enumerate() {
            let done = self.inverse(update).and_then(|inverse| self.write(update).map(|()| inverse));
            match done {
                Ok(inverse) => undo.push(inverse),
                Err(failure) => {
                    for inverse in undo.iter().rev().flatten() {
                        if let Err(status) = self.write(inverse) {
                            tracing::error!(%status, "an update could not be undone");
                        }
                    }
                    let aborted = || Err(Status::aborted("undone: another update of the batch failed"));
                    let mut results: Vec<_> = updates.iter().map(|_| aborted()).collect();
                    results[index] = Err(failure);
                    return results;
                }
            }
        }
        updates.iter().map(|_| Ok(())).collect()
    }

    /// The updates that take one back, in the present state.
    fn inverse(&self, update: &Update) -> Result<Vec<Update>, Status> {
        let Some(entity) = &update.entity else { return Ok(Vec::new()) };
        if update.r#type() == Type::Insert {
            return Ok(vec![Update::delete(entity.clone())]);
        }
        let before = self.read(&whole(entity))?;
        let again = if update.r#type() == Type::Delete { Update::insert } else { Update::modify };
        Ok(before.into_iter().map(again).collect())
    }
}

/// The filter for an entity's present state, with all that belongs to it.
fn whole(entity: &Entity) -> Entity {
    let mut filter = entity.clone();
    match &mut filter.entity {
        Some(Kind::TableEntry(entry)) => {
            *entry = TableEntry {
                table_id: entry.table_id,
                r#match: std::mem::take(&mut entry.r#match),
                priority: entry.priority,
                is_default_action: entry.is_default_action,
                counter_data: Some(CounterData::default()).filter(|_| !entry.is_default_action),
                meter_config: Some(MeterConfig::default()).filter(|_| !entry.is_default_action),
                ..Default::default()
            };
        }
        Some(Kind::PacketReplicationEngineEntry(entry)) => match &mut entry.r#type {
            Some(Pre::MulticastGroupEntry(group)) => group.replicas.clear(),
            Some(Pre::CloneSessionEntry(session)) => session.replicas.clear(),
            None => {}
        },
        Some(Kind::ValueSetEntry(entry)) => entry.members.clear(),
        _ => {}
    }
    filter
}

fn no_extern(id: u32) -> Status {
    Status::unimplemented(format!("this switch has no externs of its own, such as type {id}"))
}
