//! Parts of a whole.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A part of a whole: `0.02%`, or 0.0002. NaN if the text is not a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part(pub f64);

struct NumberOrPercent;

impl Visitor<'_> for NumberOrPercent {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part; write it like `loss: 0.02%`")
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Part, E> {
        Ok(Part(value))
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Part, E> {
        Ok(Part(value as f64))
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Part, E> {
        Ok(Part(value as f64))
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<Part, E> {
        let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
        Ok(Part(number.trim().parse::<f64>().map_or(f64::NAN, |number| number * unit)))
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrPercent)
    }
}
