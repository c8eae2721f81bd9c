//! All tests of this crate but those with folders of their own: one program is built sooner than many.

mod agreed_again;
mod agreement;
mod model;
mod repair;
mod rounds;
