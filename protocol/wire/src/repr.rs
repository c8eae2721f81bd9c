//! Frames as values.

use core::fmt;

use crate::field::*;
use crate::{
    BitmapIndex, ChunkSeq, Contributors, Exponent, Feedback, Flags, Frame, Incarnation, JobId, Kind, MacAddr,
    PlanVersion, ShardId, ValuesPerFrame, WireError,
};

/// The INART header of a valid frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderRepr {
    /// Kind of the frame.
    pub kind: Kind,
    /// Flags.
    pub flags: Flags,
    /// The plan that steers it.
    pub plan_version: PlanVersion,
    /// Job.
    pub job: JobId,
    /// Shard.
    pub shard: ShardId,
    /// Bitmap index of the sender; in a partial, of the worker whose frame completed it; in a result or
    /// control frame to one worker, of that worker.
    pub worker: BitmapIndex,
    /// Chunk.
    pub sequence: ChunkSeq,
    /// Contributors; in a result, the bits of its [`Feedback`]; in an update, its receivers.
    pub contributors: Contributors,
    /// Number format and scale of the values.
    pub exponent: Exponent,
    /// Number of used values; the rest are zeros.
    pub length: u16,
    /// Run of the plan version: the incarnation of the shard's server, as far as the sender knows it.
    pub incarnation: Incarnation,
}

impl HeaderRepr {
    /// Reads the header of a frame and checks its consistency: a gradient contains its sender alone, a
    /// partial contains the worker that completed it, an update has receivers.
    ///
    /// # Errors
    /// [`WireError`] names the field that breaks a rule.
    pub fn parse<T: AsRef<[u8]>>(frame: &Frame<T>) -> Result<Self, WireError> {
        let header = Self {
            kind: frame.kind(),
            flags: frame.flags(),
            plan_version: frame.plan_version(),
            job: frame.job(),
            shard: frame.shard(),
            worker: frame.worker(),
            sequence: frame.sequence(),
            contributors: frame.contributors(),
            exponent: frame.exponent(),
            length: frame.length(),
            incarnation: frame.incarnation(),
        };
        let fit = match header.kind {
            Kind::Gradient => header.contributors == Contributors::one(header.worker),
            Kind::Partial => header.contributors.contains(header.worker),
            Kind::Update => !header.contributors.is_empty(),
            _ => true,
        };
        if fit {
            Ok(header)
        } else {
            Err(WireError::Contributors { seen: header.contributors, worker: header.worker })
        }
    }
}

impl HeaderRepr {
    /// Returns the feedback of a result; `None` for other kinds.
    pub fn feedback(&self) -> Option<Feedback> {
        (self.kind == Kind::Result).then(|| Feedback::parse(self.sequence, self.contributors.bitmap))
    }
}

impl fmt::Display for HeaderRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} plan version {} job {} shard {} worker {} sequence {} ",
            self.kind, self.plan_version, self.job, self.shard, self.worker, self.sequence,
        )?;
        match self.feedback() {
            Some(feedback) => write!(f, "{feedback}")?,
            None if self.kind == Kind::Update => write!(f, "receivers {}", self.contributors)?,
            None => write!(f, "contributors {}", self.contributors)?,
        }
        write!(
            f,
            " exponent {} length {} flags {} run {}",
            self.exponent, self.length, self.flags, self.incarnation
        )
    }
}

/// A whole frame but for its values, which stay where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameRepr {
    /// Ethernet destination.
    pub destination: MacAddr,
    /// Ethernet source.
    pub source: MacAddr,
    /// Number of values per frame.
    pub values_per_frame: ValuesPerFrame,
    /// The INART header.
    pub header: HeaderRepr,
}

impl FrameRepr {
    /// Reads a checked frame.
    ///
    /// # Errors
    /// [`WireError`] names the field that breaks a rule.
    pub fn parse<T: AsRef<[u8]>>(frame: &Frame<T>) -> Result<Self, WireError> {
        Ok(Self {
            destination: frame.destination(),
            source: frame.source(),
            values_per_frame: frame.values_per_frame(),
            header: HeaderRepr::parse(frame)?,
        })
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        self.values_per_frame.frame_bytes()
    }

    /// Writes the frame to the front of `buffer`, every byte of it, and returns its length. `values` has the
    /// used values, the header's `length` many; zeros follow.
    ///
    /// # Errors
    ///
    /// [`WireError`] if the buffer is too short, or the number of `values` differs from the header's length.
    pub fn emit(&self, values: &[i32], buffer: &mut [u8]) -> Result<usize, WireError> {
        let needed = self.buffer_len();
        let header = &self.header;
        if values.len() != usize::from(header.length) {
            return Err(WireError::ValueCount { seen: values.len(), length: header.length });
        }
        if values.len() > self.values_per_frame.get() {
            let values = self.values_per_frame.get();
            return Err(WireError::Length { seen: header.length, values });
        }
        let seen = buffer.len();
        let bytes = buffer.get_mut(..needed).ok_or(WireError::Buffer { seen, needed })?;

        bytes[DESTINATION].copy_from_slice(&self.destination.0);
        bytes[SOURCE].copy_from_slice(&self.source.0);
        bytes[TYPE].copy_from_slice(&ETHER_TYPE.to_be_bytes());
        bytes[VERSION_KIND] = VERSION << 4 | header.kind.code();
        bytes[FLAGS] = header.flags.0;
        bytes[PLAN_VERSION].copy_from_slice(&header.plan_version.get().to_be_bytes());
        bytes[JOB].copy_from_slice(&header.job.get().to_be_bytes());
        bytes[SHARD].copy_from_slice(&header.shard.get().to_be_bytes());
        bytes[WORKER].copy_from_slice(&header.worker.get().to_be_bytes());
        bytes[SEQUENCE].copy_from_slice(&header.sequence.get().to_be_bytes());
        bytes[CONTRIBUTORS].copy_from_slice(&header.contributors.bitmap.to_be_bytes());
        bytes[GROUP] = header.contributors.group.0;
        bytes[EXPONENT] = header.exponent.get().to_be_bytes()[0];
        bytes[LENGTH].copy_from_slice(&header.length.to_be_bytes());
        bytes[INCARNATION].copy_from_slice(&header.incarnation.get().to_be_bytes());
        let (lanes, _) = bytes[VALUES..].as_chunks_mut::<4>();
        let (meant, padding) = lanes.split_at_mut(values.len());
        for (lane, value) in meant.iter_mut().zip(values) {
            *lane = value.to_be_bytes();
        }
        padding.fill([0; 4]);
        Ok(needed)
    }
}

impl fmt::Display for FrameRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} > {} {}", self.source, self.destination, self.header)
    }
}
