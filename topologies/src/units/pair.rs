//! The rates of a link's two directions.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// A link's rates in bit/s, from its first end to its second and back: written as one rate for both
/// directions, or as a list of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePair<R>(pub [R; 2]);

struct OneOrTwo<R>(std::marker::PhantomData<R>);

const FORM: &str = "neither one rate nor a list of two; write `rate: 20 Mbps`, or `rate: [38 Mbps, 54 Mbps]`, \
                    first end to second and back";

impl<'de, R: Deserialize<'de> + Copy> Visitor<'de> for OneOrTwo<R> {
    type Value = RatePair<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate like \"38 Mbps\", or a list of two")
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        R::deserialize(de::value::F64Deserializer::new(value)).map(|rate| RatePair([rate; 2]))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        R::deserialize(de::value::U64Deserializer::new(value)).map(|rate| RatePair([rate; 2]))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        R::deserialize(de::value::I64Deserializer::new(value)).map(|rate| RatePair([rate; 2]))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return Err(E::custom(format!("\"{text}\" is {FORM}")));
        }
        R::deserialize(de::value::StringDeserializer::new(text.to_owned())).map(|rate| RatePair([rate; 2]))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut rates: A) -> Result<Self::Value, A::Error> {
        let form = || de::Error::custom(FORM);
        let there = rates.next_element()?.ok_or_else(form)?;
        let back = rates.next_element()?.ok_or_else(form)?;
        match rates.next_element::<de::IgnoredAny>()? {
            Some(_) => Err(form()),
            None => Ok(RatePair([there, back])),
        }
    }
}

impl<'de, R: Deserialize<'de> + Copy> Deserialize<'de> for RatePair<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrTwo(std::marker::PhantomData))
    }
}
