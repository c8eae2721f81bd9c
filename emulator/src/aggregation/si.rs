//! Values for people: three digits and a prefix.

/// A value with three significant digits and an SI prefix: `2.50 Gbps`, `812 us`.
pub fn si(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 7] =
        [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u")];
    let size = value.abs();
    // What rounds up to 1000 belongs to the next prefix.
    let found = PREFIXES.iter().find(|(factor, _)| size >= factor * 0.9995);
    let (factor, prefix) = if size == 0.0 { &(1.0, "") } else { found.unwrap_or(&(1e-6, "u")) };
    let scaled = value / factor;
    let decimals = match scaled.abs() {
        s if s >= 99.95 || s == 0.0 => 0,
        s if s >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$} {prefix}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_get_three_digits_and_the_right_prefix() {
        for (value, text) in [
            (2.5e9, "2.50 Gbps"),
            (999.6e6, "1.00 Gbps"),
            (99.96e6, "100 Mbps"),
            (12_345.0, "12.3 kbps"),
            (0.0, "0 bps"),
            (0.000_812, "812 ubps"),
            (1e-9, "0.00 ubps"),
        ] {
            assert_eq!(si(value, "bps"), text);
        }
    }
}
