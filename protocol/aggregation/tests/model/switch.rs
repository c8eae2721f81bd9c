//! The slot rules of docs/protocol/switch-rules.md, as plainly as they can be written.

use inart_wire::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Flags, Frame, FrameRepr, HeaderRepr, Incarnation, Kind,
};

#[derive(Clone)]
struct Slot {
    /// Run: the only part of the tag that differs in these tests.
    run: Incarnation,
    sequence: ChunkSeq,
    shape: (Exponent, u16, bool),
    seen: u64,
    /// Workers that repeated since the complete partial was last sent.
    asked: u64,
    overflow: bool,
    values: Vec<i32>,
}

/// One aggregating switch; all shards' frames go through it.
pub struct Switch {
    window: u32,
    expected: u64,
    slots: Vec<Vec<Option<Slot>>>,
    /// Frames summed into slots.
    pub added: u64,
    /// Sums that saturated.
    pub saturated: u64,
}

impl Switch {
    pub fn new(shards: usize, window: u32, expected: u64) -> Self {
        Self { window, expected, slots: vec![vec![None; window as usize]; shards], added: 0, saturated: 0 }
    }

    /// Returns the frame to the server for a received gradient, if any.
    pub fn handle(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let frame = Frame::new_checked(bytes).unwrap();
        let repr = FrameRepr::parse(&frame).unwrap();
        let header = repr.header;
        let forward = Some(bytes.to_vec());
        if !Contributors::is_subset(
            header.contributors,
            Contributors { bitmap: self.expected, ..Default::default() },
        ) || header.flags.contains(Flags::BYPASS)
        {
            return forward;
        }
        let slot = &mut self.slots[header.shard.index()][header.sequence.position(self.window)];
        let bitmap = header.contributors.bitmap;
        match slot {
            Some(slot) if slot.run == header.incarnation && slot.sequence == header.sequence => {
                if slot.shape != shape(&header) {
                    return forward;
                }
                if slot.seen & bitmap == 0 {
                    slot.seen |= bitmap;
                    slot.overflow |= header.flags.contains(Flags::OVERFLOW);
                    for (sum, value) in slot.values.iter_mut().zip(frame.values()) {
                        if header.exponent == Exponent::MAXIMA {
                            *sum = (*sum as u32).max(value as u32) as i32;
                            continue;
                        }
                        slot.overflow |= sum.checked_add(value).is_none();
                        *sum = sum.saturating_add(value);
                    }
                    self.added += 1;
                    self.saturated += u64::from(slot.overflow);
                    if header.flags.contains(Flags::RESEND) {
                        slot.asked = bitmap;
                    }
                } else if slot.seen != self.expected {
                    // A repeat for an incomplete slot is absorbed. (Partial overlap cannot be: gradients have
                    // one bit.)
                    return None;
                } else {
                    let answered = slot.asked == 0 || slot.asked & bitmap != 0;
                    slot.asked = if answered { bitmap } else { slot.asked | bitmap };
                    if !answered {
                        return None;
                    }
                }
            }
            Some(slot) if slot.run == header.incarnation && header.sequence < slot.sequence => {
                return forward;
            }
            _ => {
                *slot = Some(Slot {
                    run: header.incarnation,
                    sequence: header.sequence,
                    shape: shape(&header),
                    seen: bitmap,
                    asked: if header.flags.contains(Flags::RESEND) { bitmap } else { 0 },
                    overflow: header.flags.contains(Flags::OVERFLOW),
                    values: frame.values().collect(),
                });
                self.added += 1;
            }
        }
        let slot = slot.as_ref().unwrap();
        (slot.seen == self.expected).then(|| partial(&repr, slot))
    }

    /// Forgets all state, as a switch that restarts.
    pub fn forget(&mut self) {
        self.slots.iter_mut().for_each(|slots| slots.fill(None));
    }

    /// Expects a worker that never sends: no slot completes any more.
    pub fn expect_also(&mut self, absent: BitmapIndex) {
        self.expected |= Contributors::one(absent).bitmap;
    }
}

fn shape(header: &HeaderRepr) -> (Exponent, u16, bool) {
    (header.exponent, header.length, header.flags.contains(Flags::LAST))
}

fn partial(completing: &FrameRepr, slot: &Slot) -> Vec<u8> {
    let mut repr = *completing;
    repr.header.kind = Kind::Partial;
    repr.header.contributors.bitmap = slot.seen;
    repr.header.flags = repr.header.flags.with_if(Flags::OVERFLOW, slot.overflow);
    let mut bytes = vec![0xa5; repr.buffer_len()];
    repr.emit(&slot.values[..usize::from(repr.header.length)], &mut bytes).unwrap();
    bytes
}
