//! Unevenly distributed data: images sorted by digit, cut in shards, each client with some of them (McMahan
//! et al., "Communication-Efficient Learning of Deep Networks from Decentralized Data", Section 3).

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::digits::Digits;
use crate::trainer::ConfigError;

/// Apart from the streams that split the data (0) and order it (1 and on).
const STREAM: u64 = u64::MAX;

/// Returns the numbers of each client's images: every image is at one client.
pub(crate) fn deal(
    images: &Digits,
    seed: u64,
    clients: usize,
    shards: usize,
) -> Result<Vec<Vec<usize>>, ConfigError> {
    let most = images.len().checked_div(clients).unwrap_or(0);
    if !(1..=most).contains(&shards) {
        return Err(ConfigError::Shards { shards, clients, most, images: images.len() });
    }
    let mut sorted: Vec<usize> = (0..images.len()).collect();
    sorted.sort_by_key(|&image| (images.get(image).1, image));
    let all = clients * shards;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(STREAM);
    let mut order: Vec<usize> = (0..all).collect();
    order.shuffle(&mut random);
    let cut = |shard: usize| shard * sorted.len() / all;
    let of =
        |own: &[usize]| own.iter().flat_map(|&shard| &sorted[cut(shard)..cut(shard + 1)]).copied().collect();
    Ok(order.chunks(shards).map(of).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;
    use crate::digits::split;

    #[test]
    fn every_image_is_at_one_client_and_a_client_has_few_digits() {
        let (train, _) = split(1);
        for (clients, shards) in [(64, 2), (1, 1), (200, 3), (7, 10)] {
            let dealt = deal(&train, 1, clients, shards).unwrap();
            assert_eq!(dealt.len(), clients);
            let mut all: Vec<usize> = dealt.iter().flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..train.len()).collect::<Vec<_>>());
            assert!(dealt.iter().all(|own| !own.is_empty()));
        }
        let dealt = deal(&train, 1, 64, 2).unwrap();
        let digits = |own: &Vec<usize>| own.iter().map(|&at| train.get(at).1).collect::<BTreeSet<_>>().len();
        // A shard of 22 images spans two digits at most.
        assert!(dealt.iter().map(digits).all(|digits| digits <= 4));
        let mean = dealt.iter().map(digits).sum::<usize>() as f64 / 64.0;
        assert!((1.5..=2.6).contains(&mean), "{mean}");
        assert_ne!(dealt, deal(&train, 2, 64, 2).unwrap());
        assert_eq!(dealt, deal(&train, 1, 64, 2).unwrap());
    }

    #[test]
    fn shards_that_cannot_be_are_refused() {
        let (train, _) = split(1);
        let most = train.len() / 64;
        assert!(deal(&train, 1, 64, most).is_ok());
        for (clients, shards) in [(64, 0), (64, most + 1), (0, 1), (2000, 1), (usize::MAX, usize::MAX)] {
            assert!(matches!(deal(&train, 1, clients, shards), Err(ConfigError::Shards { .. })));
        }
    }
}
