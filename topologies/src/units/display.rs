//! Quantities as people read them.

/// Formats a rate with the largest unit that keeps it at or above one, e.g. `2.5 Gbps`.
pub fn display_rate(bps: f64) -> String {
    scaled(bps, &[(1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps")], "bps")
}

/// Formats a size in bytes, e.g. `548 MB`.
pub fn display_size(bytes: f64) -> String {
    scaled(bytes, &[(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")], "B")
}

/// Formats a duration in seconds, e.g. `30 ms`.
pub fn display_seconds(seconds: f64) -> String {
    scaled(seconds, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us")], "s")
}

fn scaled(value: f64, units: &[(f64, &str)], base: &str) -> String {
    let (factor, unit) =
        units.iter().copied().find(|(f, _)| value.abs() >= f * (1.0 - 1e-12)).unwrap_or((1.0, base));
    // Five significant digits, without trailing zeros.
    let number = value / factor;
    let digits = (4 - number.abs().max(1.0).log10().floor() as i32).max(0) as usize;
    let text = format!("{number:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// Formats a number in the base unit so that it is read back to the same number, e.g. `1333333333.5 bps`.
pub fn display_exact(value: f64, base: &str) -> String {
    format!("{value} {base}")
}
