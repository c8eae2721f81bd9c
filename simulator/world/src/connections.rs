//! Connections between processes.

use std::collections::BTreeMap;

use inart_connections::PeerNo;

/// A connection that is up.
#[derive(Debug, Clone, Copy)]
pub struct Up {
    pub number: u64,
    /// Generations of both ends when the connection was made.
    pub generations: [u32; 2],
}

/// A pair of processes that connect whenever they can.
#[derive(Debug, Clone)]
pub struct Pair {
    ends: [PeerNo; 2],
    pub up: Option<Up>,
    /// Whether an attempt is in progress.
    pub is_connecting: bool,
}

impl Pair {
    pub fn number(&self) -> Option<u64> {
        self.up.map(|up| up.number)
    }

    /// Returns whether a connection of these generations is up.
    pub fn is_of(&self, generations: [u32; 2]) -> bool {
        self.up.is_some_and(|up| up.generations == generations)
    }
}

/// All pairs. Each connection has a new number: messages of one connection do not arrive on the next.
#[derive(Debug, Clone)]
pub struct Connections {
    pairs: Vec<Pair>,
    /// Positions of pairs, by their ends in both orders.
    positions: BTreeMap<[PeerNo; 2], usize>,
    made: u64,
}

impl Connections {
    pub fn new(pairs: impl IntoIterator<Item = [PeerNo; 2]>) -> Self {
        let pair = |ends| Pair { ends, up: None, is_connecting: false };
        let pairs: Vec<Pair> = pairs.into_iter().map(pair).collect();
        let mut positions = BTreeMap::new();
        for (at, Pair { ends: [a, b], .. }) in pairs.iter().enumerate() {
            positions.entry([*a, *b]).or_insert(at);
            positions.entry([*b, *a]).or_insert(at);
        }
        Connections { pairs, positions, made: 0 }
    }

    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    pub fn ends(&self, pair: usize) -> [PeerNo; 2] {
        self.pairs[pair].ends
    }

    pub fn pair(&mut self, number: usize) -> &mut Pair {
        &mut self.pairs[number]
    }

    /// Makes a connection between processes of these generations.
    pub fn make(&mut self, pair: usize, generations: [u32; 2]) {
        self.made += 1;
        self.pairs[pair].up = Some(Up { number: self.made, generations });
    }

    /// Returns the number of the connection to another process that this generation of a process has.
    pub fn number(&self, who: PeerNo, other: PeerNo, generation: u32) -> Option<u64> {
        let pair = &self.pairs[*self.positions.get(&[who, other])?];
        let up = pair.up?;
        (up.generations[usize::from(pair.ends[0] != who)] == generation).then_some(up.number)
    }

    /// Returns the pairs of a process.
    pub fn of(&self, who: PeerNo) -> Vec<usize> {
        (0..self.pairs.len()).filter(|pair| self.pairs[*pair].ends.contains(&who)).collect()
    }
}
