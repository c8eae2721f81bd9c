/// A copy requested by a deparser, with the bytes that precede it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Diverted {
    Mirror { session: u64, header: Vec<u8> },
    Resubmit { header: Vec<u8> },
}
