//! The contract of a store: one suite that every connector passes, with one generator that feeds all stores.
//!
//! A store is one file here: how it is started, how a table gets into it, which types it holds and which order it serves.
//! What it lacks is declared by the parts of the contract that its file does not list.

mod bounds;
mod contract;
mod csv;
mod damage;
mod digests;
mod faults;
mod mariadb;
mod parquet;
mod postgres;
mod sql;
mod sqlite;
mod sqlserver;
mod store;
