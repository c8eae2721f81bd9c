//! The flags of this command for settings that the libraries name without them.

use inart_tls::advice;

/// What a library advises, and the flags that do it.
const FLAGS: [(&str, &str); 6] = [
    (advice::USE_TLS, "--tls-ca, --tls-cert, --tls-key"),
    (advice::ALLOW_PLAIN, "--insecure"),
    (advice::USE_ACCEPTED_CERTIFICATE, "--tls-cert, --tls-key"),
    (advice::TRUST_AUTHORITY, "--tls-ca"),
    (advice::EXPECT_NAME, "--tls-name"),
    (advice::BE_PLAIN, "--tls-ca, --tls-cert, --tls-key"),
];

/// The message, with the flags behind each piece of advice.
pub fn with_flags(message: &str) -> String {
    FLAGS.iter().fold(message.to_owned(), |line, (advice, flags)| {
        line.replacen(advice, &format!("{advice} ({flags})"), 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_its_flags() {
        let error = inart_tls::EndpointError::Unprotected { address: "192.0.2.1:1".into() };
        assert_eq!(
            with_flags(&error.to_string()),
            "192.0.2.1:1 is another machine: connect by TLS (--tls-ca, --tls-cert, --tls-key), or allow a plain \
             connection (--insecure), which anybody on the network can read and change"
        );
        assert_eq!(with_flags("no such file"), "no such file");
    }
}
