//! Checks whether the switches suffice for one choice of cells: some switches for one server alone, the
//! others shared.

use rustc_hash::FxHashSet;

use super::cells::{Cell, Choice};
use super::grouping::Grouping;
use crate::packing::{Row, maximize_sum};

/// Forgives rounding errors upwards, relative to C.
const FITS: f64 = 1e-11;

/// Result for rates above a given one.
#[derive(Debug)]
pub(super) enum Packed {
    /// Feasible: their sum, and the grouping.
    At(f64, Grouping),
    /// Infeasible for every plan.
    Never,
    /// Too many packings to search.
    Unknown,
}

/// The cells of one choice, and the switches to pack them in.
pub(super) struct Bins<'c> {
    cells: &'c [Cell],
    /// Sum of the cells' largest rates.
    top: f64,
    switches: usize,
    capacity: f64,
    /// The least size of a member of any group.
    smallest: f64,
    /// Largest allowed difference of the sum of rates to `top`.
    slack: f64,
    /// Infeasible units to save, by number of remaining shared switches.
    dead: FxHashSet<(usize, Vec<usize>)>,
    /// Largest value of a switch with two groups or more, where a separate switch is worth 1 to every server.
    worth: f64,
    /// Largest contribution of all servers from each on to each of the [`Room`]s.
    ahead: Vec<Room>,
    /// Units that the decided servers still have to save in shared switches.
    units: Vec<usize>,
    filled: Vec<Vec<(usize, usize)>>,
    best: Option<(f64, Grouping)>,
}

/// Remaining capacity of the shared switches, counted in three ways: their capacity; that without the first
/// members of two groups in each; their worth.
type Room = [f64; 3];

fn plus(a: Room, b: Room) -> Room {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// The shared switch that is being filled.
struct Bin {
    /// Number of remaining switches, including this one.
    bins: usize,
    /// Units to be saved before it, and the members that the server with most of them needs for it.
    units: Vec<usize>,
    most: usize,
    /// Groups so far: (server, workers).
    groups: Vec<(usize, usize)>,
    /// The server decided for last, and its workers.
    last: Option<(usize, usize)>,
    /// Room at the largest and at the least rates.
    room: (f64, f64),
    /// Remaining capacity of this and the others, at the largest rates, and groups beyond the fewest.
    spare: f64,
    splits: usize,
}

impl<'c> Bins<'c> {
    pub fn new(choice: &'c Choice, switches: usize, capacity: f64) -> Self {
        let saving = choice.cells.iter().filter(|cell| cell.saves > 0);
        Bins {
            cells: &choice.cells,
            top: choice.rate,
            switches,
            capacity,
            smallest: saving.map(|cell| cell.rate).fold(f64::INFINITY, f64::min),
            slack: 0.0,
            dead: FxHashSet::default(),
            worth: 0.0,
            ahead: Vec::new(),
            units: Vec::new(),
            filled: Vec::new(),
            best: None,
        }
    }

    /// Looks for rates inside the cells whose sum is above `rate`; deducts its steps from `looks`.
    pub fn above(mut self, rate: f64, looks: &mut usize) -> Packed {
        self.slack = (self.top - rate).max(0.0);
        self.worth = self.most_worth();
        self.ahead = self.look_ahead();
        let full = self.capacity * (1.0 + FITS);
        let each = [full, full - 2.0 * (self.smallest - self.slack).max(0.0), self.worth];
        let complete = self.divide(0, each.map(|each| each * self.switches as f64), looks);
        match self.best {
            Some((rate, grouping)) => Packed::At(rate, grouping),
            None if complete => Packed::Never,
            None => Packed::Unknown,
        }
    }

    /// The least rate of a server in this choice.
    fn least(&self, cell: &Cell) -> f64 {
        (cell.rate - self.slack).max(cell.low)
    }

    /// Returns the number of groups that save `units`, none larger than `largest`.
    fn groups(units: usize, largest: usize) -> usize {
        if units == 0 { 0 } else { units.div_ceil(largest.max(2) - 1) }
    }

    /// Decides for one server after the other how many switches it has alone, most first. Returns `true` if
    /// nothing was left out. Ends once a solution is found. `room` as in [`Bins::adds`].
    fn divide(&mut self, alone: usize, room: Room, looks: &mut usize) -> bool {
        let s = self.units.len();
        let cells = self.cells;
        let Some(cell) = cells.get(s) else { return self.pack(self.switches - alone, looks) };
        let most = Self::most_alone(cell).min(self.switches - alone);
        for own in (0..=most).rev() {
            let (units, more) = self.adds(cell, own);
            let room = plus(room, more);
            let [all, paired, worth] = plus(room, self.ahead[s + 1]);
            // Cancellation leaves rounding errors.
            let error = -1e-9 * self.capacity;
            if all < error || paired < error || worth < -1e-9 {
                continue;
            }
            if *looks == 0 {
                return false;
            }
            *looks -= 1;
            self.units.push(units);
            let complete = self.divide(alone + own, room, looks);
            self.units.pop();
            if self.best.is_some() || !complete {
                return complete;
            }
        }
        true
    }

    /// Returns the largest group next to another one of two members at least.
    fn largest_shared(&self, cell: &Cell) -> usize {
        let shared = 2.0 * (self.smallest - self.slack).max(0.0);
        let least = self.least(cell).max(1e-12 * self.capacity);
        let most = ((self.capacity * (1.0 + FITS) - shared) / least).floor();
        (most.max(0.0) as usize).min(cell.group)
    }

    /// Returns the value of a saved unit to a server.
    fn value(cell: &Cell) -> f64 {
        if cell.saves == 0 { 0.0 } else { 1.0 / (cell.group - 1) as f64 }
    }

    /// Returns the largest value of a switch with two groups or more: the best two groups; or, for three and
    /// more, the value of a full switch of the server with the most value for its size, without three first
    /// members.
    fn most_worth(&self) -> f64 {
        let mut saving: Vec<&Cell> = self.cells.iter().filter(|cell| cell.saves > 0).collect();
        saving.sort_by(|a, b| Self::value(a).total_cmp(&Self::value(b)));
        let full = self.capacity * (1.0 + FITS);
        let density = saving.iter().map(|cell| Self::value(cell) / self.least(cell).max(1e-12 * full));
        let firsts: f64 = saving.iter().take(3).map(|cell| Self::value(cell)).sum();
        // An empty switch is worth nothing.
        let mut most = (density.fold(0.0, f64::max) * full - firsts).max(0.0);
        for (at, a) in saving.iter().enumerate() {
            for b in &saving[at + 1..] {
                for members in 2..=self.largest_shared(a) {
                    let room = full - members as f64 * self.least(a);
                    let others = ((room / self.least(b).max(1e-12 * full)) as usize).min(b.group);
                    if others >= 2 {
                        let of_a = (members - 1) as f64 * Self::value(a);
                        most = most.max(of_a + (others - 1) as f64 * Self::value(b));
                    }
                }
            }
        }
        most * (1.0 + FITS)
    }

    /// Returns the largest contribution of each server to the shared switches, summed from the last server
    /// on.
    fn look_ahead(&self) -> Vec<Room> {
        let mut ahead = vec![[0.0; 3]];
        for cell in self.cells.iter().rev() {
            let ways = (0..=Self::most_alone(cell)).map(|alone| self.adds(cell, alone).1);
            let best = ways.fold([f64::NEG_INFINITY; 3], |best, adds| {
                [best[0].max(adds[0]), best[1].max(adds[1]), best[2].max(adds[2])]
            });
            ahead.push(plus(best, *ahead.last().expect("starts with one")));
        }
        ahead.reverse();
        ahead
    }

    /// Switches that a server can use alone.
    fn most_alone(cell: &Cell) -> usize {
        if cell.saves == 0 { 0 } else { cell.saves.div_ceil(cell.group - 1) }
    }

    /// Returns for `alone` separate switches: units left to save, and their addition to the room in the
    /// shared ones.
    fn adds(&self, cell: &Cell, alone: usize) -> (usize, Room) {
        let full = self.capacity * (1.0 + FITS);
        let units = cell.saves.saturating_sub(alone * cell.group.saturating_sub(1));
        let largest = self.largest_shared(cell);
        if units > 0 && largest < 2 {
            return (units, [f64::NEG_INFINITY; 3]);
        }
        let groups = Self::groups(units, largest) as f64;
        let room = -(alone as f64) * full - self.least(cell) * (units as f64 + groups);
        let pairs = 2.0 * alone as f64 + groups;
        let worth = -(alone as f64) * self.worth - units as f64 * Self::value(cell);
        (units, [room, room + pairs * (self.smallest - self.slack).max(0.0), worth])
    }

    /// Packs the rest into the shared switches.
    fn pack(&mut self, bins: usize, looks: &mut usize) -> bool {
        self.fill(bins, self.units.clone(), looks).0
    }

    /// Returns the remaining capacity of `bins` switches at the largest rates, and the members of the server
    /// with most of them: a missing part of the sum of rates is best taken from that server.
    fn spare(&self, bins: usize, units: &[usize]) -> (f64, usize) {
        let (mut size, mut most) = (0.0, 0);
        for (&units, cell) in units.iter().zip(self.cells) {
            let members = units + Self::groups(units, cell.group);
            size += cell.rate * members as f64;
            most = most.max(members);
        }
        (bins as f64 * self.capacity * (1.0 + FITS) - size, most)
    }

    /// Fills switches one by one. Returns whether nothing was left out, and whether any packing was found.
    fn fill(&mut self, bins: usize, units: Vec<usize>, looks: &mut usize) -> (bool, bool) {
        if units.iter().all(|&units| units == 0) {
            self.rate();
            return (true, true);
        }
        let (spare, most) = self.spare(bins, &units);
        if bins == 0 || spare + self.slack * (most as f64) < 0.0 {
            return (true, false);
        }
        let worth: f64 =
            units.iter().zip(self.cells).map(|(&units, cell)| units as f64 * Self::value(cell)).sum();
        if worth > bins as f64 * self.worth + 1e-9 {
            return (true, false);
        }
        let state = (bins, self.up_to_names(&units));
        if self.dead.contains(&state) {
            return (true, false);
        }
        // Some switch holds a group of the server with the most left: this one.
        let size = |s: usize| self.cells[s].rate * units[s] as f64;
        let mut order: Vec<usize> = (0..units.len()).filter(|&s| units[s] > 0).collect();
        order.sort_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        let least = self.capacity * (1.0 + FITS);
        let mut bin = Bin {
            bins,
            units,
            most,
            groups: Vec::new(),
            last: None,
            room: (self.capacity, least),
            spare,
            splits: 0,
        };
        let (complete, reached) = self.fill_one(&mut bin, &order, looks);
        if complete && !reached {
            self.dead.insert(state);
        }
        (complete, reached)
    }

    /// Returns the units, sorted among servers in the same cell: such servers are interchangeable.
    fn up_to_names(&self, units: &[usize]) -> Vec<usize> {
        let mut sorted = units.to_vec();
        for s in 1..sorted.len() {
            let mut at = s;
            while let Some(before) = (0..at).rev().find(|&t| self.cells[t] == self.cells[s]) {
                if sorted[before] <= sorted[at] {
                    break;
                }
                sorted.swap(before, at);
                at = before;
            }
        }
        sorted
    }

    /// Returns whether swapping the two changes nothing: same cell, same units, and neither is in an earlier
    /// switch (unless all rates are given).
    fn alike(&self, s: usize, t: usize, bin: &Bin) -> bool {
        let fresh = |s: usize| self.filled.iter().flatten().all(|group| group.0 != s);
        self.cells[s] == self.cells[t]
            && bin.units[s] == bin.units[t]
            && (self.slack <= 1e-9 * self.top || fresh(s) && fresh(t))
    }

    /// Chooses the group of the next server in `order` at the switch that is being filled.
    fn fill_one(&mut self, bin: &mut Bin, order: &[usize], looks: &mut usize) -> (bool, bool) {
        let Some((&s, rest)) = order.split_first() else { return self.close(bin, looks) };
        if *looks == 0 {
            return (false, false);
        }
        *looks -= 1;
        // Possible additions of the others, and the rest that stays empty.
        let others: f64 = order.iter().map(|&s| self.cells[s].rate * (bin.units[s] + 1) as f64).sum();
        if bin.room.0 - others > bin.spare + self.slack * (bin.most + bin.splits) as f64 {
            return (true, false);
        }
        let cell = &self.cells[s];
        let (rate, group, least) = (cell.rate, cell.group, self.least(cell).max(1e-12 * self.capacity));
        let units = bin.units[s];
        let mut most = ((bin.room.1 / least).max(0.0).floor() as usize).min(units + 1);
        // Of servers alike the first has the largest group.
        if let Some((_, members)) = bin.last.filter(|&(before, _)| self.alike(before, s, bin)) {
            most = most.min(members);
        }
        let outer = bin.last;
        let (mut complete, mut reached) = (true, false);
        for members in (2..=most).rev() {
            let more = 1 + Self::groups(units + 1 - members, group) - Self::groups(units, group);
            let before = (bin.room, bin.spare, bin.splits);
            bin.spare -= rate * more as f64;
            bin.splits += more;
            if bin.spare + self.slack * (bin.most + bin.splits) as f64 >= 0.0 {
                bin.room = (bin.room.0 - rate * members as f64, bin.room.1 - least * members as f64);
                bin.groups.push((s, members));
                bin.last = Some((s, members));
                let one = self.fill_one(bin, rest, looks);
                bin.groups.pop();
                bin.last = outer;
                (complete, reached) = (complete && one.0, reached || one.1);
            }
            (bin.room, bin.spare, bin.splits) = before;
            if self.best.is_some() || !complete {
                return (complete, reached);
            }
        }
        if !bin.groups.is_empty() {
            bin.last = Some((s, 0));
            let without = self.fill_one(bin, rest, looks);
            bin.last = outer;
            (complete, reached) = (complete && without.0, reached || without.1);
        }
        (complete, reached)
    }

    /// Continues with the next switch, unless this one is overfull, leaves too much empty, or could hold more
    /// at no cost.
    fn close(&mut self, bin: &Bin, looks: &mut usize) -> (bool, bool) {
        let most = bin.groups.iter().map(|&(_, members)| members).max().unwrap_or(0);
        let overfull = bin.room.0 + self.slack * (most as f64) < -FITS * self.capacity;
        let wasted = bin.spare - bin.room.0.max(0.0) + self.slack * ((bin.most + bin.splits) as f64) < 0.0;
        if overfull || wasted {
            return (true, false);
        }
        let mut left = bin.units.clone();
        bin.groups.iter().for_each(|&(s, members)| left[s] -= members - 1);
        let could_hold = left.iter().enumerate().any(|(s, &units)| {
            let members = if bin.groups.iter().any(|group| group.0 == s) { 1.0 } else { 2.0 };
            units > 0 && members * self.cells[s].rate <= bin.room.0
        });
        if could_hold {
            return (true, false);
        }
        self.filled.push(bin.groups.clone());
        let after = self.fill(bin.bins - 1, left, looks);
        self.filled.pop();
        after
    }

    /// Takes down the filled switches if their best rates are above those sought.
    fn rate(&mut self) {
        let servers = self.cells.len();
        let alone = |s: usize| {
            let mut uses = vec![0.0; servers];
            uses[s] = 1.0;
            Row { uses, limit: self.cells[s].rate }
        };
        let shared = |groups: &Vec<(usize, usize)>| {
            let mut uses = vec![0.0; servers];
            groups.iter().for_each(|&(s, members)| uses[s] = members as f64);
            Row { uses, limit: self.capacity }
        };
        let rows: Vec<Row> = (0..servers).map(alone).chain(self.filled.iter().map(shared)).collect();
        let sending = maximize_sum(servers, &rows);
        let rate: f64 = sending.iter().sum();
        if rate >= self.top - self.slack {
            let sending = sending.iter().zip(self.cells).map(|(f, cell)| f.min(cell.rate)).collect();
            self.best = Some((rate, Grouping { sending, shared: self.filled.clone() }));
        }
    }
}
