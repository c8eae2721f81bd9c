//! Child processes that end with their parent, and with them what they started.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::machine::failure_reason::failure_reason;

/// As much of a child's last output as is kept for an error message.
const STDERR_BYTES: usize = 4096;
/// A longer line of a program is handed over in pieces.
pub const PIECE_BYTES: usize = 1 << 16;
/// Longest wait for the output of a child that has ended: a process that left the child's process group may
/// hold the pipe. A busy machine may delay the thread that reads for seconds.
const LONGEST_OUTPUT: Duration = Duration::from_secs(10);

/// Takes the lines of an output as they come, without their ends.
pub type Lines = Box<dyn FnMut(&[u8]) + Send>;

/// A running child; killed when dropped, and by the kernel if this process dies first. It leads a process
/// group: signals go to all of the group, and what is left of it ends with the child.
#[derive(Debug)]
pub struct Child {
    name: String,
    process: std::process::Child,
    stderr: Arc<Mutex<String>>,
    /// They read its output.
    readers: Vec<JoinHandle<()>>,
}

impl Child {
    /// Starts the command with its standard output piped to the second part of the result.
    ///
    /// The kernel kills the child when the *thread* that called this ends, so call it on one that lives as
    /// long as the child has to run.
    pub fn spawn(name: impl Into<String>, command: Command) -> io::Result<(Self, BufReader<ChildStdout>)> {
        let (mut child, stdout) = Self::start(name.into(), command)?;
        child.keep_stderr(Box::new(|line| tracing::debug!("{}", String::from_utf8_lossy(line))));
        Ok((child, BufReader::new(stdout)))
    }

    /// Starts the command, and hands over the lines of its output and of its errors as they come. A line of
    /// output above a number of bytes is cut into pieces of one byte more.
    ///
    /// The kernel kills the child when the *thread* that called this ends.
    pub fn spawn_captured(
        name: impl Into<String>,
        command: Command,
        (mut output, longest): (Lines, usize),
        errors: Lines,
    ) -> io::Result<Self> {
        let (mut child, stdout) = Self::start(name.into(), command)?;
        child.keep_stderr(errors);
        child.readers.push(thread::spawn(move || each_line(stdout, longest, &mut output)));
        Ok(child)
    }

    fn start(name: String, mut command: Command) -> io::Result<(Self, ChildStdout)> {
        let parent = std::process::id();
        // Its own process group: a Ctrl-C in the terminal is for the parent to handle.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // SAFETY: prctl, getppid, pthread_sigmask and _exit are async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                    return Err(io::Error::last_os_error());
                }
                if libc::getppid() != parent as libc::pid_t {
                    libc::_exit(1); // the parent died before the call above
                }
                // The parent may hold back signals to look for them when it likes.
                SigSet::empty().thread_set_mask()?;
                Ok(())
            });
        }
        let mut process = command.spawn()?;
        let stdout = process.stdout.take().expect("stdout was piped");
        Ok((Self { name, process, stderr: Arc::default(), readers: Vec::new() }, stdout))
    }

    /// Hands over the lines of its errors, and keeps the last for messages.
    fn keep_stderr(&mut self, mut errors: Lines) {
        let (kept, pipe) =
            (Arc::clone(&self.stderr), self.process.stderr.take().expect("stderr was piped once"));
        self.readers.push(thread::spawn(move || {
            each_line(pipe, PIECE_BYTES, &mut |line| {
                errors(line);
                keep(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), line);
            });
        }));
    }

    /// Returns the child's name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the exit status, after the end of the process group; `None` while the child runs.
    ///
    /// # Errors
    /// An error of the system.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        // Until the child is reaped, no other process has its number. An error means that it has been reaped.
        if let Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) = waitid(Id::Pid(self.pid()), flags) {
            let _ = killpg(self.pid(), Signal::SIGKILL);
        }
        self.process.try_wait()
    }

    /// An error if the child has failed.
    pub fn check(&mut self) -> Result<(), String> {
        match self.ended() {
            Ok(Some(status)) if !status.success() => Err(self.exit_message()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns whether it runs, stopped or not.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.ended(), Ok(None))
    }

    /// Ends the child at once, as a crash would.
    pub fn kill(&mut self) {
        if self.is_alive() {
            self.signal(Signal::SIGKILL);
        }
        self.wait();
    }

    /// Waits for its end.
    pub fn wait(&mut self) {
        let _ = self.process.wait(); // fails only if the child is gone already
    }

    /// The last output of a child that has ended by itself.
    pub fn last_output_of_ended(&mut self) -> String {
        self.read_all();
        self.last_output().trim_start_matches("error: ").to_owned()
    }

    /// Ends the child, if it has not ended by itself, and describes its end.
    pub fn exit_message(&mut self) -> String {
        self.kill();
        let ended = self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        self.read_all();
        format!("ended with {ended}: {}", self.last_output())
    }

    /// Waits until all that a child wrote, which has ended, was read.
    pub fn read_all(&mut self) {
        let give_up = Instant::now() + LONGEST_OUTPUT;
        for reader in self.readers.drain(..) {
            while !reader.is_finished() && Instant::now() < give_up {
                thread::sleep(Duration::from_millis(1));
            }
            if reader.is_finished() {
                let _ = reader.join(); // its pipe ended with the child
            }
        }
    }

    /// Asks the child to end.
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Sends the child a signal.
    pub fn signal(&self, signal: Signal) {
        let _ = killpg(self.pid(), signal); // fails only if the child has ended already
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.process.id() as i32)
    }

    /// Returns the line of the child's standard error that states the reason of its failure.
    fn last_output(&self) -> String {
        let text = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        failure_reason(&text).unwrap_or_else(|| "it printed nothing".to_owned())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Hands over each line of a pipe until the pipe ends. A line above `longest` bytes is cut into pieces of one
/// byte more, by which it is known.
fn each_line(pipe: impl Read, longest: usize, take: &mut dyn FnMut(&[u8])) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    while matches!(pipe.by_ref().take(longest as u64 + 1).read_until(b'\n', &mut line), Ok(1..)) {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        take(text.strip_suffix(b"\r").unwrap_or(text));
        line.clear();
    }
}

/// Adds a line to those that are kept, and forgets the first of too many.
fn keep(text: &mut String, line: &[u8]) {
    text.push_str(&String::from_utf8_lossy(line));
    text.push('\n');
    if text.len() > STDERR_BYTES {
        let excess = text.len() - STDERR_BYTES;
        let cut = (excess..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.drain(..cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn lines_are_handed_over_and_the_last_error_is_kept() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let taker = |name: &'static str| -> Lines {
            let heard = Arc::clone(&heard);
            Box::new(move |line| {
                heard.lock().expect("held shortly").push(format!("{name} {}", String::from_utf8_lossy(line)));
            })
        };
        let script = "echo one; printf two; echo three >&2; echo >&2; exit 3";
        let mut child =
            Child::spawn_captured("c", shell(script), (taker("out"), 9), taker("err")).expect("sh is there");
        child.wait();
        assert_eq!(child.ended().expect("known").and_then(|status| status.code()), Some(3));
        assert_eq!(child.last_output_of_ended(), "three");
        let mut heard = heard.lock().expect("held shortly").clone();
        heard.sort();
        assert_eq!(heard, ["err ", "err three", "out one", "out two"]);
    }

    /// A process that a shell leaves behind would hold pipes and namespaces.
    #[test]
    fn what_a_child_left_running_ends_with_it() {
        let lines = || -> Lines { Box::new(|_| ()) };
        let (mut child, mut stdout) =
            Child::spawn("c", shell("sleep 1000 & echo $!; exec 1>&-; exit 0")).expect("sh is there");
        let mut pid = String::new();
        stdout.read_line(&mut pid).expect("a number");
        let left = std::path::PathBuf::from(format!("/proc/{}/stat", pid.trim()));
        let is_alive = || std::fs::read_to_string(&left).is_ok_and(|stat| !stat.contains(") Z "));
        while child.is_alive() {
            thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..5000 {
            if !is_alive() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!is_alive());
        let mut heard =
            Child::spawn_captured("d", shell("sleep 1000 & exit 0"), (lines(), 9), lines()).expect("sh");
        while heard.is_alive() {
            thread::sleep(Duration::from_millis(1));
        }
        heard.read_all();
        assert!(heard.readers.is_empty());
    }
}
