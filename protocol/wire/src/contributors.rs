//! Contributors of a sum.

use core::{fmt, iter};

use crate::BitmapIndex;

/// Block of [`Group::BITMAP_INDICES`] bitmap indices of a bitmap: group g is the bitmap indices from 64 g on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(pub u8);

impl Group {
    /// Bitmap indices of a group: the bits of a bitmap.
    pub const BITMAP_INDICES: u16 = u64::BITS as u16;

    /// The group of a bitmap index.
    pub const fn of(bitmap_index: BitmapIndex) -> Self {
        Self((bitmap_index.get() / Self::BITMAP_INDICES) as u8)
    }

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

/// The bitmap indices summed in a frame: a bitmap over one group. Bit i of group g is bitmap index 64 g + i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contributors {
    /// One bit per bitmap index.
    pub bitmap: u64,
    /// Group of the 64 bitmap indices.
    pub group: Group,
}

impl Contributors {
    /// Returns that worker alone.
    pub const fn one(worker: BitmapIndex) -> Self {
        Self { bitmap: 1 << (worker.get() % Group::BITMAP_INDICES), group: Group::of(worker) }
    }

    /// The members of `group` in a job of `workers` workers.
    pub fn all_of(group: Group, workers: usize) -> Self {
        let bitmap_indices = usize::from(Group::BITMAP_INDICES);
        let members = workers.saturating_sub(bitmap_indices * group.index()).min(bitmap_indices) as u32;
        Self { bitmap: u64::MAX.checked_shr(u64::BITS - members).unwrap_or(0), group }
    }

    /// Returns whether there are no contributors.
    pub const fn is_empty(self) -> bool {
        self.bitmap == 0
    }

    /// Returns the number of contributors.
    pub const fn count(self) -> u32 {
        self.bitmap.count_ones()
    }

    /// Returns whether that worker is a contributor.
    pub fn contains(self, worker: BitmapIndex) -> bool {
        Self::one(worker).is_subset(self)
    }

    /// Returns whether all contributors are in `other`.
    pub fn is_subset(self, other: Self) -> bool {
        self.group == other.group && self.bitmap & !other.bitmap == 0
    }

    /// The bitmap indices, ascending.
    pub fn bitmap_indices(self) -> impl Iterator<Item = BitmapIndex> {
        let (first, mut left) = (Group::BITMAP_INDICES * u16::from(self.group.0), self.bitmap);
        iter::from_fn(move || {
            let bit = left.trailing_zeros() as u16;
            // Without the lowest bit.
            left &= left.wrapping_sub(1);
            (bit < Group::BITMAP_INDICES).then(|| {
                BitmapIndex::try_from(first + bit)
                    .expect("256 groups of 64 bitmap indices are all possible bitmap indices")
            })
        })
    }
}

/// The bitmap indices with runs joined, as `{0-3,5}`.
impl fmt::Display for Contributors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        let mut bitmap_indices = self.bitmap_indices().map(BitmapIndex::get).peekable();
        let mut separator = "";
        while let Some(first) = bitmap_indices.next() {
            let mut last = first;
            while let Some(next) = bitmap_indices.next_if_eq(&(last + 1)) {
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
