//! The misbehaving engine.
fn main() {}
