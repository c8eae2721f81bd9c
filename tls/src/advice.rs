//! What to change when a connection is refused, in words that error messages share. A command that has
//! options for these settings adds their names.

/// Use TLS, with an authority and an identity of one's own.
pub const USE_TLS: &str = "connect by TLS";

/// Do without TLS beyond this machine.
pub const ALLOW_PLAIN: &str = "allow a plain connection";

/// Present another certificate.
pub const USE_ACCEPTED_CERTIFICATE: &str = "give a certificate of an authority that the server accepts";
