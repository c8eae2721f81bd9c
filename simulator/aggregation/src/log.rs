//! The event log: one line per event, for people and for comparing runs byte for byte.

use std::io::{self, Write};

use inart_wire::{Feedback, Frame, Kind};

use crate::event_queue::ChannelId;

/// Destination of the lines, if any.
pub(crate) struct Log<'a> {
    out: Option<&'a mut dyn Write>,
    /// `from>to`, by channel.
    names: Vec<String>,
    error: Option<io::Error>,
}

impl<'a> Log<'a> {
    pub fn new(out: Option<&'a mut dyn Write>, names: Vec<String>) -> Self {
        Self { out, names, error: None }
    }

    /// Returns the first write error, if any.
    pub fn error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    /// Logs an event that is not about a frame on a link.
    pub fn note(&mut self, now: u64, text: impl FnOnce() -> String) {
        if self.out.is_some() {
            self.line(now, &text());
        }
    }

    /// Logs the fate of a frame on a channel.
    #[inline]
    pub fn frame(&mut self, now: u64, channel: ChannelId, bytes: &[u8], fate: &str) {
        if self.out.is_some() {
            let line = format!("{} {fate} {}", self.names[channel.0 as usize], describe(bytes));
            self.line(now, &line);
        }
    }

    /// Logs the state of a channel.
    pub fn link(&mut self, now: u64, channel: ChannelId, fate: &str) {
        if self.out.is_some() {
            let line = format!("{} {fate}", self.names[channel.0 as usize]);
            self.line(now, &line);
        }
    }

    fn line(&mut self, now: u64, text: &str) {
        if let (Some(out), None) = (&mut self.out, &self.error) {
            let (seconds, nanos) = (now / 1_000_000_000, now % 1_000_000_000);
            self.error = writeln!(out, "{seconds}.{nanos:09} {text}").err();
        }
    }
}

fn describe(bytes: &[u8]) -> String {
    let Ok(frame) = Frame::new_checked(bytes) else { return format!("{} bytes", bytes.len()) };
    let (plan_version, job, shard, worker) =
        (frame.plan_version(), frame.job(), frame.shard(), frame.worker());
    let (sequence, contributors) = (frame.sequence(), frame.contributors());
    let details = match frame.kind() {
        Kind::Result => Feedback::parse(sequence, contributors.bitmap).to_string(),
        _ => format!("of {}:{:x}", contributors.group, contributors.bitmap),
    };
    format!(
        "{} e{plan_version} j{job} s{shard} w{worker} #{sequence} {} {details} exponent {}",
        frame.kind(),
        frame.flags(),
        frame.exponent()
    )
}
