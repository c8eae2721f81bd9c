#![allow(clippy::unwrap_used, reason = "a test may panic")]

use inart_wire::{AbortReason, Contributors, HeaderRepr, MacAddr, Transcript, ValuesPerFrame};

use crate::commands::decode::*;

fn frame(kind: Kind, values: &[i32]) -> Vec<u8> {
    let worker = 3u16.try_into().unwrap();
    let repr = FrameRepr {
        destination: MacAddr([2, 0, 0, 0, 0, 9]),
        source: MacAddr([2, 0, 0, 0, 0, 3]),
        values_per_frame: ValuesPerFrame::N32,
        header: HeaderRepr {
            kind,
            flags: Flags::RESEND | Flags::LAST,
            plan_version: 1.into(),
            job: 2.into(),
            shard: 0.into(),
            worker,
            sequence: 42.into(),
            contributors: if kind == Kind::Control {
                Contributors::default()
            } else {
                Contributors::one(worker)
            },
            exponent: (-20).into(),
            length: values.len() as u16,
            incarnation: 0x2a.into(),
        },
    };
    let mut bytes = vec![0xa5; repr.buffer_len()];
    repr.emit(values, &mut bytes).unwrap();
    bytes
}

/// Returns a classic capture; `word` writes its integers, `magic` states precision and byte order.
fn pcap(magic: u32, word: fn(u32) -> [u8; 4], half: fn(u16) -> [u8; 2], frames: &[(&[u8], u32)]) -> Vec<u8> {
    let mut file = word(magic).to_vec();
    file.extend([half(2), half(4)].concat());
    file.extend([word(0), word(0), word(65535), word(1)].concat());
    for (bytes, original) in frames {
        file.extend([word(7), word(500_000), word(bytes.len() as u32), word(*original)].concat());
        file.extend_from_slice(bytes);
    }
    file
}

fn text(file: &[u8], json: bool) -> String {
    let mut out = Vec::new();
    decode(file, true, json, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const LINE: &str = "02:00:00:00:00:03 > 02:00:00:00:00:09 gradient plan version 1 job 2 shard 0 worker 3 sequence 42 \
                    contributors {3} exponent -20 length 2 flags resend|last run 0000002a values [5, -6]\n";
const ALONE: &str = "INART frames: 1; other protocols: 0; cut short by the capture: 0; malformed: 0\n";

#[test]
fn classic_captures_of_both_byte_orders_and_precisions() {
    let gradient = frame(Kind::Gradient, &[5, -6]);
    let frames: &[(&[u8], u32)] = &[(&gradient, 172)];
    for (file, time) in [
        (pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, frames), "7.500000000"),
        (pcap(0xa1b2_c3d4, u32::to_be_bytes, u16::to_be_bytes, frames), "7.500000000"),
        (pcap(0xa1b2_3c4d, u32::to_le_bytes, u16::to_le_bytes, frames), "7.000500000"),
        (pcap(0xa1b2_3c4d, u32::to_be_bytes, u16::to_be_bytes, frames), "7.000500000"),
    ] {
        assert_eq!(text(&file, false), format!("{time} {LINE}{ALONE}"));
    }
}

#[test]
fn maxima_are_read_as_floats_and_digits_as_integers() {
    let mut maxima = frame(Kind::Result, &[1.5, 3e38f32].map(|float| float.to_bits() as i32));
    maxima[37] = 0x80;
    let mut digits = frame(Kind::Gradient, &[-7, 0]);
    digits[37] = 0x7f;
    let frames: &[(&[u8], u32)] = &[(&maxima, 172), (&digits, 172)];
    let file = pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, frames);
    let lines = text(&file, false);
    for line in [
        "exponent -128 length 2 flags resend|last run 0000002a maxima [1.5, 3e38]\n",
        "exponent 127 length 2 flags resend|last run 0000002a digits [-7, 0]\n",
    ] {
        assert!(lines.contains(line), "{lines}");
    }
    let json: serde_json::Value = serde_json::from_str(&text(&file, true)).unwrap();
    let values = |frame: usize| &json["frames"][frame]["values"];
    assert_eq!((values(0), values(1)), (&serde_json::json!([1.5, 3e38]), &serde_json::json!([-7, 0])));
}

#[test]
fn updates_are_read_as_floats_for_their_receivers() {
    let mut update = frame(Kind::Update, &[1.5, -3e38f32].map(|float| float.to_bits() as i32));
    update[28..37].copy_from_slice(&[0x80, 0, 0, 0, 0, 0, 0, 0x06, 1]);
    let file = pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, &[(&update, 172)]);
    let line = text(&file, false);
    assert!(
        line.contains(" update plan version 1 job 2 shard 0 worker 3 sequence 42 receivers {65-66,127} "),
        "{line}"
    );
    assert!(line.contains(" values [1.5, -3e38]\n"), "{line}");
    update[28..36].fill(0);
    let file = pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, &[(&update, 172)]);
    assert!(text(&file, false).contains("malformed: 1 (contributors 1)"), "{}", text(&file, false));
}

#[test]
fn pcapng() {
    let gradient = frame(Kind::Gradient, &[5, -6]);
    let block = |kind: u32, body: &[u8]| {
        let length = (body.len() as u32 + 12).to_le_bytes();
        [&kind.to_le_bytes(), &length[..], body, &length].concat()
    };
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let section = block(0x0a0d_0d0a, &words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]));
    let interface = block(1, &words(&[1, 65535]));
    let mut packet = words(&[0, 0, 7_500_000, 172, 172]);
    packet.extend(&gradient);
    let file = [section, interface, block(6, &packet)].concat();
    assert_eq!(text(&file, false), format!("7.500000000 {LINE}{ALONE}"));
    assert!(text(&file[..file.len() - 5], false).ends_with("the file ends in the middle of a frame\n"));
}

#[test]
fn everything_else_is_counted() {
    let gradient = frame(Kind::Gradient, &[1]);
    let mut ip = gradient.clone();
    ip[12..14].copy_from_slice(&[0x08, 0x00]);
    let mut version = gradient.clone();
    version[14] = 0x11;
    let mut stranger = gradient.clone();
    stranger[35] = 0x0f;
    let arp = &ip[..42];
    let frames: &[(&[u8], u32)] = &[
        (&gradient, 172),
        (&ip, 172),
        (arp, 42),
        (&ip[..12], 12),
        (&gradient[..96], 172),
        (&version, 172),
        (&stranger, 172),
        (&gradient[..150], 150),
        (&gradient[..30], 30),
    ];
    let mut file = pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, frames);
    file.truncate(file.len() - 1);
    let text = text(&file, true);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["frames"].as_array().unwrap().len(), 1);
    assert_eq!(json["frames"][0]["contributors"], serde_json::json!([3]));
    assert_eq!(json["frames"][0]["flags"], serde_json::json!(["resend", "last"]));
    let malformed = serde_json::json!({"version": 1, "contributors": 1, "frame": 1});
    assert_eq!(
        json["counts"],
        serde_json::json!({"inart": 1, "other": 3, "cut": 1, "malformed": malformed, "file_cut": true})
    );
}

#[test]
fn control_messages_are_read() {
    let abort = ControlMessage::Abort { reason: AbortReason::Silent, culprit: 5u16.try_into().unwrap() };
    let control = frame(Kind::Control, &abort.words(7.into()));
    let file = pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, &[(&control, 172)]);
    assert!(text(&file, false).contains(" abort: worker 5 is silent (host 00000007)"));
    let marks = std::array::from_fn(|mark| 0xabc + mark as u32);
    let transcript = Transcript { started: 9, marks };
    let keepalive = ControlMessage::KeepAlive { oldest: 3.into(), tensor_len: Some(700), transcript };
    let control = frame(Kind::Control, &keepalive.words(7.into()));
    let file = pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, &[(&control, 172)]);
    let read = "keep-alive, results up to 3, tensor of 700 values, 9 tensors started, transcript 00000abc (host 00000007)";
    assert!(text(&file, false).contains(read), "{}", text(&file, false));
    let abort = ControlMessage::Abort {
        reason: AbortReason::OtherTensors { first: 8, last: 8 },
        culprit: 1u16.try_into().unwrap(),
    };
    let control = frame(Kind::Control, &abort.words(7.into()));
    let file = pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, &[(&control, 172)]);
    let read = " abort: worker 1 and its peers started different tensors as tensor 8 (host 00000007)";
    assert!(text(&file, false).contains(read), "{}", text(&file, false));
}

#[test]
fn files_that_are_no_captures_are_refused() {
    let refusal = |bytes: &[u8]| decode(bytes, false, false, &mut Vec::new()).unwrap_err().to_string();
    assert_eq!(refusal(b""), "too short for a pcap or pcapng file");
    assert_eq!(refusal(&[7; 100]), "neither a pcap nor a pcapng file");
    let mut wlan = pcap(0xa1b2_c3d4, u32::to_le_bytes, u16::to_le_bytes, &[]);
    wlan[20] = 105;
    assert_eq!(refusal(&wlan), "a capture of link type 105; INART frames are Ethernet frames (link type 1)");
}
