//! Ethernet addresses.

use core::{fmt, str::FromStr};

use crate::{JobId, ParseError};

/// An Ethernet address; prints as `02:00:00:00:00:01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// The address the results of a job are multicast to: `03:49:4e:41` (the multicast and the local bit,
    /// then "INA"), then the job's number.
    pub const fn results_of(job: JobId) -> Self {
        let [high, low] = job.get().to_be_bytes();
        Self([0x03, 0x49, 0x4e, 0x41, high, low])
    }

    /// Returns whether the address is a group address.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for MacAddr {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = ParseError { what: "MAC address", expected: "six bytes like 02:00:00:00:00:01" };
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().filter(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit()));
            *byte = u8::from_str_radix(part.ok_or(error)?, 16).map_err(|_| error)?;
        }
        if parts.next().is_some() { Err(error) } else { Ok(Self(bytes)) }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for MacAddr {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for MacAddr {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl serde::de::Visitor<'_> for Text {
            type Value = MacAddr;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a MAC address like 02:00:00:00:00:01")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<MacAddr, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}
