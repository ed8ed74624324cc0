//! tieout: does the sink hold exactly what the source holds?

pub mod cli;
pub mod config;
pub mod connector;
pub mod encode;
pub mod engine;
pub mod model;
