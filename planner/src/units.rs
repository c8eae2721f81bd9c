//! Quantities as people write them: `6 Gbps`, `20Mbps`, `9e6` (bit/s), `30 ms`, `548 MB` (1 KB = 1000 B).

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A kind of quantity: its base unit and the suffixes it takes.
trait Unit {
    const EXAMPLE: &'static str;
    /// The factor of a lower-case suffix to the base unit; the empty suffix means the base unit itself.
    fn factor(suffix: &str) -> Option<f64>;
}

fn parse<U: Unit>(text: &str) -> Result<f64, String> {
    let text = text.trim();
    // A number may hold an exponent, so "9e6" must not be cut at its `e`.
    let cut = (0..=text.len()).rev().filter(|&i| text.is_char_boundary(i)).find(|&i| {
        text[..i].parse::<f64>().is_ok() && text[..i].ends_with(|c: char| c.is_ascii_digit() || c == '.')
    });
    let fail = || format!("cannot read \"{text}\"; write it like {}", U::EXAMPLE);
    let (number, suffix) = text.split_at(cut.ok_or_else(fail)?);
    let number: f64 = number.parse().map_err(|_| fail())?;
    let factor = U::factor(&suffix.trim().to_ascii_lowercase()).ok_or_else(fail)?;
    // Dividing by a whole number is exact where multiplying by 1e-6 is not.
    let value = if factor < 1.0 { number / (1.0 / factor).round() } else { number * factor };
    if value.is_finite() { Ok(value) } else { Err(fail()) }
}

struct AnyNumber<U>(std::marker::PhantomData<U>);

impl<U: Unit> Visitor<'_> for AnyNumber<U> {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a quantity like {}", U::EXAMPLE)
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<f64, E> {
        parse::<U>(text).map_err(E::custom)
    }
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $example:literal, { $($suffix:pat => $factor:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl Unit for $name {
            const EXAMPLE: &'static str = $example;
            fn factor(suffix: &str) -> Option<f64> {
                match suffix { $($suffix => Some($factor),)+ _ => None }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                parse::<$name>(text).map($name)
            }
        }

        impl From<$name> for f64 {
            fn from(quantity: $name) -> f64 {
                quantity.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(AnyNumber::<$name>(std::marker::PhantomData)).map($name)
            }
        }
    };
}

quantity!(
    /// A data rate in bit/s.
    Rate, "\"20 Mbps\"", {
        "" | "bps" | "bit/s" => 1.0,
        "kbps" | "kbit/s" => 1e3,
        "mbps" | "mbit/s" => 1e6,
        "gbps" | "gbit/s" => 1e9,
        "tbps" | "tbit/s" => 1e12,
    }
);
quantity!(
    /// A duration in seconds.
    Seconds, "\"30 ms\"", {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "ns" => 1e-9,
    }
);
quantity!(
    /// A size in bytes; prefixes are decimal, 1 KB = 1000 B.
    Size, "\"548 MB\"", {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
    }
);

/// Formats a rate with the largest unit that keeps it at or above one, e.g. `2.5 Gbps`.
pub fn display_rate(bps: f64) -> String {
    scaled(bps, &[(1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")], "bps")
}

/// Formats a size in bytes, e.g. `548 MB`.
pub fn display_size(bytes: f64) -> String {
    scaled(bytes, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")], "B")
}

/// Formats a duration in seconds, e.g. `30 ms`.
pub fn display_seconds(seconds: f64) -> String {
    scaled(seconds, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us")], "s")
}

fn scaled(value: f64, units: &[(f64, &str)], base: &str) -> String {
    let (factor, unit) =
        units.iter().copied().find(|(f, _)| value.abs() >= f * (1.0 - 1e-12)).unwrap_or((1.0, base));
    // Five significant digits, without trailing zeros.
    let number = value / factor;
    let digits = (4 - number.abs().max(1.0).log10().floor() as i32).max(0) as usize;
    let text = format!("{number:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_as_people_write_them() {
        for (text, bps) in [
            ("6 Gbps", 6e9),
            ("20Mbps", 20e6),
            ("9e6", 9e6),
            ("1.5 kbit/s", 1500.0),
            ("7", 7.0),
            (" 2.5E1 Mbps ", 25e6),
        ] {
            assert_eq!(text.parse::<Rate>().unwrap().0, bps, "{text}");
        }
        for bad in ["", "fast", "6 Gibps", "1 MB", "NaN", "inf", "1e999", "Gbps", "é"] {
            assert!(bad.parse::<Rate>().is_err(), "{bad}");
        }
    }

    #[test]
    fn decimal_sizes_and_delays() {
        assert_eq!("200 KB".parse::<Size>().unwrap().0, 200e3);
        assert_eq!("548 MB".parse::<Size>().unwrap().0, 548e6);
        assert_eq!("30 ms".parse::<Seconds>().unwrap().0, 0.03);
    }

    #[test]
    fn readable_again() {
        assert_eq!(display_rate(2.5e9), "2.5 Gbps");
        assert_eq!(display_rate(9.538e6), "9.538 Mbps");
        assert_eq!(display_rate(20e6), "20 Mbps");
        assert_eq!(display_rate(4.0 / 3.0 * 1e9), "1.3333 Gbps");
        assert_eq!(display_rate(0.0), "0 bps");
        assert_eq!(display_size(200e3), "200 KB");
        assert_eq!(display_seconds(1.5e-5), "15 us");
    }
}
