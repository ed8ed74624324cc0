//! tieout
fn main() {}
