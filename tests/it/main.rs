//! End-to-end tests: the built program against real servers and real files. Each case of the field is named by its id.

mod files;
mod folders;
mod harness;
mod keys;
mod numbers;
mod running;
mod schema;
mod text;
mod times;
