/// A copy that a deparser asked for, with the bytes that go before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Diverted {
    Mirror { session: u64, header: Vec<u8> },
    Resubmit { header: Vec<u8> },
}
