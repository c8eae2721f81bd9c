//! The packet parser: any bytes are either no frame, or one that reads, prints and writes itself again.

use inart_wire::{ControlMessage, Frame, FrameRepr, ValuesPerFrame};

/// A frame is the bytes, or as many of them as a frame is long with zeros after them: the lengths that a
/// frame may have are few.
pub fn run(bytes: &[u8]) {
    read(bytes);
    let mut padded = [0; ValuesPerFrame::N32.frame_bytes()];
    for (to, byte) in padded.iter_mut().zip(bytes) {
        *to = *byte;
    }
    read(&padded);
}

fn read(bytes: &[u8]) {
    let Ok(frame) = Frame::new_checked(bytes) else { return };
    let _ = ControlMessage::parse(&frame).map(|(message, _)| message.to_string());
    let Ok(repr) = FrameRepr::parse(&frame) else { return };
    let _ = repr.to_string();
    let values: Vec<i32> = frame.values().take(repr.header.length.into()).collect();
    let mut again = vec![0xa5; repr.buffer_len()];
    let length = repr.emit(&values, &mut again).expect("a parsed frame can be written");
    let same = FrameRepr::parse(&Frame::new_checked(&again[..length]).expect("a written frame parses"));
    assert_eq!(same, Ok(repr));
}
