//! Bytes of a file as text: UTF-8, UTF-16, or what the file declares.

use crate::NetworkError;

/// Length in bytes of the text searched for an XML declaration or a DOT attribute.
const HEAD: usize = 4096;

/// Windows-1252 from 0x80 to 0x9f, where it differs from ISO 8859-1; 0 for codes without a meaning.
const WINDOWS: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
    0x017d, 0, 0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a,
    0x0153, 0, 0x017e, 0x0178,
];

/// Returns the text of a file that another tool has written, without its byte order mark.
///
/// # Errors
/// The bytes are not text in the encoding that the file declares, or the encoding is not known here.
pub fn decode(bytes: &[u8]) -> Result<String, NetworkError> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => return utf_8(rest),
        [0xff, 0xfe, rest @ ..] => return utf_16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => return utf_16(rest, u16::from_be_bytes),
        [b'<', 0, ..] => return utf_16(bytes, u16::from_le_bytes),
        [0, b'<', ..] => return utf_16(bytes, u16::from_be_bytes),
        _ => {}
    }
    let declared = declared(&bytes[..bytes.len().min(HEAD)]);
    match declared.as_deref() {
        None | Some("utf-8" | "utf8") => utf_8(bytes),
        Some("iso-8859-1" | "iso8859-1" | "latin1" | "latin-1") => Ok(latin_1(bytes)),
        Some("windows-1252" | "cp1252") => Ok(bytes.iter().map(|&byte| windows(byte)).collect()),
        // Nothing else is written in it, or the text would not be ASCII.
        Some("us-ascii" | "ascii") => utf_8(bytes),
        Some(other) => {
            let problem = format!("the encoding {other} is not supported");
            let fix = format!("convert it: iconv -f {other} -t UTF-8, and declare encoding=\"UTF-8\" in it");
            Err(NetworkError::new(1, "encoding", problem, fix))
        }
    }
}

/// Returns the encoding by `<?xml ... encoding="NAME"`, or by DOT's `charset=NAME`, in small letters. GML is
/// written in ISO 8859-1 where it is not UTF-8.
fn declared(head: &[u8]) -> Option<String> {
    let text: String = latin_1(head);
    let value = |rest: &str| {
        let rest = rest.trim_start().strip_prefix('=')?.trim_start();
        let quoted = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
        let name = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        let end = quoted.find(|c| !name(c)).unwrap_or(quoted.len());
        (end > 0).then(|| quoted[..end].to_ascii_lowercase())
    };
    if let Some(declaration) = text.trim_start().strip_prefix("<?xml") {
        let declaration = declaration.split("?>").next().unwrap_or_default();
        return value(declaration.split_once("encoding")?.1);
    }
    let is_gml = |line: &str| line.trim_start().starts_with("graph") && line.trim_end().ends_with('[');
    if std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some()) && text.lines().any(is_gml) {
        return Some("iso-8859-1".to_owned());
    }
    value(text.split_once("charset")?.1)
}

fn utf_8(bytes: &[u8]) -> Result<String, NetworkError> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        let fix = "save it as UTF-8, or declare its encoding (XML: <?xml version=\"1.0\" encoding=\"...\"?>)";
        NetworkError::new(line, "encoding", "it is not UTF-8 text", fix)
    })
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, NetworkError> {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: Result<String, _> = char::decode_utf16(units).collect();
    match text {
        Ok(text) if bytes.len().is_multiple_of(2) => Ok(text),
        _ => Err(NetworkError::new(None, "encoding", "it is not whole UTF-16 text", "save it as UTF-8")),
    }
}

fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn windows(byte: u8) -> char {
    let code = match byte {
        0x80..=0x9f => WINDOWS[usize::from(byte - 0x80)],
        _ => u16::from(byte),
    };
    char::from_u32(u32::from(code)).filter(|&c| c != '\0' || byte == 0).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_encodings_are_read() {
        let xml = |name: &str, text: &[u8]| {
            [format!("<?xml version='1.0' encoding='{name}'?>").as_bytes(), text].concat()
        };
        let read = |bytes: &[u8]| decode(bytes).map_err(|error| error.to_string());
        for (bytes, end) in [
            (xml("ISO-8859-1", b"\xfc"), "\u{fc}"),
            (xml("windows-1252", b"\x80"), "\u{20ac}"),
            (xml("UTF-8", "\u{fc}".as_bytes()), "\u{fc}"),
            (b"graph {charset=\"latin1\" a\xfc}".to_vec(), "a\u{fc}}"),
            (b"graph [\n label \"\xfc\" ]".to_vec(), "\"\u{fc}\" ]"),
            (b"\xef\xbb\xbfgraph {}".to_vec(), "graph {}"),
            ([&b"\xff\xfe"[..], &utf_16_of("<a>\u{1f600}")].concat(), "<a>\u{1f600}"),
            (utf_16_of("<a/>"), "<a/>"),
        ] {
            let text = read(&bytes).expect("text");
            assert!(text.ends_with(end), "{text:?}");
        }
        for (bytes, named) in [
            (xml("KOI8-R", b"\xfc"), "iconv -f koi8-r"),
            (b"graph {\n a\xfc}".to_vec(), "line 2"),
            (b"\xff\xfea".to_vec(), "UTF-16"),
        ] {
            let problem = read(&bytes).expect_err("no text");
            assert!(problem.contains(named) && problem.contains("UTF-8"), "{problem}");
        }
    }

    fn utf_16_of(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }
}
