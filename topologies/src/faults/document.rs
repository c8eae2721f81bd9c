//! The document of a fault schedule: see `docs/how-to/inject-faults.md`.

use serde::{Deserialize, Serialize};

use super::error::Error;
use super::quantity::{BitRate, QueueLimit, Share, Span};
use crate::renamed;

/// A fault schedule, and background traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Queue limit at each end of every link.
    pub queue: QueueLimit,
    /// Random delay of hosts' timers, up to this time, as in any operating system. Without it, hosts that
    /// start together meet in the same full queue again and again. Only for the simulator's hosts.
    pub jitter: Span,
    /// Random faults of links; a later entry replaces an earlier one for the same direction of a link.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkFaults>,
    /// Events at stated times.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<FaultEvent>,
    /// Other traffic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<Background>,
}

impl Default for Faults {
    /// No faults.
    fn default() -> Self {
        Self {
            queue: QueueLimit::default(),
            jitter: Span(50_000),
            links: Vec::new(),
            events: Vec::new(),
            background: Vec::new(),
        }
    }
}

/// Random faults of a link, for each frame independently, seeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkFaults {
    /// The direction from the first node to the second; every direction of every link if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<[String; 2]>,
    /// Frames that are lost.
    #[serde(skip_serializing_if = "is_none")]
    pub drop: Share,
    /// Frames that arrive twice.
    #[serde(skip_serializing_if = "is_none")]
    pub duplicate: Share,
    /// Frames that arrive with a wrong check sequence, and are discarded by the interface that receives them.
    #[serde(skip_serializing_if = "is_none")]
    pub corrupt: Share,
    /// Frames that are held back while others overtake them.
    #[serde(skip_serializing_if = "is_none")]
    pub reorder: Share,
    /// The longest that such a frame is held back.
    pub reorder_by: Option<Span>,
    /// Frames that are delayed, and all behind them: none overtakes another.
    #[serde(skip_serializing_if = "is_none")]
    pub delay: Share,
    /// The longest that such a frame is delayed.
    pub delay_by: Option<Span>,
}

impl LinkFaults {
    /// Returns whether every frame passes unharmed.
    pub fn is_none(&self) -> bool {
        [self.drop, self.duplicate, self.corrupt, self.reorder, self.delay].iter().all(is_none)
    }
}

fn is_none(share: &Share) -> bool {
    share.get() == 0.0
}

/// Something that happens at a time: exactly one of the fields from `restart` to `disconnect`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FaultEvent {
    /// Time of the event, from the start of the run.
    pub at: Span,
    /// Duration.
    #[serde(rename = "duration", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Span>,
    /// This switch loses program, tables and registers; the controller installs them again after `duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
    /// This link is down, in both directions, for `duration`; frames on it are lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_down: Option<[String; 2]>,
    /// This host's interface is down for `duration`; frames to and from it are lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface_down: Option<String>,
    /// This host stands still for `duration`; frames wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<String>,
    /// This host's processes are killed; a server is started again after `duration`, if that is given.
    /// On a network of sites, a site or the scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crash: Option<String>,
    /// All links between these nodes and the others are down for `duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<Vec<String>>,
    /// The network delivers again the last `count` frames that this host sent, as frames of the previous plan
    /// version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
    /// This host forges `count` gradients, partials, results and messages of jobs that it does not belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forge: Option<String>,
    /// Number of frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// This link has `rate` in both directions, for `duration`, or for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<[String; 2]>,
    /// Rate of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// All connections of this host end at once, and are made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disconnect: Option<String>,
}

/// Other traffic from host to host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// The sender.
    pub from: String,
    /// The receiver.
    pub to: String,
    /// Rate, in bits of Ethernet frames per second: constant, or for TCP the maximum.
    #[serde(rename = "rate", with = "rate")]
    pub rate_bps: f64,
    /// Bytes of each frame; of TCP, of the longest.
    #[serde(default = "Background::frame_bytes")]
    pub frame_bytes: u16,
    /// Time of the start, from the start of the run.
    #[serde(default)]
    pub at: Span,
    /// Duration; to the end of the run if left out.
    #[serde(rename = "duration", default, skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Span>,
    /// Protocol of the traffic.
    #[serde(default)]
    pub protocol: Protocol,
}

impl Background {
    fn frame_bytes() -> u16 {
        1068
    }
}

/// Protocol of background traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Ethernet frames of no protocol, at a constant rate.
    #[default]
    Frames,
    /// UDP datagrams over IPv4, at a constant rate.
    Udp,
    /// One TCP connection, which yields to congestion.
    Tcp,
}

impl Protocol {
    /// Returns the name in a fault schedule.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frames => "frames",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }
}

mod rate {
    use crate::units::Rate;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bps: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{bps} bps"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Rate::deserialize(deserializer).map(|rate| rate.0)
    }
}

impl Faults {
    /// Reads a document in YAML or JSON; an empty one has no faults. [`Schedule`](super::Schedule) checks the
    /// names.
    ///
    /// # Errors
    /// [`Error::Document`] if it is not YAML, or has unknown fields or quantities that cannot be read.
    pub fn from_yaml(text: &str) -> Result<Self, Error> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let options = serde_saphyr::options! { with_snippet: false };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let line = error.location().map(|location| location.line());
            let text = error.to_string();
            let problem = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let problem = problem.rsplit_once(" at line ").map_or(problem, |(problem, _)| problem);
            let renamed = renamed::unknown(problem).and_then(|(key, known)| renamed::of_faults(key, &known));
            let problem = match renamed {
                Some((problem, fix)) => format!("{problem}; {fix}"),
                None if problem.starts_with("expected") => {
                    format!("{problem}; docs/how-to/inject-faults.md has an example")
                }
                None => problem.to_owned(),
            };
            Error::Document { line, problem }
        })
    }

    /// Writes the document that [`Faults::from_yaml`] reads back to equal faults.
    pub fn to_yaml(&self) -> String {
        serde_saphyr::to_string(self).expect("faults are plain data")
    }
}
