//! Protocols with one mistake.

use crate::Invariant::{self, *};
use crate::config::Config;
use crate::marks::Marks;

/// A mistake somebody could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The switch adds whatever comes into the slot: it does not compare sequences.
    NoSequenceCheck,
    /// The switch adds whatever comes for the chunk: it forgets who is in the slot.
    NoBitmap,
    /// The switch adds what belongs to another plan version.
    NoTagCheck,
    /// The switch adds what belongs to another run of the plan version.
    NoRunInTag,
    /// The switch adds the last chunk of a tensor to one that is not the last.
    LastNotInShape,
    /// A repeat for an incomplete slot is added.
    IncompleteRepeatAdds,
    /// A repeat for a complete slot is absorbed.
    CompleteRepeatAbsorbed,
    /// A switch that was asked for a complete partial does not send it again, whoever asks.
    WaveWithoutEnd,
    /// A slot is free again as soon as its partial has left.
    SlotFreedEarly,
    /// A frame that takes a slot over is added to what is there.
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
    /// A switch forgets sizes: its slot has the one that came last.
    SlotMaximumForgets,
    /// A worker takes any result for the chunk that it waits for.
    AnyResult,
    /// A worker takes results of any run of the plan version.
    AnyRunsResult,
    /// A worker sends gradients as soon as it knows the run, before the server says that it takes part.
    UnboundSends,
    /// A worker takes what the server says to another generation of it.
    AnyHost,
    /// A worker passes over what a server of another run says to it.
    OtherServerUnnoticed,
    /// The server adds a frame whose contributors are all there.
    SubsetAdded,
    /// The server adds a frame some of whose contributors are there.
    OverlapAdded,
    /// The server does not answer a repeat for a complete chunk.
    NoResend,
    /// A server that was asked for a result does not send it again, whoever asks.
    AskedOnce,
    /// The server forgets a chunk as soon as its result is sent.
    ResultForgotten,
    /// The server adds frames of another plan version.
    AnyPlanVersion,
    /// The server adds frames of another run of the plan version.
    AnyRun,
    /// The server lets the generation of a worker that spoke last take part in the run.
    BindsLatest,
    /// The server compares the lengths of frames, but not which of them is the last of its tensor.
    LengthsOnly,
    /// The server discards frames that do not fit the others', and leaves it at that.
    MismatchUnnoticed,
    /// The server adds a partial that saturated.
    SaturatedAdded,
    /// The server adds a gradient with larger values than a worker may send.
    OtherNumbersAdded,
    /// The server's maximum forgets workers: it is the size that came last.
    MaximumForgets,
    /// The server begins with the maximum of the tensor before.
    MaximumKept,
    /// The server says only once that the job is aborted.
    AbortSaidOnce,
    /// The server does not notice that a worker is gone.
    NoPeerTimeout,
    /// Slots of two plan versions are the same, and the switch adds what belongs to either.
    NoPlanVersionInTag,
    /// The server takes the bitmap indices of one plan version for those of another.
    BitmapIndicesNotTranslated,
    /// The server that has moved sends results in its plan version only, though a worker may know the other
    /// only.
    ResultsInNewOnly,
    /// The server that moves forgets what it has of the chunks.
    SumsForgotten,
    /// The server closes the plan version that it comes from before all workers have moved.
    ClosedEarly,
    /// A switch of Tofino adds a part of what comes in by an entry.
    PartsAdded,
    /// Such a part is not added, but changes the mark of the slot.
    PartsMark,
    /// A switch of Tofino takes what has the mark of the slot for the slot's.
    MarkTrusted,
    /// A switch of Tofino lets a frame take the slot over only if its mark is another.
    TakenByMark,
    /// A sum that has come to a limit of its register leaves it again.
    LimitLeft,
    /// The bit of a worker whose repeat is absorbed stays as it was.
    AskForgotten,
    /// A repeat that is absorbed clears all bits.
    ClearedByAbsorbed,
    /// A partial that is sent again does not turn the parity.
    ParityStays,
    /// The second pass does not look whose slot it is: what does not take it over is added, or reads it.
    HalvesMixed,
    /// What is complete in the second pass leaves as a partial, whatever the first pass found.
    OneHalfComplete,
    /// A server whose sums go on answers a repeat with its own sum until the sum of all is back.
    OwnSumAnswered,
    /// It lets its sum go on again when a worker that is in it repeats.
    SumGoesOnAgain,
    /// It lets a sum go on that lacks workers.
    SumGoesOnEarly,
    /// It takes what comes back for the oldest chunk that waits.
    BackInOrder,
    /// It adds what comes back to its own sum.
    BackAdded,
    /// It does not tell its workers that the larger job has ended.
    EndElsewhereUntold,
    /// What the second pass refuses is sent on, with the half of its values that the first pass has put in.
    RefusedForwarded,
}

impl Mutant {
    /// Every one, with the invariant that it breaks and the least of networks in which it does.
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
            (Self::EndElsewhereUntold, Ends, Config { crash: true, ..plain }),
        ]
    }
}
