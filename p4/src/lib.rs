//! Our P4-16 program and what p4c printed for it.
