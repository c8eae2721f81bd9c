//! `--scheme`: schemes of the planner's list.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use inart_planner_aggregation::{Scheme, schemes};

/// Reads the name of a scheme; `--help` lists all with a description.
pub fn parser() -> impl TypedValueParser<Value = &'static dyn Scheme> {
    let known = schemes::ALL.iter().map(|scheme| PossibleValue::new(scheme.name()).help(scheme.summary()));
    PossibleValuesParser::new(known).map(|name| schemes::named(&name).expect("one of the possible values"))
}

/// Returns all schemes with a description, one per line, for the end of a command's help.
pub fn list() -> String {
    let width = schemes::ALL.iter().map(|scheme| scheme.name().len()).max().unwrap_or(0);
    let line = |scheme: &&dyn Scheme| format!("  {:width$}  {}\n", scheme.name(), scheme.summary());
    format!("Schemes:\n{}", schemes::ALL.iter().map(line).collect::<String>())
}
