//! Rules by which the programs for Tofino answer differently.

/// A rule of docs/protocol/tofino.md. A step of a case with another output there names the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A frame is added only if it has all members of its entry.
    Units,
    /// A hash of the tag identifies the owner of a slot: of two tags with one hash only the first is added.
    Marks,
    /// A value at a limit of its register stays there, and a partial with one has flag overflow.
    Limits,
    /// The flags of repeats are kept, too.
    Flags,
    /// Answered repeats: bits that repeats flip, instead of a set.
    Parity,
    /// Ingress does not know a frame's length: other reasons come first, and too long frames are added.
    Size,
    /// Egress drops copies of a frame of the wrong size, and counts each.
    Copies,
}

impl Rule {
    pub const ALL: [Self; 7] =
        [Self::Units, Self::Marks, Self::Limits, Self::Flags, Self::Parity, Self::Size, Self::Copies];

    /// Returns the document's text of the rule.
    pub fn words(self) -> &'static str {
        match self {
            Self::Units => "*unit*: a frame of all members of its entry",
            Self::Marks => "a hash of the tag, the *mark*, then the tag itself",
            Self::Limits => "a value at a limit of its register stays there",
            Self::Flags => "those of a repeat, too",
            Self::Parity => "*parity*: bits that repeats turn",
            Self::Size => "Ingress learns neither a frame's length nor its queue",
            Self::Copies => "Copies of a multicast frame of the wrong size are counted one by one",
        }
    }
}
