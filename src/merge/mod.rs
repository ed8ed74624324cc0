//! The merge of two sorted sides.

pub mod tolerance;
