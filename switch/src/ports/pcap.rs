//! pcap files as ports: frames are read in order of time, and each port writes its frames to a file of its
//! own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::control::Port;
use crate::switch::{Sink, Switch};

const ETHERNET: u32 = 1;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const MAX_FRAME_BYTES: u32 = 1 << 18;

/// Reason that a file cannot be replayed.
#[derive(Debug, Error)]
#[error("{}: {problem}", .path.display())]
pub struct PcapError {
    /// The file.
    pub path: PathBuf,
    /// Problem of the file.
    pub problem: String,
}

/// One frame of a file.
struct Record {
    time_us: u64,
    port: Port,
    frame: Vec<u8>,
}

/// Runs the frames of `inputs` through the switch in order of time, and writes the output frames to
/// `portN.pcap` in `output`. Returns the number of frames sent.
///
/// # Errors
/// Returns [`PcapError`] for a file that cannot be read or written, or is not a capture.
pub fn replay(switch: &mut Switch, inputs: &[(Port, PathBuf)], output: &Path) -> Result<u64, PcapError> {
    let mut records = Vec::new();
    for (port, path) in inputs {
        let failed = |problem: String| PcapError { path: path.clone(), problem };
        let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        read(&bytes, *port, &mut records).map_err(|problem| failed(problem.into()))?;
    }
    records.sort_by_key(|record| record.time_us);
    let start_us = records.first().map_or(0, |record| record.time_us);
    let mut writers = Writers { output, files: BTreeMap::new(), now_us: 0, sent: 0, failed: None };
    for record in &records {
        writers.now_us = record.time_us;
        switch.process(record.port, &record.frame, record.time_us - start_us, &mut writers);
    }
    writers.close()
}

/// Reads a whole file; a last record that is cut off ends it.
fn read(bytes: &[u8], port: Port, records: &mut Vec<Record>) -> Result<(), &'static str> {
    let word = |at: usize, swapped: bool| {
        let word = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
        Some(if swapped { word.swap_bytes() } else { word })
    };
    let magic = word(0, false).ok_or("the file is too short for a pcap file")?;
    let (swapped, nanoseconds) = match (magic, magic.swap_bytes()) {
        (MICROSECONDS, _) => (false, false),
        (NANOSECONDS, _) => (false, true),
        (_, MICROSECONDS) => (true, false),
        (_, NANOSECONDS) => (true, true),
        _ => return Err("not a pcap file (pcapng must be converted first)"),
    };
    if word(20, swapped) != Some(ETHERNET) {
        return Err("its link type is not Ethernet");
    }
    let mut at = 24;
    while let (Some(seconds), Some(fraction), Some(length)) =
        (word(at, swapped), word(at + 4, swapped), word(at + 8, swapped))
    {
        if length > MAX_FRAME_BYTES {
            return Err("a record is longer than a frame can be: the file is damaged");
        }
        let Some(frame) = bytes.get(at + 16..at + 16 + length as usize) else { break };
        let fraction_us = u64::from(fraction) / if nanoseconds { 1000 } else { 1 };
        let time_us = u64::from(seconds) * 1_000_000 + fraction_us;
        records.push(Record { time_us, port, frame: frame.to_vec() });
        at += 16 + length as usize;
    }
    Ok(())
}

struct Writers<'a> {
    output: &'a Path,
    files: BTreeMap<Port, (PathBuf, BufWriter<std::fs::File>)>,
    now_us: u64,
    sent: u64,
    failed: Option<PcapError>,
}

impl Writers<'_> {
    fn write(&mut self, port: Port, frame: &[u8]) -> Result<(), PcapError> {
        let path = self.output.join(format!("port{port}.pcap"));
        let failed = |error: io::Error| PcapError { path: path.clone(), problem: error.to_string() };
        let (_, file) = match self.files.entry(port) {
            Entry::Occupied(present) => present.into_mut(),
            Entry::Vacant(place) => {
                let mut file = BufWriter::new(std::fs::File::create(&path).map_err(failed)?);
                // Version 2.4, no time zone, no accuracy stated.
                let header = [MICROSECONDS, 4 << 16 | 2, 0, 0, MAX_FRAME_BYTES, ETHERNET];
                file.write_all(&header.map(u32::to_le_bytes).concat()).map_err(failed)?;
                place.insert((path.clone(), file))
            }
        };
        let length = frame.len() as u32;
        let record = [(self.now_us / 1_000_000) as u32, (self.now_us % 1_000_000) as u32, length, length];
        file.write_all(&record.map(u32::to_le_bytes).concat()).map_err(failed)?;
        file.write_all(frame).map_err(failed)
    }

    fn close(mut self) -> Result<u64, PcapError> {
        for (path, file) in self.files.values_mut() {
            file.flush().map_err(|error| PcapError { path: path.clone(), problem: error.to_string() })?;
        }
        self.failed.map_or(Ok(self.sent), Err)
    }
}

impl Sink for Writers<'_> {
    fn packet(&mut self, port: Port, frame: &[u8]) {
        self.sent += 1;
        if self.failed.is_none() {
            self.failed = self.write(port, frame).err();
        }
    }
}
