//! Whether a compiled program has the tables as they are declared.

use crate::spec::{Field, TableSpec};

/// A key field or parameter of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramField {
    /// Name.
    pub name: String,
    /// Width in bits.
    pub bits: u32,
    /// Whether it is matched exactly; true for parameters.
    pub exact: bool,
}

/// An action of a program's table that a controller may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramAction {
    /// Name, without the control's.
    pub name: String,
    /// Parameters, in order.
    pub params: Vec<ProgramField>,
}

/// A table of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramTable {
    /// Name, without the control's.
    pub name: String,
    /// Key fields, in order.
    pub key: Vec<ProgramField>,
    /// Actions.
    pub actions: Vec<ProgramAction>,
    /// Entries that it has room for.
    pub size: usize,
}

/// Difference between a program and the declared tables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its tables are not those that are declared: {0}")]
pub struct Mismatch(pub String);

/// Compares a program's tables with those declared.
///
/// # Errors
/// The first table, field, action or parameter that is missing, unknown, of another width or in another
/// order.
pub fn check(declared: &[&TableSpec], program: &[ProgramTable]) -> Result<(), Mismatch> {
    for spec in declared {
        let place = format!("table {}", spec.name);
        let Some(table) = program.iter().find(|table| table.name == spec.name) else {
            return Err(Mismatch(format!("{place} is missing")));
        };
        fields(&place, "key field", spec.key, &table.key)?;
        for action in spec.actions {
            let place = format!("{place}, action {}", action.name);
            let Some(found) = table.actions.iter().find(|found| found.name == action.name) else {
                return Err(Mismatch(format!("{place} is missing")));
            };
            fields(&place, "parameter", action.params, &found.params)?;
        }
        if let Some(extra) = table.actions.iter().find(|found| spec.action(&found.name).is_none()) {
            return Err(Mismatch(format!("{place}, action {} is unknown", extra.name)));
        }
    }
    match program.iter().find(|table| declared.iter().all(|spec| spec.name != table.name)) {
        Some(extra) => Err(Mismatch(format!("table {} is unknown", extra.name))),
        None => Ok(()),
    }
}

fn fields(place: &str, what: &str, declared: &[Field], found: &[ProgramField]) -> Result<(), Mismatch> {
    let wrong = |name: &str, why: &str| Err(Mismatch(format!("{place}, {what} {name} {why}")));
    for field in declared {
        match found.iter().find(|found| found.name == field.name) {
            None => return wrong(field.name, "is missing"),
            Some(found) if found.bits != field.bits => {
                let why = format!("has {} bits, {} are declared", found.bits, field.bits);
                return wrong(field.name, &why);
            }
            Some(found) if !found.exact => return wrong(field.name, "is not matched exactly"),
            Some(_) => {}
        }
    }
    if let Some(extra) = found.iter().find(|found| declared.iter().all(|field| field.name != found.name)) {
        return wrong(&extra.name, "is unknown");
    }
    let moved = declared.iter().zip(found).find(|(field, found)| field.name != found.name);
    moved.map_or(Ok(()), |(field, _)| wrong(field.name, "stands at another place in the program"))
}
