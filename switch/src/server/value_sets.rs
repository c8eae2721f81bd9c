//! Parser value sets.

use std::collections::{BTreeMap, HashSet};

use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{ValueSetEntry, ValueSetMember};
use prost::Message;
use tonic::Status;

use super::check::{invalid, known, only_modify};
use super::matches;
use super::page::{Page, Position};
use super::pipeline::Pipeline;
use crate::control::Match;

impl Pipeline {
    /// Replaces the members of a value set.
    pub(super) fn write_value_set(&mut self, kind: Type, given: &ValueSetEntry) -> Result<(), Status> {
        only_modify(kind, "value set")?;
        let schema = self.schema.clone();
        let set = known(schema.value_set_by_id(given.value_set_id))?;
        let name = set.short_name();
        if set.size > 0 && given.members.len() > set.size as usize {
            return Err(Status::resource_exhausted(format!("value set {name} holds {} members", set.size)));
        }
        let mut canonical: Vec<ValueSetMember> = Vec::with_capacity(given.members.len());
        let mut members = Vec::with_capacity(given.members.len());
        let mut seen = HashSet::new();
        for member in &given.members {
            let key = matches::key(&format!("value set {name}"), &set.r#match, &member.r#match)?;
            let member = ValueSetMember { r#match: key.fields };
            if !seen.insert(member.encode_to_vec()) {
                return Err(Status::already_exists(format!("value set {name}: two members are the same")));
            }
            canonical.push(member);
            let exact = |with| match with {
                Match::Exact(value) => Ok(value),
                _ => {
                    Err(Status::unimplemented(format!("value set {name}: members are compared exactly only")))
                }
            };
            members.push(key.matches.into_iter().map(exact).collect::<Result<Vec<_>, _>>()?);
        }
        let entry = ValueSetEntry { value_set_id: given.value_set_id, members: canonical };
        self.room.check(self.value_sets.get(&given.value_set_id), &entry)?;
        self.plane.lock().set_value_set(set.full_name(), &members)?;
        self.room.count(self.value_sets.get(&given.value_set_id), Some(&entry));
        self.value_sets.insert(given.value_set_id, entry);
        Ok(())
    }

    /// Reads the value sets that a filter selects.
    pub(super) fn read_value_set(
        &self,
        filter: &ValueSetEntry,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        if filter.value_set_id != 0 {
            known(self.schema.value_set_by_id(filter.value_set_id))?;
        }
        if !filter.members.is_empty() {
            return Err(invalid("value sets are read whole: leave the members out"));
        }
        let ids = self.schema.info().value_sets.iter().map(|set| set.id());
        let all: BTreeMap<_, _> =
            ids.filter(|id| [0, *id].contains(&filter.value_set_id)).map(|id| (id, id)).collect();
        let entry = |&id: &u32| {
            let held = self.value_sets.get(&id).cloned();
            held.unwrap_or(ValueSetEntry { value_set_id: id, members: vec![] }).into()
        };
        Ok(page.walk(&all, at.id(), |_| true, entry).map(Position::Id))
    }
}
