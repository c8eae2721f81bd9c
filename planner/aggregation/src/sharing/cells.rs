//! Rates between which the numbers of units do not change, and the choices of one such cell for every server.

use crate::bounds::whole;
use crate::model::Model;

/// Limit on choices, and on steps towards them.
const CHOICES: usize = 20_000;
const STEPS: usize = 8_000_000;

/// The rates F of one server for which it has the same whole numbers: `low` < F <= `rate`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    pub low: f64,
    pub rate: f64,
    /// D: units that groups have to save, W - floor(B'/F).
    pub saves: usize,
    /// G: the largest group at a switch, floor(C/F).
    pub group: usize,
}

impl Cell {
    /// Returns the capacity of switches spent on saving D units, over F: at least D G / (G - 1), since a
    /// group of h spends h F to save h - 1.
    fn spends(&self) -> f64 {
        if self.saves == 0 { 0.0 } else { self.saves as f64 * self.group as f64 / (self.group - 1) as f64 }
    }

    /// Returns the least number of switches that the server uses at rate F: with a separate ones, the rest is
    /// paired with other groups, none of whose members is below `least`, so that shared switches have C - 2
    /// `least` besides the first members of two groups each. Concave in F.
    fn takes(&self, rate: f64, least: f64, capacity: f64) -> f64 {
        if self.saves == 0 {
            return 0.0;
        }
        let paired = capacity - 2.0 * least;
        let largest = largest_shared(self.low, self.group, least, capacity);
        let most = self.saves.div_ceil(self.group - 1);
        if largest < 2 || paired <= 0.0 {
            return most as f64;
        }
        let with = |alone: usize| {
            let units = self.saves.saturating_sub(alone * (self.group - 1));
            let groups = units.div_ceil(largest - 1) as f64;
            alone as f64 + (rate * units as f64 + (rate - least) * groups) / paired
        };
        (0..=most).map(with).fold(f64::INFINITY, f64::min)
    }
}

/// Returns the largest group of up to `group` members of size `rate` that leaves its switch room for two of
/// size `least`.
pub(super) fn largest_shared(rate: f64, group: usize, least: f64, capacity: f64) -> usize {
    let room = capacity * (1.0 + 1e-11) - 2.0 * least;
    ((room / rate.max(1e-12 * capacity)).max(0.0) as usize).min(group)
}

/// One cell for every server.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    /// Sum of the cells' largest rates, bit/s.
    pub rate: f64,
    /// The most that their rates can sum to; below `rate` where not all can have their largest.
    pub most: f64,
    /// Cells by `[server]`.
    pub cells: Vec<Cell>,
}

/// Servers with the same intake.
struct Kind {
    intake: f64,
    servers: Vec<usize>,
    cells: Vec<Cell>,
}

/// Servers and switches.
pub(super) struct Market {
    kinds: Vec<Kind>,
    switches: f64,
    /// C, bit/s.
    capacity: f64,
}

impl Market {
    /// Creates the market of switches that aggregate `capacity` each; `None` if some server has no intake
    /// limit.
    pub fn new(model: &Model<'_>, capacity: f64) -> Option<Self> {
        let mut kinds: Vec<Kind> = Vec::new();
        for (s, &server) in model.servers.iter().enumerate() {
            let intake = Some(model.intake_bps(server)).filter(|intake| intake.is_finite())?;
            match kinds.iter_mut().find(|kind| kind.intake == intake) {
                Some(kind) => kind.servers.push(s),
                None => {
                    kinds.push(Kind { intake, servers: vec![s], cells: cells(model, intake, capacity) });
                }
            }
        }
        Some(Market { kinds, switches: model.aggregators.len() as f64, capacity })
    }

    /// Returns every choice that can have a rate above `least`; `None` if there are too many.
    pub fn choices(&self, least: f64) -> Option<Vec<Choice>> {
        let kinds = self.worth_it(least);
        let saving = kinds.iter().flatten().filter(|cell| cell.saves > 0);
        let mut lows: Vec<f64> = saving.map(|cell| cell.low).chain([f64::INFINITY]).collect();
        lows.sort_by(f64::total_cmp);
        lows.dedup();
        let mut found = Vec::new();
        let mut steps = STEPS;
        for low in lows {
            let floor = Floor::new(self, &kinds, low);
            let mut search = Search {
                market: self,
                floor: &floor,
                least,
                steps: &mut steps,
                found: &mut found,
                chosen: Vec::new(),
            };
            search.extend((0, 0, 0), floor.top).then_some(())?;
        }
        Some(found)
    }

    /// `[kind]`: the cells that a choice above `least` can have if all capacity could be spent.
    fn worth_it(&self, least: f64) -> Vec<Vec<Cell>> {
        let costs = |cell: &Cell| (cell.spends() * cell.rate, cell.spends() * cell.low);
        let kinds: Vec<Vec<Priced>> = self
            .kinds
            .iter()
            .map(|kind| kind.cells.iter().map(|cell| (*cell, costs(cell))).collect())
            .collect();
        let (price, top) = self.cheapest(&kinds, self.switches * self.capacity);
        let good = |cells: &Vec<Priced>| {
            let most = best(cells, price);
            let kept = cells.iter().filter(|cell| top - most + worth(cell, price) > least);
            kept.map(|cell| cell.0).collect()
        };
        kinds.iter().map(good).collect()
    }

    /// The price at which sum of the best worths + price * `supply` bounds every rate best, and that bound.
    fn cheapest(&self, kinds: &[Vec<Priced>], supply: f64) -> (f64, f64) {
        let bound = |price: f64| {
            let worths = kinds.iter().zip(&self.kinds);
            supply * price
                + worths.map(|(cells, kind)| kind.servers.len() as f64 * best(cells, price)).sum::<f64>()
        };
        // Convex in the price.
        let (mut low, mut high) = (0.0, self.kinds.iter().map(|kind| kind.intake).fold(0.0, f64::max));
        for _ in 0..150 {
            let third = (high - low) / 3.0;
            if bound(low + third) <= bound(high - third) { high -= third } else { low += third }
        }
        let price = 0.5 * (low + high);
        (price, bound(price))
    }
}

/// A cell, and its cost at its largest and at its least rate.
type Priced = (Cell, (f64, f64));

fn worth((cell, (at_rate, at_low)): &Priced, price: f64) -> f64 {
    (cell.rate - price * at_rate).max(cell.low - price * at_low)
}

fn best(cells: &[Priced], price: f64) -> f64 {
    cells.iter().map(|cell| worth(cell, price)).fold(f64::NEG_INFINITY, f64::max)
}

/// Choices whose least rate is that of a cell from `low` on.
struct Floor {
    low: f64,
    /// Upper bound of the rates of choices with this floor.
    top: f64,
    /// By `[kind]`: its cells and their worth at a price of switches, best first.
    worths: Vec<Vec<(f64, Cell)>>,
}

impl Floor {
    fn new(market: &Market, kinds: &[Vec<Cell>], low: f64) -> Self {
        let takes = |cell: &Cell, rate: f64| cell.takes(rate, low, market.capacity);
        let priced = |cells: &Vec<Cell>| -> Vec<Priced> {
            let above = cells.iter().filter(|cell| cell.saves == 0 || cell.low >= low);
            above.map(|cell| (*cell, (takes(cell, cell.rate), takes(cell, cell.low)))).collect()
        };
        let kinds: Vec<Vec<Priced>> = kinds.iter().map(priced).collect();
        let (price, top) = market.cheapest(&kinds, market.switches);
        let worths = |cells: &Vec<Priced>| {
            let mut worths: Vec<(f64, Cell)> =
                cells.iter().map(|cell| (worth(cell, price), cell.0)).collect();
            worths.sort_by(|a, b| b.0.total_cmp(&a.0));
            worths
        };
        Floor { low, top, worths: kinds.iter().map(worths).collect() }
    }
}

/// Enumerates the kinds of servers; equal ones in the order of their cells.
struct Search<'c> {
    market: &'c Market,
    floor: &'c Floor,
    least: f64,
    steps: &'c mut usize,
    found: &'c mut Vec<Choice>,
    chosen: Vec<Cell>,
}

impl Search<'_> {
    /// Chooses for the server at `(kind, of that kind, first cell)`, given that no server can have a rate
    /// above `top`. Returns whether there were few enough.
    fn extend(&mut self, (kind, n, first): (usize, usize, usize), top: f64) -> bool {
        let Some(cells) = self.floor.worths.get(kind) else {
            self.add(top);
            return self.found.len() <= CHOICES;
        };
        for (at, &(worth, cell)) in cells.iter().enumerate().skip(first) {
            let top = top - cells[0].0 + worth;
            if top <= self.least {
                break;
            }
            if *self.steps == 0 {
                return false;
            }
            *self.steps -= 1;
            self.chosen.push(cell);
            let more = n + 1 < self.market.kinds[kind].servers.len();
            let few = self.extend(if more { (kind, n + 1, at) } else { (kind + 1, 0, 0) }, top);
            self.chosen.pop();
            if !few {
                return false;
            }
        }
        true
    }

    /// Adds the choice, unless its floor is another one.
    fn add(&mut self, top: f64) {
        let saving = self.chosen.iter().filter(|cell| cell.saves > 0);
        if saving.map(|cell| cell.low).fold(f64::INFINITY, f64::min) != self.floor.low {
            return;
        }
        let of_kinds = self.market.kinds.iter().flat_map(|kind| &kind.servers);
        let mut cells = self.chosen.clone();
        of_kinds.zip(&self.chosen).for_each(|(&s, &cell)| cells[s] = cell);
        let rate: f64 = cells.iter().map(|cell| cell.rate).sum();
        let capacity = self.market.switches * self.market.capacity;
        let over = cells.iter().map(|cell| cell.spends() * cell.rate).sum::<f64>() - capacity;
        let dearest = cells.iter().map(Cell::spends).fold(0.0, f64::max);
        let fits = if over > 1e-12 * capacity { rate - over / dearest } else { rate };
        let most = rate.min(fits).min(top);
        if most > self.least {
            self.found.push(Choice { rate, most, cells });
        }
    }
}

/// Returns all cells of a server for which switches can save enough.
fn cells(model: &Model<'_>, intake: f64, capacity: f64) -> Vec<Cell> {
    let workers = model.workers.len();
    let top = intake.min(model.min_uplink_bps());
    let ends = (1..=workers).flat_map(|n| [capacity / n as f64, intake / n as f64]);
    let mut rates: Vec<f64> = ends.filter(|&rate| rate < top).chain([top]).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    rates.dedup_by(|low, high| *low >= *high * (1.0 - 1e-12));
    let lows = rates.iter().skip(1).copied().chain([0.0]);
    let at = |(&rate, low): (&f64, f64)| {
        let units = (whole(intake, rate) as usize).min(workers);
        let group = (whole(capacity, rate) as usize).min(workers);
        Cell { low, rate, saves: workers - units, group }
    };
    // Every group is one unit of intake.
    let enough = |cell: &Cell| {
        cell.saves == 0 || cell.group >= 2 && cell.saves.div_ceil(cell.group - 1) <= workers - cell.saves
    };
    let mut cells: Vec<Cell> = rates.iter().zip(lows).map(at).filter(enough).collect();
    // Below the first cell that needs no switch there is no gain.
    let enough = cells.iter().position(|cell| cell.saves == 0).map_or(cells.len(), |first| first + 1);
    cells.truncate(enough);
    cells
}
