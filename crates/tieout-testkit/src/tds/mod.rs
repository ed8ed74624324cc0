//! A server that speaks TDS, for tests.

pub mod backend;
