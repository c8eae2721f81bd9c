//! A forwarding pipeline with the entities that controllers wrote, as they read them.

use std::collections::BTreeMap;
use std::sync::Arc;

use inart_p4runtime::Schema;
use inart_p4runtime::p4::config::v1::Register;
use inart_p4runtime::p4::v1::entity::Entity as Kind;
use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, CounterData, CounterEntry, DigestEntry,
    Entity, ForwardingPipelineConfig, Index, MeterConfig, MeterEntry, MulticastGroupEntry, TableEntry,
    Update, ValueSetEntry,
};
use tonic::Status;

use super::check::{invalid, known};
use super::clock::Clock;
use super::digests::Digests;
use super::entries::Entries;
use super::idle_queue::IdleQueue;
use super::limits;
use super::page::{Page, Position};
use super::plane::Plane;
use super::profile_use::ProfileUse;
use super::room::Room;
use super::verify::Verified;
use crate::Switch;
use crate::switch::Kept;

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
    /// Replicas of all multicast groups and clone sessions.
    pub replicas: usize,
    pub profile_use: ProfileUse,
    pub room: Room,
    pub idle: IdleQueue,
    pub digests: Digests,
    /// Arrays of the pipeline that runs, for when this one takes its place.
    kept: Kept,
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
            replicas: 0,
            profile_use: ProfileUse::default(),
            room: Room::default(),
            idle: IdleQueue::default(),
            digests: Digests::default(),
            kept: Kept::default(),
        };
        pipeline.adopt_initial_entries()?;
        Ok(pipeline)
    }

    /// Makes a pipeline ready that has all that `old` holds. Refuses when the new program has no place for
    /// some of it.
    pub fn reconcile(old: &Pipeline, verified: Verified) -> Result<Self, Status> {
        let mut pipeline = Self::stage(verified, old.clock)?;
        pipeline.drop_initial_entries()?;
        pipeline.kept = pipeline.kept_from(old);
        pipeline.take_over(old)?;
        pipeline.copy_registers(old, || {});
        Ok(pipeline)
    }

    /// Makes packets run through this pipeline from now on.
    pub fn commit(mut self, plane: &Plane) -> Self {
        let ready = std::mem::replace(&mut self.plane, plane.clone());
        plane.take_over(ready, &std::mem::take(&mut self.kept));
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

    /// Reads the entities that a filter selects, from a position on until the page is full. Gives the
    /// position to go on at, if there may be more.
    pub fn read(&self, filter: &Entity, at: Position, page: &mut Page) -> Result<Option<Position>, Status> {
        match &filter.entity {
            None => Err(invalid("the filter has no entity: name one to read")),
            Some(Kind::TableEntry(entry)) => self.read_table(entry, at, page),
            Some(Kind::ActionProfileMember(member)) => self.read_member(member, at, page),
            Some(Kind::ActionProfileGroup(group)) => self.read_group(group, at, page),
            Some(Kind::MeterEntry(entry)) => self.read_meter(entry, at, page),
            Some(Kind::DirectMeterEntry(entry)) => self.read_direct_meter(entry, at, page),
            Some(Kind::CounterEntry(entry)) => self.read_counter(entry, at, page),
            Some(Kind::DirectCounterEntry(entry)) => self.read_direct_counter(entry, at, page),
            Some(Kind::PacketReplicationEngineEntry(entry)) => self.read_replication(entry, at, page),
            Some(Kind::ValueSetEntry(entry)) => self.read_value_set(entry, at, page),
            Some(Kind::RegisterEntry(entry)) => self.read_register(entry, at, page),
            Some(Kind::DigestEntry(entry)) => {
                if entry.digest_id != 0 {
                    known(self.schema.digest_by_id(entry.digest_id))?;
                }
                self.digests.read(entry.digest_id).into_iter().for_each(|digest| page.push(digest));
                Ok(None)
            }
            // Nothing of ours is an extern, so reading all of them finds none.
            Some(Kind::ExternEntry(entry)) if entry.extern_type_id == 0 => Ok(None),
            Some(Kind::ExternEntry(entry)) => Err(no_extern(entry.extern_type_id)),
        }
    }

    /// Hands all entities that a filter selects to `each`, a page at a time.
    pub fn read_all(
        &self,
        filter: &Entity,
        mut each: impl FnMut(Vec<Entity>) -> Result<(), Status>,
    ) -> Result<(), Status> {
        let mut at = Some(Position::Start);
        while let Some(from) = at {
            let mut page = Page::default();
            at = self.read(filter, from, &mut page)?;
            each(page.found)?;
        }
        Ok(())
    }

    /// Writes the entities of another pipeline, without registers.
    fn take_over(&mut self, old: &Pipeline) -> Result<(), Status> {
        let entries = TableEntry {
            counter_data: Some(CounterData::default()),
            meter_config: Some(MeterConfig::default()),
            ..Default::default()
        };
        let inserts: [Entity; 6] = [
            ActionProfileMember::default().into(),
            ActionProfileGroup::default().into(),
            entries.into(),
            MulticastGroupEntry::default().into(),
            CloneSessionEntry::default().into(),
            DigestEntry::default().into(),
        ];
        for filter in inserts {
            self.write_all_of(old, &filter, Update::insert)?;
        }
        for default in old.tables.values().filter_map(|entries| entries.default.clone()) {
            self.keep(old, &Update::modify(default))?;
        }
        let modifies: [Entity; 3] =
            [ValueSetEntry::default().into(), CounterEntry::default().into(), MeterEntry::default().into()];
        for filter in modifies {
            self.write_all_of(old, &filter, Update::modify)?;
        }
        Ok(())
    }

    fn write_all_of(
        &mut self,
        old: &Pipeline,
        filter: &Entity,
        update: impl Fn(Entity) -> Update,
    ) -> Result<(), Status> {
        old.read_all(filter, |found| {
            let changed = found.into_iter().filter(|entity| !is_initial(entity));
            changed.map(&update).try_for_each(|update| self.keep(old, &update))
        })
    }

    fn keep(&mut self, old: &Pipeline, update: &Update) -> Result<(), Status> {
        self.write(update).map_err(|status| {
            invalid(format!(
                "the new pipeline cannot keep {}: {}; delete it first or use VERIFY_AND_COMMIT",
                update.describe(Some(&old.schema)),
                status.message()
            ))
        })
    }

    fn drop_initial_entries(&mut self) -> Result<(), Status> {
        let initial = self.tables.values().flat_map(|entries| entries.by_key.values());
        let initial: Vec<_> =
            initial.map(|stored| stored.entry.clone()).filter(|entry| !entry.is_const).collect();
        initial.iter().try_for_each(|entry| self.write_table(Type::Delete, entry))
    }

    /// Returns the arrays that both programs have in the same shape, and whose P4Info allows to keep them.
    /// Others start at zero.
    fn kept_from(&self, old: &Pipeline) -> Kept {
        let same = |register: &&Register| {
            let before = old.schema.register(register.full_name());
            before
                .is_ok_and(|before| (before.size, &before.type_spec) == (register.size, &register.type_spec))
        };
        let registers = self.schema.info().registers.iter().filter(same);
        let (old, new) = (old.plane.program(), self.plane.program());
        let (Some(old), Some(new)) = (old, new) else { return Kept::default() };
        let arrays = registers.flat_map(|register| new.register_arrays(register.full_name()));
        Kept::of(&old, &new, &arrays.into_iter().map(|array| array.name.clone()).collect())
    }

    /// Copies the registers that cannot stay where they are, a few cells under one lock of the frames.
    /// `between` is called whenever frames can pass.
    fn copy_registers(&mut self, old: &Pipeline, mut between: impl FnMut()) {
        let Some(program) = self.plane.program() else { return };
        let mut to = self.plane.lock();
        for (from, register, size) in self.kept.copied(&program) {
            for first in (0..size).step_by(limits::STRIDE) {
                let cells = first..size.min(first + limits::STRIDE);
                to.copy_cells(register, &mut old.plane.lock(), from, cells);
                between();
            }
        }
    }

    /// Returns the cells of arrays that an update sets beyond one.
    pub fn cells(&self, update: &Update) -> u64 {
        let size = |size: i64, index: &Option<Index>| if index.is_none() { size.max(0) as u64 } else { 0 };
        match update.entity.as_ref().and_then(|entity| entity.entity.as_ref()) {
            Some(Kind::CounterEntry(given)) => {
                self.schema.counter_by_id(given.counter_id).map_or(0, |array| size(array.size, &given.index))
            }
            Some(Kind::MeterEntry(given)) => {
                self.schema.meter_by_id(given.meter_id).map_or(0, |array| size(array.size, &given.index))
            }
            Some(Kind::RegisterEntry(given)) => {
                let array = self.schema.register_by_id(given.register_id);
                array.map_or(0, |array| size(array.size.into(), &given.index))
            }
            _ => 0,
        }
    }
}

/// Returns whether an entity is in its initial state: a const entry, or one that no controller has changed.
fn is_initial(entity: &Entity) -> bool {
    match &entity.entity {
        Some(Kind::TableEntry(entry)) => entry.is_const,
        Some(Kind::CounterEntry(cell)) => cell.data.is_none_or(|data| data == CounterData::default()),
        Some(Kind::MeterEntry(cell)) => cell.config.is_none(),
        Some(Kind::ValueSetEntry(set)) => set.members.is_empty(),
        _ => false,
    }
}

fn no_extern(id: u32) -> Status {
    Status::unimplemented(format!("this switch has no externs of its own, such as type {id}"))
}

/// Returns the arrays of a register: one, or one for each field of its cells.
pub(super) fn arrays_of(switch: &Switch, register: &str) -> Vec<String> {
    let arrays = switch.program().map(|program| program.register_arrays(register)).unwrap_or_default();
    arrays.into_iter().map(|array| array.name.clone()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "reconcile_tests.rs"]
mod tests;
