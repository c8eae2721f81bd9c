//! Who is in a sum.

use core::fmt;

use crate::WorkerId;

/// Which block of 64 ranks a bitmap speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(pub u8);

impl Group {
    /// The group as an index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The ranks summed in a frame: a bitmap over one group of 64. Bit i of group g is rank 64 g + i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contributors {
    /// One bit per rank.
    pub bitmap: u64,
    /// Which 64 ranks.
    pub group: Group,
}

impl Contributors {
    /// That worker alone.
    pub const fn one(worker: WorkerId) -> Self {
        let rank = worker.get();
        Self { bitmap: 1 << (rank % 64), group: Group((rank / 64) as u8) }
    }

    /// The members of `group` in a job of `workers` workers.
    pub fn all_of(group: Group, workers: usize) -> Self {
        let members = workers.saturating_sub(64 * group.index()).min(64) as u32;
        Self { bitmap: u64::MAX.checked_shr(64 - members).unwrap_or(0), group }
    }

    /// Whether nobody is in the sum.
    pub const fn is_empty(self) -> bool {
        self.bitmap == 0
    }

    /// How many are in the sum.
    pub const fn count(self) -> u32 {
        self.bitmap.count_ones()
    }

    /// Whether that worker is in the sum.
    pub fn contains(self, worker: WorkerId) -> bool {
        Self::one(worker).is_subset(self)
    }

    /// Whether everybody in this sum is in `other`.
    pub fn is_subset(self, other: Self) -> bool {
        self.group == other.group && self.bitmap & !other.bitmap == 0
    }

    /// The ranks, ascending.
    pub fn ranks(self) -> impl Iterator<Item = WorkerId> {
        let first = 64 * u16::from(self.group.0);
        (0..64).filter(move |bit| self.bitmap >> bit & 1 == 1).map(move |bit| {
            WorkerId::try_from(first + bit).expect("256 groups of 64 ranks are all the ranks there are")
        })
    }
}

/// The ranks with runs joined, as `{0-3,5}`.
impl fmt::Display for Contributors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        let mut ranks = self.ranks().map(WorkerId::get).peekable();
        let mut separator = "";
        while let Some(first) = ranks.next() {
            let mut last = first;
            while let Some(next) = ranks.next_if_eq(&(last + 1)) {
                last = next;
            }
            write!(f, "{separator}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            separator = ",";
        }
        f.write_str("}")
    }
}
