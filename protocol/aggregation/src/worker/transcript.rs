//! History of the tensors that a worker has started, and its transcript.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use inart_wire::Transcript;

/// Number of tensors whose descriptions are kept for an error.
const MOST_KEPT: usize = 1024;
/// Descriptions in one error.
const MOST_SHOWN: usize = 4;
/// Characters of a label that are kept.
const MOST_CHARACTERS: usize = 100;

/// FNV-1a with 64 bits: each byte changes the state by a bijection, so once the states of two histories
/// differ they stay different while equal bytes follow.
#[derive(Clone, Copy, Debug)]
struct Fnv(u64);

impl Fnv {
    const START: Self = Self(0xcbf2_9ce4_8422_2325);

    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn folded(self) -> u32 {
        (self.0 >> 32) as u32 ^ self.0 as u32
    }
}

/// A started tensor, for an error.
#[derive(Clone, Debug)]
struct Started {
    /// Counted from 0.
    number: u32,
    len: usize,
    label: String,
}

/// The history of a worker's tensors.
#[derive(Clone, Debug)]
pub(super) struct History {
    hash: Fnv,
    transcript: Transcript,
    last: VecDeque<Started>,
}

impl Default for History {
    fn default() -> Self {
        Self { hash: Fnv::START, transcript: Transcript::default(), last: VecDeque::new() }
    }
}

impl History {
    /// Adds the tensor that is started now. The hash has the program's label alone: numbers of values are
    /// compared where the tensor's chunks do not fit.
    pub(super) fn add(&mut self, len: usize, mut label: String) {
        self.hash.update(label.as_bytes());
        // UTF-8 never contains this byte, so it ends a label.
        self.hash.update(&[0xff]);
        let mark = self.hash.folded();
        let number = self.transcript.started;
        self.transcript.started = number.wrapping_add(1);
        self.transcript.marks.copy_within(..Transcript::LAST - 1, 1);
        let numbers = Transcript::numbers(self.transcript.started);
        for (place, stored) in self.transcript.marks.iter_mut().enumerate() {
            let is_new = place == 0 || place >= Transcript::LAST;
            if is_new && numbers[place] == self.transcript.started {
                *stored = mark;
            }
        }
        if let Some((end, _)) = label.char_indices().nth(MOST_CHARACTERS) {
            label.truncate(end);
            label.shrink_to_fit();
        }
        if self.last.len() == MOST_KEPT {
            self.last.pop_front();
        }
        self.last.push_back(Started { number, len, label });
    }

    /// Returns the transcript of all tensors so far.
    pub(super) fn transcript(&self) -> Transcript {
        self.transcript
    }

    /// Returns the descriptions of the tensors from `first` to `last` (counted from 0), as far as they are
    /// kept.
    pub(super) fn describe(&self, first: u32, last: u32) -> String {
        let kept: Vec<_> = self.last.iter().filter(|it| (first..=last).contains(&it.number)).collect();
        let shown = kept.iter().rev().take(MOST_SHOWN).rev().map(|started| {
            let Started { number, len, label } = started;
            let label = if label.is_empty() { "no label".into() } else { format!("label {label:?}") };
            format!("tensor {number}: {len} values, {label}")
        });
        shown.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(labels: impl IntoIterator<Item = usize>) -> History {
        let mut history = History::default();
        labels.into_iter().for_each(|label| history.add(5, format!("{label}")));
        history
    }

    /// The mark of a tensor by its definition: the hash of all descriptions up to it, byte by byte.
    fn defined(labels: &[usize]) -> u32 {
        let bytes = labels.iter().flat_map(|label| [format!("{label}").as_bytes(), &[0xff]].concat());
        let hash = bytes.fold(14_695_981_039_346_656_037u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211)
        });
        (hash >> 32) as u32 ^ hash as u32
    }

    #[test]
    fn every_mark_is_the_hash_of_the_tensors_up_to_its_number() {
        for started in (0..70).chain([255, 256, 257, 1023, 1025, 70_000]) {
            let labels: Vec<_> = (0..started).collect();
            let transcript = history(labels.iter().copied()).transcript();
            assert_eq!(transcript.started as usize, started);
            for (number, mark) in transcript.numbered() {
                assert_eq!(mark, defined(&labels[..number as usize]), "{number} of {started}");
            }
            let powers = (2..=9).map(|power| started as u32 / 4u32.pow(power) * 4u32.pow(power));
            let right =
                (0..Transcript::LAST as u32).map(|back| (started as u32).saturating_sub(back)).chain(powers);
            assert!(right.eq(Transcript::numbers(started as u32)), "{started}");
        }
    }

    #[test]
    fn a_skipped_tensor_shows_in_every_later_mark() {
        let whole = history(0..400).transcript();
        let skipped = history((0..400).filter(|label| *label != 300)).transcript();
        for (number, mark) in whole.numbered() {
            let other = skipped.mark(number);
            assert_eq!(other.is_some_and(|other| other != mark), other.is_some() && number > 300, "{number}");
        }
        assert!(whole.numbered().any(|(number, _)| number > 300 && skipped.mark(number).is_some()));
    }

    #[test]
    fn labels_are_kept_apart() {
        let marks = [["ab", "c"], ["a", "bc"], ["", "abc"], ["abc", ""], ["c", "ab"]].map(|labels| {
            let mut history = History::default();
            labels.into_iter().for_each(|label| history.add(1, label.into()));
            history.transcript().marks[0]
        });
        let distinct: alloc::collections::BTreeSet<_> = marks.iter().collect();
        assert_eq!(distinct.len(), marks.len());
    }

    #[test]
    fn an_error_shows_the_last_tensors_of_the_range() {
        let history = history(0..1060);
        assert_eq!(history.describe(99, 99), "tensor 99: 5 values, label \"99\"");
        assert_eq!(history.describe(0, 35), "", "no longer kept");
        assert_eq!(history.describe(0, 2000).matches("tensor").count(), MOST_SHOWN);
        let mut unlabeled = History::default();
        unlabeled.add(7, String::new());
        unlabeled.add(1, "ä".repeat(1000));
        assert_eq!(unlabeled.describe(0, 0), "tensor 0: 7 values, no label");
        assert_eq!(unlabeled.describe(1, 1), format!("tensor 1: 1 values, label \"{}\"", "ä".repeat(100)));
    }
}
