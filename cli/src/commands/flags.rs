//! The flags of this command for settings that the libraries name without them.

use inart_tls::advice;

/// Advice of libraries, and the flags that follow it.
const FLAGS: [(&str, &str); 17] = [
    (advice::USE_TLS, "--tls-ca, --tls-cert, --tls-key"),
    (advice::ALLOW_PLAIN, "--insecure"),
    (advice::USE_ACCEPTED_CERTIFICATE, "--tls-cert, --tls-key"),
    (advice::TRUST_AUTHORITY, "--tls-ca"),
    (advice::EXPECT_NAME, "--tls-name"),
    (advice::BE_PLAIN, "--tls-ca, --tls-cert, --tls-key"),
    ("serve by TLS", "--listen-ca, --listen-cert, --listen-key"),
    ("allow plain connections", "--insecure-listen"),
    ("allow the replacement", "--replace-program"),
    ("restart the controller with a new plan version", "--new-plan-version"),
    ("install the plan with a window", "--window"),
    ("leave the root out", "--root"),
    ("take a number of roots", "--roots"),
    ("give a number of roots", "--roots"),
    ("give each site at least 1 child", "--degree"),
    ("leave auxiliary paths out", "--auxiliary"),
    ("restart the controller with replanning", "--follow"),
];

/// Returns the message with the flags behind each piece of advice.
pub fn with_flags(message: &str) -> String {
    let line = FLAGS.iter().fold(message.to_owned(), |line, (advice, flags)| {
        line.replacen(advice, &format!("{advice} ({flags})"), 1)
    });
    match other_device(&line) {
        Some(device) => format!("{line}; name the device: --switch NAME=HOST:PORT,device={device}"),
        None => line,
    }
}

/// Returns the device number that a switch has, if the message names it in place of the requested one.
fn other_device(message: &str) -> Option<u64> {
    let (_, known) = message.split_once("there is no device ")?.1.split_once(" here, only ")?;
    known.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_device_is_named_with_its_flag() {
        let message = "switch v1: StreamChannel on device 0 at 127.0.0.1:9559: NOT_FOUND: there is no device 0 here, only 1";
        assert!(with_flags(message).ends_with("only 1; name the device: --switch NAME=HOST:PORT,device=1"));
        assert!(with_flags("there is no device 0 here, only 7, 9").ends_with(",device=7"));
    }

    #[test]
    fn advice_names_its_flags() {
        let error = inart_tls::EndpointError::Unprotected { address: "192.0.2.1:1".into() };
        assert_eq!(
            with_flags(&error.to_string()),
            "192.0.2.1:1 is another machine: connect by TLS (--tls-ca, --tls-cert, --tls-key), or allow a plain \
             connection (--insecure), which others on the network can read and change"
        );
        assert_eq!(with_flags("no such file"), "no such file");
    }
}
