//! End-to-end tests: the built program against real servers and real files. Each case of the field is named by its id.

mod commands;
mod files;
mod harness;
mod keys;
mod numbers;
mod readback;
mod running;
mod schema;
mod text;
mod times;
