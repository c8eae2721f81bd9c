//! Quantities as people write them: `6 Gbps`, `20Mbps`, `30 ms`, `548 MB` (1 KB = 1000 B, 1 KiB = 1024 B).
//!
//! One reader for documents, imports and flags. A small `b` is bits, a large `B` bytes: `1 GBps` is 8 Gbps,
//! and `100 Mb` is 12.5 MB. A number needs a unit, except for 0.

mod counted;
mod display;
mod pair;
mod suffix;

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

pub use counted::counted;
pub use display::{display_exact, display_rate, display_seconds, display_size};
pub use pair::RatePair;
use suffix::Suffix;

/// A kind of quantity: its suffixes, and how to explain them.
trait Unit {
    const EXAMPLE: &'static str;
    /// Examples of suffixes for a number without a unit.
    const SOME: [&'static str; 3];
    /// All that can be written.
    const UNITS: &'static str;
    fn factor(suffix: &str) -> Suffix;
}

/// Returns whether a message about a quantity explains how to write it.
pub fn advises(problem: &str) -> bool {
    problem.contains("; write ")
}

/// Returns the end of the number. It may hold an exponent, so "9e6" must not be cut at its `e`.
fn cut(text: &str) -> Option<(f64, &str)> {
    let cut = (0..=text.len()).rev().filter(|&i| text.is_char_boundary(i)).find(|&i| {
        text[..i].parse::<f64>().is_ok() && text[..i].ends_with(|c: char| c.is_ascii_digit() || c == '.')
    })?;
    let (number, suffix) = text.split_at(cut);
    Some((number.parse().ok()?, suffix.trim()))
}

fn without_unit<U: Unit>(number: &str) -> String {
    let [one, two, three] = U::SOME;
    format!("{number} has no unit; write {number}{one}, {number}{two} or {number}{three}")
}

fn parse<U: Unit>(text: &str, meaning: impl Fn(&str) -> Suffix) -> Result<f64, String> {
    let text = text.trim();
    let fail = || format!("cannot read \"{text}\"; write it like {}", U::EXAMPLE);
    let (number, suffix) = cut(text).ok_or_else(fail)?;
    let factor = match meaning(suffix) {
        _ if suffix.is_empty() && number == 0.0 => return Ok(0.0),
        _ if suffix.is_empty() && number.is_finite() => return Err(without_unit::<U>(text)),
        Suffix::Factor(factor) => factor,
        Suffix::Unknown => return Err(format!("{} (units: {})", fail(), U::UNITS)),
        Suffix::Unclear { bits, bytes } => {
            let unclear = "does not show whether it counts bits or bytes";
            return Err(format!(
                "\"{text}\" {unclear}; write {number} {bits} (bits) or {number} {bytes} (bytes)"
            ));
        }
    };
    // Dividing by a whole number is exact where multiplying by 1e-6 is not.
    let value = if factor < 1.0 { number / (1.0 / factor).round() } else { number * factor };
    if value.is_finite() { Ok(value) } else { Err(fail()) }
}

struct WithUnit<U>(std::marker::PhantomData<U>);

impl<U: Unit> WithUnit<U> {
    /// Returns a bare number: 0, or one that later checks refuse by name (NaN, infinity).
    fn bare<E: de::Error>(value: f64) -> Result<f64, E> {
        if value == 0.0 || !value.is_finite() {
            return Ok(value);
        }
        Err(E::custom(without_unit::<U>(&value.to_string())))
    }
}

impl<U: Unit> Visitor<'_> for WithUnit<U> {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a quantity like {}", U::EXAMPLE)
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        Self::bare(value)
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        Self::bare(value as f64)
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        Self::bare(value as f64)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        parse::<U>(text, U::factor).map_err(E::custom)
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $meaning:path, $example:literal, $some:expr, $units:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl Unit for $name {
            const EXAMPLE: &'static str = $example;
            const SOME: [&'static str; 3] = $some;
            const UNITS: &'static str = $units;
            fn factor(suffix: &str) -> Suffix {
                $meaning(suffix)
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                parse::<$name>(text, $meaning).map($name)
            }
        }

        impl From<$name> for f64 {
            fn from(quantity: $name) -> f64 {
                quantity.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(WithUnit::<$name>(std::marker::PhantomData)).map($name)
            }
        }
    };
}

quantity!(
    /// A data rate in bit/s.
    Rate, suffix::rate, "\"20 Mbps\"", ["bps", "Mbps", "Gbps"],
    "bps, kbps, Mbps, Gbps, Tbps, also as Mbit/s or Mb/s; of bytes Bps, KBps, MBps, GBps, TBps, also as MB/s"
);
quantity!(
    /// A duration in seconds.
    Seconds, suffix::seconds, "\"30 ms\"", ["s", "ms", "us"], "h, min, s, ms, us, ns"
);
quantity!(
    /// A size in bytes; 1 KB = 1000 B, 1 KiB = 1024 B.
    Size, suffix::size, "\"548 MB\"", ["B", "KB", "MB"],
    "B, KB, MB, GB, TB, KiB, MiB, GiB, TiB; of bits b, kb, Mb, Gb, Tb"
);

impl Rate {
    /// Reads a rate as other tools write it: as [`Rate`], or like `10Gbit` or `10G`.
    ///
    /// # Errors
    /// As for any text that is not a rate; a bare number is one.
    pub fn of_tools(text: &str) -> Result<Rate, String> {
        let meaning = |suffix: &str| match suffix::rate(suffix) {
            Suffix::Unknown => suffix::rate_of_tools(suffix),
            known => known,
        };
        parse::<Rate>(text, meaning).map(Rate)
    }
}

#[cfg(test)]
mod tests;
