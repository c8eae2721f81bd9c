//! Reason that TLS with another process fails: the cause and its fix, for the side that refuses and the one
//! refused.

use std::fmt;

use inart_terms::one_line;
use quinn::ConnectionError;
use rustls::AlertDescription;

/// QUIC's code of TLS alert 0 (RFC 9001, section 4.8).
const ALERTS: u64 = 0x100;

/// A handshake that one side has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Whether this process does not accept the other one; else the other one does not accept this process.
    is_own: bool,
    cause: Cause,
    /// Protocol of this process (ALPN).
    protocol: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cause {
    Expired,
    NotYetValid,
    OtherAuthority,
    /// The names in the certificate, as far as the refusing side lists them.
    OtherName(Option<String>),
    OtherUse,
    NoCertificate,
    OtherProtocol,
    /// Something else that is wrong with the certificate, in the library's words.
    Unusable(String),
    /// Something else, in the library's words.
    Other(String),
}

impl Refusal {
    /// Finds the cause in the end of a connection; `None` if TLS has not failed.
    pub fn of(error: &ConnectionError, protocol: &str) -> Option<Self> {
        let (code, said, is_own) = match error {
            ConnectionError::TransportError(error) => (error.code, one_line(&error.reason), true),
            // This text is of a process that has not shown a certificate.
            ConnectionError::ConnectionClosed(close) => {
                (close.error_code, one_line(&String::from_utf8_lossy(&close.reason)), false)
            }
            _ => return None,
        };
        let alert = u8::try_from(u64::from(code).checked_sub(ALERTS)?).ok()?;
        let cause = Cause::of(AlertDescription::from(alert), said);
        Some(Refusal { is_own, cause, protocol: protocol.to_owned() })
    }
}

impl Cause {
    /// Creates the refusal of an alert. `said` is the text of the library at the side that refuses.
    fn of(alert: AlertDescription, said: String) -> Self {
        match alert {
            AlertDescription::CertificateExpired if said.contains("not valid yet") => Cause::NotYetValid,
            AlertDescription::CertificateExpired => Cause::Expired,
            AlertDescription::UnknownCA | AlertDescription::DecryptError => Cause::OtherAuthority,
            AlertDescription::BadCertificate if said.contains("not valid for name") => {
                Cause::OtherName(names_in(&said))
            }
            AlertDescription::UnsupportedCertificate => Cause::OtherUse,
            AlertDescription::CertificateRequired | AlertDescription::NoCertificate => Cause::NoCertificate,
            AlertDescription::NoApplicationProtocol => Cause::OtherProtocol,
            AlertDescription::BadCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::AccessDenied => Cause::Unusable(said),
            other if said.is_empty() => Cause::Other(format!("{other:?}")),
            _ => Cause::Other(said),
        }
    }
}

/// Returns the names in rustls's words, such as `… certificate is only valid for DnsName("b")`.
fn names_in(said: &str) -> Option<String> {
    let (_, names) = said.split_once("only valid for ")?;
    Some(names.replace("DnsName(\"", "").replace("\")", ""))
}

/// As a sentence about the other process, which is "it".
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { is_own, cause, protocol } = self;
        let whose = match is_own {
            true => "its certificate",
            false => "it refuses this process, whose certificate",
        };
        match cause {
            Cause::Expired => write!(f, "{whose} has expired; renew that certificate"),
            Cause::NotYetValid => {
                write!(f, "{whose} is not valid yet; renew that certificate, or set the machines' clocks")
            }
            Cause::OtherAuthority => write!(
                f,
                "{whose} is of another authority; give both processes certificates of one authority, and both \
                 that authority's certificate"
            ),
            Cause::OtherName(names) => {
                let names = names.as_ref().map_or_else(String::new, |names| format!(" ({names})"));
                write!(
                    f,
                    "{whose} is for another name{names}; correct the address or the name, or give the process \
                     there a certificate of its own name"
                )
            }
            Cause::OtherUse => write!(
                f,
                "{whose} is not for this use; issue one with the extended key usages serverAuth and clientAuth"
            ),
            Cause::NoCertificate if *is_own => {
                f.write_str("it shows no certificate; start it with a certificate of this authority")
            }
            Cause::NoCertificate => f.write_str(
                "it refuses this process, which shows no certificate; give this process a certificate",
            ),
            Cause::OtherProtocol => write!(
                f,
                "it does not support {protocol}; correct the address, or start both processes with one version of \
                 this program"
            ),
            Cause::Unusable(why) => write!(f, "{whose} cannot be used ({why}); issue another one"),
            Cause::Other(why) => write!(f, "TLS fails ({why}); start both with one version of this program"),
        }
    }
}

#[cfg(test)]
mod tests {
    use quinn::{ConnectionClose, TransportErrorCode};
    use quinn_proto::TransportError;

    use super::*;

    fn here(alert: u8, reason: &str) -> Option<String> {
        let code = TransportErrorCode::crypto(alert);
        let error = TransportError { code, frame: None, reason: reason.to_owned() };
        Some(Refusal::of(&error.into(), "inart-test/1")?.to_string())
    }

    fn there(alert: u8, reason: &str) -> Option<String> {
        let error_code = TransportErrorCode::crypto(alert);
        let close = ConnectionClose { error_code, frame_type: None, reason: reason.to_owned().into() };
        Some(Refusal::of(&ConnectionError::ConnectionClosed(close), "inart-test/1")?.to_string())
    }

    #[test]
    fn a_slow_clock_differs_from_an_old_certificate() {
        let said = here(45, "invalid peer certificate: certificate not valid yet: verification time 1");
        assert!(said.expect("TLS has failed").starts_with("its certificate is not valid yet; renew"));
        let said = there(45, "invalid peer certificate: certificate expired: verification time 9");
        assert!(
            said.expect("TLS has failed")
                .starts_with("it refuses this process, whose certificate has expired; renew")
        );
    }

    #[test]
    fn words_of_strangers_are_short_and_have_no_control_characters() {
        let said = there(80, &format!("\u{1b}[2Jfailed\n{}", "x".repeat(5000))).expect("TLS has failed");
        assert!(said.contains("[2Jfailed") && said.len() < inart_terms::MOST_LINE_BYTES + 200, "{said}");
        assert!(!said.contains(char::is_control), "{said:?}");
    }

    #[test]
    fn ends_for_other_reasons_are_no_refusals() {
        assert_eq!(Refusal::of(&ConnectionError::TimedOut, "inart-test/1"), None);
        let refused = TransportError {
            code: TransportErrorCode::CONNECTION_REFUSED,
            frame: None,
            reason: String::new(),
        };
        assert_eq!(Refusal::of(&refused.into(), "inart-test/1"), None);
    }
}
