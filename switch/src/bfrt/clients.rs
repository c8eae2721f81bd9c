//! Connected clients, and their bindings to programs: one client to one program. No I/O.

use std::collections::BTreeMap;

use tonic::Status;

/// Clients of a device. `S` is the notification channel of a client.
#[derive(Debug)]
pub(super) struct Clients<S> {
    there: BTreeMap<u32, Client<S>>,
    joined: u64,
}

/// One subscription of a client. A later client may use the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stay {
    id: u32,
    serial: u64,
}

#[derive(Debug)]
struct Client<S> {
    stream: S,
    bound: Option<String>,
    serial: u64,
}

impl<S> Default for Clients<S> {
    fn default() -> Self {
        Self { there: BTreeMap::new(), joined: 0 }
    }
}

impl<S> Clients<S> {
    /// Takes in a client.
    pub fn join(&mut self, id: u32, stream: S) -> Result<Stay, Status> {
        if self.there.contains_key(&id) {
            return Err(Status::invalid_argument(format!(
                "client {id} exists already: use another client id"
            )));
        }
        self.joined += 1;
        let serial = self.joined;
        self.there.insert(id, Client { stream, bound: None, serial });
        Ok(Stay { id, serial })
    }

    /// Forgets a client, and frees its program.
    pub fn leave(&mut self, stay: Stay) {
        if self.there.get(&stay.id).is_some_and(|client| client.serial == stay.serial) {
            self.there.remove(&stay.id);
        }
    }

    /// Binds a client to a program that is there.
    pub fn bind(&mut self, id: u32, program: &str) -> Result<(), Status> {
        let owner = self.there.iter().find(|(_, client)| client.bound.as_deref() == Some(program));
        if let Some((owner, _)) = owner {
            return Err(Status::already_exists(format!("client {owner} is bound to {program}")));
        }
        let client = self.there.get_mut(&id).ok_or_else(|| {
            Status::unavailable(format!("client {id} is not there: subscribe on StreamChannel first"))
        })?;
        client.bound = Some(program.to_owned());
        Ok(())
    }

    /// Returns the program that a client is bound to.
    pub fn bound(&self, id: u32) -> Option<&str> {
        self.there.get(&id)?.bound.as_deref()
    }

    /// Sends away those that are bound to a program other than this one.
    pub fn keep_bound_to(&mut self, program: &str) -> Vec<S> {
        let stays = |client: &Client<S>| client.bound.as_deref().is_none_or(|bound| bound == program);
        let gone: Vec<u32> =
            self.there.iter().filter(|(_, client)| !stays(client)).map(|(id, _)| *id).collect();
        gone.iter().filter_map(|id| self.there.remove(id)).map(|client| client.stream).collect()
    }

    /// Returns the notification channels of all clients.
    pub fn streams(&self) -> impl Iterator<Item = &S> {
        self.there.values().map(|client| &client.stream)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn one_client_is_bound_to_a_program_until_it_leaves() {
        let mut clients = Clients::default();
        assert_eq!(clients.bind(1, "a").unwrap_err().code(), Code::Unavailable);
        let first = clients.join(1, "one").unwrap();
        clients.join(2, "two").unwrap();
        assert_eq!(clients.join(2, "again").unwrap_err().code(), Code::InvalidArgument);
        clients.bind(1, "a").unwrap();
        assert_eq!((clients.bound(1), clients.bound(2)), (Some("a"), None));
        assert_eq!(clients.bind(2, "a").unwrap_err().code(), Code::AlreadyExists);
        clients.leave(first);
        clients.bind(2, "a").unwrap();
        assert_eq!(clients.bound(2), Some("a"));
        clients.join(1, "another").unwrap();
        clients.leave(first);
        assert_eq!(clients.streams().count(), 2, "the later client with that number stays");
    }

    #[test]
    fn another_program_disconnects_clients_bound_to_the_one_before() {
        let mut clients = Clients::default();
        clients.join(1, "one").unwrap();
        clients.join(2, "two").unwrap();
        clients.bind(1, "a").unwrap();
        assert!(clients.keep_bound_to("a").is_empty());
        assert_eq!(clients.keep_bound_to("b"), ["one"]);
        assert_eq!(clients.streams().collect::<Vec<_>>(), [&"two"]);
    }
}
