//! Ports: their configuration and state (`$PORT`), their counters (`$PORT_STAT`), and their front-panel names
//! (`$PORT_HDL_INFO`).

use crate::entry::{Entry, Match, Value};

/// The driver's tables of ports.
pub const PORTS: &str = "$PORT";
pub const PORT_COUNTS: &str = "$PORT_STAT";
pub const FRONT_PORTS: &str = "$PORT_HDL_INFO";

/// Speed of a port, in Gbit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Speed {
    /// None is set.
    None,
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

/// Configuration of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortSettings {
    /// The device's number of the port.
    pub number: u32,
    /// Speed.
    pub speed: Speed,
    /// Error correction.
    pub fec: Fec,
    /// Whether it shall be up.
    pub enabled: bool,
    /// Whether sent frames return to the ingress, as on a recirculation port.
    pub loopback: bool,
}

/// State of a port, as the device reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortState {
    /// Configuration.
    pub settings: PortSettings,
    /// Whether it is up.
    pub up: bool,
    /// The front port and its lane; `None` for a port that leads elsewhere.
    pub front: Option<(u32, u32)>,
}

/// Counters of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortCounts {
    /// Frames received without an error.
    pub received: u64,
    /// Bytes.
    pub received_bytes: u64,
    /// Frames that went out without an error.
    pub sent: u64,
    /// Bytes.
    pub sent_bytes: u64,
}

/// The driver's words.
const SPEEDS: [(Speed, &str); 11] = [
    (Speed::None, "BF_SPEED_NONE"),
    (Speed::G1, "BF_SPEED_1G"),
    (Speed::G10, "BF_SPEED_10G"),
    (Speed::G25, "BF_SPEED_25G"),
    (Speed::G40, "BF_SPEED_40G"),
    (Speed::G50, "BF_SPEED_50G"),
    (Speed::G100, "BF_SPEED_100G"),
    (Speed::G200, "BF_SPEED_200G"),
    (Speed::G400, "BF_SPEED_400G"),
    // Of ports that cannot be broken out.
    (Speed::G40, "BF_SPEED_40G_NB"),
    (Speed::G40, "BF_SPEED_40G_NON_BREAKABLE"),
];
/// The driver's names. It has two for each code; the shorter are first, which every version of it knows.
const FECS: [(Fec, &str); 5] = [
    (Fec::None, "BF_FEC_TYP_NONE"),
    (Fec::FireCode, "BF_FEC_TYP_FC"),
    (Fec::ReedSolomon, "BF_FEC_TYP_RS"),
    (Fec::FireCode, "BF_FEC_TYP_FIRECODE"),
    (Fec::ReedSolomon, "BF_FEC_TYP_REED_SOLOMON"),
];
const NO_LOOPBACK: &str = "BF_LPBK_NONE";
const LOOPBACK: &str = "BF_LPBK_MAC_NEAR";

/// In Gbit/s.
const RATES: [(Speed, u32); 9] = [
    (Speed::None, 0),
    (Speed::G1, 1),
    (Speed::G10, 10),
    (Speed::G25, 25),
    (Speed::G40, 40),
    (Speed::G50, 50),
    (Speed::G100, 100),
    (Speed::G200, 200),
    (Speed::G400, 400),
];

impl Speed {
    /// In Gbit/s; 0 if none is set.
    pub fn gbps(self) -> u32 {
        RATES.iter().find(|(speed, _)| *speed == self).map_or(0, |(_, gbps)| *gbps)
    }

    /// Returns the speed of a rate in Gbit/s.
    pub fn of_gbps(gbps: u32) -> Option<Speed> {
        RATES.iter().find(|(_, rate)| *rate == gbps).map(|(speed, _)| *speed)
    }
}

impl PortSettings {
    /// Returns the entry of the port.
    pub fn entry(&self) -> Entry {
        Self::key(self.number)
            .with("$SPEED", word(&SPEEDS, self.speed))
            .with("$FEC", word(&FECS, self.fec))
            .with("$PORT_ENABLE", self.enabled)
            .with("$LOOPBACK_MODE", if self.loopback { LOOPBACK } else { NO_LOOPBACK })
    }

    /// Returns an entry with the port's key alone.
    pub fn key(number: u32) -> Entry {
        Entry::new(PORTS).exact("$DEV_PORT", number)
    }
}

impl PortState {
    /// Returns the port of an entry.
    ///
    /// # Errors
    /// The field that is missing, or has a value that is not known here.
    pub fn of_entry(entry: &Entry) -> Result<Self, String> {
        let number = key(entry, "$DEV_PORT")?;
        let settings = PortSettings {
            number,
            speed: of_word(&SPEEDS, entry, "$SPEED")?,
            fec: of_word(&FECS, entry, "$FEC")?,
            enabled: flag(entry, "$PORT_ENABLE"),
            loopback: text(entry, "$LOOPBACK_MODE").is_some_and(|mode| mode != NO_LOOPBACK),
        };
        let part = |name| entry.number(name).and_then(|number| u32::try_from(number).ok());
        let front = part("$CONN_ID").zip(part("$CHNL_ID")).filter(|_| !flag(entry, "$IS_INTERNAL"));
        Ok(Self { settings, up: flag(entry, "$PORT_UP"), front })
    }
}

impl PortCounts {
    /// Returns the port of an entry and its counts.
    ///
    /// # Errors
    /// The field that is missing.
    pub fn of_entry(entry: &Entry) -> Result<(u32, Self), String> {
        let count = |name| {
            let count = entry.data.get(name).and_then(Value::to_u64);
            count.ok_or_else(|| format!("{name} is missing"))
        };
        let counts = Self {
            received: count("$FramesReceivedOK")?,
            received_bytes: count("$OctetsReceivedinGoodFrames")?,
            sent: count("$FramesTransmittedOK")?,
            sent_bytes: count("$OctetsTransmittedwithouterror")?,
        };
        Ok((key(entry, "$DEV_PORT")?, counts))
    }
}

/// Returns the front port, its lane and the device's number of an entry.
///
/// # Errors
/// The field that is missing.
pub fn front_port(entry: &Entry) -> Result<((u32, u32), u32), String> {
    let number = entry.data.get("$DEV_PORT").and_then(Value::to_u64);
    let number = number.and_then(|number| u32::try_from(number).ok()).ok_or("$DEV_PORT is missing")?;
    Ok(((key(entry, "$CONN_ID")?, key(entry, "$CHNL_ID")?), number))
}

fn key(entry: &Entry, field: &str) -> Result<u32, String> {
    match entry.key.get(field) {
        Some(Match::Exact(number)) => u32::try_from(*number).map_err(|_| format!("{field} is too great")),
        _ => Err(format!("{field} is missing")),
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
