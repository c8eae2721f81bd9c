//! Random numbers of NETSTORM's released script, which is Python 2: Mersenne Twister 19937.

const N: usize = 624;
const M: usize = 397;

/// Python's `random` after `random.seed(seed)`.
pub struct Mersenne {
    state: [u32; N],
    next: usize,
}

impl Mersenne {
    /// Creates a generator that is seeded as Python seeds with a number: a key of its 32-bit words, least
    /// first.
    pub fn new(seed: u64) -> Self {
        let mut state = [0u32; N];
        state[0] = 19_650_218;
        for i in 1..N {
            let last = state[i - 1];
            state[i] = 1_812_433_253u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(i as u32);
        }
        let high = (seed >> 32) as u32;
        let words = [seed as u32, high];
        let key = if high == 0 { &words[..1] } else { &words[..] };
        let mut i = 1;
        let mix = |state: &[u32; N], i: usize, by: u32| {
            state[i] ^ (state[i - 1] ^ (state[i - 1] >> 30)).wrapping_mul(by)
        };
        let advance = |state: &mut [u32; N], i: usize| {
            if i + 1 < N {
                return i + 1;
            }
            state[0] = state[N - 1];
            1
        };
        for step in 0..N {
            let j = step % key.len();
            state[i] = mix(&state, i, 1_664_525).wrapping_add(key[j]).wrapping_add(j as u32);
            i = advance(&mut state, i);
        }
        for _ in 1..N {
            state[i] = mix(&state, i, 1_566_083_941).wrapping_sub(i as u32);
            i = advance(&mut state, i);
        }
        state[0] = 0x8000_0000;
        Mersenne { state, next: N }
    }

    fn word(&mut self) -> u32 {
        if self.next == N {
            for i in 0..N {
                let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % N] & 0x7fff_ffff);
                let odd = if y & 1 == 1 { 0x9908_b0df } else { 0 };
                self.state[i] = self.state[(i + M) % N] ^ (y >> 1) ^ odd;
            }
            self.next = 0;
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// `random.random()`: from 0 to 1, without 1.
    pub fn random(&mut self) -> f64 {
        let (a, b) = (self.word() >> 5, self.word() >> 6);
        (f64::from(a) * 67_108_864.0 + f64::from(b)) / 9_007_199_254_740_992.0
    }

    /// Python 2's `random.randint`: both ends included.
    pub fn randint(&mut self, least: u64, greatest: u64) -> u64 {
        least + (self.random() * (greatest - least + 1) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python printed the expected numbers.
    #[test]
    fn numbers_are_those_of_python() {
        let mut one = Mersenne::new(1);
        let first = [one.random(), one.random(), one.random()];
        assert_eq!(first, [0.13436424411240122, 0.8474337369372327, 0.763774618976614]);
        assert_eq!(Mersenne::new(1 << 40).random(), PYTHON_2_40);
        let mut two = Mersenne::new(2);
        assert_eq!((0..1000).map(|_| two.random()).last(), Some(PYTHON_LAST));
    }

    const PYTHON_2_40: f64 = 0.1036394562812375;
    const PYTHON_LAST: f64 = 0.9214110288903143;
}
