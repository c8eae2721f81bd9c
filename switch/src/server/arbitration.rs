//! Write permission: the election of a primary per role, as the specification's section "Client Arbitration
//! and Controller Replication" rules. No I/O: every change returns the messages to send.

use std::collections::{BTreeMap, HashMap};

use inart_p4runtime::google::rpc;
use inart_p4runtime::p4::v1::{MasterArbitrationUpdate, Role};
use inart_p4runtime::{DeviceId, ElectionId};
use tonic::{Code, Status};

use super::limits::{self, at_most};

/// A live stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClientId(pub u64);

/// Messages to send, each to its client.
pub(super) type Notices = Vec<(ClientId, MasterArbitrationUpdate)>;

/// The elections of one device.
#[derive(Debug)]
pub(super) struct Elections {
    device: DeviceId,
    roles: HashMap<String, Candidates>,
    role_of: HashMap<ClientId, String>,
}

#[derive(Debug, Default)]
struct Candidates {
    live: BTreeMap<ClientId, Option<ElectionId>>,
    /// The greatest election id ever seen; kept when its holder leaves, until the last of a named role has
    /// left.
    greatest: Option<ElectionId>,
}

impl Candidates {
    fn primary(&self) -> Option<ClientId> {
        let holds =
            |(client, id): (&ClientId, &Option<ElectionId>)| (*id == self.greatest).then_some(*client);
        self.greatest.and_then(|_| self.live.iter().find_map(holds))
    }
}

impl Elections {
    pub fn new(device: DeviceId) -> Self {
        Self { device, roles: HashMap::new(), role_of: HashMap::new() }
    }

    /// Takes a client's update. An error ends the client's stream (and is followed by [`Elections::leave`]).
    pub fn update(&mut self, client: ClientId, update: &MasterArbitrationUpdate) -> Result<Notices, Status> {
        let role = update.role.as_ref().map_or("", |role| role.name.as_str());
        if let Some(assigned) = self.role_of.get(&client)
            && assigned != role
        {
            return Err(Status::failed_precondition(format!(
                "this stream has role \"{assigned}\": open another one for role \"{role}\""
            )));
        }
        if update.role.as_ref().is_some_and(|role| role.config.is_some()) {
            return Err(Status::invalid_argument(
                "this switch knows no role configuration: leave role.config unset for access to everything",
            ));
        }
        let election = update.election_id.map(ElectionId::from);
        self.check_room(client, role, election)?;
        let candidates = self.roles.entry(role.to_owned()).or_default();
        let was_primary = candidates.primary() == Some(client);
        candidates.live.insert(client, election);
        self.role_of.insert(client, role.to_owned());
        if election.is_some() && election >= candidates.greatest {
            candidates.greatest = election;
            return Ok(self.notices(role, |_| true));
        }
        Ok(self.notices(role, |other| was_primary || other == client))
    }

    /// Rejects a request that exceeds a limit, before any of it is stored.
    fn check_room(&self, client: ClientId, role: &str, election: Option<ElectionId>) -> Result<(), Status> {
        at_most(role.len(), limits::ROLE_BYTES, "bytes of a role's name", "use a shorter one")?;
        let Some(candidates) = self.roles.get(role) else {
            let named = self.roles.keys().filter(|role| !role.is_empty()).count();
            return match !role.is_empty() && named >= limits::ROLES {
                true => Err(limits::beyond(format!("device {} has {named} roles already", self.device))),
                false => Ok(()),
            };
        };
        let taken = |(other, id): (&ClientId, &Option<ElectionId>)| *other != client && *id == election;
        if election.is_some() && candidates.live.iter().any(taken) {
            return Err(Status::invalid_argument(format!(
                "election id {} belongs to another live controller of role \"{role}\": use another one",
                election.map_or(0, |id| id.0)
            )));
        }
        if candidates.live.len() >= limits::CONTROLLERS && !candidates.live.contains_key(&client) {
            return Err(limits::beyond(format!("{} controllers hold role \"{role}\"", limits::CONTROLLERS)));
        }
        Ok(())
    }

    /// Forgets a client whose stream ended, and its role with the last of its clients.
    pub fn leave(&mut self, client: ClientId) -> Notices {
        let Some(role) = self.role_of.remove(&client) else { return Vec::new() };
        let Some(candidates) = self.roles.get_mut(&role) else { return Vec::new() };
        let was_primary = candidates.primary() == Some(client);
        candidates.live.remove(&client);
        if candidates.live.is_empty() && !role.is_empty() {
            self.roles.remove(&role);
            return Vec::new();
        }
        if was_primary { self.notices(&role, |_| true) } else { Vec::new() }
    }

    /// Returns whether the client that names itself so may write.
    pub fn check_primary(&self, role: &str, election: Option<ElectionId>) -> Result<(), Status> {
        let device = self.device;
        let candidates = self.roles.get(role);
        if candidates.is_none() && !role.is_empty() {
            return Err(Status::not_found(format!(
                "device {device} has no role \"{role}\": open a stream with it first"
            )));
        }
        let primary = candidates.filter(|candidates| candidates.primary().is_some());
        match primary {
            Some(candidates) if election.is_some() && candidates.greatest == election => Ok(()),
            Some(_) => {
                Err(Status::permission_denied(format!("another controller is primary for device {device}")))
            }
            None => Err(Status::permission_denied(format!(
                "device {device} has no primary controller: become primary over StreamChannel first"
            ))),
        }
    }

    /// Returns whether this client is primary in its role.
    pub fn is_primary(&self, client: ClientId) -> bool {
        let candidates = self.role_of.get(&client).and_then(|role| self.roles.get(role));
        candidates.is_some_and(|candidates| candidates.primary() == Some(client))
    }

    /// Returns the primary of every role that has one.
    pub fn primaries(&self) -> impl Iterator<Item = ClientId> {
        self.roles.values().filter_map(Candidates::primary)
    }

    /// Returns the state of a role's election, for the clients that should receive it: the primary last,
    /// since the others must know before it may write.
    fn notices(&self, role: &str, to: impl Fn(ClientId) -> bool) -> Notices {
        let Some(candidates) = self.roles.get(role) else { return Vec::new() };
        let primary = candidates.primary();
        let notice = |client: ClientId| {
            let (code, message) = match primary {
                Some(primary) if primary == client => (Code::Ok, "you are primary"),
                Some(_) => (Code::AlreadyExists, "another controller is primary"),
                None => (Code::NotFound, "there is no primary controller"),
            };
            MasterArbitrationUpdate {
                device_id: self.device.0,
                role: (!role.is_empty()).then(|| Role { name: role.to_owned(), ..Default::default() }),
                election_id: candidates.greatest.map(Into::into),
                status: Some(rpc::Status { code: code as i32, message: message.to_owned(), details: vec![] }),
            }
        };
        let mut clients: Vec<_> = candidates.live.keys().copied().filter(|client| to(*client)).collect();
        clients.sort_by_key(|client| Some(*client) == primary);
        clients.into_iter().map(|client| (client, notice(client))).collect()
    }
}

#[cfg(test)]
#[path = "arbitration_tests.rs"]
#[allow(clippy::unwrap_used)]
mod tests;
