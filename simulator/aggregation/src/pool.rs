//! Frames in flight, in reused buffers.

use crate::event_queue::{ChannelId, FrameId};

/// A frame on a channel.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub bytes: Vec<u8>,
    pub channel: ChannelId,
    /// Generation of the channel when the frame was sent: if the link went down since, the frame never
    /// arrives.
    pub generation: u32,
    /// Whether its check sequence is wrong.
    pub corrupt: bool,
}

/// All frames in flight.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    frames: Vec<InFlight>,
    free: Vec<FrameId>,
}

impl Pool {
    /// Returns a frame with unspecified bytes.
    pub fn take(&mut self) -> FrameId {
        self.free.pop().unwrap_or_else(|| {
            let frame = InFlight { bytes: Vec::new(), channel: ChannelId(0), generation: 0, corrupt: false };
            self.frames.push(frame);
            FrameId(self.frames.len() as u32 - 1)
        })
    }

    pub fn copy_of(&mut self, bytes: &[u8]) -> FrameId {
        let frame = self.take();
        let buffer = &mut self.get_mut(frame).bytes;
        buffer.clear();
        buffer.extend_from_slice(bytes);
        frame
    }

    pub fn give_back(&mut self, frame: FrameId) {
        self.free.push(frame);
    }

    pub fn get(&self, frame: FrameId) -> &InFlight {
        &self.frames[frame.0 as usize]
    }

    pub fn get_mut(&mut self, frame: FrameId) -> &mut InFlight {
        &mut self.frames[frame.0 as usize]
    }
}
