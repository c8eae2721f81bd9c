//! Gradients as exact integers, and their sums.
//!
//! A chunk's values are `round(g · 2^-e)`, half to even, as int32, where e is the chunk's exponent, agreed on
//! by all sites. Integers are added without error, so the sum has the same bits at every site and for every
//! tree.
//!
//! **Exponents** need no extra message. With every sum travels the least exponent at which the largest value
//! of any site in it fits int32 ([`ChunkSum::needs`]): a maximum, so it is the same for every tree, too. The
//! next round's exponent is that of this round's complete sum, plus ⌈log2 N⌉ for N sites, so that sums fit,
//! plus 2, so that values may grow fourfold. In the first round values of size 1 fit. If all values were
//! zeros, the exponent stays.
//!
//! **Values that do not fit** make the chunk's sum one of several *parts*, each with an exponent of its own:
//! the site that needs more room uses its own exponent. Parts of equal exponent are added; others travel side
//! by side. So nothing is clipped and nobody starts anew; such a chunk is longer on the wire. In the end
//! there is one sum of integers ([`ChunkSum::integers`]): parts are added in units of the greatest exponent.
//!
//! **Error bound.** Each site's rounding errs by at most half of 2^e, with its part's e. So a result differs
//! from the exact sum of the sites' floats by at most the sum of `2^(e-1)` over sites, plus `2^(r-1)` if
//! there is more than one part, with r the exponent of the integers in the end (parts are added as `f64`, the
//! least exponent first). Reading it as `f32` adds one rounding to nearest.
//!
//! **NaN and infinities** travel as the number of the site that has them, the least if there are several: all
//! sites learn it with the sum, and none applies it.

use std::collections::BTreeMap;

use bytes::{Bytes, BytesMut};
use inart_core::quantise::{dequantise_all, fit_sums, least_exponent, quantise};
use inart_sites::{SiteNo, Summand};
use inart_wire::Exponent;

/// Values may grow by this power of two from round to round and still fit.
const HEADROOM_BITS: i32 = 2;
/// Values of the first round that fit are smaller than 2 to this.
const FIRST_SIZE_BITS: i32 = 0;
/// Bytes of a value on the wire.
pub const VALUE_BYTES: usize = 4;

/// Bits that a sum over so many sites needs more than a value.
fn sum_bits(sites: usize) -> i32 {
    (usize::BITS - sites.saturating_sub(1).leading_zeros()) as i32
}

/// The exponent of every chunk in the first round.
pub fn first_exponent(sites: usize) -> Exponent {
    Exponent::saturating(FIRST_SIZE_BITS - 31 + sum_bits(sites))
}

/// The sum of one chunk over some sites: exact.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChunkSum {
    /// int32 values, little-endian, in units of 2 to the exponent: by exponent.
    pub parts: BTreeMap<i8, Bytes>,
    /// The least exponent at which every value of every site would fit int32.
    pub needs: Exponent,
    /// The least site with a NaN or an infinity.
    pub not_finite: Option<SiteNo>,
}

impl ChunkSum {
    /// A chunk without values: what sites send in the round that has none.
    pub fn empty() -> Self {
        ChunkSum { parts: BTreeMap::new(), needs: Exponent::MIN, not_finite: None }
    }

    /// One site's values.
    pub fn of(values: &[f32], agreed: Exponent, sites: usize, me: SiteNo) -> Self {
        let needs = least_exponent(values);
        if needs == Exponent::NOT_FINITE {
            return ChunkSum { not_finite: Some(me), ..ChunkSum::empty() };
        }
        let own = Exponent::saturating(i32::from(needs) + sum_bits(sites));
        let exponent = if i32::from(own) > i32::from(agreed) { own } else { agreed };
        let mut quantised = vec![0; values.len()];
        let fits = quantise(values, exponent, &mut quantised);
        debug_assert!(fits.is_ok(), "the exponent is at least what the values need");
        let mut bytes = BytesMut::with_capacity(quantised.len() * VALUE_BYTES);
        quantised.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        let parts = BTreeMap::from([(i32::from(exponent) as i8, bytes.freeze())]);
        ChunkSum { parts, needs, not_finite: None }
    }

    /// Whether every part has so many values.
    pub fn has_length(&self, values: usize) -> bool {
        self.parts.values().all(|part| part.len() == values * VALUE_BYTES)
    }

    /// The exponent that the next round has, after this complete sum of a round with exponent `agreed`.
    pub fn next_exponent(&self, agreed: Exponent, sites: usize) -> Exponent {
        match self.needs {
            Exponent::MIN => agreed,
            needs => Exponent::saturating(i32::from(needs) + sum_bits(sites) + HEADROOM_BITS),
        }
    }

    /// The sum as integers and their exponent, the same at every site; `None` if a site had a NaN or an
    /// infinity. `values`: how many the chunk has.
    pub fn integers(&self, values: usize) -> Option<(Vec<i32>, Exponent)> {
        if self.not_finite.is_some() {
            return None;
        }
        let of = |part: &Bytes| {
            let value = |bytes: &[u8]| i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            part.chunks_exact(VALUE_BYTES).map(value).collect::<Vec<i32>>()
        };
        let Some((&greatest, last)) = self.parts.last_key_value() else {
            return Some((vec![0; values], Exponent::MIN));
        };
        let exponent = Exponent::saturating(greatest.into());
        if self.parts.len() == 1 {
            return Some((of(last), exponent));
        }
        let mut sums = vec![0.0f64; values];
        for (&at, part) in &self.parts {
            let unit = 2f64.powi(i32::from(at) - i32::from(greatest));
            sums.iter_mut().zip(of(part)).for_each(|(sum, integer)| *sum += f64::from(integer) * unit);
        }
        let mut sums: Vec<i64> = sums.iter().map(|sum| sum.round_ties_even() as i64).collect();
        let exponent = fit_sums(&mut sums, exponent);
        Some((sums.into_iter().map(|sum| sum as i32).collect(), exponent))
    }

    /// Writes the floats nearest to the sum; NaN everywhere if a site had one or an infinity. `values` has to
    /// be as long as the chunk.
    pub fn write(&self, values: &mut [f32]) {
        match self.integers(values.len()) {
            Some((integers, exponent)) => dequantise_all(&integers, exponent, values),
            None => values.fill(f32::NAN),
        }
    }
}

/// What all sites have after a round in which one site each has given `gradients`: the sum, one value per
/// parameter. `exponents` are those of the chunks, and then those of the next round.
pub fn reduce(gradients: &[Vec<f32>], chunk_values: &[usize], exponents: &mut [Exponent]) -> Vec<f32> {
    let (mut sum, sites) = (vec![0.0; chunk_values.iter().sum()], gradients.len());
    let mut first = 0;
    for (&values, exponent) in chunk_values.iter().zip(exponents) {
        let range = first..first + values;
        let mut chunk = ChunkSum::empty();
        for (site, gradient) in gradients.iter().enumerate() {
            chunk.add(&ChunkSum::of(&gradient[range.clone()], *exponent, sites, SiteNo(site as u16)));
        }
        chunk.write(&mut sum[range]);
        *exponent = chunk.next_exponent(*exponent, sites);
        first += values;
    }
    sum
}

impl Summand for ChunkSum {
    fn add(&mut self, other: &Self) {
        for (&exponent, theirs) in &other.parts {
            let ours = self.parts.remove(&exponent);
            let sum = match ours {
                None => theirs.clone(),
                Some(ours) => added(ours, theirs),
            };
            self.parts.insert(exponent, sum);
        }
        self.needs = if i32::from(other.needs) > i32::from(self.needs) { other.needs } else { self.needs };
        self.not_finite = match (self.not_finite, other.not_finite) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

/// The sums of two parts of one exponent. They fit: that is what the exponent is chosen for.
fn added(ours: Bytes, theirs: &Bytes) -> Bytes {
    let mut ours = ours.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
    for (to, from) in ours.chunks_exact_mut(VALUE_BYTES).zip(theirs.chunks_exact(VALUE_BYTES)) {
        let sum = i32::from_le_bytes([to[0], to[1], to[2], to[3]])
            .wrapping_add(i32::from_le_bytes([from[0], from[1], from[2], from[3]]));
        to.copy_from_slice(&sum.to_le_bytes());
    }
    ours.freeze()
}
