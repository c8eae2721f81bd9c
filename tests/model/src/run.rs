//! Which generation of a host, run and plan version something belongs to.

/// The generation of a host, which its incarnation names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// In a run before, of the same plan version.
    Former,
    /// From the beginning.
    #[default]
    First,
    /// After a restart.
    Second,
}

/// Whose frames they are. Slots are tagged with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Run {
    /// A plan version's before, whose tables are still there.
    OldPlanVersion,
    /// Of this plan version, before all hosts were started anew.
    Former,
    /// Of the server's first generation.
    #[default]
    First,
    /// Of the server after a restart.
    Second,
    /// Of the server's first generation, under the plan version that hosts move to.
    Moved,
}

/// Where a host is on its move to another plan version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In the first plan version; it knows no other.
    #[default]
    Before,
    /// In the other; it knows both.
    After,
    /// In the first again; it knows both.
    Back,
    /// In the first, until the server sends results in the other; it knows both. Workers only.
    Ready,
}

impl Place {
    /// Whether it knows both plan versions.
    pub fn knows(self) -> bool {
        self != Self::Before
    }

    /// Where the next move leads.
    #[must_use]
    pub fn next(self) -> Self {
        if self == Self::After { Self::Back } else { Self::After }
    }

    /// What it sends belongs to this, in a run.
    pub fn of(self, run: Run) -> Run {
        if self == Self::After { Run::Moved } else { run }
    }
}
