//! Order of the messages of one connection where lanes share a link: start-time fair queueing (P. Goyal, H.
//! Vin, H. Cheng, SIGCOMM 1996) of chunks with equal weight.
//!
//! The chunks of a lane keep their order. Lanes share the link equally from the time at which they have
//! chunks to send. An idle lane gains no credit.

use std::collections::BTreeMap;

use inart_protocol_sites::{Direction, SiteNo};

/// Direction of a tree's edge on one path: its chunks keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Lane {
    pub tree: u16,
    pub from: SiteNo,
    pub to: SiteNo,
    pub direction: Direction,
    pub path: u8,
}

/// Lanes on all links of a site.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lanes {
    /// Last tag of each lane on the link to a neighbor.
    last: BTreeMap<(SiteNo, Lane), i32>,
    /// Greatest tag that the link to a neighbor has carried.
    carried: BTreeMap<SiteNo, i32>,
}

impl Lanes {
    /// Returns the tag of the next chunk of a lane on the link to `next`. Chunks with lower tags are sent
    /// first.
    pub fn tag(&mut self, next: SiteNo, lane: Lane) -> i32 {
        let carried = self.carried.get(&next).copied().unwrap_or(0);
        let last = self.last.entry((next, lane)).or_insert(0);
        *last = (*last).max(carried).saturating_add(1);
        *last
    }

    /// Records that the link has carried a chunk with this tag.
    pub fn carried(&mut self, next: SiteNo, tag: i32) {
        let carried = self.carried.entry(next).or_insert(0);
        *carried = (*carried).max(tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: SiteNo = SiteNo(1);

    fn lane(tree: u16) -> Lane {
        Lane { tree, from: SiteNo(0), to: NEXT, direction: Direction::Push, path: 0 }
    }

    /// Serves the chunk with the lowest tag, the first one if several have it; `waiting`: trees by tag.
    fn serve(lanes: &mut Lanes, waiting: &mut Vec<(i32, u16)>) -> Option<u16> {
        let least = waiting.iter().map(|(tag, _)| *tag).min()?;
        let at = waiting.iter().position(|(tag, _)| *tag == least)?;
        let (tag, tree) = waiting.remove(at);
        lanes.carried(NEXT, tag);
        Some(tree)
    }

    #[test]
    fn lanes_share_a_link_whatever_they_sent_before() {
        let (mut lanes, mut waiting) = (Lanes::default(), Vec::new());
        (0..20).for_each(|_| waiting.push((lanes.tag(NEXT, lane(0)), 0)));
        (0..10).for_each(|_| assert_eq!(serve(&mut lanes, &mut waiting), Some(0)));
        // The second lane starts late. It starts at the link's current tag, so the lanes alternate from now
        // on.
        (0..10).for_each(|_| waiting.push((lanes.tag(NEXT, lane(1)), 1)));
        let served: Vec<u16> = (0..20).filter_map(|_| serve(&mut lanes, &mut waiting)).collect();
        assert_eq!(served, [0, 1].repeat(10));
        // The first lane has been idle, and starts at the link's current tag.
        (0..4).for_each(|_| waiting.push((lanes.tag(NEXT, lane(1)), 1)));
        (0..4).for_each(|_| assert_eq!(serve(&mut lanes, &mut waiting), Some(1)));
        (0..2).for_each(|_| waiting.push((lanes.tag(NEXT, lane(1)), 1)));
        (0..2).for_each(|_| waiting.push((lanes.tag(NEXT, lane(0)), 0)));
        let served: Vec<u16> = (0..4).filter_map(|_| serve(&mut lanes, &mut waiting)).collect();
        assert_eq!(served, [1, 0, 1, 0]);
    }

    #[test]
    fn links_have_tags_of_their_own() {
        let mut lanes = Lanes::default();
        lanes.carried(SiteNo(2), 50);
        assert_eq!(lanes.tag(NEXT, lane(0)), 1);
        assert_eq!(lanes.tag(SiteNo(2), lane(0)), 51);
    }
}
