//! A server that speaks TDS 7.3 to 8.0 on 127.0.0.1, for tests: the protocol of [MS-TDS] (section numbers are of its version 39)
//! over a [`Backend`](backend::Backend) that answers the SQL.
//!
//! It is written from the specification alone and shares nothing with the engine, so that it can contradict it; `FreeTDS` and
//! python-tds read its bytes in the tests.
//!
//! - [`backend`]: the interface to the SQL half; [`canned`]: one with answers made beforehand.
//! - [`server`]: options, faults and the handle of a running server.
//! - [`packet`], [`wire`]: packets and basic data; [`prelogin`], [`login`], [`tls`]: the start of a connection.
//! - [`rpc`], [`params`]: requests; [`token`], [`types`]: responses.

pub mod backend;
pub mod canned;
mod connection;
pub mod login;
pub mod packet;
pub mod params;
pub mod prelogin;
mod response;
pub mod rpc;
pub mod server;
pub mod tls;
pub mod token;
mod transaction;
pub mod types;
pub mod wire;

pub use server::{FaultPlan, RowEncoding, TdsOptions, TdsServer, TlsMode};
