//! A directory in memory that no path of the file system leads to: other processes reach it through this
//! process's open file, and the kernel frees it when this process ends, however it ends.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::ptr::null;

/// The directory.
#[derive(Debug)]
pub struct Scratch {
    root: OwnedFd,
}

impl Scratch {
    /// An empty directory, for root only.
    pub fn new() -> io::Result<Self> {
        const TMPFS: &CStr = c"tmpfs";
        // SAFETY: the strings are zero-terminated and outlive the calls; each descriptor that the kernel
        // returns is owned by exactly one OwnedFd.
        unsafe {
            let filesystem = owned(libc::syscall(libc::SYS_fsopen, TMPFS.as_ptr(), libc::FSOPEN_CLOEXEC))?;
            let configure =
                |command: u32, key: *const libc::c_char, value: *const libc::c_char| match libc::syscall(
                    libc::SYS_fsconfig,
                    filesystem.as_raw_fd(),
                    command,
                    key,
                    value,
                    0,
                ) {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                };
            configure(libc::FSCONFIG_SET_STRING, c"mode".as_ptr(), c"0700".as_ptr())?;
            configure(libc::FSCONFIG_CMD_CREATE, null(), null())?;
            let root = libc::syscall(libc::SYS_fsmount, filesystem.as_raw_fd(), libc::FSMOUNT_CLOEXEC, 0);
            Ok(Self { root: owned(root)? })
        }
    }

    /// The path of a file in the directory, good for every process as long as this one runs.
    pub fn path(&self, name: &str) -> PathBuf {
        format!("/proc/{}/fd/{}/{name}", std::process::id(), self.root.as_raw_fd()).into()
    }
}

/// # Safety
/// `result` must be what a system call that opens a descriptor returned.
unsafe fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller vouches for it.
    Ok(unsafe { OwnedFd::from_raw_fd(result as i32) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn files_and_sockets_can_be_used_by_path() {
        let scratch = match Scratch::new() {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                return eprintln!("skipped: needs root");
            }
            other => other.expect("a directory"),
        };
        std::fs::write(scratch.path("a.json"), "{}").expect("written");
        let listener = UnixListener::bind(scratch.path("socket")).expect("bound");
        UnixStream::connect(scratch.path("socket")).expect("connected");
        listener.accept().expect("accepted");
        let output =
            std::process::Command::new("cat").arg(scratch.path("a.json")).output().expect("cat runs");
        assert_eq!(output.stdout, b"{}", "{output:?}");
    }
}
