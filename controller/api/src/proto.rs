//! The messages and the service.

#![allow(missing_docs, clippy::all, clippy::pedantic)]

tonic::include_proto!("inart.v1");
