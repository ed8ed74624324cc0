//! What independent clients read from the test TDS server: tiberius in all of the server's ways, `FreeTDS` and python-tds in some.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a failure here is the test's")]

mod client;
mod faults;
mod login;
mod outside;
mod reads;
mod values;
