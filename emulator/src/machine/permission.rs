//! Checks that this process may emulate: once, before any work, with one error message for every system.

use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::geteuid;

use crate::error::Error;
use crate::machine::scratch::Scratch;

/// Capabilities by their number, which networks of namespaces need.
const NEEDED: [(u32, &str); 3] = [(12, "NET_ADMIN"), (13, "NET_RAW"), (21, "SYS_ADMIN")];

/// Refuses an emulation that the system would refuse later.
///
/// # Errors
/// [`Error::NotAllowed`] without the capabilities.
pub fn check() -> Result<(), Error> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(problem) = refusal(&status, geteuid().is_root()) {
        return Err(Error::NotAllowed { problem });
    }
    match Scratch::new() {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            let problem = "an emulation makes a directory in memory, which the mount namespace does not allow; run as \
                           root of the machine, or add `--mount` to unshare";
            return Err(Error::NotAllowed { problem: problem.to_owned() });
        }
        _ => {} // another error is reported where the directory is made
    }
    raise_open_files();
    Ok(())
}

/// Raises the limit of open files to the maximum of the system, or to the needs of any emulation: namespaces,
/// links and processes are held by descriptors.
fn raise_open_files() {
    const ENOUGH: u64 = 1 << 16;
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = hard.min(ENOUGH);
    if soft < wanted {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard); // as many as before, then
    }
}

/// Refuses if the loopback interface, by which a controller is reached, is down.
///
/// # Errors
/// [`Error::NotAllowed`] if so; [`Error::System`] if the interfaces cannot be listed.
pub fn check_loopback() -> Result<(), Error> {
    // Of this network namespace: /sys may be of another one.
    let listed = getifaddrs().map_err(std::io::Error::from);
    let mut all = listed.map_err(Error::system("list the interfaces"))?;
    if all.any(|entry| entry.interface_name == "lo" && entry.flags.contains(InterfaceFlags::IFF_UP)) {
        return Ok(());
    }
    let problem = "interface lo is down, and the controller listens on it; run `ip link set lo up`";
    Err(Error::NotAllowed { problem: problem.to_owned() })
}

/// Returns the missing permission according to /proc/self/status.
fn refusal(status: &str, is_root: bool) -> Option<String> {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let effective = u64::from_str_radix(effective.trim(), 16).ok()?;
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(number, _)| effective & (1 << number) == 0).map(|(_, name)| *name).collect();
    if missing.is_empty() {
        return None;
    }
    if !is_root {
        return Some(
            "an emulation makes network namespaces, which this user may not; run as root".to_owned(),
        );
    }
    let flags: Vec<String> = missing.iter().map(|name| format!("--cap-add {name}")).collect();
    Some(format!(
        "root lacks the capabilities CAP_{} here, and an emulation makes network namespaces; start the container with \
         --privileged, or with {}",
        missing.join(", CAP_"),
        flags.join(" ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_containers_have_fixes_of_their_own() {
        let status = |capabilities: &str| format!("Name:\tinart\nCapEff:\t{capabilities}\n");
        assert_eq!(refusal(&status("000001ffffffffff"), true), None);
        assert_eq!(refusal(&status("0000000000203000"), false), None, "what is needed, and no more");
        let user = refusal(&status("0000000000000000"), false).expect("refused");
        assert!(user.ends_with("run as root"), "{user}");
        // Docker's default.
        let container = refusal(&status("00000000a80425fb"), true).expect("refused");
        for part in
            ["CAP_NET_ADMIN, CAP_SYS_ADMIN", "--privileged", "--cap-add NET_ADMIN --cap-add SYS_ADMIN"]
        {
            assert!(container.contains(part) && !container.contains("run as root"), "{container}");
        }
    }
}
