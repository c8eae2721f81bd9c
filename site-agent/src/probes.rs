//! What chunks say of the links that they came on: passive probes (NETSTORM, Section V).

use std::collections::BTreeMap;
use std::time::Duration;

use inart_sites::SiteNo;

use crate::message::SampleMessage;

/// A sample is of so many messages at most.
const MESSAGES: u32 = 8;
/// What has arrived when the first byte is seen: about a packet. It says nothing of the rate.
const FIRST_BITS: f64 = 1200.0 * 8.0;

/// Messages of one neighbour that followed each other without a pause.
#[derive(Debug, Clone, Copy)]
struct Busy {
    from: Duration,
    to: Duration,
    bits: f64,
    messages: u32,
}

/// Samples since the last report.
#[derive(Debug, Clone, Default)]
pub struct Probes {
    busy: BTreeMap<SiteNo, Busy>,
    samples: Vec<SampleMessage>,
}

impl Probes {
    /// A message has come from a neighbour: its first byte at one time, its last at another.
    pub fn add(&mut self, from: SiteNo, bytes: usize, started: Duration, ended: Duration) {
        let bits = bytes as f64 * 8.0;
        let goes_on = |busy: &&mut Busy| started <= busy.to && busy.messages < MESSAGES;
        if let Some(busy) = self.busy.get_mut(&from).filter(goes_on) {
            busy.to = busy.to.max(ended);
            busy.bits += bits;
            busy.messages += 1;
            return;
        }
        let first = Busy { from: started, to: ended, bits: bits - FIRST_BITS, messages: 1 };
        if let Some(last) = self.busy.insert(from, first) {
            self.close(from, last);
        }
    }

    /// All samples so far, which are forgotten.
    pub fn take(&mut self) -> Vec<SampleMessage> {
        for (from, busy) in std::mem::take(&mut self.busy) {
            self.close(from, busy);
        }
        std::mem::take(&mut self.samples)
    }

    fn close(&mut self, from: SiteNo, busy: Busy) {
        let seconds = busy.to.saturating_sub(busy.from).as_secs_f64();
        if seconds > 0.0 && busy.bits > 0.0 {
            self.samples.push(SampleMessage { from: from.0.into(), bits: busy.bits, seconds });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_without_a_pause_are_one_sample() {
        let at = Duration::from_millis;
        let mut probes = Probes::default();
        probes.add(SiteNo(3), 1200, at(0), at(0));
        assert_eq!(probes.take(), [], "one packet says nothing");
        probes.add(SiteNo(3), 11_200, at(100), at(200));
        probes.add(SiteNo(3), 10_000, at(150), at(300));
        probes.add(SiteNo(3), 11_200, at(500), at(600));
        let sample = |bits, seconds| SampleMessage { from: 3, bits, seconds };
        assert_eq!(probes.take(), [sample(160_000.0, 0.2), sample(80_000.0, 0.1)]);
        assert_eq!(probes.take(), []);
    }
}
