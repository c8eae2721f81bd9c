//! `--scheme`: which schemes there are, from the planner's list.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use inart_planner_aggregation::{Scheme, schemes};

/// Takes the name of a scheme; `--help` lists all with what they do.
pub fn parser() -> impl TypedValueParser<Value = &'static dyn Scheme> {
    let known = schemes::ALL.iter().map(|scheme| PossibleValue::new(scheme.name()).help(scheme.summary()));
    PossibleValuesParser::new(known).map(|name| schemes::named(&name).expect("one of the possible values"))
}

/// All schemes with what they do, a line each, to stand below a command's help.
pub fn list() -> String {
    let width = schemes::ALL.iter().map(|scheme| scheme.name().len()).max().unwrap_or(0);
    let line = |scheme: &&dyn Scheme| format!("  {:width$}  {}\n", scheme.name(), scheme.summary());
    format!("Schemes:\n{}", schemes::ALL.iter().map(line).collect::<String>())
}
