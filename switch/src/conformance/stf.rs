//! The STF language: one statement per line, `#` starts a comment.

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// `add`: an entry of a table.
    Add {
        /// Table.
        table: String,
        /// Higher numbers win.
        priority: Option<i32>,
        /// Fields and the values that they are compared with.
        key: Vec<(String, String)>,
        /// Action of the entry.
        action: Call,
    },
    /// `setdefault`: the action of a table without a hit.
    SetDefault {
        /// The table.
        table: String,
        /// Action.
        action: Call,
    },
    /// `packet`: an arriving packet.
    Packet {
        /// Port.
        port: u32,
        /// All of it.
        bytes: Vec<u8>,
    },
    /// `expect`: a packet leaves.
    Expect {
        /// Port.
        port: u32,
        /// Expected first digits: `*` is any digit, a final `$` the packet's end. `None`: any packet.
        digits: Option<String>,
    },
    /// `check_counter`: the expected value of a cell.
    CheckCounter {
        /// The counter.
        counter: String,
        /// Cell.
        cell: String,
        /// `packets` or `bytes`, a comparison, a number.
        check: Option<(String, String, u64)>,
    },
    /// A command of simple_switch_CLI.
    Command {
        /// First word.
        name: String,
        /// The other words.
        arguments: Vec<String>,
    },
    /// `wait`: the packets so far are through.
    Wait,
}

/// An action and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Name.
    pub action: String,
    /// Values by parameter.
    pub arguments: Vec<(String, String)>,
}

/// Parses a script.
///
/// # Errors
///
/// The first line that cannot be read.
pub fn parse(text: &str) -> Result<Vec<Statement>, String> {
    let mut statements = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (masked, quoted) = Quoted::take(line);
        let masked = masked.split('#').next().unwrap_or_default().trim();
        if !masked.is_empty() {
            let parsed = statement(masked, &quoted);
            let line = line.trim();
            statements.push(parsed.ok_or_else(|| format!("line {}: cannot read {line:?}", number + 1))?);
        }
    }
    Ok(statements)
}

/// The quoted names of a line: they may hold anything that means something outside quotes.
struct Quoted(Vec<String>);

/// Stands for the first quoted name of a line, the next character for the second, and so on (Unicode's
/// private use).
const FIRST: u32 = 0xf_0000;

impl Quoted {
    /// Returns a line with a character in the place of each quoted name; a quote that does not end stays.
    fn take(line: &str) -> (String, Quoted) {
        let (mut masked, mut names, mut rest) = (String::new(), Vec::new(), line);
        while let Some((before, after)) = rest.split_once('"')
            && let Some((name, after)) = after.split_once('"')
            && let Some(mark) = char::from_u32(FIRST + names.len() as u32)
        {
            masked.push_str(before);
            masked.push(mark);
            names.push(name.to_owned());
            rest = after;
        }
        masked.push_str(rest);
        (masked, Quoted(names))
    }

    /// Returns a part of the line with its names as they were, without quotes.
    fn restore(&self, text: &str) -> String {
        let mut whole = String::new();
        for letter in text.chars() {
            let place = (letter as u32).checked_sub(FIRST).map(|place| place as usize);
            match place.and_then(|place| self.0.get(place)) {
                Some(name) => whole.push_str(name),
                None => whole.push(letter),
            }
        }
        whole
    }
}

fn statement(line: &str, quoted: &Quoted) -> Option<Statement> {
    let (keyword, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match keyword.to_ascii_lowercase().as_str() {
        "add" => add(rest, quoted),
        "setdefault" => {
            let (table, action) = rest.split_once(char::is_whitespace)?;
            Some(Statement::SetDefault { table: quoted.restore(table), action: call(action.trim(), quoted)? })
        }
        "packet" => {
            let (port, digits) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let digits: String = digits.split_whitespace().collect();
            let bytes = if digits.is_empty() { Vec::new() } else { crate::value::parse_hex(&digits)? };
            digits.len().is_multiple_of(2).then_some(Statement::Packet { port: port.parse().ok()?, bytes })
        }
        "expect" => {
            let (port, digits) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let digits: String = digits.split_whitespace().collect();
            let port = port.parse().ok()?;
            Some(Statement::Expect { port, digits: (!digits.is_empty()).then_some(digits) })
        }
        "check_counter" => {
            let (target, check) = rest.split_once(')')?;
            let (counter, cell) = target.split_once('(')?;
            let mut words = check.split_whitespace();
            let check = match (words.next(), words.next(), words.next()) {
                (Some(what), Some(test), Some(value)) => {
                    Some((what.to_ascii_lowercase(), test.to_owned(), value.parse().ok()?))
                }
                _ => None,
            };
            Some(Statement::CheckCounter {
                counter: quoted.restore(counter.trim()),
                cell: cell.trim().to_owned(),
                check,
            })
        }
        "wait" => Some(Statement::Wait),
        "remove" => None,
        name => Some(Statement::Command {
            name: name.to_owned(),
            arguments: rest.split_whitespace().map(|word| quoted.restore(word)).collect(),
        }),
    }
}

fn add(rest: &str, quoted: &Quoted) -> Option<Statement> {
    let (table, rest) = rest.split_once(char::is_whitespace)?;
    let open = rest.find('(')?;
    // The action's name is the last word before its parameters; an entry's own name may follow them.
    let before = rest[..open].trim_end();
    let action_start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let close = rest.rfind(')')?;
    let action = call(rest.get(action_start..=close)?, quoted)?;
    let mut words = before[..action_start].split_whitespace().peekable();
    let priority = words.peek().and_then(|word| word.parse().ok());
    if priority.is_some() {
        words.next();
    }
    let key = words
        .map(|word| {
            let (field, value) = word.split_once(':')?;
            Some((quoted.restore(field), value.to_owned()))
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Statement::Add { table: quoted.restore(table), priority, key, action })
}

fn call(text: &str, quoted: &Quoted) -> Option<Call> {
    let (action, rest) = text.split_once('(')?;
    let arguments = rest.strip_suffix(')')?;
    let arguments = arguments
        .split(',')
        .filter(|argument| !argument.trim().is_empty())
        .map(|argument| {
            let (name, value) = argument.split_once(':')?;
            Some((quoted.restore(name.trim()), value.trim().to_owned()))
        })
        .collect::<Option<Vec<_>>>()?;
    Some(Call { action: quoted.restore(action.trim()), arguments })
}

/// Returns a number in decimal, `0x`, `0b` or `0o`, big endian; `*` digits are zero in it and in the mask.
pub fn number(text: &str) -> Option<(Vec<u8>, Vec<u8>, u32)> {
    let (digits, bits) = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (&text[2..], 4),
        Some("0b") => (&text[2..], 1),
        Some("0o") => (&text[2..], 3),
        _ => {
            let value: u128 = text.parse().ok()?;
            return Some((value.to_be_bytes().to_vec(), vec![0xff; 16], 128));
        }
    };
    let (mut value, mut mask) = (Vec::new(), Vec::new());
    for digit in digits.chars() {
        let known = digit.to_digit(1 << bits);
        if known.is_none() && digit != '*' {
            return None;
        }
        for bit in (0..bits).rev() {
            value.push(known.is_some_and(|known| known >> bit & 1 == 1));
            mask.push(known.is_some());
        }
    }
    let length = value.len() as u32;
    let pack = |bits: Vec<bool>| {
        let mut bytes = vec![0u8; bits.len().div_ceil(8).max(1)];
        for (place, _) in bits.iter().rev().enumerate().filter(|(_, bit)| **bit) {
            let at = bytes.len() - 1 - place / 8;
            bytes[at] |= 1 << (place % 8);
        }
        bytes
    };
    Some((pack(value), pack(mask), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements() {
        let script = "# nothing\nadd c.t 3 h.a:0x1* h$0.b:1/8 c.go(port:2, v:0x7) = one\nexpect 1 01 ** $\npacket 0 0a0b # x\n";
        let parsed = parse(script).expect("parses");
        assert_eq!(
            parsed[0],
            Statement::Add {
                table: "c.t".into(),
                priority: Some(3),
                key: vec![("h.a".into(), "0x1*".into()), ("h$0.b".into(), "1/8".into())],
                action: Call {
                    action: "c.go".into(),
                    arguments: vec![("port".into(), "2".into()), ("v".into(), "0x7".into())],
                },
            }
        );
        assert_eq!(parsed[1], Statement::Expect { port: 1, digits: Some("01**$".into()) });
        assert_eq!(parsed[2], Statement::Packet { port: 0, bytes: vec![0x0a, 0x0b] });
        assert!(parse("packet 0 0a0").is_err());
    }

    #[test]
    fn quoted_names_may_hold_anything() {
        let script =
            "add \"c.a b#(x):y\" 2 \"h.a[22:18]\":0b1* \"h.b & 0x1\":7 \"c.go (1)\"(\"p:q\":2) # end\n";
        let parsed = parse(script).expect("parses");
        assert_eq!(
            parsed,
            [Statement::Add {
                table: "c.a b#(x):y".into(),
                priority: Some(2),
                key: vec![("h.a[22:18]".into(), "0b1*".into()), ("h.b & 0x1".into(), "7".into())],
                action: Call { action: "c.go (1)".into(), arguments: vec![("p:q".into(), "2".into())] },
            }]
        );
    }

    #[test]
    fn numbers() {
        assert_eq!(number("0x2*"), Some((vec![0x20], vec![0xf0], 8)));
        assert_eq!(number("0b1*1"), Some((vec![5], vec![5], 3)));
        assert_eq!(number("x"), None);
    }
}
