//! `$PORT`: what controllers said of ports. The switch's ports are the interfaces that it was started with,
//! so a port is up as soon as it is enabled.

use std::collections::BTreeMap;

use inart_bfruntime::bfrt_proto::update::Type;
use inart_bfruntime::{Entry, Match, Table, Value};
use tonic::Status;

use super::status::{invalid, unserved};

/// Ports of a pipe, and bits of a port's number within its pipe.
const PORTS_OF_PIPE: u128 = 72;
const PORT_BITS: u32 = 7;
const PIPES: u128 = 4;

/// What controllers wrote.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ports(BTreeMap<u32, Entry>);

impl Ports {
    /// Changes a port; says which went up or down.
    pub fn write(&mut self, table: &Table, kind: Type, entry: &Entry) -> Result<Option<(u32, bool)>, Status> {
        let number = number(entry)?;
        let was = self.0.get(&number).is_some_and(up);
        match (kind, self.0.get_mut(&number)) {
            (Type::Insert, Some(_)) => {
                return Err(Status::already_exists(format!("$PORT {number} is there already")));
            }
            (Type::Modify | Type::Delete, None) => {
                return Err(Status::not_found(format!("there is no $PORT {number}; add it first")));
            }
            (Type::Insert, None) => {
                let missing =
                    table.data.iter().find(|field| field.mandatory && !entry.data.contains_key(&field.name));
                if let Some(field) = missing {
                    return Err(invalid(format!("$PORT {number}: {} is missing", field.name)));
                }
                self.0.insert(number, entry.clone());
            }
            (Type::Modify, Some(present)) => present.data.extend(entry.data.clone()),
            (Type::Delete, Some(_)) => {
                self.0.remove(&number);
            }
            _ => return Err(unserved(format!("$PORT: {} is not served", kind.as_str_name()))),
        }
        let is = self.0.get(&number).is_some_and(up);
        Ok((was != is).then_some((number, is)))
    }

    /// The ports, or the one of a key.
    pub fn read(&self, filter: &Entry) -> Result<Vec<Entry>, Status> {
        let tell = |entry: &Entry| entry.clone().with("$IS_VALID", true).with("$PORT_UP", up(entry));
        if filter.key.is_empty() {
            return Ok(self.0.values().map(tell).collect());
        }
        Ok(self.0.get(&number(filter)?).map(tell).into_iter().collect())
    }
}

fn up(entry: &Entry) -> bool {
    entry.data.get("$PORT_ENABLE") == Some(&Value::Flag(true))
}

fn number(entry: &Entry) -> Result<u32, Status> {
    let Some(Match::Exact(number)) = entry.key.get("$DEV_PORT") else {
        return Err(invalid("$PORT: the entry has no $DEV_PORT"));
    };
    let fits = number >> PORT_BITS < PIPES && number & ((1 << PORT_BITS) - 1) < PORTS_OF_PIPE;
    let number = u32::try_from(*number).ok().filter(|_| fits);
    number.ok_or_else(|| invalid("$PORT: $DEV_PORT is no port of a chip with four pipes of 72"))
}
