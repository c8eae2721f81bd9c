//! Sets of updates that a port can carry together within a time.

/// An update that a port may get: its sender, and its size in bits.
pub(super) type Item = (usize, f64);

/// Returns all sets of updates that fit into `room` bits and into which no further one fits, each as its
/// senders; `None` if there are more than `most`.
pub(super) fn maximal(items: &[Item], room: f64, most: usize) -> Option<Vec<Vec<usize>>> {
    let mut items = items.to_vec();
    items.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    // For each update, the bits of all later ones.
    let mut after = vec![0.0; items.len() + 1];
    for at in (0..items.len()).rev() {
        after[at] = after[at + 1] + items[at].1;
    }
    let mut search = Search { items: &items, after: &after, most, chosen: Vec::new(), found: Vec::new() };
    search.go(0, room, f64::INFINITY).then_some(search.found)
}

struct Search<'s> {
    items: &'s [Item],
    after: &'s [f64],
    most: usize,
    chosen: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// Decides on the update at a position and all later ones; `left_out` is the smallest one left out so
    /// far. Returns `false` if there are too many sets.
    fn go(&mut self, at: usize, room: f64, left_out: f64) -> bool {
        if left_out <= room - self.after[at] {
            // Even with all later ones, the smallest left-out update still fits: not maximal.
            return true;
        }
        let Some(&(from, bits)) = self.items.get(at) else {
            self.found.push(self.chosen.clone());
            return self.found.len() <= self.most;
        };
        if bits <= room {
            self.chosen.push(from);
            let goes_on = self.go(at + 1, room - bits, left_out);
            self.chosen.pop();
            if !goes_on {
                return false;
            }
        }
        self.go(at + 1, room, left_out.min(bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_that_fits_is_part_of_a_maximal_one() {
        let items: Vec<Item> = [3.0, 1.5, 2.0, 2.5, 0.7].into_iter().enumerate().collect();
        let room = 5.0;
        let bits = |set: &[usize]| set.iter().map(|&at| items[at].1).sum::<f64>();
        let found = maximal(&items, room, 100).expect("few");
        for set in &found {
            assert!(bits(set) <= room);
            let fits = |at: usize| !set.contains(&at) && bits(set) + items[at].1 <= room;
            assert!(!(0..items.len()).any(fits), "{set:?}");
        }
        for word in 0..1u32 << items.len() {
            let set: Vec<usize> = (0..items.len()).filter(|at| word >> at & 1 == 1).collect();
            let within = |of: &Vec<usize>| set.iter().all(|at| of.contains(at));
            assert_eq!(bits(&set) <= room, found.iter().any(within), "{set:?}");
        }
        assert_eq!(maximal(&items, room, found.len() - 1), None);
    }
}
