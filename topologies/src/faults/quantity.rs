//! Shares, spans and queue lengths, as written in documents.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::units::{Rate, Seconds, Size, counted};
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};

/// A part of all frames, from 0 to 1; written `1%` or `0.01`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(f64);

impl Share {
    /// Returns the part.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, divisor) = text.trim().strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
        match number.trim().parse::<f64>().map(|part| part / divisor) {
            Ok(part) if (0.0..=1.0).contains(&part) => Ok(Self(part)),
            _ => Err(format!("\"{text}\" is not a share; write one from 0 to 1, like 1% or 0.01")),
        }
    }
}

impl Share {
    /// Returns the share of frames that are lost where a further part is lost independently.
    pub(super) fn or(self, part: f64) -> Self {
        Self(self.0 + part - self.0 * part)
    }

    /// Returns the nearest share to a number, in millionths.
    pub fn near(part: f64) -> Self {
        Self((part.clamp(0.0, 1.0) * 1e6).round() / 1e6)
    }
}

/// A span of time in nanoseconds; written `30 ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub u64);

impl Span {
    /// Returns the duration for clocks.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds: Seconds = text.parse()?;
        let nanos = (seconds.0 * 1e9).round();
        // A century is time enough, and adding a few of them cannot overflow.
        match (0.0..=3.2e18).contains(&nanos) {
            true => Ok(Self(nanos as u64)),
            false => Err(format!("\"{text}\" is not a time; write one like 30 ms")),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")];
        match unit.into_iter().find(|(nanos, _)| self.0 > 0 && self.0.is_multiple_of(*nanos)) {
            Some((nanos, unit)) => write!(f, "{} {unit}", self.0 / nanos),
            None => write!(f, "{} ns", self.0),
        }
    }
}

/// A rate in whole bit/s, from 1 on; written `100 Mbps`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(pub u64);

impl FromStr for BitRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bps = text.parse::<Rate>()?.0.round();
        match (1.0..=1e18).contains(&bps) {
            true => Ok(Self(bps as u64)),
            false => Err(format!("a rate of {bps} bit/s; give one from 1 bps on, like 100 Mbps")),
        }
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bps", self.0)
    }
}

/// Limit of the queue at one end of a link, the frame being sent included; written `64 KB` or
/// `100 frames`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Bytes of frames.
    Bytes(u64),
    /// Number of frames.
    Frames(u32),
}

impl Default for QueueLimit {
    /// As in the emulator.
    fn default() -> Self {
        Self::Frames(1000)
    }
}

impl FromStr for QueueLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        if let Some(number) = trimmed.strip_suffix("frames").or_else(|| trimmed.strip_suffix("frame")) {
            let frames = number.trim().parse().ok().filter(|frames| *frames > 0);
            return frames.map(Self::Frames).ok_or_else(|| {
                format!("cannot read \"{text}\"; write the queue's limit like 64 KB or 100 frames")
            });
        }
        let bytes = trimmed.parse::<Size>().map_err(|error| format!("{error}, or 100 frames"))?.0;
        match (1.0..=1e15).contains(&bytes) {
            true => Ok(Self::Bytes(bytes as u64)),
            false => Err(format!("a queue of {bytes} B; give at least one frame")),
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes} B"),
            Self::Frames(frames) => f.write_str(&counted(*frames, "frame")),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number, or text.
struct Text;

impl de::Visitor<'_> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity with its unit")
    }
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<String, E> {
        Ok(value.to_string())
    }
    fn visit_u64<E: de::Error>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }
    fn visit_i64<E: de::Error>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }
    fn visit_str<E: de::Error>(self, value: &str) -> Result<String, E> {
        Ok(value.to_owned())
    }
}

macro_rules! as_text {
    ($($name:ty),+) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(Text)?.parse().map_err(de::Error::custom)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}

as_text!(BitRate, Share, Span, QueueLimit);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_written_and_printed_to_be_read_again() {
        assert_eq!("1%".parse::<Share>().map(Share::get), Ok(0.01));
        assert_eq!("0.5".parse::<Share>().map(Share::get), Ok(0.5));
        assert_eq!("30 ms".parse(), Ok(Span(30_000_000)));
        assert_eq!("64 KB".parse(), Ok(QueueLimit::Bytes(64_000)));
        assert_eq!("100 frames".parse(), Ok(QueueLimit::Frames(100)));
        assert_eq!("100 Mbps".parse(), Ok(BitRate(100_000_000)));
        assert_eq!(BitRate(7).to_string().parse(), Ok(BitRate(7)));
        for wrong in ["0", "0.1 bps", "7", "x"] {
            assert!(wrong.parse::<BitRate>().is_err(), "{wrong}");
        }
        for span in [Span(0), Span(1), Span(1500), Span(2_000_000), Span(3_000_000_000)] {
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        for wrong in ["101%", "-1", "nan", "x", ""] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
        for wrong in ["-1 s", "1 fortnight", "1e99 s"] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
        for wrong in ["0 frames", "x frames", "-1", "0"] {
            assert!(wrong.parse::<QueueLimit>().is_err(), "{wrong}");
        }
    }
}
