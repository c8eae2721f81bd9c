//! Suffixes of quantities: a prefix, and bits (`b`) or bytes (`B`), which differ by a factor of 8.

/// Meaning of a suffix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Suffix {
    /// A factor to the base unit.
    Factor(f64),
    /// A text that is not a unit.
    Unknown,
    /// Ambiguous unit, of bits or of bytes; the two unambiguous spellings.
    Unclear { bits: &'static str, bytes: &'static str },
}

/// Counted unit.
#[derive(Clone, Copy, PartialEq)]
enum Counted {
    Bits,
    Bytes,
}

const UPPER: [(&str, f64); 5] = [("", 1.0), ("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

/// Returns the factor of a decimal prefix, in either case.
fn decimal(prefix: &str) -> Option<f64> {
    UPPER.iter().find(|(known, _)| known.eq_ignore_ascii_case(prefix)).map(|(_, factor)| *factor)
}

/// Returns the factor of a prefix of bytes: decimal, where only `k` may be small, or binary.
fn of_bytes(prefix: &str) -> Option<f64> {
    match prefix {
        "k" => Some(1e3),
        "Ki" | "ki" => Some(f64::from(1 << 10)),
        "Mi" => Some(f64::from(1 << 20)),
        "Gi" => Some(f64::from(1 << 30)),
        "Ti" => Some(1_099_511_627_776.0),
        _ => UPPER.iter().find(|(known, _)| *known == prefix).map(|(_, factor)| *factor),
    }
}

/// Returns the prefix of a suffix that ends with one of `ends`, compared without regard to case, and how it
/// ends.
fn split<'t>(suffix: &'t str, ends: &[&str]) -> Option<(&'t str, &'t str)> {
    ends.iter().find_map(|end| {
        let at = suffix.len().checked_sub(end.len()).filter(|&at| suffix.is_char_boundary(at))?;
        let (prefix, found) = suffix.split_at(at);
        found.eq_ignore_ascii_case(end).then_some((prefix, found))
    })
}

/// Returns a rate's suffix: the factor to bit/s.
pub fn rate(suffix: &str) -> Suffix {
    let spelled = [(&["bits/s", "bit/s"][..], Counted::Bits), (&["bytes/s", "byte/s"], Counted::Bytes)];
    for (ends, counted) in spelled {
        if let Some((prefix, _)) = split(suffix, ends) {
            return factor(prefix, counted);
        }
    }
    let Some((prefix, end)) = split(suffix, &["bps", "b/s"]) else { return Suffix::Unknown };
    match end {
        "BPS" | "B/S" => match prefix {
            "" => Suffix::Unclear { bits: "bps", bytes: "Bps" },
            "K" | "k" => Suffix::Unclear { bits: "kbps", bytes: "KBps" },
            "M" | "m" => Suffix::Unclear { bits: "Mbps", bytes: "MBps" },
            "G" | "g" => Suffix::Unclear { bits: "Gbps", bytes: "GBps" },
            "T" | "t" => Suffix::Unclear { bits: "Tbps", bytes: "TBps" },
            _ => Suffix::Unknown,
        },
        _ if end.starts_with('B') => factor(prefix, Counted::Bytes),
        _ => factor(prefix, Counted::Bits),
    }
}

/// Returns a rate's suffix as `tc`, Mininet and the Topology Zoo write it: `Gbit`, `G`; the factor to bit/s.
pub fn rate_of_tools(suffix: &str) -> Suffix {
    let prefix = ["bit", "b", ""].into_iter().find_map(|end| suffix.strip_suffix(end));
    match prefix.filter(|prefix| prefix.len() == 1) {
        Some(prefix) => factor(prefix, Counted::Bits),
        None => Suffix::Unknown,
    }
}

/// Returns a size's suffix: the factor to bytes.
pub fn size(suffix: &str) -> Suffix {
    if let Some((prefix, _)) = split(suffix, &["bytes", "byte"]) {
        return of_bytes(prefix).map_or(Suffix::Unknown, Suffix::Factor);
    }
    if let Some((prefix, _)) = split(suffix, &["bits", "bit"]) {
        return decimal(prefix).map_or(Suffix::Unknown, |factor| Suffix::Factor(factor / 8.0));
    }
    match suffix {
        "mb" => return Suffix::Unclear { bits: "Mb", bytes: "MB" },
        "gb" => return Suffix::Unclear { bits: "Gb", bytes: "GB" },
        "tb" => return Suffix::Unclear { bits: "Tb", bytes: "TB" },
        _ => {}
    }
    if let Some(prefix) = suffix.strip_suffix('B') {
        of_bytes(prefix).map_or(Suffix::Unknown, Suffix::Factor)
    } else if let Some(prefix) = suffix.strip_suffix('b') {
        decimal(prefix).map_or(Suffix::Unknown, |factor| Suffix::Factor(factor / 8.0))
    } else {
        Suffix::Unknown
    }
}

/// Returns a duration's suffix: the factor to seconds.
pub fn seconds(suffix: &str) -> Suffix {
    Suffix::Factor(match suffix {
        "h" => 3600.0,
        "min" | "m" => 60.0,
        "s" | "sec" | "second" | "seconds" => 1.0,
        "ms" => 1e-3,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ns" => 1e-9,
        _ => return Suffix::Unknown,
    })
}

/// Returns the factor to bit/s of a prefix before bits or bytes.
fn factor(prefix: &str, counted: Counted) -> Suffix {
    let factor = match counted {
        Counted::Bits => decimal(prefix),
        Counted::Bytes => of_bytes(prefix).map(|factor| 8.0 * factor),
    };
    factor.map_or(Suffix::Unknown, Suffix::Factor)
}
