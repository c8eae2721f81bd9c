//! Protocols with one mistake.

use crate::Invariant::{self, *};
use crate::config::Config;
use crate::marks::Marks;

/// A possible mistake in an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The switch adds every frame for the slot: it does not compare sequences.
    NoSequenceCheck,
    /// The switch adds every frame for the chunk: it forgets the slot's contributors.
    NoBitmap,
    /// The switch adds frames of another plan version.
    NoTagCheck,
    /// The switch adds frames of another run of the plan version.
    NoRunInTag,
    /// The switch adds the last chunk of a tensor to one that is not the last.
    LastNotInShape,
    /// A repeat for an incomplete slot is added.
    IncompleteRepeatAdds,
    /// A repeat for a complete slot is absorbed.
    CompleteRepeatAbsorbed,
    /// A switch answers only the first repeat of a complete partial, whichever worker repeats.
    WaveWithoutEnd,
    /// A slot is free again as soon as its partial has left.
    SlotFreedEarly,
    /// A frame that takes a slot over is added to the old contents.
    TakeoverAdds,
    /// An older frame takes the slot over, too.
    OlderTakesOver,
    /// An older frame is absorbed.
    OlderAbsorbed,
    /// A newer frame passes, so that the slot stays with the older chunk.
    NewerPasses,
    /// The switch adds frames with flag bypass.
    BypassAdded,
    /// A worker never sets flag bypass.
    NoBypass,
    /// A worker has one chunk more in flight than the window.
    WindowTooLong,
    /// A worker sends the next chunks before the one in their slot has ended.
    WindowAdvancesEarly,
    /// A worker goes on though it lacks the result of the chunk before the last in the slot.
    ResultsMissed,
    /// A worker sends values before it knows the maximum: scaled by its own size.
    ScaledBeforeMaximum,
    /// A worker scales a tensor's values by the maximum of the tensor before.
    ScaledByTensorBefore,
    /// A worker takes a late result of an earlier tensor's maxima for that of the present tensor.
    LateMaximum,
    /// A worker with a finite size reads sums by that size where another's is not finite.
    OthersNotFinite,
    /// A worker sends floats without flag bypass.
    FloatsInSlots,
    /// A switch adds sizes up.
    MaximaAddedUp,
    /// A switch forgets sizes: its slot has the size that arrived last.
    SlotMaximumForgets,
    /// A worker takes any result for the chunk that it waits for.
    AnyResult,
    /// A worker takes results of any run of the plan version.
    AnyRunsResult,
    /// A worker sends gradients as soon as it knows the run, before the server has admitted it.
    UnboundSends,
    /// A worker accepts messages of the server to another generation of the worker.
    AnyHost,
    /// A worker ignores messages of a server of another run.
    OtherServerUnnoticed,
    /// The server adds a frame whose contributors are all in the sum already.
    SubsetAdded,
    /// The server adds a frame some of whose contributors are in the sum already.
    OverlapAdded,
    /// The server does not answer a repeat for a complete chunk.
    NoResend,
    /// A server answers only the first repeat for a result, whichever worker repeats.
    AskedOnce,
    /// The server forgets a chunk as soon as its result is sent.
    ResultForgotten,
    /// The server adds frames of another plan version.
    AnyPlanVersion,
    /// The server adds frames of another run of the plan version.
    AnyRun,
    /// The server admits the generation of a worker that sent the latest message.
    BindsLatest,
    /// The server compares the lengths of frames, but not which of them is the last of its tensor.
    LengthsOnly,
    /// The server discards frames that do not fit the others', and leaves it at that.
    MismatchUnnoticed,
    /// The server adds a partial that saturated.
    SaturatedAdded,
    /// The server adds a gradient with larger values than a worker may send.
    OtherNumbersAdded,
    /// The server's maximum forgets workers: it is the size that arrived last.
    MaximumForgets,
    /// The server starts with the maximum of the tensor before.
    MaximumKept,
    /// The server reports only once that the job is aborted.
    AbortSaidOnce,
    /// The server does not notice that a worker has failed.
    NoPeerTimeout,
    /// Slots of two plan versions are the same, and the switch adds frames of either.
    NoPlanVersionInTag,
    /// The server takes the bitmap indices of one plan version for those of another.
    BitmapIndicesNotTranslated,
    /// The server that has moved sends results in its plan version only, though a worker may know the other
    /// only.
    ResultsInNewOnly,
    /// The migrating server forgets its sums of the chunks.
    SumsForgotten,
    /// The server closes the previous plan version before all workers have migrated.
    ClosedEarly,
    /// A Tofino switch adds a frame with only a part of an entry's bitmap indices.
    PartsAdded,
    /// Such a part is not added, but changes the mark of the slot.
    PartsMark,
    /// A Tofino switch takes frames with the slot's mark for frames of the slot.
    MarkTrusted,
    /// A Tofino switch lets a frame take the slot over only if its mark differs.
    TakenByMark,
    /// A sum that has reached a limit of its register leaves the limit again.
    LimitLeft,
    /// The bit of a worker whose repeat is ignored does not change.
    AskForgotten,
    /// A repeat that is absorbed clears all bits.
    ClearedByAbsorbed,
    /// A partial that is sent again does not turn the parity.
    ParityStays,
    /// The second pass does not check the slot's owner: a frame that does not take it over is added, or reads
    /// it.
    HalvesMixed,
    /// A frame that is complete in the second pass leaves as a partial, whatever the first pass found.
    OneHalfComplete,
    /// A server with a larger job answers a repeat with its own sum until the larger job's sum arrives.
    OwnSumAnswered,
    /// The server sends its sum to the larger job again when a contributing worker repeats.
    SumGoesOnAgain,
    /// The server sends a sum that lacks workers to the larger job.
    SumGoesOnEarly,
    /// The server assigns a sum of the larger job to the oldest chunk that waits.
    BackInOrder,
    /// The server adds the larger job's sum to its own sum.
    BackAdded,
    /// The server does not notify its workers that the larger job has ended.
    EndElsewhereUnreported,
    /// A frame that the second pass rejects is forwarded, with the half of its values from the first pass.
    RefusedForwarded,
}

impl Mutant {
    /// Returns every one, with the invariant that it breaks and the least of networks in which it does.
    pub fn all() -> Vec<(Self, Invariant, Config)> {
        let mut all = Self::of_hosts_and_switches();
        all.extend(Self::of_tofino());
        all.extend(Self::of_onward());
        all
    }

    fn of_hosts_and_switches() -> Vec<(Self, Invariant, Config)> {
        let plain = Config { chunks: 2, ..Config::default() };
        let restart = Config { restart: true, ..plain };
        let old_plan_version = Config { old_plan_version: true, ..plain };
        let rerun = Config { rerun: true, ..plain };
        let reborn = Config { reborn: true, ..plain };
        let shorter = Config { shorter: true, ..plain };
        let saturation = Config { saturation: true, chunks: 1, ..plain };
        let scaled = Config { scaled: 1, ..plain };
        let floats = Config { floats: true, ..plain };
        let two_scaled = Config { scaled: 2, chunks: 4, ..plain };
        let crash = Config { crash: true, ..plain };
        let waves = Config { waves: true, ..restart };
        let moves = Config { moves: true, ..plain };
        vec![
            (Self::NoSequenceCheck, OwnSlot, Config { chunks: 3, ..plain }),
            (Self::NoBitmap, RepeatsHeal, plain),
            (Self::NoTagCheck, OwnSlot, old_plan_version),
            (Self::NoRunInTag, OwnSlot, rerun),
            (Self::LastNotInShape, Once, shorter),
            (Self::IncompleteRepeatAdds, RepeatsHeal, plain),
            (Self::CompleteRepeatAbsorbed, RepeatsHeal, plain),
            (Self::WaveWithoutEnd, RepeatsHeal, waves),
            (Self::SlotFreedEarly, RepeatsHeal, plain),
            (Self::TakeoverAdds, OwnSlot, plain),
            (Self::OlderTakesOver, NewerWins, plain),
            (Self::OlderAbsorbed, NewerWins, plain),
            (Self::NewerPasses, NewerWins, plain),
            (Self::BypassAdded, RepeatsHeal, plain),
            (Self::NoBypass, Ends, restart),
            (Self::WindowTooLong, NewerWins, plain),
            (Self::WindowAdvancesEarly, NewerWins, Config { window: 2, chunks: 3, ..plain }),
            (Self::ResultsMissed, Ends, Config { chunks: 5, ..plain }),
            (Self::ScaledBeforeMaximum, Ends, Config { window: 2, ..scaled }),
            (Self::ScaledByTensorBefore, Once, two_scaled),
            (Self::LateMaximum, Once, two_scaled),
            (Self::OthersNotFinite, Once, Config { not_finite: true, ..scaled }),
            (Self::FloatsInSlots, Once, floats),
            (Self::MaximaAddedUp, Once, scaled),
            (Self::SlotMaximumForgets, Once, scaled),
            (Self::AnyResult, Once, Config { chunks: 3, ..plain }),
            (Self::AnyRunsResult, Once, rerun),
            (Self::UnboundSends, Once, reborn),
            (Self::AnyHost, Once, reborn),
            (Self::OtherServerUnnoticed, Ends, reborn),
            (Self::SubsetAdded, Disjoint, plain),
            (Self::OverlapAdded, Disjoint, plain),
            (Self::NoResend, Ends, plain),
            (Self::AskedOnce, Ends, waves),
            (Self::ResultForgotten, Ends, plain),
            (Self::AnyPlanVersion, Once, old_plan_version),
            (Self::AnyRun, Once, rerun),
            (Self::BindsLatest, Once, reborn),
            (Self::LengthsOnly, Once, shorter),
            (Self::MismatchUnnoticed, Ends, shorter),
            (Self::SaturatedAdded, Once, saturation),
            (Self::OtherNumbersAdded, Once, saturation),
            (Self::MaximumForgets, Once, scaled),
            (Self::MaximumKept, Once, two_scaled),
            (Self::AbortSaidOnce, Ends, crash),
            (Self::NoPeerTimeout, Ends, crash),
            (Self::NoPlanVersionInTag, Once, Config { workers: 3, chunks: 1, ..moves }),
            (Self::BitmapIndicesNotTranslated, Once, Config { chunks: 1, ..moves }),
            (Self::ResultsInNewOnly, Ends, Config { chunks: 1, ..moves }),
            (Self::SumsForgotten, Ends, Config { chunks: 1, ..moves }),
            (Self::ClosedEarly, Ends, Config { chunks: 1, ..moves }),
        ]
    }

    fn of_tofino() -> Vec<(Self, Invariant, Config)> {
        let plain = Config { chunks: 2, tofino: Some(Marks::Apart), ..Config::default() };
        let alike = Config { tofino: Some(Marks::Alike), ..plain };
        let row = Config { workers: 3, switches: 2, ..plain };
        let waves = Config { waves: true, restart: true, ..plain };
        vec![
            (Self::PartsAdded, OwnSlot, Config { restart: true, ..row }),
            (Self::PartsMark, RepeatsHeal, Config { chunks: 3, ..row }),
            (Self::MarkTrusted, OwnSlot, Config { old_plan_version: true, ..alike }),
            (Self::TakenByMark, NewerWins, plain),
            (Self::LimitLeft, Once, Config { workers: 3, saturation: true, chunks: 1, ..plain }),
            (Self::AskForgotten, RepeatsHeal, waves),
            (Self::ClearedByAbsorbed, RepeatsHeal, waves),
            (Self::HalvesMixed, Once, Config { halves: true, ..plain }),
            (Self::OneHalfComplete, Once, Config { halves: true, ..plain }),
            (Self::RefusedForwarded, Once, Config { halves: true, old_plan_version: true, ..alike }),
        ]
    }

    fn of_onward() -> Vec<(Self, Invariant, Config)> {
        let plain = Config { chunks: 2, onward: true, ..Config::default() };
        vec![
            (Self::OwnSumAnswered, Onward, plain),
            (Self::SumGoesOnAgain, Onward, plain),
            (Self::SumGoesOnEarly, Onward, plain),
            (Self::BackInOrder, Once, Config { window: 2, ..plain }),
            (Self::BackAdded, Once, plain),
            (Self::NoResend, Ends, plain),
            (Self::EndElsewhereUnreported, Ends, Config { crash: true, ..plain }),
        ]
    }
}
