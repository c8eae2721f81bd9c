//! A server between two plan versions: which tables its frames use, and which workers have migrated.
//!
//! Chunks outlive plan versions, so a server's state names workers by their *home bitmap indices*: those of
//! the plan version at its start. Frames name them by the bitmap indices of their own plan version.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::slice;

use inart_wire::{BitmapIndex, Contributors, PlanVersion, Rank};

use super::bitmap_indices::BitmapIndices;
use crate::Assignment;

/// A plan version whose frames are accepted.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub plan_version: PlanVersion,
    pub bitmap_indices: BitmapIndices,
    /// Home bitmap index of the same worker, by bitmap index. `None` if all are equal.
    home: Option<Vec<BitmapIndex>>,
}

impl Route {
    pub(super) fn new(
        plan_version: PlanVersion,
        bitmap_indices: BitmapIndices,
        home: &BitmapIndices,
    ) -> Self {
        let home = (!bitmap_indices.are_those_of(home)).then(|| bitmap_indices.translated_to(home));
        Self { plan_version, bitmap_indices, home }
    }

    /// Returns the contributors of a frame of this plan version (without free bitmap indices) by their home
    /// bitmap indices.
    pub(super) fn at_home<'a>(&self, contributors: &'a Contributors) -> Cow<'a, [Contributors]> {
        let Some(home) = &self.home else { return Cow::Borrowed(slice::from_ref(contributors)) };
        let mut blocks: Vec<Contributors> = Vec::new();
        for bitmap_index in contributors.bitmap_indices() {
            let one = Contributors::one(home[bitmap_index.index()]);
            match blocks.iter_mut().find(|block| block.group == one.group) {
                Some(block) => block.bitmap |= one.bitmap,
                None => blocks.push(one),
            }
        }
        Cow::Owned(blocks)
    }
}

/// The open plan versions.
#[derive(Clone, Debug)]
pub(super) struct PlanVersions {
    current: Route,
    /// The one before, until it is closed.
    old: Option<Route>,
    /// The assignment of the one before.
    previous_assignment: Option<Assignment>,
    /// Whether a worker is known to know the current plan version, by rank: it was heard in it, or all know
    /// it.
    moved: Vec<bool>,
    /// Whether a worker has reported its oldest chunk since it migrated, by rank.
    has_reported: Vec<bool>,
    /// Whether workers followed this server to the current plan version.
    coordinated: bool,
}

impl PlanVersions {
    /// Creates the state of one plan version, whose bitmap indices are home.
    pub(super) fn new(plan_version: PlanVersion, home: &BitmapIndices, workers: usize) -> Self {
        Self {
            current: Route::new(plan_version, home.clone(), home),
            old: None,
            previous_assignment: None,
            moved: alloc::vec![true; workers],
            has_reported: alloc::vec![true; workers],
            coordinated: false,
        }
    }

    /// Returns the route of a plan version, if it is open.
    pub(super) fn route(&self, plan_version: PlanVersion) -> Option<&Route> {
        if self.current.plan_version == plan_version {
            return Some(&self.current);
        }
        self.old.as_ref().filter(|old| old.plan_version == plan_version)
    }

    /// Returns the plan versions of a chunk's result for all, given that its first frame arrived in the plan
    /// version `first`: both while some worker may know only the old one. If workers follow this server, the
    /// old one if the chunk was sent in that, and both if it is sent `again`.
    pub(super) fn of_result(
        &self,
        first: Option<PlanVersion>,
        again: bool,
    ) -> impl Iterator<Item = PlanVersion> + use<> {
        let old = self.old.as_ref().map(|old| old.plan_version);
        let left = old.filter(|old| self.coordinated && first == Some(*old));
        let old = left.or(old.filter(|_| self.moved.contains(&false)));
        let current = (again || left.is_none()).then_some(self.current.plan_version);
        [old, current].into_iter().flatten()
    }

    /// Returns whether frames of that plan version are accepted.
    pub(super) fn is_open(&self, plan_version: PlanVersion) -> bool {
        self.route(plan_version).is_some()
    }

    /// Ends the coordinated cut-over: workers do not wait for this server any more.
    pub(super) fn end_lead(&mut self) {
        self.coordinated = false;
    }

    /// Returns the route of a plan version, or of the current one if that is closed.
    pub(super) fn route_or_current(&self, plan_version: PlanVersion) -> &Route {
        self.route(plan_version).unwrap_or(&self.current)
    }

    /// Returns the plan version of an answer to a worker that uses `plan_version`. While no result announces
    /// that the server has migrated, answers do.
    pub(super) fn of_answer(&self, rank: Rank, plan_version: PlanVersion, is_idle: bool) -> PlanVersion {
        if is_idle && self.moved[rank.index()] { self.current.plan_version } else { plan_version }
    }

    /// Returns a plan version that the worker knows, judging by its frames.
    pub(super) fn known_to(&self, rank: Rank) -> PlanVersion {
        match &self.old {
            Some(old) if !self.moved[rank.index()] => old.plan_version,
            _ => self.current.plan_version,
        }
    }

    /// A frame of an open plan version shows that those workers know it.
    pub(super) fn note_heard(&mut self, plan_version: PlanVersion, ranks: impl Iterator<Item = Rank>) {
        if self.old.is_some() && plan_version == self.current.plan_version {
            ranks.for_each(|rank| self.moved[rank.index()] = true);
        }
    }

    /// Returns whether the worker now reports its oldest chunk for the first time since it migrated.
    pub(super) fn reports_first(&mut self, plan_version: PlanVersion, rank: Rank) -> bool {
        plan_version == self.current.plan_version
            && !core::mem::replace(&mut self.has_reported[rank.index()], true)
    }

    /// The assignment of the previous plan version, if that is open.
    pub(super) fn previous_assignment(&self) -> Option<&Assignment> {
        self.previous_assignment.as_ref()
    }

    /// Opens another plan version next to the current one, whose assignment was `before`. `all_know` is true
    /// if all workers know it.
    pub(super) fn enter(&mut self, route: Route, before: Assignment, all_know: bool) {
        self.old = Some(core::mem::replace(&mut self.current, route));
        self.previous_assignment = Some(before);
        self.moved.fill(all_know);
        self.has_reported.fill(all_know);
        self.coordinated = all_know;
    }

    /// Frames of the previous plan version are foreign from now on.
    pub(super) fn close_old(&mut self) {
        self.old = None;
        self.previous_assignment = None;
        self.moved.fill(true);
    }

    /// Returns the plan versions whose frames are accepted, the current one first.
    pub(super) fn open(&self) -> impl Iterator<Item = PlanVersion> {
        [Some(&self.current), self.old.as_ref()].into_iter().flatten().map(|route| route.plan_version)
    }
}
