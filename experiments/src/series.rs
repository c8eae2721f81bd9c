//! Series that are compared: schemes, and bounds on all plans.

use std::fmt;
use std::sync::LazyLock;

use inart_planner_aggregation::{Levels, Scheme, schemes};
use serde::{Serialize, Serializer};

/// A line of a chart, a row of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Series {
    /// Plans of a scheme.
    Scheme(&'static dyn Scheme),
    /// Proven bound on unsplit plans.
    Bound,
    /// f~ of LP-InArt, a bound on all plans, split or not.
    Lp,
    /// Our plans that sum a gradient at most twice.
    TwoLevels,
    /// Proven bound on unsplit plans that sum each gradient at most twice.
    TwoLevelsBound,
}

/// Scheme and aggregation depth of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Method {
    pub scheme: &'static dyn Scheme,
    pub levels: Levels,
}

impl Series {
    /// Returns our scheme, the published ones, and the bounds on them, in the order of tables.
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

    /// Aggregation depths 1 and 2, in the order of tables.
    pub const LEVELS: [Series; 4] =
        [Series::Scheme(schemes::DEFAULT), Series::Bound, Series::TwoLevels, Series::TwoLevelsBound];

    /// Returns the method of the plans that the series shows. Bounds come from our scheme, whose proofs are
    /// the sharpest.
    pub(crate) fn method(self) -> Method {
        match self {
            Series::Scheme(scheme) => Method { scheme, levels: Levels::One },
            Series::Bound | Series::Lp => Method { scheme: schemes::DEFAULT, levels: Levels::One },
            Series::TwoLevels | Series::TwoLevelsBound => {
                Method { scheme: schemes::DEFAULT, levels: Levels::Two }
            }
        }
    }

    /// Reports whether plans reach the series; bounds are not reached.
    pub fn is_reached(self) -> bool {
        matches!(self, Series::Scheme(_) | Series::TwoLevels)
    }

    /// Returns the name in tables and files.
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
