//! Messages as words.
#![allow(clippy::unwrap_used)]

use inart_protocol_peers::{Envelope, Message, Ranges};
use inart_wire::{Incarnation, Rank};
use proptest::prelude::*;

fn envelope(from: u16, to: u16, incarnation: u32, to_incarnation: u32) -> Envelope {
    let rank = |number| Rank::try_from(number).expect("a rank");
    Envelope {
        from: rank(from),
        to: rank(to),
        incarnation: Incarnation::new(incarnation),
        to_incarnation: Incarnation::new(to_incarnation),
    }
}

proptest! {
    #[test]
    fn messages_read_back_as_written(
        code in 0..4, round: u32, from in 0u16..16384, to in 0u16..16384, incarnations: [u32; 2],
        first in 0u32..1000, runs in proptest::collection::vec((1u32..9, 1u32..9), 1..9),
    ) {
        let mut chunks = Ranges::default();
        let mut at = first;
        for (len, gap) in runs {
            chunks.insert(at..at + len);
            at += len + gap;
        }
        let message = match code {
            0 => Message::Complete { round },
            1 => Message::Missing { round, chunks },
            2 => Message::Poll { round },
            _ => Message::Withdrawn { round },
        };
        let between = envelope(from, to, incarnations[0], incarnations[1]);
        let mut words = message.words(&between);
        prop_assert_eq!(Message::parse(&words), Some((between, message.clone())));
        // A frame pads with zeros; a truncated message is invalid.
        words.extend([0; 5]);
        prop_assert_eq!(Message::parse(&words), Some((between, message.clone())));
        words.truncate(words.len() - 6);
        prop_assert_eq!(Message::parse(&words), None);
    }

    #[test]
    fn any_words_are_a_message_or_none(words in proptest::collection::vec(0u32..40, 0..40)) {
        if let Some((between, message)) = Message::parse(&words) {
            prop_assert_eq!(Message::parse(&message.words(&between)), Some((between, message)));
        }
    }
}

#[test]
fn empty_or_too_high_ranges_are_ignored() {
    let between = envelope(1, 2, 3, 4);
    let words = Message::Missing { round: 7, chunks: Ranges::of(3..5) }.words(&between);
    for (at, word) in [(7, 0), (6, u32::MAX), (7, 1 << 31), (5, 0), (5, 2), (0, 99), (2, 1 << 30)] {
        let mut broken = words.clone();
        broken[at] = word;
        assert_eq!(Message::parse(&broken), None, "word {at} is {word}");
    }
    assert_eq!(Message::ranges_within(words.len()), 1);
}
