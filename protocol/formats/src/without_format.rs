//! Reads a document without its format number, which is checked: types of documents have no such field, and
//! may refuse fields that they do not have.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

/// The key of a document's format number, the first one of the document.
pub const FORMAT_KEY: &str = "format";

/// A deserializer whose outermost map has no format number. `check` sees the number.
pub struct WithoutFormat<D, C> {
    pub inner: D,
    pub check: C,
}

impl<'de, D, C, E> Deserializer<'de> for WithoutFormat<D, C>
where
    D: Deserializer<'de>,
    C: Fn(&Value) -> Result<u32, E>,
    E: fmt::Display,
{
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(Filter { visitor, check: self.check })
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_struct(name, fields, Filter { visitor, check: self.check })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The visitor of a document, which is a map.
struct Filter<V, C> {
    visitor: V,
    check: C,
}

impl<'de, V, C, E> Visitor<'de> for Filter<V, C>
where
    V: Visitor<'de>,
    C: Fn(&Value) -> Result<u32, E>,
    E: fmt::Display,
{
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Entries { map, check: self.check, is_past: false })
    }
}

/// The entries of a map but the first one with the format number.
struct Entries<A, C> {
    map: A,
    check: C,
    is_past: bool,
}

impl<'de, A, C, E> MapAccess<'de> for Entries<A, C>
where
    A: MapAccess<'de>,
    C: Fn(&Value) -> Result<u32, E>,
    E: fmt::Display,
{
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<String>()? {
            if key == FORMAT_KEY && !self.is_past {
                self.is_past = true;
                (self.check)(&self.map.next_value()?).map_err(A::Error::custom)?;
                continue;
            }
            return seed.deserialize(key.into_deserializer()).map(Some);
        }
        Ok(None)
    }
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
