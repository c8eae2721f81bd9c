//! All tests of this crate but those with folders of their own: one program is built sooner than many.

mod averaging;
mod beginning_anew;
mod breaking;
mod coordinating;
