//! Which life of a host, run and epoch something belongs to.

/// The life of a host, which its incarnation names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Life {
    /// In a run before, of the same epoch.
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
    /// An epoch's before, whose tables are still there.
    OldEpoch,
    /// Of this epoch, before all hosts were started anew.
    Former,
    /// Of the server's first life.
    #[default]
    First,
    /// Of the server after a restart.
    Second,
    /// Of the server's first life, under the epoch that hosts move to.
    Moved,
}

/// Where a host is on its move to another epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// In the first epoch; it knows no other.
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
    /// Whether it knows both epochs.
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
