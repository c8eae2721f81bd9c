use super::*;

#[test]
fn rates_as_people_write_them() {
    for (text, bps) in [
        ("6 Gbps", 6e9),
        ("20Mbps", 20e6),
        ("9e6 bps", 9e6),
        ("1.5 kbit/s", 1500.0),
        ("7bps", 7.0),
        (" 2.5E1 Mbps ", 25e6),
        ("6 Gb/s", 6e9),
        ("6 Gbit/s", 6e9),
        ("6 GBit/s", 6e9),
        ("100 mbps", 1e8),
        ("100 Mbits/s", 1e8),
        ("0", 0.0),
        // Bytes are eight bits.
        ("1 GBps", 8e9),
        ("10 GB/s", 80e9),
        ("125MBps", 1e9),
        ("1 kBps", 8e3),
        ("2 MiB/s", 16_777_216.0),
        ("3 Mbyte/s", 24e6),
    ] {
        assert_eq!(text.parse::<Rate>().map(|rate| rate.0), Ok(bps), "{text}");
    }
    for bad in [
        "",
        "fast",
        "6 Gibps",
        "1 MB",
        "1 Mb",
        "NaN",
        "inf",
        "1e999",
        "1e999 bps",
        "Gbps",
        "é",
        "6 Gbit",
        "5 gBps",
    ] {
        assert!(bad.parse::<Rate>().is_err(), "{bad}");
    }
}

#[test]
fn decimal_and_binary_sizes_bits_and_delays() {
    for (text, bytes) in [
        ("200 KB", 200e3),
        ("200 kB", 200e3),
        ("548 MB", 548e6),
        ("200 KiB", 204_800.0),
        ("1 GiB", 1_073_741_824.0),
        ("7 B", 7.0),
        ("7 bytes", 7.0),
        ("100 Mb", 12.5e6),
        ("200 Kb", 25e3),
        ("200 kb", 25e3),
        ("8 b", 1.0),
        ("4 Mbit", 500e3),
        ("0", 0.0),
    ] {
        assert_eq!(text.parse::<Size>().map(|size| size.0), Ok(bytes), "{text}");
    }
    for (text, seconds) in
        [("30 ms", 0.03), ("1h", 3600.0), ("10 min", 600.0), ("5s", 5.0), ("7 \u{b5}s", 7e-6), ("3ns", 3e-9)]
    {
        assert_eq!(text.parse::<Seconds>().map(|span| span.0), Ok(seconds), "{text}");
    }
}

#[test]
fn a_number_without_a_unit_names_some() {
    for (error, expected) in [
        ("6".parse::<Rate>().unwrap_err(), "6 has no unit; write 6bps, 6Mbps or 6Gbps"),
        ("9e6".parse::<Rate>().unwrap_err(), "9e6 has no unit; write 9e6bps, 9e6Mbps or 9e6Gbps"),
        ("100".parse::<Size>().unwrap_err(), "100 has no unit; write 100B, 100KB or 100MB"),
        ("700".parse::<Seconds>().unwrap_err(), "700 has no unit; write 700s, 700ms or 700us"),
    ] {
        assert_eq!(error, expected);
    }
}

#[test]
fn what_could_be_bits_or_bytes_names_both() {
    let rate = "10 GBPS".parse::<Rate>().unwrap_err();
    let size = "100 mb".parse::<Size>().unwrap_err();
    assert!(rate.contains("10 Gbps (bits) or 10 GBps (bytes)"), "{rate}");
    assert!(size.contains("100 Mb (bits) or 100 MB (bytes)"), "{size}");
}

#[test]
fn a_unit_that_is_not_known_lists_those_that_are() {
    let error = "6 Gbit".parse::<Rate>().unwrap_err();
    for part in ["\"6 Gbit\"", "\"20 Mbps\"", "Gbps", "MB/s"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn rates_as_tools_write_them() {
    for (text, bps) in [
        ("10G", 10e9),
        ("10Gbit", 10e9),
        ("1.5 Gb/s", 1.5e9),
        ("100Mbits/s", 1e8),
        ("45Mbps", 45e6),
        ("64kb", 64e3),
        ("125MBps", 1e9),
    ] {
        assert_eq!(Rate::of_tools(text).map(|rate| rate.0), Ok(bps), "{text}");
    }
    for text in ["", "fast", "10GB", "G", "< 10G", "é", "10Gibit"] {
        assert!(Rate::of_tools(text).is_err(), "{text}");
    }
}

#[test]
fn readable_again() {
    assert_eq!(display_rate(2.5e9), "2.5 Gbps");
    assert_eq!(display_rate(9.538e6), "9.538 Mbps");
    assert_eq!(display_rate(20e6), "20 Mbps");
    assert_eq!(display_rate(4.0 / 3.0 * 1e9), "1.3333 Gbps");
    assert_eq!(display_rate(0.0), "0 bps");
    assert_eq!(display_size(200e3), "200 KB");
    assert_eq!(display_seconds(1.5e-5), "15 us");
    for bps in [4.0 / 3.0 * 1e9, 1e-300, 1e18, 0.1 + 0.2] {
        assert_eq!(display_exact(bps, "bps").parse::<Rate>().map(|rate| rate.0), Ok(bps));
    }
}
