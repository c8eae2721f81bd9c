//! What is compared: the schemes, and what no plan can exceed.

use std::fmt;

use inart_planner::Scheme;
use serde::{Serialize, Serializer};

/// A line of a chart, a row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// What a scheme's plans reach.
    Scheme(Scheme),
    /// What no unsplit plan exceeds, proven.
    Bound,
    /// f~ of LP-InArt, which no plan exceeds, split or not.
    Lp,
}

impl Series {
    /// Every series, in the order of tables.
    pub const ALL: [Series; 8] = [
        Series::Scheme(Scheme::Inart),
        Series::Scheme(Scheme::RInart),
        Series::Scheme(Scheme::Even),
        Series::Scheme(Scheme::AtpNocap),
        Series::Scheme(Scheme::Atp),
        Series::Scheme(Scheme::Lbmm),
        Series::Bound,
        Series::Lp,
    ];

    /// The schemes that are planned for every network and seed.
    pub(crate) fn schemes() -> impl Iterator<Item = Scheme> {
        Series::ALL.into_iter().filter_map(|series| match series {
            Series::Scheme(scheme) => Some(scheme),
            Series::Bound | Series::Lp => None,
        })
    }

    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Series::Scheme(scheme) => scheme.name(),
            Series::Bound => "bound",
            Series::Lp => "lp",
        }
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Series {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
