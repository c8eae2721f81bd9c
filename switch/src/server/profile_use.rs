//! Usage of each action profile: its members, and its groups with the action sets of entries.

use std::collections::BTreeMap;

use inart_p4runtime::p4::config::v1::ActionProfile;
use inart_p4runtime::p4::config::v1::action_profile::SelectorSizeSemantics;
use inart_p4runtime::p4::v1::{ActionProfileGroup, TableAction, table_action};
use tonic::Status;

use super::check::invalid;
use super::limits;

/// Usage of a profile by a group, or by the action set of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    members: usize,
    /// In the unit of the selector's size.
    size: u64,
    is_set: bool,
}

impl Share {
    /// Returns the share of a group.
    pub fn of_group(profile: &ActionProfile, group: &ActionProfileGroup) -> Self {
        Self::new(profile, group.members.iter().map(|member| member.weight), false)
    }

    /// Returns the share of an entry: nothing, unless it has an action set.
    pub fn of_entry(profile: &ActionProfile, action: &TableAction) -> Self {
        match &action.r#type {
            Some(table_action::Type::ActionProfileActionSet(set)) => {
                Self::new(profile, set.action_profile_actions.iter().map(|action| action.weight), true)
            }
            _ => Self::default(),
        }
    }

    fn new(profile: &ActionProfile, weights: impl Iterator<Item = i32> + Clone, is_set: bool) -> Self {
        let members = weights.clone().count();
        let size = match profile.selector_size_semantics {
            Some(SelectorSizeSemantics::SumOfMembers(_)) => members as u64,
            _ => weights.map(|weight| u64::from(weight.max(0).unsigned_abs())).sum(),
        };
        Self { members, size, is_set }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Use {
    members: u64,
    size: u64,
    sets: usize,
}

/// Usage of all action profiles, by id.
#[derive(Debug, Default)]
pub(super) struct ProfileUse {
    profiles: BTreeMap<u32, Use>,
    /// Members of all groups and action sets.
    group_members: usize,
}

fn full(profile: &ActionProfile, what: &str, most: u64) -> Status {
    limits::beyond(format!("action profile {} is full: {what}, at most {most}", profile.short_name()))
}

impl ProfileUse {
    fn of(&self, profile: &ActionProfile) -> Use {
        self.profiles.get(&profile.id()).copied().unwrap_or_default()
    }

    /// Rejects a member that exceeds the profile's size, or of a profile whose entries have action sets.
    pub fn check_member(&self, profile: &ActionProfile) -> Result<(), Status> {
        let used = self.of(profile);
        if used.sets > 0 {
            return Err(invalid(format!(
                "action profile {}: {} entries have action sets, which exclude members and groups",
                profile.short_name(),
                used.sets
            )));
        }
        let most = u64::try_from(profile.size).unwrap_or(0);
        match most > 0 && used.members >= most {
            true => Err(full(profile, &format!("it has {} members", used.members), most)),
            false => Ok(()),
        }
    }

    /// Counts a member that was inserted, or deleted.
    pub fn count_member(&mut self, profile: u32, more: bool) {
        let used = self.profiles.entry(profile).or_default();
        used.members = if more { used.members + 1 } else { used.members.saturating_sub(1) };
    }

    /// Refuses a group or action set, in place of one before, for which there is no room.
    pub fn check(&self, profile: &ActionProfile, before: Share, after: Share) -> Result<(), Status> {
        let used = self.of(profile);
        if after.is_set && used.members > 0 {
            return Err(invalid(format!(
                "action profile {} has {} members, which exclude action sets: delete them first",
                profile.short_name(),
                used.members
            )));
        }
        let size = used.size.saturating_sub(before.size) + after.size;
        let most = u64::try_from(profile.size).unwrap_or(0);
        if most > 0 && size > most && after.size > before.size {
            return Err(full(profile, &format!("its groups would have a size of {size}"), most));
        }
        let members = self.group_members.saturating_sub(before.members) + after.members;
        match members > limits::GROUP_MEMBERS && after.members > before.members {
            true => {
                let what = format!("the groups of all profiles would have {members} members");
                Err(full(profile, &what, limits::GROUP_MEMBERS as u64))
            }
            false => Ok(()),
        }
    }

    /// Counts a group or action set in place of one before.
    pub fn count(&mut self, profile: u32, before: Share, after: Share) {
        let used = self.profiles.entry(profile).or_default();
        used.size = used.size.saturating_sub(before.size) + after.size;
        used.sets = used.sets.saturating_sub(usize::from(before.is_set)) + usize::from(after.is_set);
        self.group_members = self.group_members.saturating_sub(before.members) + after.members;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use inart_p4runtime::p4::config::v1::action_profile::SumOfMembers;
    use inart_p4runtime::p4::v1::action_profile_group::Member;
    use tonic::Code;

    use super::*;

    fn group(weights: &[i32]) -> ActionProfileGroup {
        let member = |weight: &i32| Member { weight: *weight, ..Default::default() };
        ActionProfileGroup { members: weights.iter().map(member).collect(), ..Default::default() }
    }

    #[test]
    fn a_selectors_size_is_in_weights_or_members_as_it_says() {
        let by_weight = ActionProfile { size: 16, with_selector: true, ..Default::default() };
        let members = SelectorSizeSemantics::SumOfMembers(SumOfMembers::default());
        let by_member = ActionProfile { selector_size_semantics: Some(members), ..by_weight.clone() };
        let mut used = ProfileUse::default();
        let (nothing, ten) = (Share::default(), Share::of_group(&by_weight, &group(&[9, 1])));
        used.count(by_weight.id(), nothing, ten);
        let six = Share::of_group(&by_weight, &group(&[6]));
        assert!(used.check(&by_weight, nothing, six).is_ok());
        let seven = Share::of_group(&by_weight, &group(&[7]));
        assert_eq!(used.check(&by_weight, nothing, seven).unwrap_err().code(), Code::ResourceExhausted);
        assert!(used.check(&by_weight, ten, seven).is_ok(), "in its place");
        let heavy = Share::of_group(&by_member, &group(&[1000]));
        assert!(used.check(&by_member, nothing, heavy).is_ok());
    }
}
