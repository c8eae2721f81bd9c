//! What is compared: the schemes, and what no plan can exceed.

use std::fmt;
use std::sync::LazyLock;

use inart_planner_aggregation::{Levels, Scheme, schemes};
use serde::{Serialize, Serializer};

/// A line of a chart, a row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// What a scheme's plans reach.
    Scheme(&'static dyn Scheme),
    /// What no unsplit plan exceeds, proven.
    Bound,
    /// f~ of LP-InArt, which no plan exceeds, split or not.
    Lp,
    /// What our plans reach that add a gradient up at most twice.
    TwoLevels,
    /// What no unsplit plan exceeds that adds each gradient up at most twice, proven.
    TwoLevelsBound,
}

/// What a plan is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Method {
    pub scheme: &'static dyn Scheme,
    pub levels: Levels,
}

impl Series {
    /// Our scheme, the published ones, and what bounds them, in the order of tables.
    pub fn schemes() -> &'static [Series] {
        static COMPARED: LazyLock<Vec<Series>> = LazyLock::new(|| {
            let is_compared = |scheme: &&&'static dyn Scheme| {
                **scheme == schemes::DEFAULT || scheme.promises().stands_for.is_some()
            };
            let compared = schemes::ALL.iter().filter(is_compared).map(|&scheme| Series::Scheme(scheme));
            compared.chain([Series::Bound, Series::Lp]).collect()
        });
        &COMPARED
    }

    /// Once and twice, in the order of tables.
    pub const LEVELS: [Series; 4] =
        [Series::Scheme(schemes::DEFAULT), Series::Bound, Series::TwoLevels, Series::TwoLevelsBound];

    /// The plans that show it: for bounds those of ours, whose proofs are the sharpest.
    pub(crate) fn method(self) -> Method {
        match self {
            Series::Scheme(scheme) => Method { scheme, levels: Levels::One },
            Series::Bound | Series::Lp => Method { scheme: schemes::DEFAULT, levels: Levels::One },
            Series::TwoLevels | Series::TwoLevelsBound => {
                Method { scheme: schemes::DEFAULT, levels: Levels::Two }
            }
        }
    }

    /// Whether it is what plans reach, not what bounds them.
    pub fn is_reached(self) -> bool {
        matches!(self, Series::Scheme(_) | Series::TwoLevels)
    }

    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Series::Scheme(scheme) => scheme.name(),
            Series::Bound => "bound",
            Series::Lp => "lp",
            Series::TwoLevels => "two-levels",
            Series::TwoLevelsBound => "two-levels-bound",
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
