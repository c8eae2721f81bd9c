//! Values that differ between hosts.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde_json::Value;

use super::field::Field;

const DEFAULT: &str = "default";
const OVERRIDES: &str = "overrides";

/// A value for all hosts, for some, or both: `32`, or `{default: 32, overrides: {w1: 64}}`.
#[derive(Debug, Clone, PartialEq)]
pub struct PerHost<T> {
    /// The value of hosts without one of their own.
    pub default: Option<T>,
    /// The values of hosts by name.
    pub overrides: BTreeMap<String, T>,
}

impl<T> PerHost<T> {
    /// One value for all hosts.
    pub fn all(value: T) -> Self {
        PerHost { default: Some(value), overrides: BTreeMap::new() }
    }

    /// A value for each of these hosts.
    pub fn each(overrides: impl IntoIterator<Item = (String, T)>) -> Self {
        PerHost { default: None, overrides: overrides.into_iter().collect() }
    }

    /// All values.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.default.iter().chain(self.overrides.values())
    }
}

impl<T: Field> Field for PerHost<T> {
    fn yaml(&self) -> String {
        match &self.default {
            Some(all) if self.overrides.is_empty() => all.yaml(),
            Some(all) => format!("{{{DEFAULT}: {}, {OVERRIDES}: {}}}", all.yaml(), self.overrides.yaml()),
            None => format!("{{{OVERRIDES}: {}}}", self.overrides.yaml()),
        }
    }
    fn json(&self) -> Value {
        match &self.default {
            Some(all) if self.overrides.is_empty() => all.json(),
            Some(all) => serde_json::json!({ DEFAULT: all.json(), OVERRIDES: self.overrides.json() }),
            None => serde_json::json!({ OVERRIDES: self.overrides.json() }),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerHost<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrEach(PhantomData))
    }
}

struct OneOrEach<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> OneOrEach<T> {
    /// The parser adds the place of the value to a custom error. To others it adds that of the key.
    fn one<E: de::Error>(value: impl IntoDeserializer<'de, de::value::Error>) -> Result<PerHost<T>, E> {
        T::deserialize(value.into_deserializer()).map(PerHost::all).map_err(E::custom)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrEach<T> {
    type Value = PerHost<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value, or `{DEFAULT}` and `{OVERRIDES}`")
    }
    fn visit_bool<E: de::Error>(self, value: bool) -> Result<PerHost<T>, E> {
        Self::one(value)
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<PerHost<T>, E> {
        Self::one(value)
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<PerHost<T>, E> {
        Self::one(value)
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<PerHost<T>, E> {
        Self::one(value)
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<PerHost<T>, E> {
        Self::one(value.to_owned())
    }

    /// The keys tell a value that is a map from values per host.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PerHost<T>, A::Error> {
        let first = map.next_key::<String>()?;
        if !matches!(first.as_deref(), Some(DEFAULT | OVERRIDES)) {
            let whole = MapAccessDeserializer::new(Resumed { first, map });
            return T::deserialize(whole).map(PerHost::all);
        }
        let mut read = PerHost { default: None, overrides: BTreeMap::new() };
        let mut next = first;
        while let Some(key) = next {
            match &*key {
                DEFAULT => read.default = Some(map.next_value()?),
                OVERRIDES => read.overrides = map.next_value()?,
                other => return Err(de::Error::unknown_field(other, &[DEFAULT, OVERRIDES])),
            }
            next = map.next_key()?;
        }
        Ok(read)
    }
}

/// A map whose first key was read already.
struct Resumed<A> {
    first: Option<String>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Resumed<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(first) => seed.deserialize(first.into_deserializer()).map(Some),
            None => self.map.next_key_seed(seed),
        }
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
