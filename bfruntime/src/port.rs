//! Ports (`$PORT`): speed, error correction, whether they are enabled, and whether they are up.

use crate::entry::{Entry, Match, Value};

/// The driver's table of ports.
pub const PORTS: &str = "$PORT";

/// Speed of a port, in Gbit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Speed {
    G1,
    G10,
    G25,
    G40,
    G50,
    G100,
    G200,
    G400,
}

/// Forward error correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fec {
    /// None.
    None,
    /// Fire code, for 10 and 25 Gbit/s.
    FireCode,
    /// Reed-Solomon, for 25 Gbit/s and more.
    ReedSolomon,
}

/// How a port is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortSettings {
    /// The device's number of the port.
    pub number: u32,
    /// Its speed.
    pub speed: Speed,
    /// Its error correction.
    pub fec: Fec,
    /// Whether it shall be up.
    pub enabled: bool,
    /// Whether what is sent to it comes back in, as on a port that recirculates.
    pub loopback: bool,
}

/// A port as the device says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortState {
    /// How it is set up.
    pub settings: PortSettings,
    /// Whether it is up.
    pub up: bool,
}

/// The driver's words.
const SPEEDS: [(Speed, &str); 8] = [
    (Speed::G1, "BF_SPEED_1G"),
    (Speed::G10, "BF_SPEED_10G"),
    (Speed::G25, "BF_SPEED_25G"),
    (Speed::G40, "BF_SPEED_40G"),
    (Speed::G50, "BF_SPEED_50G"),
    (Speed::G100, "BF_SPEED_100G"),
    (Speed::G200, "BF_SPEED_200G"),
    (Speed::G400, "BF_SPEED_400G"),
];
/// The driver's words. It has two for each code; the shorter come first, which every version of it knows.
const FECS: [(Fec, &str); 5] = [
    (Fec::None, "BF_FEC_TYP_NONE"),
    (Fec::FireCode, "BF_FEC_TYP_FC"),
    (Fec::ReedSolomon, "BF_FEC_TYP_RS"),
    (Fec::FireCode, "BF_FEC_TYP_FIRECODE"),
    (Fec::ReedSolomon, "BF_FEC_TYP_REED_SOLOMON"),
];
const NO_LOOPBACK: &str = "BF_LPBK_NONE";
const LOOPBACK: &str = "BF_LPBK_MAC_NEAR";

impl PortSettings {
    /// The entry of the port.
    pub fn entry(&self) -> Entry {
        Self::key(self.number)
            .with("$SPEED", word(&SPEEDS, self.speed))
            .with("$FEC", word(&FECS, self.fec))
            .with("$PORT_ENABLE", self.enabled)
            .with("$LOOPBACK_MODE", if self.loopback { LOOPBACK } else { NO_LOOPBACK })
    }

    /// An entry with the port's key alone.
    pub fn key(number: u32) -> Entry {
        Entry::new(PORTS).exact("$DEV_PORT", number)
    }
}

impl PortState {
    /// The port of an entry.
    ///
    /// # Errors
    /// The field that is missing, or has a value that is not known here.
    pub fn of_entry(entry: &Entry) -> Result<Self, String> {
        let number = match entry.key.get("$DEV_PORT") {
            Some(Match::Exact(number)) => u32::try_from(*number).map_err(|_| "$DEV_PORT is too great")?,
            _ => return Err("$DEV_PORT is missing".to_owned()),
        };
        let settings = PortSettings {
            number,
            speed: of_word(&SPEEDS, entry, "$SPEED")?,
            fec: of_word(&FECS, entry, "$FEC")?,
            enabled: flag(entry, "$PORT_ENABLE"),
            loopback: text(entry, "$LOOPBACK_MODE").is_some_and(|mode| mode != NO_LOOPBACK),
        };
        Ok(Self { settings, up: flag(entry, "$PORT_UP") })
    }
}

fn word<T: Copy + PartialEq>(words: &[(T, &'static str)], wanted: T) -> &'static str {
    words.iter().find(|(value, _)| *value == wanted).map_or("", |(_, word)| word)
}

fn of_word<T: Copy>(words: &[(T, &'static str)], entry: &Entry, field: &str) -> Result<T, String> {
    let given = text(entry, field).ok_or_else(|| format!("{field} is missing"))?;
    let found = words.iter().find(|(_, word)| *word == given);
    found.map(|(value, _)| *value).ok_or_else(|| format!("{field} is {given}, which is not known here"))
}

fn text<'a>(entry: &'a Entry, field: &str) -> Option<&'a str> {
    match entry.data.get(field) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

fn flag(entry: &Entry, field: &str) -> bool {
    entry.data.get(field) == Some(&Value::Flag(true))
}
