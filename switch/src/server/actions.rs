//! Actions with their arguments, and the actions that a table allows.

use inart_p4runtime::Schema;
use inart_p4runtime::p4::config::v1::action_ref::Scope;
use inart_p4runtime::p4::config::v1::{ActionRef, Table};
use inart_p4runtime::p4::v1::{Action, action::Param};
use tonic::Status;

use super::check::{bits, invalid, known};
use crate::control::ActionCall;

/// Place of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Entry,
    Default,
}

/// Checks that a table may run an action there.
pub(super) fn allowed(schema: &Schema, table: &Table, action: u32, place: Place) -> Result<(), Status> {
    let name = || schema.name_of(action).map_or_else(|| action.to_string(), |(_, name)| name.to_owned());
    let Some(found) = table.action_refs.iter().find(|found| found.id == action) else {
        return Err(invalid(format!("table {} has no action {}", table.short_name(), name())));
    };
    match (found.scope(), place) {
        (Scope::DefaultOnly, Place::Entry) => Err(Status::permission_denied(format!(
            "action {} of table {} is for the default entry only",
            name(),
            table.short_name()
        ))),
        (Scope::TableOnly, Place::Default) => Err(Status::permission_denied(format!(
            "action {} of table {} is not for the default entry",
            name(),
            table.short_name()
        ))),
        _ => Ok(()),
    }
}

/// Checks an action's arguments; gives it in canonical form and as the data plane takes it.
pub(super) fn call(schema: &Schema, given: &Action) -> Result<(Action, ActionCall), Status> {
    let action = known(schema.action_by_id(given.action_id))?;
    let name = action.short_name();
    for param in &given.params {
        known(action.param_by_id(param.param_id))?;
    }
    let mut canonical =
        Action { action_id: given.action_id, params: Vec::with_capacity(action.params.len()) };
    for param in &action.params {
        let place = || format!("action {name}, parameter {}", param.name);
        let mut values = given.params.iter().filter(|value| value.param_id == param.id);
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(invalid(format!("{} must be given once", place())));
        };
        let value = bits(&value.value, param.bitwidth, place)?.as_bytes().to_vec();
        canonical.params.push(Param { param_id: param.id, value });
    }
    let params = canonical.params.iter().map(|param| param.value.clone()).collect();
    Ok((canonical, ActionCall { action: action.full_name().to_owned(), params }))
}

/// Returns the message for an action of the data plane.
pub(super) fn message(schema: &Schema, call: &ActionCall) -> Result<Action, Status> {
    let action = known(schema.action(&call.action))?;
    let params = action.params.iter().zip(&call.params);
    let params = params.map(|(param, value)| Param { param_id: param.id, value: value.clone() });
    Ok(Action { action_id: action.id(), params: params.collect() })
}

/// Returns whether some table of an action profile may run an action.
pub(super) fn allowed_in_profile(
    schema: &Schema,
    tables: &[u32],
    action: u32,
    profile: &str,
) -> Result<(), Status> {
    let runs = |found: &ActionRef| found.id == action && found.scope() != Scope::DefaultOnly;
    let tables = tables.iter().filter_map(|&table| schema.table_by_id(table).ok());
    match tables.flat_map(|table| &table.action_refs).any(runs) {
        true => Ok(()),
        false => Err(invalid(format!("no table of action profile {profile} runs action {action}"))),
    }
}
