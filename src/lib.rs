//! tieout: does the sink hold exactly what the source holds?

pub mod connector;
pub mod encode;
pub mod model;
pub mod sort;
