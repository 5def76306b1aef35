//! The project's own commands: `cargo xtask build | demo | test | www`.
fn main() {}
