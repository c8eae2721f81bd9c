//! Choices for a plan: aggregation levels, paths, and whether results count.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Number of aggregations of a gradient on its way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Levels {
    /// At most one, as in the InArt paper.
    #[default]
    One,
    /// At most two: a sum may be added to others at a second switch. For schemes that support it.
    Two,
}

impl Levels {
    /// The number, as in plans.
    pub fn number(self) -> u8 {
        match self {
            Levels::One => 1,
            Levels::Two => 2,
        }
    }
}

impl FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "1" => Ok(Levels::One),
            "2" => Ok(Levels::Two),
            _ => Err("a gradient is summed at 1 or 2 switches at most".to_owned()),
        }
    }
}

/// The paths that flows and trunks may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Paths {
    /// Every simple path over switches: no node twice, each link with available capacity.
    #[default]
    Any,
    /// Paths with the fewest hops in the network as built, independent of traffic: the sets P of the InArt
    /// paper.
    Shortest,
}

impl Paths {
    /// Returns the name in plans and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Paths::Any => "any",
            Paths::Shortest => "shortest",
        }
    }
}

impl fmt::Display for Paths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Paths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "any" => Ok(Paths::Any),
            "shortest" => Ok(Paths::Shortest),
            _ => Err(format!("unknown paths \"{text}\"; any or shortest")),
        }
    }
}

/// Whether result traffic counts on the links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Results {
    /// Each link direction carries the results that cross it besides gradients and sums.
    #[default]
    Counted,
    /// No result traffic in the model, as in the InArt paper; results are sent in addition.
    Ignored,
}

impl Results {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Results::Counted => "counted",
            Results::Ignored => "ignored",
        }
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Results {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "counted" => Ok(Results::Counted),
            "ignored" => Ok(Results::Ignored),
            _ => Err(format!("results cannot be \"{text}\"; counted or ignored")),
        }
    }
}
