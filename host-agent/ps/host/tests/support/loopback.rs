//! Loopback addresses for processes of one test.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a loopback address that no other test uses. A port that is free there stays free until the process
/// that the test has chosen it for takes it: others ask the system for ports of 127.0.0.1.
pub fn loopback() -> Ipv4Addr {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let (process, given) = (std::process::id(), GIVEN.fetch_add(1, Ordering::Relaxed));
    Ipv4Addr::new(127, (1 + process / 256 % 254) as u8, (process % 256) as u8, (1 + given % 254) as u8)
}
