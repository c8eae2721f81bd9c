//! The device's own tables: multicast groups and ports.

use std::collections::BTreeMap;

use tonic::Code;

use super::{Answer, Client, ClientError, OwnError};
use crate::change::{Batch, Change};
use crate::entry::Entry;
use crate::group::{GROUPS, Group, NODES};
use crate::port::{FRONT_PORTS, PORT_COUNTS, PORTS, PortCounts, PortSettings, PortState, front_port};

impl Client {
    /// Returns all multicast groups.
    ///
    /// # Errors
    /// [`ClientError`] if the device refuses the call, or has groups of another kind.
    pub fn read_groups(&self) -> Answer<'_, Vec<Group>> {
        Box::pin(async move {
            let groups = self.read_table(GROUPS).await?;
            let nodes = self.read_table(NODES).await?;
            let strange = |(place, what)| self.strange(place, what);
            Group::of_entries(&groups, &nodes).map_err(strange)
        })
    }

    /// Adds a multicast group.
    ///
    /// # Errors
    /// [`ClientError`] if it is there already, or the device refuses it.
    pub fn insert_group<'a>(&'a self, group: &'a Group) -> Answer<'a, ()> {
        Box::pin(async move {
            match self.write(&[Change::insert(group.node())], Batch::Continue).await {
                // Left over from an insert that was cut; a node without a group copies nothing.
                Err(ClientError::Write(error))
                    if error.failures.iter().all(|failure| failure.code == Code::AlreadyExists) =>
                {
                    self.modify_group(group).await?;
                }
                answer => answer?,
            }
            self.write(&[Change::insert(group.entry())], Batch::Continue).await
        })
    }

    /// Gives a multicast group other ports.
    ///
    /// # Errors
    /// [`ClientError`] if the port does not exist, or the device refuses the call.
    pub fn modify_group<'a>(&'a self, group: &'a Group) -> Answer<'a, ()> {
        Box::pin(async move { self.write(&[Change::modify(group.node())], Batch::Continue).await })
    }

    /// Removes a multicast group.
    ///
    /// # Errors
    /// [`ClientError`] if the port does not exist, or the device refuses the call.
    pub fn delete_group<'a>(&'a self, group: &'a Group) -> Answer<'a, ()> {
        Box::pin(async move {
            let changes = [Change::delete(group.entry()), Change::delete(group.node())];
            self.write(&changes, Batch::Continue).await
        })
    }

    /// Reads the added ports.
    ///
    /// # Errors
    /// [`ClientError`] if the device refuses the call, or returns an unknown property of a port.
    pub fn read_ports(&self) -> Answer<'_, Vec<PortState>> {
        Box::pin(async move {
            let ports = self.read_table(PORTS).await?;
            ports.iter().map(|entry| self.known(entry, PortState::of_entry)).collect()
        })
    }

    /// Reads the counters of the added ports, by number.
    ///
    /// # Errors
    /// [`ClientError`] if the device refuses the call, or omits a count.
    pub fn read_port_counts(&self) -> Answer<'_, BTreeMap<u32, PortCounts>> {
        Box::pin(async move {
            let ports = self.read_table(PORT_COUNTS).await?;
            ports.iter().map(|entry| self.known(entry, PortCounts::of_entry)).collect()
        })
    }

    /// Reads the numbers of all front ports' lanes.
    ///
    /// # Errors
    /// [`ClientError`] if the device refuses the call, or returns an unknown property of a port.
    pub fn read_front_ports(&self) -> Answer<'_, BTreeMap<(u32, u32), u32>> {
        Box::pin(async move {
            let ports = self.read_table(FRONT_PORTS).await?;
            ports.iter().map(|entry| self.known(entry, front_port)).collect()
        })
    }

    fn strange(&self, place: String, what: String) -> ClientError {
        let (address, device) = (self.target.address.clone(), self.target.device.0);
        OwnError::Strange { address, device, place, what }.into()
    }

    fn known<T>(&self, entry: &Entry, read: impl Fn(&Entry) -> Result<T, String>) -> Result<T, ClientError> {
        read(entry).map_err(|what| self.strange(entry.to_string(), what))
    }

    /// Sets up ports: adds those that are not there, and changes the others. A port that gets another speed
    /// goes down for a while. One need not be bound to the program for that.
    ///
    /// # Errors
    /// [`ClientError`] if the device refuses one.
    pub fn set_ports<'a>(&'a self, ports: &'a [PortSettings]) -> Answer<'a, ()> {
        Box::pin(async move {
            let changes: Vec<_> = ports.iter().map(|port| Change::put(port.entry())).collect();
            self.write_unbound(&changes).await
        })
    }
}
