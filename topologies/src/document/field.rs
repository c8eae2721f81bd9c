//! Written form of the value of a key: readable in YAML, in base units in JSON.

use std::collections::BTreeMap;
use std::str::FromStr;

use indexmap::IndexMap;
use serde_json::Value;

use super::part::Part;
use crate::switch_port::SwitchPort;
use crate::units::{
    Rate, RatePair, Seconds, Size, display_exact, display_rate, display_seconds, display_size,
};

/// A value of a document.
pub trait Field {
    /// Returns the value as a YAML flow node.
    fn yaml(&self) -> String;
    /// Returns the value as JSON; quantities are text in base units.
    fn json(&self) -> Value;
}

/// Returns the readable form if it reads back to the same number, else the number in the base unit.
fn exact<Q: FromStr + Into<f64> + Copy>(value: f64, display: fn(f64) -> String, base: &str) -> String {
    let text = display(value);
    match text.parse::<Q>() {
        Ok(read) if read.into() == value => text,
        _ => display_exact(value, base),
    }
}

macro_rules! quantities {
    ($($quantity:ident, $display:ident, $base:literal;)*) => {$(
        impl Field for $quantity {
            fn yaml(&self) -> String {
                exact::<$quantity>(self.0, $display, $base)
            }
            fn json(&self) -> Value {
                display_exact(self.0, $base).into()
            }
        }
    )*};
}

quantities! {
    Rate, display_rate, "bps";
    Seconds, display_seconds, "s";
    Size, display_size, "B";
}

macro_rules! plain {
    ($($plain:ty),*) => {$(
        impl Field for $plain {
            fn yaml(&self) -> String {
                format!("{self:?}")
            }
            fn json(&self) -> Value {
                Value::from(*self)
            }
        }
    )*};
}

plain!(bool, i64, f64);

impl Field for String {
    fn yaml(&self) -> String {
        quoted(self)
    }
    fn json(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl Field for SwitchPort {
    fn yaml(&self) -> String {
        self.to_string()
    }
    fn json(&self) -> Value {
        match self {
            SwitchPort::Device(number) => Value::from(*number),
            SwitchPort::Front { .. } => Value::from(self.to_string()),
        }
    }
}

impl Field for Part {
    fn yaml(&self) -> String {
        self.0.yaml()
    }
    fn json(&self) -> Value {
        self.0.json()
    }
}

impl Field for RatePair<Rate> {
    fn yaml(&self) -> String {
        let [there, back] = &self.0;
        if there == back { there.yaml() } else { format!("[{}, {}]", there.yaml(), back.yaml()) }
    }
    fn json(&self) -> Value {
        let [there, back] = &self.0;
        if there == back { there.json() } else { vec![there.json(), back.json()].into() }
    }
}

fn list<'f>(fields: impl IntoIterator<Item = &'f (impl Field + 'f)>) -> String {
    format!("[{}]", fields.into_iter().map(Field::yaml).collect::<Vec<_>>().join(", "))
}

impl<F: Field> Field for Vec<F> {
    fn yaml(&self) -> String {
        list(self)
    }
    fn json(&self) -> Value {
        self.iter().map(Field::json).collect()
    }
}

impl<F: Field, const N: usize> Field for [F; N] {
    fn yaml(&self) -> String {
        list(self)
    }
    fn json(&self) -> Value {
        self.iter().map(Field::json).collect()
    }
}

impl Field for (String, String, i64) {
    fn yaml(&self) -> String {
        format!("[{}, {}, {}]", self.0.yaml(), self.1.yaml(), self.2)
    }
    fn json(&self) -> Value {
        vec![self.0.json(), self.1.json(), self.2.json()].into()
    }
}

macro_rules! maps {
    ($($map:ident),*) => {$(
        impl<F: Field> Field for $map<String, F> {
            fn yaml(&self) -> String {
                let each = self.iter().map(|(name, value)| format!("{}: {}", quoted(name), value.yaml()));
                format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
            }
            fn json(&self) -> Value {
                Value::Object(self.iter().map(|(name, value)| (name.clone(), value.json())).collect())
            }
        }
    )*};
}

maps!(BTreeMap, IndexMap);

/// Returns a name as a YAML scalar: plain when that is safe, else double-quoted.
fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && !matches!(
            name.to_ascii_lowercase().as_str(),
            "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}
