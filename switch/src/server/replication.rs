//! Multicast groups and clone sessions.

use std::collections::{BTreeMap, HashSet};

use inart_p4runtime::p4::v1::packet_replication_engine_entry::Type as Pre;
use inart_p4runtime::p4::v1::update::Type;
use inart_p4runtime::p4::v1::{
    CloneSessionEntry, Entity, MulticastGroupEntry, PacketReplicationEngineEntry, Replica,
};
use tonic::Status;

use super::check::{existence, invalid};
use super::limits::{self, at_most};
use super::page::{Page, Position};
use super::pipeline::Pipeline;
use crate::control::{self, CloneSession, Port};

/// v1model's ports are 9 bits wide.
const MAX_PORT: u32 = 511;

fn replicas(given: &[Replica], place: &str) -> Result<Vec<control::Replica>, Status> {
    let mut seen = HashSet::new();
    let one = |replica: &Replica| {
        let port = replica.port_number().filter(|&port| port <= MAX_PORT);
        let port =
            port.ok_or_else(|| invalid(format!("{place}: a replica's port must be 0 to {MAX_PORT}")))?;
        let instance = u16::try_from(replica.instance)
            .map_err(|_| invalid(format!("{place}: instance {} is above {}", replica.instance, u16::MAX)))?;
        match seen.insert((port, instance)) {
            true => Ok(control::Replica { port: Port(port), instance }),
            false => Err(invalid(format!("{place}: port {port} instance {instance} is listed twice"))),
        }
    };
    given.iter().map(one).collect()
}

impl Pipeline {
    /// Applies one update to a multicast group or clone session.
    pub(super) fn write_replication(
        &mut self,
        kind: Type,
        given: &PacketReplicationEngineEntry,
    ) -> Result<(), Status> {
        match &given.r#type {
            Some(Pre::MulticastGroupEntry(group)) => self.write_multicast(kind, group),
            Some(Pre::CloneSessionEntry(session)) => self.write_clone(kind, session),
            None => Err(invalid("the replication entry is neither a multicast group nor a clone session")),
        }
    }

    fn write_multicast(&mut self, kind: Type, given: &MulticastGroupEntry) -> Result<(), Status> {
        let id = given.multicast_group_id;
        let place = format!("multicast group {id}");
        if id == 0 {
            return Err(invalid("multicast group 0 stands for all groups"));
        }
        existence(kind, self.multicast.contains_key(&id), || place.clone())?;
        let before = self.multicast.get(&id).map_or(0, |group| group.replicas.len());
        if kind == Type::Delete {
            self.plane.lock().delete_multicast_group(id)?;
            self.room.count(self.multicast.remove(&id).as_ref(), None);
            return self.count_replicas(0, before, &place);
        }
        let hint = "keep less with a group";
        at_most(given.metadata.len(), limits::METADATA_BYTES, "bytes of metadata", hint)?;
        self.room.check(self.multicast.get(&id), given)?;
        let replicas = replicas(&given.replicas, &place)?;
        let count = replicas.len();
        self.count_replicas(count, before, &place)?;
        if let Err(error) = self.plane.lock().put_multicast_group(id, replicas, kind == Type::Modify) {
            self.replicas = self.replicas - count + before;
            return Err(error.into());
        }
        self.room.count(self.multicast.get(&id), Some(given));
        self.multicast.insert(id, given.clone());
        Ok(())
    }

    fn write_clone(&mut self, kind: Type, given: &CloneSessionEntry) -> Result<(), Status> {
        let id = given.session_id;
        let place = format!("clone session {id}");
        if id == 0 {
            return Err(invalid("clone session 0 stands for all sessions"));
        }
        existence(kind, self.clones.contains_key(&id), || place.clone())?;
        let before = self.clones.get(&id).map_or(0, |session| session.replicas.len());
        if kind == Type::Delete {
            self.plane.lock().delete_clone_session(id)?;
            self.room.count(self.clones.remove(&id).as_ref(), None);
            return self.count_replicas(0, before, &place);
        }
        if given.class_of_service != 0 {
            return Err(Status::unimplemented(format!("{place}: this switch has class of service 0 only")));
        }
        let max_bytes = usize::try_from(given.packet_length_bytes).map_err(|_| {
            invalid(format!("{place}: packet length {} is negative", given.packet_length_bytes))
        })?;
        self.room.check(self.clones.get(&id), given)?;
        let session = CloneSession { replicas: replicas(&given.replicas, &place)?, max_bytes };
        let count = session.replicas.len();
        self.count_replicas(count, before, &place)?;
        if let Err(error) = self.plane.lock().put_clone_session(id, session, kind == Type::Modify) {
            self.replicas = self.replicas - count + before;
            return Err(error.into());
        }
        self.room.count(self.clones.get(&id), Some(given));
        self.clones.insert(id, given.clone());
        Ok(())
    }

    /// Counts the replicas of a group or session in place of those before; refuses them if there is no room.
    fn count_replicas(&mut self, given: usize, before: usize, place: &str) -> Result<(), Status> {
        let all = self.replicas - before + given;
        if all > limits::REPLICAS {
            let most = limits::REPLICAS;
            return Err(limits::beyond(format!(
                "{place}: all groups and sessions together hold {most} replicas"
            )));
        }
        self.replicas = all;
        Ok(())
    }

    /// Reads the groups or sessions that a filter selects.
    pub(super) fn read_replication(
        &self,
        filter: &PacketReplicationEngineEntry,
        at: Position,
        page: &mut Page,
    ) -> Result<Option<Position>, Status> {
        let entity = |kind| PacketReplicationEngineEntry { r#type: Some(kind) }.into();
        let last = match &filter.r#type {
            Some(Pre::MulticastGroupEntry(group)) => {
                let id = group.multicast_group_id;
                selected(&self.multicast, id, at, page, |group| {
                    entity(Pre::MulticastGroupEntry(group.clone()))
                })
            }
            Some(Pre::CloneSessionEntry(session)) => {
                selected(&self.clones, session.session_id, at, page, |session| {
                    entity(Pre::CloneSessionEntry(session.clone()))
                })
            }
            None => {
                return Err(invalid(
                    "the replication entry is neither a multicast group nor a clone session",
                ));
            }
        };
        Ok(last.map(Position::Id))
    }
}

/// Reads the entities that an id selects: 0 is all.
fn selected<T>(
    held: &BTreeMap<u32, T>,
    id: u32,
    at: Position,
    page: &mut Page,
    entity: impl Fn(&T) -> Entity,
) -> Option<u32> {
    if id == 0 {
        return page.walk(held, at.id(), |_| true, entity);
    }
    // As for entries, members and groups: nothing found is an empty answer.
    held.get(&id).into_iter().for_each(|one| page.push(entity(one)));
    None
}
