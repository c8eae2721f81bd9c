//! Numbers of the counters `drops` and `outcomes` in Rust: `p4/include/reasons.p4`, with the additions of
//! `p4/include/updates.p4`.

use std::fmt;

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $number:literal $text:literal,)+
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $number,)+
        }

        impl $name {
            /// All of them, by number.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Index in the counter.
            pub const fn index(self) -> usize {
                self as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $text),+ })
            }
        }
    };
}

numbered! {
    /// Reason of a switch to drop a frame: index of the counter `InArtIngress.drops`. Index 0 is never
    /// counted.
    Reason {
        /// End inside a header, a VLAN tag or the values.
        TooShort = 1 "too short",
        /// Another version of the protocol.
        BadVersion = 2 "bad version",
        /// Undefined kind of frame.
        UnknownKind = 3 "unknown kind",
        /// Not exactly as long as a frame of this program.
        WrongSize = 4 "wrong size",
        /// Undefined flag.
        UnknownFlag = 5 "unknown flag",
        /// Length field with more values than the frame has, or without required values.
        BadLength = 6 "bad length",
        /// Contributors in a group without the worker.
        BadGroup = 7 "bad group",
        /// A gradient of others than its worker, or a partial without it.
        BadContributors = 8 "bad contributors",
        /// No entry in `steer` for its plan version, job, shard, worker and port.
        NoRoute = 9 "no route",
        /// Contributors that its entry in `steer` does not admit.
        NotMember = 10 "not a member",
        /// No entry in `results`.
        NoResultRoute = 11 "no result route",
        /// Rejected by `mac`: no plan is installed yet, or an entry rejects the frame.
        NoMacRoute = 12 "no MAC route",
        /// Control or probe frame from a port that is neither of the worker nor of the server that the frame
        /// names.
        UnauthorizedSender = 13 "unauthorized sender",
        /// An INART frame behind VLAN tags, or more tags than the switch looks behind.
        Tagged = 14 "tagged",
        /// No entry in `updates` for its plan version, job, group, worker and port.
        NoUpdateRoute = 15 "no update route",
    }
}

impl Reason {
    /// Returns whether the program for Tofino that sums has it: it copies no updates.
    pub const fn is_on_tofino(self) -> bool {
        !matches!(self, Reason::NoUpdateRoute)
    }
}

numbered! {
    /// Outcome of a gradient or partial that a switch did not drop: index of the counter
    /// `InArtIngress.outcomes`. Every such frame counts once.
    Outcome {
        /// Sent on: its entry only forwards.
        Forwarded = 0 "forwarded",
        /// Sent on: it has the flag bypass.
        Bypassed = 1 "bypassed",
        /// Forwarded: older than the slot's contents.
        Stale = 2 "stale",
        /// Sent on: its exponent, length or flag last is not its slot's.
        FormatMismatch = 3 "format mismatch",
        /// Sent on: some of its contributors are in the slot already, others are not.
        PartialOverlap = 4 "partial overlap",
        /// The last one of its slot: left as the partial.
        Completed = 5 "completed",
        /// A repeat for a complete slot, once per wave of repeats: left as the partial, again.
        Repeated = 6 "repeated",
        /// The first one of its slot: consumed.
        SlotClaimed = 7 "slot claimed",
        /// Added to its slot: consumed.
        Added = 8 "added",
        /// A repeat for an incomplete slot, or one that another's repeat answers: consumed, nothing added.
        DuplicateIgnored = 9 "duplicate ignored",
    }
}
