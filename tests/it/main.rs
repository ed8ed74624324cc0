//! End-to-end tests: the built program against real servers and real files. Each case of the field is named by its id.

mod commands;
mod connect;
mod files;
mod folders;
mod frozen;
mod harness;
mod keys;
mod large;
mod mariadb;
mod mended;
mod numbers;
mod pairs;
mod properties;
mod ranges;
mod readback;
mod relations;
mod running;
mod schema;
mod services;
mod sqlite;
mod sqlite_frozen;
mod stopping;
mod text;
mod times;
mod tls;
mod types;
