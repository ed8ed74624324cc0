//! End-to-end tests: the built program against real servers and real files. Each case of the field is named by its id.

mod commands;
mod files;
mod harness;
mod keys;
mod large;
mod numbers;
mod pairs;
mod properties;
mod ranges;
mod readback;
mod running;
mod schema;
mod text;
mod times;
mod types;
