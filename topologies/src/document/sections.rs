//! The sections of documents.

use super::entries::{BackgroundEntry, Document, JobEntry, LinkEntry, NodeEntry, TimeEntry, TraceEntry};
use super::keys::Key;

/// All keys of documents, by section.
pub const KEYS: [&[Key]; 7] = [
    Document::KEYS,
    NodeEntry::KEYS,
    LinkEntry::KEYS,
    BackgroundEntry::KEYS,
    TraceEntry::KEYS,
    JobEntry::KEYS,
    TimeEntry::KEYS,
];
