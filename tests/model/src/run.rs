//! Generation of a host, run and plan version.

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

/// Run that frames belong to. Slots are tagged with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Run {
    /// A previous plan version, whose tables are still installed.
    OldPlanVersion,
    /// An earlier run under this plan version, before all hosts restarted.
    Former,
    /// Run of the server's first generation.
    #[default]
    First,
    /// Run of the server after a restart.
    Second,
    /// Run of the server's first generation, under the plan version that hosts migrate to.
    Moved,
}

/// Progress of a host's migration to another plan version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MigrationPhase {
    /// First plan version; the host knows no other.
    #[default]
    Before,
    /// Other plan version; the host knows both.
    After,
    /// First plan version again; the host knows both.
    Back,
    /// First plan version, until the server sends results in the other; the host knows both. Workers only.
    Ready,
}

impl MigrationPhase {
    /// Returns whether the host knows both plan versions.
    pub fn knows(self) -> bool {
        self != Self::Before
    }

    /// Returns the progress after the next migration.
    #[must_use]
    pub fn next(self) -> Self {
        if self == Self::After { Self::Back } else { Self::After }
    }

    /// Returns the run or plan version of the frames that this sender sends in a run.
    pub fn of(self, run: Run) -> Run {
        if self == Self::After { Run::Moved } else { run }
    }
}
