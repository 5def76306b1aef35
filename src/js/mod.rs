//! The JavaScript classes: conversion between JavaScript and the layers below, and no rule.
//!
//! Invariants: bytes come in as slices and go out as texts that the glue decodes once; options,
//! events and faults cross as plain objects, payloads of the peer never do. Nothing here
//! calls into JavaScript while a class is borrowed: the facade reads the host's option objects
//! before they cross, so that the conversion meets plain data only.

// wasm-bindgen exports what is `pub`; no Rust module uses it.
#![allow(unreachable_pub)]

mod call;
mod envelope;
mod fault;
mod flows;
mod gateway;
mod info;
mod line_reader;
mod message;
mod operations;
mod panic;
mod pending;
mod plain;
mod recording;
mod schema;
mod server;
mod session;
mod status;
