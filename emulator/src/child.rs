//! Child processes that end with their parent.

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use nix::sys::signal::Signal;

/// As much of a child's last output as is kept for an error message.
const STDERR_BYTES: usize = 4096;

/// A running child; killed when dropped, and by the kernel if this process dies first.
#[derive(Debug)]
pub struct Child {
    name: String,
    process: std::process::Child,
    stderr: Arc<Mutex<String>>,
    /// Keeps the last output.
    reader: Option<JoinHandle<()>>,
}

impl Child {
    /// Starts the command with its standard output piped to the second part of the result.
    ///
    /// The kernel kills the child when the *thread* that called this ends, so call it on one that lives as
    /// long as the child has to run.
    pub fn spawn(
        name: impl Into<String>,
        mut command: Command,
    ) -> io::Result<(Self, BufReader<ChildStdout>)> {
        let parent = std::process::id();
        // Its own process group: a Ctrl-C in the terminal is for the parent to handle.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // SAFETY: prctl, getppid and _exit are async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                    return Err(io::Error::last_os_error());
                }
                if libc::getppid() != parent as libc::pid_t {
                    libc::_exit(1); // the parent died before the call above
                }
                Ok(())
            });
        }
        let mut process = command.spawn()?;
        let stdout = BufReader::new(process.stdout.take().expect("stdout was piped"));
        let stderr = Arc::new(Mutex::new(String::new()));
        let (kept, pipe) = (Arc::clone(&stderr), process.stderr.take().expect("stderr was piped"));
        let reader = Some(thread::spawn(move || keep_last_words(pipe, &kept)));
        Ok((Self { name: name.into(), process, stderr, reader }, stdout))
    }

    /// What the child is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An error if the child has failed.
    pub fn check(&mut self) -> Result<(), String> {
        match self.process.try_wait() {
            Ok(Some(status)) if !status.success() => Err(self.exit_message()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether it runs, stopped or not.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Ends the child at once, as a crash would.
    pub fn kill(&mut self) {
        // Both fail only if the child is gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Waits for its end.
    pub fn wait(&mut self) {
        let _ = self.process.wait(); // fails only if the child is gone already
    }

    /// The last output of a child that has ended by itself.
    pub fn last_output_of_ended(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            let _ = reader.join(); // its pipe ended with the child
        }
        self.last_output().trim_start_matches("error: ").to_owned()
    }

    /// Ends the child, if it has not ended by itself, and tells how it ended.
    pub fn exit_message(&mut self) -> String {
        let _ = self.process.kill(); // fails only if the child is gone already
        let ended = self.process.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        if let Some(reader) = self.reader.take() {
            let _ = reader.join(); // its pipe ended with the child
        }
        format!("ended with {ended}: {}", self.last_output())
    }

    /// Asks the child to end.
    pub fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Sends the child a signal.
    pub fn signal(&self, signal: Signal) {
        let process = nix::unistd::Pid::from_raw(self.process.id() as i32);
        let _ = nix::sys::signal::kill(process, signal); // fails only if the child has ended already
    }

    /// The last line the child wrote to its standard error.
    fn last_output(&self) -> String {
        let text = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").to_owned()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

fn keep_last_words(pipe: impl Read, kept: &Mutex<String>) {
    for line in BufReader::new(pipe).lines().map_while(Result::ok) {
        tracing::debug!("{line}");
        let mut text = kept.lock().unwrap_or_else(PoisonError::into_inner);
        text.push_str(&line);
        text.push('\n');
        if text.len() > STDERR_BYTES {
            let excess = text.len() - STDERR_BYTES;
            let cut = (excess..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            text.drain(..cut);
        }
    }
}
