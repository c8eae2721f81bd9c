//! The wave rule of docs/protocol.md, which the model leaves out.

use std::collections::BTreeMap;

use inart_model::Ranks;

/// Who repeated since the complete sum was last sent, by slot or chunk.
#[derive(Default)]
pub struct Waves(BTreeMap<u8, Ranks>);

impl Waves {
    /// A sum was completed by a frame of those contributors, that was a repeat or not.
    pub fn complete(&mut self, place: u8, contributors: Ranks, resend: bool) {
        self.0.insert(place, if resend { contributors } else { 0 });
    }

    /// A repeat for a complete sum comes in; whether the sum is sent again.
    pub fn answers(&mut self, place: u8, contributors: Ranks) -> bool {
        let asked = self.0.entry(place).or_default();
        let answers = *asked == 0 || *asked & contributors != 0;
        *asked = if answers { contributors } else { *asked | contributors };
        answers
    }
}
