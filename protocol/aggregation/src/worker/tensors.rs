//! The tensors that are in flight, and where their chunks are among those of the shards.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use inart_wire::{Exponent, Frame, ShardId};

use super::input::TensorInput;
use super::tensor::{Buffers, Numeric, Refused, RoundRecord};
use crate::{Assignment, Split};

/// Names a tensor that a worker has started: the number of those it started before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(u64);

/// A tensor's chunks in a shard.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Index of the first among all chunks of the shard.
    first: u64,
    /// Frames that it takes.
    frames: u32,
    /// The first chunk among all of the tensor's.
    chunk: usize,
    /// Whether the shard has none of the tensor's values, which one frame announces.
    is_empty: bool,
}

/// A tensor in flight, or one whose sum was not taken yet.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    id: TensorId,
    pub numeric: Numeric,
    /// Parts by shard.
    parts: Vec<Part>,
    /// Frames without a result.
    pending: usize,
    /// Whether the sum is discarded.
    is_discarded: bool,
}

/// Content of a shard's frame of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A chunk, and whether it is the tensor's last in the shard.
    Chunk(usize, bool),
    /// Announcement that the shard has none of the tensor's values.
    Nothing,
}

/// The sum of a tensor.
#[derive(Clone, Debug)]
pub struct Reduced(Numeric);

impl Reduced {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the sum over all workers.
    ///
    /// # Panics
    /// If `sum` is shorter than the tensor.
    pub fn read(&self, sum: &mut [f32]) {
        self.0.read(sum);
    }

    /// Returns whether this worker's own tensor has a NaN or an infinity.
    pub fn is_own_not_finite(&self) -> bool {
        self.0.is_own_not_finite()
    }

    /// Returns this worker's inputs and the received values, bit for bit.
    pub fn record(&self) -> RoundRecord {
        self.0.record()
    }
}

/// A worker's tensors.
#[derive(Clone, Debug, Default)]
pub(super) struct Tensors {
    /// Tensors in the order in which they were started.
    tensors: VecDeque<Tensor>,
    /// Number of started tensors.
    started: u64,
    /// Memory of tensors that were there before.
    spare: Vec<Buffers>,
}

impl Tensors {
    /// Number of tensors whose memory is kept for reuse.
    const MOST_SPARE: usize = 4;

    /// Returns the number of started tensors.
    pub(super) fn started(&self) -> u64 {
        self.started
    }

    /// Returns the number of tensors in flight or with an untaken sum.
    pub(super) fn held(&self) -> usize {
        self.tensors.len()
    }

    /// Adds a tensor; `first` returns the index of the first of its frames in a shard.
    pub(super) fn start(
        &mut self,
        assignment: &Assignment,
        input: TensorInput,
        mut first: impl FnMut(usize, u32) -> u64,
    ) -> TensorId {
        let len = input.floats().len();
        let split = Split::new(assignment, len);
        let mut chunk = 0;
        let mut part = |(shard, shard_assignment): (usize, &crate::ShardAssignment)| {
            let number = ShardId::try_from(shard).expect("a valid assignment has numbers for its shards");
            let chunks = split.chunk_count(number);
            let is_empty = chunks == 0 && shard_assignment.share > 0.0;
            let frames = chunks + usize::from(is_empty);
            let frames = u32::try_from(frames).expect("a tensor of this length does not fit in memory");
            let part = Part { first: first(shard, frames), frames, chunk, is_empty };
            chunk += chunks;
            part
        };
        let parts: Vec<_> = assignment.shards.iter().enumerate().map(&mut part).collect();
        let id = TensorId(self.started);
        self.started += 1;
        let chunks = split.chunks().collect();
        let buffers = self.take_spare(len);
        let numeric = Numeric::new(chunks, input, assignment.workers.len(), buffers);
        let pending = parts.iter().map(|part| part.frames as usize).sum();
        let tensor = Tensor { id, numeric, parts, pending, is_discarded: false };
        self.tensors.push_back(tensor);
        id
    }

    /// Returns the reused memory that fits `len` numbers best; new memory if none is left.
    fn take_spare(&mut self, len: usize) -> Buffers {
        let fits = |(_, spare): &(usize, &Buffers)| spare.capacity().abs_diff(len);
        let best = self.spare.iter().enumerate().min_by_key(fits);
        best.map(|(place, _)| place).map_or_else(Buffers::default, |place| self.spare.swap_remove(place))
    }

    /// Returns a buffer for a tensor's values, reused if available.
    pub(super) fn take_input(&mut self, len: usize) -> TensorInput {
        let fits = |spare: &&mut Buffers| spare.capacity().abs_diff(len);
        self.spare.iter_mut().min_by_key(fits).map_or_else(TensorInput::default, Buffers::take_input)
    }

    /// Keeps the memory of a sum for later tensors.
    pub(super) fn reuse(&mut self, reduced: Reduced) {
        if self.spare.len() < Self::MOST_SPARE {
            self.spare.push(reduced.0.into_buffers());
        }
    }

    fn place(&self, id: TensorId) -> Option<usize> {
        self.tensors.binary_search_by_key(&id, |tensor| tensor.id).ok()
    }

    fn get_mut(&mut self, id: TensorId) -> Option<&mut Tensor> {
        self.place(id).map(|place| &mut self.tensors[place])
    }

    /// The tensor of that name, if its sum was not taken.
    pub(super) fn get(&self, id: TensorId) -> Option<&Tensor> {
        self.place(id).map(|place| &self.tensors[place])
    }

    /// Returns the index of the tensor that has that frame of the shard, and the content of the frame.
    pub(super) fn find(&self, shard: usize, frame: u64) -> Option<(usize, Content)> {
        let after = self.tensors.partition_point(|tensor| tensor.parts[shard].first <= frame);
        let place = after.checked_sub(1)?;
        let part = self.tensors[place].parts[shard];
        let ahead = frame - part.first;
        (ahead < part.frames.into()).then(|| match part.is_empty {
            true => (place, Content::Nothing),
            false => {
                let last = ahead + 1 == part.frames.into();
                (place, Content::Chunk(part.chunk + ahead as usize, last))
            }
        })
    }

    /// The tensor that has that frame of the shard, by the number of those started before.
    pub(super) fn number_at(&self, shard: usize, frame: u64) -> Option<u64> {
        let (place, _) = self.find(shard, frame)?;
        Some(self.tensors[place].id.0)
    }

    /// Returns the numbers of the tensor at an [index](Self::find).
    pub(super) fn numeric(&self, place: usize) -> &Numeric {
        &self.tensors[place].numeric
    }

    /// Returns whether that frame of the shard can be sent: its tensor was started, and its scale is known.
    pub(super) fn has_values(&self, shard: usize, frame: u64) -> bool {
        match self.find(shard, frame) {
            Some((place, Content::Chunk(chunk, _))) => self.tensors[place].numeric.can_write(chunk),
            Some((_, Content::Nothing)) => true,
            None => false,
        }
    }

    /// Values of the tensor that has that frame of the shard, if it was started.
    pub(super) fn len_at(&self, shard: usize, frame: u64) -> Option<u32> {
        let (place, _) = self.find(shard, frame)?;
        Some(u32::try_from(self.tensors[place].numeric.len()).unwrap_or(u32::MAX))
    }

    /// Stores the result of a frame of the shard.
    ///
    /// # Errors
    /// Why it cannot be its result.
    pub(super) fn store(&mut self, shard: usize, at: u64, frame: &Frame<&[u8]>) -> Result<(), Refused> {
        let (place, content) = self.find(shard, at).ok_or(Refused::Malformed)?;
        let tensor = &mut self.tensors[place];
        match content {
            Content::Nothing => {
                let is_zero = frame.values().next() == Some(0) && frame.exponent() == Exponent::from(0);
                if frame.length() != 1 || !is_zero {
                    return Err(Refused::Malformed);
                }
            }
            Content::Chunk(chunk, _) => tensor.numeric.store(chunk, frame)?,
        }
        tensor.pending -= 1;
        if tensor.is_discarded && tensor.is_done() {
            self.tensors.remove(place);
        }
        Ok(())
    }

    /// Returns a tensor that has all its results.
    pub(super) fn take(&mut self, id: TensorId) -> Option<Reduced> {
        let place = self.place(id).filter(|place| self.tensors[*place].pending == 0)?;
        self.tensors.remove(place).map(|tensor| Reduced(tensor.numeric))
    }

    /// Discards that tensor's sum: it is dropped when it is complete.
    pub(super) fn discard(&mut self, id: TensorId) {
        if self.take(id).is_none()
            && let Some(tensor) = self.get_mut(id)
        {
            tensor.is_discarded = true;
        }
    }
}

impl Tensor {
    /// Returns whether it has all its results.
    pub(super) fn is_done(&self) -> bool {
        self.pending == 0
    }
}
