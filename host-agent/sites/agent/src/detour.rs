//! Detours around a failed link.

use std::collections::VecDeque;

use inart_protocol_sites::SiteNo;

/// Returns the route of the fewest hops from `me` to `to` whose first hop is not in `avoided`, including both
/// ends; `None` if no such route exists. `neighbors`: the neighbors of each site, ascending.
pub fn detour(neighbors: &[Vec<SiteNo>], me: SiteNo, to: SiteNo, avoided: &[SiteNo]) -> Option<Vec<SiteNo>> {
    let mut came_from: Vec<Option<SiteNo>> = vec![None; neighbors.len()];
    let mut open = VecDeque::from([me]);
    while let Some(at) = open.pop_front() {
        for &next in &neighbors[at.index()] {
            let is_free = at != me || (next != to && !avoided.contains(&next));
            if next != me && came_from[next.index()].is_none() && is_free {
                came_from[next.index()] = Some(at);
                open.push_back(next);
            }
        }
    }
    let mut route = vec![to];
    while let Some(before) = came_from[route.last()?.index()] {
        route.push(before);
        if before == me {
            route.reverse();
            return Some(route);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours_take_the_fewest_hops_and_no_link_that_is_down() {
        // A ring 0-1-2-3-0 with a tail 3-4.
        let ring = [[1, 3].as_slice(), &[0, 2], &[1, 3], &[0, 2, 4], &[3]];
        let ring: Vec<Vec<SiteNo>> = ring.map(|list| list.iter().copied().map(SiteNo).collect()).to_vec();
        let way = |me, to, avoided: &[u16]| {
            let avoided: Vec<_> = avoided.iter().copied().map(SiteNo).collect();
            detour(&ring, SiteNo(me), SiteNo(to), &avoided)
                .map(|way| way.iter().map(|at| at.0).collect::<Vec<_>>())
        };
        assert_eq!(way(0, 1, &[1]), Some(vec![0, 3, 2, 1]));
        assert_eq!(way(0, 1, &[1, 3]), None);
        assert_eq!(way(3, 4, &[4]), None);
        assert_eq!(way(4, 3, &[]), None);
    }
}
