//! tieout: does the sink hold exactly what the source holds?

pub mod config;
pub mod model;

pub mod connector;
pub mod encode;
pub mod merge;
pub mod output;
pub mod plan;
pub mod sort;

pub mod engine;

pub mod cli;
