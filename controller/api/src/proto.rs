//! Messages and service of the controller's gRPC API.

#![allow(missing_docs, clippy::all, clippy::pedantic)]

tonic::include_proto!("inart.v1");
