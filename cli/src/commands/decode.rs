//! `inart decode`.

mod capture;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, ensure};
use inart_wire::{ControlMessage, Exponent, Flags, Frame, FrameRepr, Kind, WireError};
use serde::Serialize;

use capture::{Captured, End, read_frames};

/// Arguments of `inart decode`.
#[derive(clap::Args)]
pub struct Args {
    /// Capture to read (pcap or pcapng, link type Ethernet); `-` for standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print the frames' values too.
    #[arg(long)]
    values: bool,
}

/// Runs the command: prints one line per INART frame, then the counts of other frames.
pub fn run(args: Args, json: bool) -> anyhow::Result<ExitCode> {
    let place = || format!("{}", args.file.display());
    let file: Box<dyn Read + Send> = match args.file.to_str() {
        Some("-") => Box::new(io::stdin()),
        _ => {
            let file = File::open(&args.file).with_context(place)?;
            ensure!(file.metadata().is_ok_and(|file| !file.is_dir()), "{}: a folder, not a capture", place());
            Box::new(file)
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    match decode(file, args.values, json, &mut out).and_then(|()| Ok(out.flush()?)) {
        // The reader has closed the pipe, as `head` does.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        result => result.with_context(place).map(|()| ExitCode::SUCCESS),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Counts of a capture's frames.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Counts {
    /// Valid INART frames.
    inart: u64,
    /// Frames of other protocols.
    other: u64,
    /// Frames that the capture truncated.
    cut: u64,
    /// Malformed INART frames, by the first malformed field.
    malformed: BTreeMap<String, u64>,
    /// Whether the file ends in the middle of a frame.
    file_cut: bool,
}

/// An INART frame for JSON.
#[derive(Serialize)]
struct FrameJson {
    seconds: Option<f64>,
    source: String,
    destination: String,
    /// Run of the plan version, or 0.
    incarnation: u32,
    kind: String,
    flags: Vec<&'static str>,
    plan_version: u16,
    job: u16,
    shard: u16,
    worker: u16,
    sequence: u32,
    /// Ranks of an update's receivers.
    contributors: Vec<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<String>,
    exponent: i8,
    length: u16,
    values_per_frame: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Values>,
}

/// A frame's values, as integers: frames lack the number of workers, which the floats need.
#[derive(Serialize)]
#[serde(untagged)]
enum Values {
    /// Integers scaled by the exponent of their block, or the words of a message.
    Scaled(Vec<i32>),
    /// Digits of exact sums, or the bits of floats in results of a job inside a site.
    Digits(Vec<i32>),
    /// Largest absolute value of each block.
    Maxima(Vec<f32>),
    /// Values of a peer's update.
    Floats(Vec<f32>),
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scaled(values) => write!(f, "values {values:?}"),
            Self::Digits(digits) => write!(f, "digits {digits:?}"),
            Self::Maxima(maxima) => write!(f, "maxima {maxima:?}"),
            Self::Floats(values) => write!(f, "values {values:?}"),
        }
    }
}

/// How the JSON document begins; written with the first frame, so that a file that is no capture prints
/// nothing.
const FRAMES: &str = "{\"frames\":[";

fn decode(file: impl Read + Send, values: bool, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let mut counts = Counts::default();
    let end = read_frames(file, |captured| {
        let Some((frame, repr)) = classify(&captured, &mut counts) else { return Ok(()) };
        if json {
            let separator = if counts.inart > 1 { "," } else { FRAMES };
            let frame = serde_json::to_string(&frame_json(&captured, &frame, &repr, values))?;
            write!(out, "{separator}\n{frame}")?;
        } else {
            write_text(out, &captured, &frame, &repr, values)?;
        }
        Ok(())
    })?;
    counts.file_cut = end == End::Cut;
    if json {
        let begin = if counts.inart > 0 { "" } else { FRAMES };
        writeln!(out, "{begin}\n],\"counts\":{}}}", serde_json::to_string(&counts)?)?;
    } else {
        write_counts(out, &counts)?;
    }
    Ok(())
}

/// Counts a frame, and reads it if it is a whole and right INART frame.
fn classify<'a>(captured: &Captured<'a>, counts: &mut Counts) -> Option<(Frame<&'a [u8]>, FrameRepr)> {
    let parsed = Frame::new_checked(captured.bytes).and_then(|frame| Ok((frame, FrameRepr::parse(&frame)?)));
    match parsed {
        Ok(parsed) => {
            counts.inart += 1;
            return Some(parsed);
        }
        Err(WireError::EtherType { .. }) => counts.other += 1,
        Err(_) if captured.is_cut => counts.cut += 1,
        // Too short even for the EtherType, or for a header of ours: no INART frame is.
        Err(WireError::Truncated { .. }) if !has_our_type(captured.bytes) => counts.other += 1,
        Err(error) => {
            let text = error.to_string();
            let field = text.split(':').next().unwrap_or_default();
            *counts.malformed.entry(field.into()).or_default() += 1;
        }
    }
    None
}

fn has_our_type(bytes: &[u8]) -> bool {
    bytes.get(12..14).is_some_and(|ether_type| ether_type == inart_wire::ETHER_TYPE.to_be_bytes())
}

fn message(frame: &Frame<&[u8]>) -> Option<String> {
    (frame.kind() == Kind::Control).then(|| match ControlMessage::parse(frame) {
        Ok((message, host)) => format!("{message} (host {host})"),
        Err(error) => format!("unreadable message ({error})"),
    })
}

fn meaningful_values(frame: &Frame<&[u8]>) -> Values {
    let integers = || frame.values().take(frame.length().into());
    let floats = || integers().map(|value| f32::from_bits(value as u32)).collect();
    match (frame.kind(), frame.exponent()) {
        (Kind::Update, _) | (Kind::Gradient | Kind::Result, Exponent::FLOATS) => Values::Floats(floats()),
        (Kind::Gradient | Kind::Partial | Kind::Result, Exponent::MAXIMA) => Values::Maxima(floats()),
        (Kind::Gradient | Kind::Partial | Kind::Result, Exponent::DIGITS) => {
            Values::Digits(integers().collect())
        }
        _ => Values::Scaled(integers().collect()),
    }
}

fn frame_json(captured: &Captured<'_>, frame: &Frame<&[u8]>, repr: &FrameRepr, values: bool) -> FrameJson {
    let header = &repr.header;
    FrameJson {
        seconds: captured.time.map(|(seconds, nanos)| seconds as f64 + f64::from(nanos) * 1e-9),
        source: repr.source.to_string(),
        destination: repr.destination.to_string(),
        incarnation: header.incarnation.get(),
        kind: header.kind.to_string(),
        flags: flag_names(header.flags),
        plan_version: header.plan_version.get(),
        job: header.job.get(),
        shard: header.shard.get(),
        worker: header.worker.get(),
        sequence: header.sequence.get(),
        contributors: match header.feedback() {
            Some(_) => Vec::new(),
            None => header.contributors.bitmap_indices().map(|rank| rank.get()).collect(),
        },
        feedback: header.feedback().map(|feedback| feedback.to_string()),
        exponent: header.exponent.get(),
        length: header.length,
        values_per_frame: repr.values_per_frame.get(),
        message: message(frame),
        values: values.then(|| meaningful_values(frame)),
    }
}

fn flag_names(flags: Flags) -> Vec<&'static str> {
    Flags::NAMES.into_iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, name)| name).collect()
}

fn write_text(
    out: &mut impl Write,
    captured: &Captured<'_>,
    frame: &Frame<&[u8]>,
    repr: &FrameRepr,
    values: bool,
) -> io::Result<()> {
    if let Some((seconds, nanos)) = captured.time {
        write!(out, "{seconds}.{nanos:09} ")?;
    }
    write!(out, "{repr}")?;
    if let Some(message) = message(frame) {
        write!(out, " {message}")?;
    }
    if values {
        write!(out, " {}", meaningful_values(frame))?;
    }
    writeln!(out)
}

fn write_counts(out: &mut impl Write, counts: &Counts) -> io::Result<()> {
    let malformed: u64 = counts.malformed.values().sum();
    write!(
        out,
        "INART frames: {}; other protocols: {}; cut short by the capture: {}; malformed: {malformed}",
        counts.inart, counts.other, counts.cut
    )?;
    for (index, (field, count)) in counts.malformed.iter().enumerate() {
        write!(out, "{}{field} {count}", if index == 0 { " (" } else { ", " })?;
    }
    if malformed > 0 {
        write!(out, ")")?;
    }
    writeln!(out, "{}", if counts.file_cut { "; the file ends in the middle of a frame" } else { "" })
}
