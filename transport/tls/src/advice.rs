//! Advice for refused connections, in texts that error messages share. A command that has options for these
//! settings adds their names.

/// Use TLS, with an authority and an identity of one's own.
pub const USE_TLS: &str = "connect by TLS";

/// Do without TLS beyond this machine.
pub const ALLOW_PLAIN: &str = "allow a plain connection";

/// Present another certificate.
pub const USE_ACCEPTED_CERTIFICATE: &str = "give a certificate of an authority that the server accepts";

/// Do without TLS.
pub const BE_PLAIN: &str = "leave the settings of TLS out";

/// Believe another authority.
pub const TRUST_AUTHORITY: &str = "give the certificate of the authority that signed it";

/// Believe a server by another name than that in its address.
pub const EXPECT_NAME: &str = "give the name to expect";

/// A certificate of the other side that is too old.
pub const RENEW: &str = "renew it at the server";

/// A certificate of the other side that is not good for this.
pub const REPLACE_CERTIFICATE: &str = "issue the server another certificate (extended key usage serverAuth)";
