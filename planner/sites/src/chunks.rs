//! Chunks: division of tensors, and assignment of chunks to trees.

/// Returns the sizes of a gradient's chunks in bytes: each tensor is cut into pieces of at most
/// `chunk_bytes`, and a small tensor is one chunk. No chunk spans two tensors.
pub fn cut(tensors_bytes: &[u64], chunk_bytes: u64) -> Vec<u64> {
    let of = |&bytes: &u64| {
        let whole = (bytes / chunk_bytes) as usize;
        let rest = bytes % chunk_bytes;
        std::iter::repeat_n(chunk_bytes, whole).chain((rest > 0).then_some(rest))
    };
    tensors_bytes.iter().flat_map(of).collect()
}

/// Returns the tree of each chunk by NETSTORM's rule (Section IV-B): tree i may have ⌈qᵢ/Σq·P⌉ parameters;
/// chunks go round robin over the trees, and a tree that has its quota is skipped. `chunks` in bytes, of
/// 4-byte parameters; the result names positions in `qualities`.
pub(crate) fn by_quota(chunks: &[u64], qualities: &[f64]) -> Vec<usize> {
    const PARAMETER_BYTES: u64 = 4;
    let parameters: u64 = chunks.iter().map(|bytes| bytes / PARAMETER_BYTES).sum();
    let sum: f64 = qualities.iter().sum();
    let quota = |q: &f64| (q / sum * parameters as f64).ceil();
    let quotas: Vec<f64> = qualities.iter().map(quota).collect();
    let (mut has, mut next) = (vec![0.0; quotas.len()], 0);
    let mut assign = |bytes: &u64| {
        // Quotas sum to at least all parameters: some tree has room, except for rounding.
        let free =
            (0..quotas.len()).map(|step| (next + step) % quotas.len()).find(|&at| has[at] < quotas[at]);
        let at = free.unwrap_or(next);
        has[at] += (bytes / PARAMETER_BYTES) as f64;
        next = (at + 1) % quotas.len();
        at
    };
    chunks.iter().map(&mut assign).collect()
}

/// Returns the tree of each chunk such that at every chunk all trees have about their share so far: the next
/// tree is the one that is furthest behind after taking the chunk (weighted round robin by virtual finish
/// times).
pub(crate) fn by_rate(chunks: &[u64], rates: &[f64]) -> Vec<usize> {
    let mut has = vec![0u64; rates.len()];
    let mut assign = |bytes: &u64| {
        let finish = |at: usize| (has[at] + bytes) as f64 / rates[at];
        let at =
            (0..rates.len()).min_by(|&a, &b| finish(a).total_cmp(&finish(b)).then(a.cmp(&b))).unwrap_or(0);
        has[at] += bytes;
        at
    };
    chunks.iter().map(&mut assign).collect()
}
